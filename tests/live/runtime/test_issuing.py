"""The issuing of duels by itself: a runtime, an issuer, and no maintenance."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from live.conftest import Clock
from rankduel.live.defaults import DAY
from rankduel.live.rules.duels import DuelRow
from rankduel.live.runtime.issuing import DuelIssuer
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.runtime.state import load_state
from rankduel.live.settings import new_settings
from rankduel.live.storage.contract import Created, storage_at
from rankduel.live.storage.writer import Writer

Issuing = Callable[..., DuelIssuer]


@pytest.fixture
def issuing(url: str, clock: Clock) -> Iterator[Issuing]:
    """Makes the issuer of a new tournament, with these settings."""
    with ExitStack() as stack:

        def make(**settings: Any) -> DuelIssuer:
            writer = Writer(storage_at(url))
            stack.callback(writer.close)
            created = Created(clock.now, new_settings(["a", "b", "c"], seed=1, **settings).to_dict())
            writer.put("search", [created]).result()
            runtime = TournamentRuntime("search", writer, *load_state(writer.storage, "search"))
            writer.listeners["search"] = runtime.happened
            return DuelIssuer(runtime, session=1)

        yield make


def stored(issuer: DuelIssuer) -> list[DuelRow]:
    """The duels in the storage, the oldest first."""
    runtime = issuer.runtime
    runtime.writer.flush("search")
    return runtime.storage.duels("search", 1000)[::-1]


def reasons(issuer: DuelIssuer, *queries: str, client: str | None = None) -> list[str | None]:
    return [duel.why for duel in issuer.ask_many([(query, client) for query in queries])]


def test_ids_count_up_and_the_same_query_gets_the_same_duel(issuing: Issuing) -> None:
    issuer = issuing()
    first, second, again, without = issuer.ask_many([("p", None), ("q", None), ("p", None), (None, None)])
    assert [first.id, second.id, without.id] == ["1-1", "1-2", "1-3"]
    assert again == first
    assert issuer.ask_many([("q", None)]) == [second]
    assert [row.query for row in stored(issuer)] == ["p", "q", None]


def test_a_duel_is_stored_as_it_was_issued(issuing: Issuing, clock: Clock) -> None:
    issuer = issuing(expires_after=60.0)
    (duel,) = issuer.ask_many([("q", "anna")])
    (row,) = stored(issuer)
    rankers = issuer.runtime.state.rankers
    assert (rankers[row.first], rankers[row.second]) == (duel.first, duel.second)
    assert (row.issued, row.expires, duel.expires) == (clock.now, clock.now + 60, clock.now + 60)
    assert row.client is not None
    assert "anna" not in row.client  # a salted hash


def test_new_queries_are_answered_without_the_storage(issuing: Issuing, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer = issuing()
    monkeypatch.setattr(issuer.runtime.storage, "duels_of", lambda *_: 1 / 0)
    asked = [(f"q{number}", None) for number in range(100)]
    duels = issuer.ask_now(asked)
    assert duels is not None
    assert issuer.ask_now(asked) == duels


def test_nothing_is_issued_while_it_is_paused(issuing: Issuing) -> None:
    issuer = issuing(baseline="b")
    (before,) = issuer.ask_many([("old", None)])
    issuer.runtime.state.phase = "paused"
    again, new = issuer.ask_many([("old", None), ("new", None)])
    assert again == before
    assert (new.id, new.why, new.first, new.second) == (None, "paused", "b", "b")
    assert len(stored(issuer)) == 1
    assert issuer.runtime.counters["serve paused"] == 1


def test_a_client_gets_so_many_duels_a_day(issuing: Issuing, clock: Clock) -> None:
    clock.now = 10 * DAY
    issuer = issuing(daily_cap=2)
    assert reasons(issuer, "p", "q", "r", client="anna") == [None, None, "daily_cap"]
    assert reasons(issuer, "s", client="bert") == [None]
    clock.now += DAY
    assert reasons(issuer, "t", client="anna") == [None]


def test_so_many_duels_are_in_flight(issuing: Issuing) -> None:
    assert reasons(issuing(in_flight_cap=2), "p", "q", "r") == [None, None, "in_flight_cap"]


def test_a_share_of_the_queries_gets_duels(issuing: Issuing) -> None:
    why = reasons(issuing(share=0.25), *(f"q{number}" for number in range(400)))
    assert set(why) == {None, "share"}
    assert 60 < why.count(None) < 140


def test_a_dry_run_stores_nothing(issuing: Issuing) -> None:
    issuer = issuing(shadow=True)
    (duel,) = issuer.ask_many([("q", None)])
    assert (duel.id, duel.ticket, duel.serve, duel.why) == (None, None, "baseline", "shadow")
    assert stored(issuer) == []


def test_a_bandit_that_raises_ends_duels(issuing: Issuing, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer = issuing(baseline="c")
    monkeypatch.setattr(issuer.runtime.state, "choose", lambda _: 1 / 0)
    duels = issuer.ask_many([("p", None), ("q", None)])
    assert [(duel.why, duel.first) for duel in duels] == [("failed", "c"), ("failed", "c")]
    assert isinstance(issuer.runtime.failure, ZeroDivisionError)


@pytest.mark.parametrize("broken", ["failure", "damage", "stalled"])
def test_without_the_storage_users_see_the_baseline(
    issuing: Issuing, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    issuer = issuing(baseline="a")
    (known,) = issuer.ask_many([("known", None)])
    if broken == "failure":
        issuer.runtime.writer.failure = OSError("disk")
    elif broken == "damage":
        issuer.runtime.storage.damage = "a page"
    else:
        monkeypatch.setattr(Writer, "stalled", True)
    again, new = issuer.ask_now([("known", None), ("new", None)]) or []
    assert again == known
    assert (new.why, new.first) == ("storage", "a")


def test_invalid_ids_are_refused_before_anything_is_issued(issuing: Issuing) -> None:
    issuer = issuing()
    with pytest.raises(ValueError, match="query_id must be 1 to 200 printable characters"):
        issuer.ask_many([("good", None), ("", None)])
    assert stored(issuer) == []
