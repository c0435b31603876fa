"""Proofs that a controller arrives; the enclosure of the car in the valley is known from the start."""

from distinguo.proof.arrive import car as car
