"""Make docs/playground.html, one file without any other, from the modules of the playground and of the studio's view.

Run it after every change: ``python playground/build.py``. A test compares the file with what this makes.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "playground" / "page"
FIRST = PAGE / "app.js"
MADE = ROOT / "docs" / "playground.html"

_IMPORT = re.compile(r"^import \{([^}]*)\} from \"([^\"]+)\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class) )", re.MULTILINE)
_NAMED = re.compile(r"^export (?:function|class) (\w+)|^export const (?:(\w+)|\[([^\]]*)\]) =", re.MULTILINE)


def build() -> str:
    """Return the page with its style and all modules in it."""
    page = (PAGE / "page.html").read_text(encoding="utf-8")
    style = (PAGE / "style.css").read_text(encoding="utf-8").rstrip("\n")
    return page.replace("/*STYLE*/", style).replace("/*SCRIPT*/", bundled(FIRST))


def bundled(first: Path) -> str:
    """Return a module and all that it imports as one script, each in a function of its own: names stay apart."""
    order = modules_from(first)
    names = {path: f"module{number}" for number, path in enumerate(order)}
    return "\n".join(_wrapped(path, names) for path in order)


def modules_from(first: Path) -> list[Path]:
    """Return a module and all that it imports, each after those that it imports itself."""
    order: list[Path] = []

    def visit(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            raise SystemExit(f"{path} imports itself, by way of {above[-1]}.")
        if path not in order:
            for _, place in _IMPORT.findall(path.read_text(encoding="utf-8")):
                visit((path.parent / place).resolve(), (*above, path))
            order.append(path)

    visit(first, ())
    return order


def _wrapped(path: Path, names: dict[Path, str]) -> str:
    source = path.read_text(encoding="utf-8")

    def taken(found: re.Match[str]) -> str:
        wanted = ", ".join(name.strip() for name in found[1].split(",") if name.strip())
        return f"const {{ {wanted} }} = {names[(path.parent / found[2]).resolve()]};\n"

    body = _EXPORT.sub("", _IMPORT.sub(taken, source)).rstrip("\n")
    if "</script" in body or re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise SystemExit(f"{path} has an import or export, or a tag, that cannot be put into one page.")
    given = ", ".join(_given(source))
    place = path.relative_to(ROOT).as_posix()
    return f"// {place}\nconst {names[path]} = (() => {{\n{body}\nreturn {{ {given} }};\n}})();"


def _given(source: str) -> list[str]:
    r"""Return the names that a module exports.

    >>> _given("export const [A, B] = [1, 2];\nexport function f() {}\n")
    ['A', 'B', 'f']
    """
    found = []
    for one, other, several in _NAMED.findall(source):
        found += [name.strip() for name in several.split(",")] if several else [one or other]
    return found


if __name__ == "__main__":
    MADE.write_text(build(), encoding="utf-8")
