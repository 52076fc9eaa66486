"""The forecast on the overview page and in its response, in a real browser."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from dashboard.browsers import window
from dashboard.tournaments import keys, names, play
from rankduel.live import LocalTournament
from service.servers import serving


def test_the_overview_shows_the_interval_in_duels_and_time(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=names(5), storage=url, delta=0.05, tolerance=0.05, seed=1) as t:
        play(t, 1_500, [0.5, 0.3, 0.0, -0.1, -0.3])
        assert not t.decision().tied
    made = keys(url)
    with serving(url) as server, window(browser, server.port) as visitor:
        visitor.open("/t/t")
        visitor.sign_in(made["read"])
        main = visitor.page.locator("main")
        expect(main).to_contain_text("80\u00a0% interval", timeout=40_000)
        expect(main).to_contain_text("more duels, at today's traffic")
        with server.client.with_key(made["read"]) as client:
            overview = client.get("/v1/tournaments/t/overview").body
        forecast, days = overview["forecast"], overview["forecast_days"]
        assert forecast["least"] <= forecast["duels"] <= forecast["most"] <= forecast["horizon"]
        assert not forecast["too_early"]
        assert forecast["chance"] > 0.9
        assert days["most"] == forecast["most"] / overview["per_day"]
