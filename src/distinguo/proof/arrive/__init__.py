"""Proofs that a controller arrives, with the enclosure of the car in the valley."""

from distinguo.proof.arrive import car as car
