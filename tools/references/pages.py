"""All reference pages, by the name of their file."""

from __future__ import annotations

import re
from pathlib import Path

from tools.references.api import api_page
from tools.references.commands import commands_page
from tools.references.files import files_page
from tools.references.settings import settings_page

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
CHANGELOG = FOLDER.parents[1] / "CHANGELOG.md"


def pages() -> dict[str, str]:
    """Return the text of every page, as the code has it now."""
    return {
        "settings.md": settings_page(),
        "command-line.md": commands_page(),
        "files.md": files_page(),
        "api.md": api_page(),
        "changelog.md": changelog_page(),
    }


def changelog_page() -> str:
    """Return the changelog of the repository, with links that lead from the page; other files have none there."""
    text = CHANGELOG.read_text(encoding="utf-8").replace("](docs/", "](../")
    return re.sub(r"\[([^\]]+)\]\((?!\.\./|https?:|#)[^)]+\)", r"\1", text)
