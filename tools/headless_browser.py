"""A headless Chromium, driven by Playwright."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 60  # after which a page that does not change fails a test


def executable() -> str | None:
    """The path of Chromium or Chrome; None if there is none."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES))), None)


@contextmanager
def browser() -> Iterator["Page"]:
    """A new headless browser with an empty page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable(), args=["--no-proxy-server"])
        try:
            page = running.new_page()
            page.set_default_timeout(1000 * SECONDS)
            show(page)
            yield page
        finally:
            running.close()


def show(page: "Page", width: int = 1280, height: int = 860, *, dark: bool = False) -> None:
    """Set the size of the window and the colour scheme."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light")


def until(page: "Page", expression: str) -> None:
    """Wait until an expression of JavaScript is true; the page's own way evaluates text, which it does not allow."""
    end = time.monotonic() + SECONDS
    while not page.evaluate(f"!!({expression})"):
        assert time.monotonic() < end, (expression, page.inner_text("body"))
        time.sleep(0.05)
