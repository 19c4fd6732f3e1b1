"""Makes the pictures of docs/analysis/explore.md: `python tools/explore_pictures.py MODEL CORPUS REPLICATES`.

MODEL was trained on CORPUS, the bundled sample, and REPLICATES are of `embeddings stability`. Requires Chromium and the
libraries of the extra `test`.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from headless_browser import browser, show, until
from PIL import Image
from playwright.sync_api import Page

PICTURES = Path(__file__).parents[1] / "docs" / "analysis" / "images"
COLOURS = 256  # of a picture, which makes it smaller


def main(model: str, corpus: str, replicates: str) -> None:
    """Start the page, look at it in several ways and save the pictures."""
    command = [sys.executable, "-m", "embeddings", "explore", model, "--corpus", corpus, "--confidence", replicates]
    process = subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    PICTURES.mkdir(exist_ok=True)
    try:
        with browser() as page:
            for name, (width, height, dark, look) in VIEWS.items():
                show(page, width, height, dark=dark)
                page.goto("about:blank")
                page.goto(address)
                until(page, "document.querySelector('#map')?.dataset.state === 'ready'")
                look(page)
                page.wait_for_timeout(600)  # until the map is drawn in full
                path = PICTURES / f"explore-{name}.png"
                page.screenshot(path=path, full_page=name == "neighbours")  # with the lines of the text
                Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    finally:
        process.terminate()
        process.wait()


def neighbours(page: Page) -> None:
    """The neighbours of a word."""
    page.fill("#word", "temperature")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#neighbours h2')?.innerText === 'temperature'")
    until(page, "document.querySelector('#lines .keyword')?.innerText.toLowerCase() === 'temperature'")


def completion(page: Page) -> None:
    """Completions, on a narrow window."""
    neighbours(page)
    page.fill("#word", "temp")
    until(page, "document.querySelectorAll('[role=option]').length > 3")
    page.keyboard.press("ArrowDown")


def comparison(page: Page) -> None:
    """Two words compared, with a part of the map."""
    page.click("#tab-compare")
    for name, word in (("a", "river"), ("b", "lake")):
        page.fill(f"#compare-{name}", word)
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#compare .concordance')")
    for _ in range(5):
        page.click("#zoom-in")
    page.evaluate("scrollTo(0, 0)")


View = tuple[int, int, bool, Callable[[Page], None]]
VIEWS: dict[str, View] = {  # width, height, whether dark, and what is shown
    "neighbours": (1280, 900, False, neighbours),
    "compare": (1280, 900, True, comparison),
    "narrow": (390, 844, False, completion),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
