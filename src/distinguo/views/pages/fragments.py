"""Figures as parts of a page: drawn by the page itself in its own ink, or as an image where that would be large."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

from markupsafe import Markup, escape
from matplotlib.figure import Figure

from distinguo.views.drawing.colours import INK
from distinguo.views.plots import rendered

LARGEST_DRAWING = 90_000  #: bytes of a drawing; a larger one becomes an image
IMAGE_DPI = 170
#: What a drawing needs of a document of its own, and a page does not.
_NEEDLESS = ("metadata", "title", "desc", "style")
_REFERENCE = re.compile(r"#([\w.-]+)")


def inline_figure(figure: Figure, name: str, words: str) -> Markup:
    """Return a figure as HTML that loads nothing; ``name`` is a word that no other figure of the page has.

    >>> from distinguo.views.drawing.figures import dress, new_figure
    >>> figure = new_figure()
    >>> dress(figure.add_subplot(), "x", "v")
    >>> str(inline_figure(figure, "map", "a <map>"))[:45]
    '<svg class="drawn" role="img" aria-label="a &'
    """
    drawing = _in_ink_of_page(rendered(figure, ".svg", transparent=True), name, words)
    if len(drawing) <= LARGEST_DRAWING:
        return Markup(drawing)  # noqa: S704 # our own drawing: words in it were escaped when it was written
    image = base64.b64encode(rendered(figure, dpi=IMAGE_DPI)).decode()
    return Markup('<img class="image" alt="{}" src="data:image/png;base64,{}">').format(words, image)


def _in_ink_of_page(drawing: bytes, name: str, words: str) -> str:
    """Return a drawing as an element of a page: own names, no addresses, the colour of the text around it."""
    root = ElementTree.fromstring(drawing)  # noqa: S314 # written a moment ago by matplotlib
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(_REFERENCE.findall(text))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key, value in list(element.attrib.items()):
            del element.attrib[key]
            if key == "id" and value not in used:
                continue
            plain = key.rpartition("}")[2]
            element.set(plain, _in_page(plain, value, name))
        for child in list(element):
            if child.tag.rpartition("}")[2] in _NEEDLESS:
                element.remove(child)
    head = {"class": "drawn", "role": "img", "aria-label": words, "viewBox": root.get("viewBox", "")}
    root.attrib.clear()
    root.attrib.update(head)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _in_page(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in ("href", "clip-path", "style"):
        value = _REFERENCE.sub(lambda m: m[0] if _is_colour(m[1]) else f"#{name}-{m[1]}", value)
    return value.replace(INK, "currentColor") if key == "style" else value


def _is_colour(word: str) -> bool:
    """Tell whether what follows a number sign is a colour.

    >>> _is_colour("1a1b1e"), _is_colour("m0a9")
    (True, False)
    """
    return re.fullmatch(r"[0-9a-f]{6}", word) is not None


def left_out(words: str) -> Markup:
    """Return the sentence that stands where a picture would."""
    return Markup('<p class="note">{}</p>').format(escape(words))
