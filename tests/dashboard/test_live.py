"""Live updates: behind the documented nginx, when nothing arrives, and when the service is gone for a while."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect

from dashboard.browsers import Window, window
from dashboard.tournaments import keys, names
from service.nginx import Nginx, proxied
from service.servers import Client, Server, serving

SOON = 40_000  # milliseconds: the page notices silence after 12 s, on an idle machine


def tell(client: Client, n: int) -> None:
    """Tell some outcomes, which the overview counts."""
    duels = client.post("/v1/tournaments/t/ask", {"n": n}).body["duels"]
    told = [{"ticket": duel["ticket"], "outcome": "first"} for duel in duels]
    assert client.post("/v1/tournaments/t/tell", told).status == 200


@contextmanager
def behind_nginx(browser: Browser, tmp_path: Path) -> Iterator[tuple[Server, Nginx, Window, dict[str, str]]]:
    """A server with the tournament `t`, the proxy, and a signed-in window that shows it through the proxy."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with serving(url) as server, server.client as client:
        client.post("/v1/tournaments", {"name": "t", "rankers": names(4), "seed": 1})
    made = keys(url)
    with (
        serving(url) as server,
        proxied(server.port) as nginx,
        window(browser, nginx.port, scheme="https", ignore_https_errors=True) as visitor,
    ):
        visitor.open("/t/t")
        visitor.sign_in(made["admin"])
        visitor.wait("Get started")
        yield server, nginx, visitor, made


def shows(visitor: Window, outcomes: int) -> None:
    expect(visitor.page.locator("main")).to_contain_text(f"{outcomes} today", timeout=SOON)


def is_live(visitor: Window) -> None:
    expect(visitor.page.locator("#banner")).to_be_hidden(timeout=SOON)


def is_not_live(visitor: Window, text: str = "") -> None:
    banner = visitor.page.locator("#banner")
    expect(banner).to_have_text(re.compile(rf"Not live: retrying\. {text}Last update \d\d:\d\d:\d\d\."), timeout=SOON)


def test_behind_the_documented_proxy_pages_are_live(browser: Browser, tmp_path: Path) -> None:
    """Events come through at once: the page does not ask by itself while it is live."""
    with behind_nginx(browser, tmp_path) as (server, _, visitor, made):
        (cookie,) = visitor.page.context.cookies()
        assert cookie["secure"]
        with server.client.with_key(made["admin"]) as client:
            for outcomes in (10, 20, 30):
                tell(client, 10)
                shows(visitor, outcomes)
        visitor.page.wait_for_timeout(15_000)  # longer than the page waits for a heartbeat
        is_live(visitor)


def test_a_proxy_that_holds_the_stream_back(browser: Browser, tmp_path: Path) -> None:
    """The page says that it is not live, asks by itself, and is live again when the proxy is mended."""
    with behind_nginx(browser, tmp_path) as (server, nginx, visitor, made), server.client as anybody:
        client = anybody.with_key(made["admin"])
        nginx.stop()
        nginx.start("proxy_ignore_headers X-Accel-Buffering;")
        is_not_live(visitor)
        tell(client, 10)
        shows(visitor, 10)  # by asking
        is_not_live(visitor)
        nginx.stop()
        nginx.start()
        is_live(visitor)
        tell(client, 10)
        shows(visitor, 20)
        client.close()


def test_a_service_that_stops_under_an_open_page(browser: Browser, tmp_path: Path) -> None:
    """The proxy answers 502. The page keeps its data, says since when, and goes on when the service is back."""
    with behind_nginx(browser, tmp_path) as (server, _, visitor, made):
        with server.client.with_key(made["admin"]) as client:
            tell(client, 10)
        shows(visitor, 10)
        visitor.page.evaluate("window.marker = 'not loaded again'")
        server.stop()
        is_not_live(visitor, r"The server does not answer\. This page may be outdated\. ")
        shows(visitor, 10)
        visitor.page.wait_for_timeout(5000)
        is_not_live(visitor, r"The server does not answer\. This page may be outdated\. ")
        with serving(f"sqlite:///{tmp_path}/duels.db", port=server.port) as again:
            is_live(visitor)
            with again.client.with_key(made["admin"]) as client:
                tell(client, 10)
            shows(visitor, 20)
        assert visitor.page.evaluate("window.marker") == "not loaded again"


def test_a_service_that_hangs_under_an_open_page(browser: Browser, tmp_path: Path) -> None:
    """No connection breaks, but no heartbeat comes."""
    with behind_nginx(browser, tmp_path) as (server, _, visitor, made):
        server.process.send_signal(signal.SIGSTOP)
        try:
            is_not_live(visitor)
        finally:
            server.process.send_signal(signal.SIGCONT)
        is_live(visitor)
        with server.client.with_key(made["admin"]) as client:
            tell(client, 10)
        shows(visitor, 10)
