"""Debian's Chromium, driven by Playwright, with windows that record console errors."""

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
_REFUSED = "Failed to load resource"  # for a 4xx response or no response: tests check the page instead


class Window:
    """A page with its own cookies, and its console errors."""

    def __init__(self, page: Page, port: int, scheme: str) -> None:
        self.page, self.origin = page, f"{scheme}://127.0.0.1:{port}"
        self.wrong: list[str] = []
        page.set_default_timeout(20_000)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_REFUSED):
            self.wrong.append(message.text)

    def open(self, path: str) -> None:
        """Open a page and wait until it is loaded."""
        self.page.goto(self.origin + path)
        self.page.wait_for_selector("main h1")

    def sign_in(self, key: str) -> None:
        self.page.fill("#key", key)
        self.page.click("button:has-text('Sign in')")

    def wait(self, text: str) -> None:
        """Wait until the page shows a text."""
        self.page.wait_for_selector(f"text={text}")

    def violations(self) -> list[str]:
        """The accessibility violations that axe-core finds on the page."""
        found = Axe().run(self.page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).response
        return [
            f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
            for one in found["violations"]
            for node in one["nodes"]
        ]


@contextmanager
def window(browser: Browser, port: int, *, scheme: str = "http", **context: Any) -> Iterator[Window]:
    """A window. Fails if there were console errors."""
    made = browser.new_context(bypass_csp=False, **context)
    try:
        window = Window(made.new_page(), port, scheme)
        yield window
        assert window.wrong == []
    finally:
        made.close()
