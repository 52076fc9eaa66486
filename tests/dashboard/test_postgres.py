"""The dashboard with tournaments in PostgreSQL, and a database that stops and starts again."""

import numpy as np
from playwright.sync_api import Browser, expect

from dashboard.browsers import window
from dashboard.tournaments import names, play, show
from postgres.server import running
from rankduel.live import LocalTournament
from service.servers import serving

PAGES = ("", "/timeline", "/leaderboard", "/preferences", "/batches", "/duels/1-1001", "/health", "/decision")


def test_the_dashboard_on_postgresql(browser: Browser) -> None:
    with running() as database:
        url = database.empty()
        with LocalTournament.create("t", rankers=names(8), storage=url, baseline="ranker-3", seed=1) as t:
            play(t, 1_000, np.linspace(3, 0, 8))
            show(t, "q-1", told=True)
        with serving(url, keys_every=0.2) as server, window(browser, server.port) as visitor:
            page = visitor.page
            for path in PAGES:
                visitor.open(f"/t/t{path}")
                expect(page.locator("#bar .status")).to_have_text("Running", timeout=20_000)
                if path.startswith("/duels"):
                    assert page.locator(".lists li").count() == 12
                    visitor.wait("After 1,000 outcomes")
            visitor.open("/t/t/duels?find=q-1")
            expect(page.locator(".inspector")).to_have_attribute("aria-label", "Duel 1-1001")
            visitor.open("/?search=T&status=running")
            expect(page.locator("#found")).to_have_text("1 tournament")
            visitor.open("/t/t")
            visitor.wait("1,001 today")
            database.stop()
            expect(page.locator("#bar .status")).to_have_text("Failing", timeout=20_000)
            visitor.wait("Failure: the storage cannot be read.")
            page.click("nav >> text=Health")
            visitor.wait("The audit log cannot be read: the storage does not answer.")
            page.click("nav >> text=Duels")
            visitor.wait("This page appears as soon as it answers.")
            database.start()
            visitor.wait("Select a duel")
            expect(page.locator("#bar .status")).to_have_text("Running", timeout=20_000)
            expect(page.locator("#banner")).to_be_hidden()
