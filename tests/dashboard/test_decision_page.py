"""The decision page and the leaderboard in a browser: printed on two pages, the same facts as Markdown and JSON."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from dashboard.browsers import window
from rankduel import Outcome
from rankduel.live import LocalTournament
from service.servers import Server, serving

FIRST, SECOND, TIE = Outcome.FIRST, Outcome.SECOND, Outcome.TIE
FAMILIES = ("bm25-flat", "bm25-title", "ltr-2", "ltr-2-click", "neural-small", "hybrid")
RANKERS = [f"{family}-{weight}" for family in FAMILIES for weight in (0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.2, 1.5)]


def play(t: LocalTournament, n: int, *, seed: int) -> None:
    """Play n duels of 4,000 clients, of which 60 % are ties."""
    random = np.random.default_rng(seed)
    truth = np.random.default_rng(5).normal(0, 0.4, len(RANKERS))
    truth[0] = truth.max() + 0.25
    arms = {name: arm for arm, name in enumerate(RANKERS)}
    for _ in range(0, n, 500):
        duels = t.ask_many([(None, f"user-{client}") for client in random.integers(0, 4000, 500)])
        if duels[0].id is None:
            return
        lead = np.array([truth[arms[duel.first]] - truth[arms[duel.second]] for duel in duels])
        first, tie = random.random(500) < 1 / (1 + np.exp(-lead)), random.random(500) < 0.6
        told = [
            TIE if even else FIRST if won else SECOND for even, won in zip(tie.tolist(), first.tolist(), strict=True)
        ]
        t.tell_many([one for one in zip(duels, told, strict=True) if one[0].id is not None])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    url = f"sqlite:///{tmp_path_factory.mktemp('decision')}/duels.db"
    for name, duels in (("shop", 60_000), ("short", 6_000)):
        with LocalTournament.create(name, rankers=RANKERS, storage=url, baseline="ltr-2-0.3", delta=0.05, seed=3) as t:
            play(t, 3_000, seed=1)
            for k in range(6):
                t.pause(f"release {k} of the index, which takes all afternoon", by="ann")
                t.start(by="ben")
            play(t, duels - 3_000, seed=2)
            if name == "shop":
                assert t.winner == RANKERS[0]
            else:
                t.stop("no time left", by="ann")
    LocalTournament.create("merged", rankers=RANKERS, storage=url, bandit="MergeDTS", seed=1).close()
    with serving(url) as server:
        yield server


@pytest.mark.parametrize("name", ["shop", "short"])
def test_the_decision_is_printed_on_two_pages(browser: Browser, server: Server, name: str) -> None:
    with window(browser, server.port) as visitor:
        visitor.open(f"/t/{name}/decision")
        visitor.page.click("summary:has-text('Assumptions')")
        shown = visitor.page.inner_text(".sheet").replace("\u00a0", " ")
        visitor.page.click("summary:has-text('Assumptions')")
        pdf = visitor.page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2
        assert visitor.page.evaluate("document.querySelector('details.assumptions').open") is False
    with server.client as client:
        report = client.get(f"/v1/tournaments/{name}/report").body
        markdown = client.get(f"/v1/tournaments/{name}/report.md").raw.decode().replace("\\", "")
    texts = [one["sentence"] for one in report["comparisons"]] + [one["text"] for one in report["timeline"]]
    texts += [report["headline"], report["effect_text"], *report["assumptions"]]
    texts += [part for one in report["next_steps"] for part in one.values()]
    assert len(texts) > 20
    assert [text for text in texts if text not in shown] == []
    assert [text for text in texts if text not in markdown] == []
    assert ("Stopped before a decision" in shown) == (name == "short")


def test_the_printed_page_has_the_assumptions(browser: Browser, server: Server) -> None:
    """Chromium opens the fold before it prints, as a browser does for its print dialog."""
    with window(browser, server.port) as visitor:
        visitor.open("/t/shop/decision")
        folded = visitor.page.evaluate("""() => {
            dispatchEvent(new Event("beforeprint"));
            const open = document.querySelector("details.assumptions").open;
            dispatchEvent(new Event("afterprint"));
            return [open, document.querySelector("details.assumptions").open];
        }""")
        assert folded == [True, False]


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_with_long_names_are_accessible_and_fit(browser: Browser, server: Server, width: int) -> None:
    with window(browser, server.port, viewport={"width": width, "height": 900}) as visitor:
        for path in ("/t/shop/decision", "/t/short/decision", "/t/shop/leaderboard", "/t/shop", "/t/merged/decision"):
            visitor.open(path)
            for summary in visitor.page.query_selector_all("summary"):
                summary.click()
            assert visitor.violations() == [], path
            assert visitor.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_batches_have_a_tab_only_if_there_are_any(browser: Browser, server: Server) -> None:
    with window(browser, server.port) as visitor:
        visitor.open("/t/shop")
        expect(visitor.page.locator(".tabs a", has_text="Decision")).to_have_count(1)
        expect(visitor.page.locator(".tabs a", has_text="Batches")).to_have_count(0)
        visitor.open("/t/merged")
        expect(visitor.page.locator(".tabs a", has_text="Batches")).to_have_count(1)


def test_intervals_have_an_axis_that_fits(browser: Browser, server: Server) -> None:
    with window(browser, server.port) as visitor:
        visitor.open("/t/shop/leaderboard")
        low, middle, high = visitor.page.locator(".board .axis span").all_inner_texts()
        assert middle.replace("\u00a0", " ") == "50 %"
        assert 0 < int(low.split("\u00a0")[0]) < 50 < int(high.split("\u00a0")[0]) < 100
        first = visitor.page.locator("#rows th").first
        assert first.inner_text() == RANKERS[0]
        visitor.page.click("button:has-text('Rating')")
        assert first.inner_text() == RANKERS[0]
        visitor.page.select_option("#state", "eliminated")
        expect(visitor.page.locator("#rows td .ranker.champion")).to_have_count(0)
        halves = visitor.page.evaluate("""async () => {
            const { axisOf } = await import("/assets/components.js");
            const line = (low, share, high) => ({ low, win_share: share, high });
            return [
                axisOf([line(0.46, 0.48, 0.5), line(0.49, 0.52, 0.55)]), axisOf([line(0, 0.5, 1)]), axisOf([]),
                axisOf([line(0.46, 0.5, 0.54), line(0.46, 0.5, 0.54), line(0, 0.5, 1)]),
                axisOf([line(0.46, 0.5, 0.54), line(0.46, 0.5, 0.54), line(0, 0.5, 1)], 1, 1),
            ];
        }""")
        assert halves == [0.05, 0.5, 0.5, 0.05, 0.5]
