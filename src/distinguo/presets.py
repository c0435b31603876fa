"""Presets: named tables of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distinguo.errors import DistinguoError, did_you_mean

DEFAULT, PAPER = "default", "paper"

#: What each preset changes from the defaults of the settings, which are the paper's algorithm to the letter.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    PAPER: {},
    # the reward of a mini-trial is discounted step by step, so what follows it should be, too; and one seed in a
    # thousand gets stuck with a single region, which another attempt mends
    DEFAULT: {"learner.discount_steps": True, "stage.restart": 60},
}


def preset(name: str) -> Mapping[str, Any]:
    """Return the changes that a preset makes, by setting.

    >>> preset("paper")
    {}
    """
    if name not in PRESETS:
        raise DistinguoError(f"Unknown preset '{name}'; {did_you_mean(name, PRESETS)}")
    return PRESETS[name]
