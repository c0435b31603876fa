"""Proofs that a controller never fails; the enclosure of the puck is known from the start."""

from distinguo.proof.hold import puck as puck
