"""Pictures of the studio as a browser shows it.

    python -m tools.screens

writes docs/images/studio.png. It needs playwright (``pip install -e ".[browser]"``) and chromium, or the browser that
CHROMIUM names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import distinguo as dg

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "studio.png"
SIZE = {"width": 1280, "height": 800}
STATES = (
    (0.58, 0.38),
    (0.42, 0.62),
)  #: places on the map that are clicked, as shares of its width and height


def main() -> None:
    """Learn a run, open it in the studio, ask why two states are kept apart, and take a picture."""
    with tempfile.TemporaryDirectory() as base:
        dg.learn("puck", seed=1, out=f"{base}/runs/seed-1")
        words = ["studio", "runs", "--port", "0", "--no-browser", "--json"]
        command = [sys.executable, "-m", "distinguo", *words]
        with subprocess.Popen(command, cwd=base, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
            try:
                assert server.stdout is not None
                photograph(json.loads(server.stdout.readline())["address"], IMAGE)
            finally:
                server.terminate()


def photograph(address: str, image: Path) -> None:
    """Take a picture of the studio with two states clicked."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        page.click("text=seed-1")
        page.wait_for_selector(".pane:not(.is-empty) .state")
        box = page.locator(".map canvas").first.bounding_box()
        assert box is not None
        for across, down in STATES:
            page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])
            page.wait_for_timeout(1500)
        page.screenshot(path=image)
        browser.close()


if __name__ == "__main__":
    main()
