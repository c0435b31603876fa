"""A real browser for the pages: Debian's chromium, or the one that CHROMIUM names.

Where there is none these tests are passed over, unless DISTINGUO_BROWSER=1 says that there has to be one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

DEMANDED = os.environ.get("DISTINGUO_BROWSER") == "1"
NAMES = ("chromium", "chromium-browser", "google-chrome")


def executable() -> str | None:
    """Return where the browser is."""
    given = os.environ.get("CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start the browser once."""
    if not DEMANDED:
        pytest.importorskip("playwright")
        if executable() is None:
            pytest.skip("there is no chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def new_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open pages, each in a context of its own; whatever one of them complains of fails the test."""
    contexts, complaints = [], []

    def opened(**options: Any) -> Any:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
