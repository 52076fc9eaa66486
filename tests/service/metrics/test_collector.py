"""The registry without a server: counters, labels, states of duels."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client.exposition import generate_latest

import rankduel as rd
from rankduel.live import LiveDuel, LocalTournament
from rankduel.service.metrics import RequestCounters, ServiceState, labels, make_registry
from rankduel.service.metrics.catalog import METRICS
from service.metrics.scrapes import Scrape


def scraped(counters: RequestCounters, *tournaments: LocalTournament, broken: tuple[str, ...] = ()) -> Scrape:
    state = ServiceState(tournaments=tournaments, broken=broken, storage_failing=False, clock_jumped=True, webhooks=())
    return Scrape(generate_latest(make_registry(counters, lambda: state)).decode())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/duels.db"


@pytest.fixture
def four(url: str) -> Iterator[list[LocalTournament]]:
    """Four tournaments whose age is not their alphabetical order."""
    with ExitStack() as opened:
        yield [
            opened.enter_context(LocalTournament.create(name, rankers=["a", "b"], baseline="a", storage=url, seed=1))
            for name in ("d", 'c "quoted"\\', "b", "a")
        ]


def test_requests_are_counted_in_a_cumulative_histogram() -> None:
    counters = RequestCounters()
    for seconds in (0.0005, 0.003, 0.003, 100.0):
        counters.count_request("GET", "/livez", 200, seconds)
    found = scraped(counters)
    assert found.one("rankduel_requests_total", method="GET", path="/livez", status="200") == 4
    buckets = list(found.all("rankduel_request_seconds_bucket").values())
    assert sorted(buckets)[0] == found.one("rankduel_request_seconds_bucket", le="0.001") == 1
    assert found.one("rankduel_request_seconds_bucket", le="0.005") == 3
    assert found.one("rankduel_request_seconds_bucket", le="+Inf") == 4
    assert found.one("rankduel_request_seconds_count", path="/livez") == 4
    assert found.one("rankduel_request_seconds_sum", path="/livez") == pytest.approx(100.0065)


def test_states_of_the_service(four: list[LocalTournament]) -> None:
    found = scraped(RequestCounters(), four[0], broken=("sick",))
    assert found.one("rankduel_tournament_broken", tournament="sick") == 1
    assert found.one("rankduel_clock_jumped") == 1
    assert found.one("rankduel_storage_failing") == 0
    assert found.one("rankduel_build_info", version=rd.__version__) == 1
    assert found.one("process_resident_memory_bytes") > 1e6


def test_asks_and_tells_by_tournament_and_reason(four: list[LocalTournament]) -> None:
    counters = RequestCounters()
    counters.asks.update({("d", "duel", None): 2, ("b", "baseline", "share"): 3, ("deleted", "duel", None): 9})
    counters.tells.update({(four[1].name, "accepted"): 4, ("deleted", "accepted"): 9})
    counters.events["late"] = 5
    found = scraped(counters, *four)
    assert found.all("rankduel_asks_total") == {
        (("serve", "duel"), ("tournament", "d"), ("why", "none")): 2,
        (("serve", "baseline"), ("tournament", "b"), ("why", "share")): 3,
    }
    assert found.all("rankduel_tells_total") == {(("status", "accepted"), ("tournament", 'c "quoted"\\')): 4}
    assert found.one("rankduel_events_total", status="late") == 5


def test_reasons_are_a_closed_set_that_has_all_reasons(four: list[LocalTournament]) -> None:
    counters = RequestCounters()
    counters.asks.update({("d", "baseline", f"invented {number}"): 1 for number in range(50)})
    assert scraped(counters, *four).one("rankduel_asks_total") == 50
    described = (LiveDuel.__doc__ or "").partition("`why` is the reason")[2].partition(".")[0]
    reasons = set(re.findall(r"`(\w+)`", described))
    assert len(reasons) >= 9
    assert reasons <= labels.REASONS


@pytest.mark.usefixtures("four")
def test_beyond_the_limit_tournaments_share_a_label(
    four: list[LocalTournament], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest keep theirs, archived ones lose theirs first, and everything else is added up."""
    assert labels.MAX_TOURNAMENT_LABELS == 200
    monkeypatch.setattr(labels, "MAX_TOURNAMENT_LABELS", 2)
    counters = RequestCounters()
    for number, t in enumerate(four, 1):
        counters.asks[t.name, "duel", None] = number
        for query in range(number):
            t.tell(t.ask(str(query)), rd.Outcome.TIE)
    shared = scraped(counters, *reversed(four))
    assert shared.all("rankduel_asks_total", why="none") == {
        (("serve", "duel"), ("tournament", name), ("why", "none")): count
        for name, count in (("d", 1), ('c "quoted"\\', 2), ("other", 3 + 4))
    }
    assert shared.one("rankduel_duels_finished_total", tournament="other", state="resolved") == 7
    assert shared.one("rankduel_tournament_status", tournament="other", status="running") == 2
    monkeypatch.setattr(LocalTournament, "status", property(lambda t: "archived" if t.name == "d" else "running"))
    archived = scraped(counters, *four)
    assert {dict(key)["tournament"] for key in archived.all("rankduel_asks_total")} == {
        'c "quoted"\\', "b", "other"
    }  # fmt: skip
    assert archived.one("rankduel_tournament_status", tournament="other", status="archived") == 1


