"""The lab's representations by name, as ``distinguo test`` takes them."""

from __future__ import annotations

import re

from distinguo.controls.catalog import representation, whole_argument
from distinguo.errors import DistinguoError
from distinguo.representations.file import Representation
from distinguo.tasks.spec import TaskSpec
from distinguo_lab.controls import features
from distinguo_lab.controls.blind import by_visits, vigilance
from distinguo_lab.controls.controllability import controllability, integrated_controllability
from distinguo_lab.controls.resolution.variable import resolution_named
from distinguo_lab.controls.vrdp import vrdp, vrdp_enhanced

vrdp_named = representation("vrdp")(vrdp)
vrdp_enhanced_named = representation("vrdp-enhanced")(vrdp_enhanced)
tiles_named = representation("tiles", usage="tiles:8x10x10")(features.tiles_representation)
radial_named = representation("rbf", usage="rbf:10x10")(features.radial_representation)
normalised_radial_named = representation("normalised-rbf", usage="normalised-rbf:10x10")(
    features.normalised_radial_representation
)
perceptron_named = representation("perceptron")(features.perceptron_representation)


@representation("controllability")
def controllability_named(spec: TaskSpec, seed: int, tolerance: str) -> Representation:
    """Compute the controllability analysis of section 4.2, exactly or with a tolerance."""
    if not tolerance:
        return controllability(spec)
    try:
        return integrated_controllability(spec, float(tolerance))
    except ValueError:
        raise DistinguoError(
            "The tolerance of a controllability analysis is a number, as in controllability:2e-7, got "
            f"'controllability:{tolerance}'."
        ) from None


@representation("variable-resolution", usage="variable-resolution:policy,200")
def variable_resolution_named(spec: TaskSpec, seed: int, words: str) -> Representation:
    """Halve boxes where a criterion says so (Munos and Moore 2002)."""
    return resolution_named(spec, words, seed).representation


@representation("most-visited", usage="most-visited:24")
def most_visited_named(spec: TaskSpec, seed: int, units: str) -> Representation:
    """Put prototypes where random play comes most often (Holdaway 1989)."""
    return by_visits(spec, seed, whole_argument("most-visited", units, 24))


@representation("vigilance", usage="vigilance:0.9")
def vigilance_named(spec: TaskSpec, seed: int, match: str) -> Representation:
    """Begin a new prototype where none matches well (Carpenter and Grossberg 1988)."""
    if not re.fullmatch(r"(0?\.\d{1,15})?", match, re.ASCII):
        raise DistinguoError(
            f"The vigilance is a number between 0 and 1, as in vigilance:0.9, got 'vigilance:{match}'."
        )
    return vigilance(spec, seed, float(match or 0.9))
