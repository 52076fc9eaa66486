"""A real browser: Debian's Chromium, driven by Playwright; and a window of it that keeps what went wrong."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_REFUSED = "Failed to load resource"  # how Chromium tells of an answer 4xx, or of none: what pages do then is tested


class Window:
    """A page with its own cookies, and what its console has said."""

    def __init__(self, page: Page, port: int) -> None:
        self.page, self.port = page, port
        self.wrong: list[str] = []
        page.set_default_timeout(20_000)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_REFUSED):
            self.wrong.append(message.text)

    def open(self, path: str) -> None:
        """Go to a page, and wait until it is there."""
        self.page.goto(f"http://127.0.0.1:{self.port}{path}")
        self.page.wait_for_selector("main h1")

    def sign_in(self, key: str) -> None:
        self.page.fill("#key", key)
        self.page.click("button:has-text('Sign in')")

    def wait(self, text: str) -> None:
        """Until a text is somewhere on the page."""
        self.page.wait_for_selector(f"text={text}")

    def violations(self) -> list[str]:
        """What axe-core finds wrong with the page as it is."""
        found = Axe().run(self.page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).response
        return [
            f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
            for one in found["violations"]
            for node in one["nodes"]
        ]


@contextmanager
def window(browser: Browser, port: int, **context: Any) -> Iterator[Window]:
    """A window that must not have had anything to complain about."""
    made = browser.new_context(bypass_csp=False, **context)
    try:
        window = Window(made.new_page(), port)
        yield window
        assert window.wrong == []
    finally:
        made.close()
