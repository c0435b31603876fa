"""Proofs that a controller never fails, with the enclosure of the puck."""

from distinguo.proof.hold import puck as puck
