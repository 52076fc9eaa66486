"""A browser for the tests of a module. Without Chromium, these tests are skipped.

While Playwright runs, its event loop occupies the main thread: tests of other modules could not run theirs.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from dashboard.browsers import FLAGS, PROGRAM


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("no Chromium: Debian has it, apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=list(FLAGS))
        yield browser
        browser.close()