def test_each_duel_is_in_exactly_one_state(url: str) -> None:
    """A duel of each kind: resolved, without a signal, expired, told after it expired, void, and in flight."""
    with LocalTournament.create("t", rankers=["a", "b", "c"], storage=url, seed=1, expires_after=0.3) as t:
        duels = [t.ask(str(query)) for query in range(7)]
        t.tell_many([(duel, rd.Outcome.FIRST) for duel in duels[:2]])
        page = duels[2].interleave(["x"], ["y"], k=2)
        t.show(duels[2], page)
        t.tell(duels[2], clicks=[], shown=page)
        t.void(duels[3])
        until = time.monotonic() + 30
        while t.counts.expired < 3 and time.monotonic() < until:
            time.sleep(0.05)
        assert t.tell(duels[4], rd.Outcome.SECOND).status == "late"
        t.ask("in flight")
        t._runtime.writer.flush("t")
        until = time.monotonic() + 30
        while t.durable_counts.issued < 8 and time.monotonic() < until:
            time.sleep(0.01)
        found = scraped(RequestCounters(), t)
    states = {dict(key)["state"]: value for key, value in found.all("rankduel_duels_finished_total").items()}
    assert states == {"resolved": 2, "no_signal": 1, "expired": 3, "void": 1, "failed": 0}
    assert found.one("rankduel_duels_in_flight") == 1
    assert found.one("rankduel_duels_late_total") == 1
    assert found.one("rankduel_duels_shown_total") == 1
    assert found.one("rankduel_duels_issued_total") == sum(states.values()) + 1


def test_the_status_is_the_only_one_and_any_status_works(
    four: list[LocalTournament], monkeypatch: pytest.MonkeyPatch
) -> None:
    four[0].pause()
    found = scraped(RequestCounters(), four[0])
    assert found.all("rankduel_tournament_status") == {(("status", "paused"), ("tournament", "d")): 1}
    monkeypatch.setattr(LocalTournament, "status", "rolled_out")
    found = scraped(RequestCounters(), four[0])
    assert found.all("rankduel_tournament_status") == {(("status", "rolled_out"), ("tournament", "d")): 1}


def test_rankers_left(url: str) -> None:
    """Without those that were retired or eliminated, as the decision says."""
    with LocalTournament.create("t", rankers=["a", "b", "c", "d"], storage=url, seed=1, delta=0.1) as t:
        t.retire("a")
        assert scraped(RequestCounters(), t).one("rankduel_rankers_left") == 3 == len(t.decision().left)
        while t.winner is None:
            duel = t.ask()
            t.tell(duel, rd.Outcome.SECOND if duel.second == "b" else rd.Outcome.FIRST)
        assert scraped(RequestCounters(), t).one("rankduel_rankers_left") == 1 == len(t.decision().left)


def test_every_metric_says_how_to_combine_processes(four: list[LocalTournament]) -> None:
    counters = RequestCounters()
    found = scraped(counters, *four)
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        family = found.families[metric.name.removesuffix("_total")]
        assert (family.type, family.documentation) == (metric.kind, metric.help)
        words = "same in every process: take the maximum" if metric.advice.startswith("The same") else "Of this process"
        assert words in family.documentation
        assert ("add up" in family.documentation) == (metric.combined == "sum")
