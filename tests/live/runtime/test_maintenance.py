"""Maintenance by itself: what is due is done by `run_due`, and nothing before it is due."""

from collections.abc import Iterator
from typing import Any

import pytest

import rankduel as rd
from live.conftest import Clock
from rankduel.live import Guardrail, LocalTournament, Signal
from rankduel.live.runtime.maintenance import Maintenance

WINDOW, EXPIRES = 60.0, 600.0  # seconds


@pytest.fixture
def t(url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalTournament]:
    """A tournament whose maintenance only the test runs, by a clock that only the test sets."""
    monkeypatch.setattr("rankduel.live.storage.open_storages._MAINTENANCE_INTERVAL_SECONDS", 600.0)
    settings: dict[str, Any] = {"attribution": {"window": WINDOW}, "expires_after": EXPIRES}
    rail = Guardrail("error", bound=0.1, window=3600, minimum=10)
    with LocalTournament.create("search", rankers=["a", "b"], storage=url, seed=1, guardrails=[rail], **settings) as t:
        yield t


def run(t: LocalTournament) -> None:
    t._maintenance.run_due()


def signal(clock: Clock, query: str, action: str, document: object = None) -> Signal:
    return Signal(
        query, action, None if document is None else str(document), None, clock.now, None, f"{query} {action}"
    )


def shown(t: LocalTournament, query: str) -> tuple[rd.live.LiveDuel, rd.interleaving.Interleaved]:
    duel = t.ask(query)
    page = duel.interleave("abcd", "efgh", 4)
    t.show(duel)
    return duel, page


def test_a_duel_is_resolved_when_its_window_closes(t: LocalTournament, clock: Clock) -> None:
    duel, page = shown(t, "q")
    t.observe([signal(clock, "q", "click", page.documents[0])])
    clock.now += WINDOW - 1
    run(t)
    assert t.counts.resolved == 0
    clock.now += 2
    run(t)
    (row,) = t.duels()
    assert page.credit_data is not None
    assert (row.id, row.state, row.outcome) == (duel.id, "resolved", page.credit_data[0])


def test_a_page_without_a_click_has_no_signal(t: LocalTournament, clock: Clock) -> None:
    shown(t, "q")
    clock.now += WINDOW + 1
    run(t)
    assert (t.counts.no_signal, t.counts.resolved) == (1, 0)


def test_a_duel_expires_in_its_time(t: LocalTournament, clock: Clock) -> None:
    duel = t.ask("q")
    clock.now += EXPIRES - 1
    run(t)
    assert t.counts.expired == 0
    clock.now += 2
    run(t)
    assert t.counts.expired == 1
    assert t.tell(duel, rd.Outcome.FIRST).status == "late"


def test_a_guardrail_pauses_and_says_why(t: LocalTournament, clock: Clock) -> None:
    duels = [t.ask(f"q{number}") for number in range(30)]
    t.observe([signal(clock, f"q{number}", "error") for number in range(15)])
    t.tell_many([(duel, rd.Outcome.TIE) for duel in duels])
    run(t)
    assert t.status == "paused"
    (paused,) = (event for event in t.audit() if event.kind == "paused")
    assert paused.body["by"] == "guardrail"
    assert "error on 15 of 30 pages" in paused.body["reason"]


def test_a_few_errors_pause_nothing(t: LocalTournament, clock: Clock) -> None:
    duels = [t.ask(f"q{number}") for number in range(30)]
    t.observe([signal(clock, "q0", "error")])
    t.tell_many([(duel, rd.Outcome.TIE) for duel in duels])
    run(t)
    assert t.status == "running"


def test_only_the_leader_resolves_and_expires(
    t: LocalTournament, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    t.ask("q")
    t._runtime.writer.flush("search")
    clock.now += EXPIRES + 1
    with monkeypatch.context() as patched:
        patched.setattr(t.storage, "leads", lambda _: False)
        run(t)
        assert t._runtime.counters.get("expired", 0) == 0
    run(t)
    assert t._runtime.counters["expired"] == 1


def test_a_storage_that_has_failed_is_tried_again(t: LocalTournament) -> None:
    t._runtime.writer.failure = OSError("disk")
    assert t.ask("q").why == "storage"
    run(t)
    assert t._runtime.writer.failure is None
    assert t.ask("q").why is None


def test_failing_steps_are_named_and_forgotten(t: LocalTournament, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = t._runtime
    maintenance = Maintenance(runtime)
    with monkeypatch.context() as patched:
        patched.setattr(maintenance, "resolve", lambda: 1 / 0)
        patched.setattr(runtime, "recover", lambda: int("x"))
        maintenance.run_due()
    resolve, recover = (runtime.maintenance_failure or "").split("; ")
    assert resolve == "cannot resolve duels: ZeroDivisionError('division by zero')"
    assert recover.startswith("cannot recover: ValueError(")
    maintenance.run_due()
    assert runtime.maintenance_failure is None
