"""Examples in docstrings as code: without this, Markdown takes the prompts of a doctest for quotations.

zensical.toml names this file as an extension of griffe, which reads the docstrings for the page of public names.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

#: Prompts and what follows them up to the next empty line.
_EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_ROLE = re.compile(r":(?:func|class|meth|mod):`~?([^`]+)`")


def as_markdown(docstring: str) -> str:
    r"""Return a docstring with its examples in fences and its roles as code.

    >>> as_markdown("Add.\n\n>>> 1 + 1\n2")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    fenced = _EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", docstring)
    return _ROLE.sub(r"`\1`", fenced)


class Examples(griffe.Extension):
    """Rewrites every docstring once it has been read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
