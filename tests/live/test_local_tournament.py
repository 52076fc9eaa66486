import itertools
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from live.conftest import Clock
from live.learning import learnt
from live.unsynced import unsynced
from rankduel.live import LocalTournament, local_tournament, view_at
from rankduel.live.runtime import runtime, snapshots
from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import Batch, Change, Committed

FIRST, SECOND, TIE = rd.Outcome.FIRST, rd.Outcome.SECOND, rd.Outcome.TIE
NAMES = ["bm25", "ltr", "neural", "hybrid", "old"]


def create(url: str, **options: Any) -> LocalTournament:
    settings: dict[str, Any] = {"rankers": NAMES, "storage": url, "seed": 1}
    return LocalTournament.create("search", **settings | options)


def better(t: LocalTournament, duel: rd.live.LiveDuel) -> rd.Outcome:
    """Whoever stands further to the left wins."""
    return FIRST if t.rankers.index(duel.first) <= t.rankers.index(duel.second) else SECOND


def play(t: LocalTournament, duels: int) -> None:
    for _ in range(duels):
        duel = t.ask()
        if duel.id is None:
            return
        t.tell_many([(duel, better(t, duel))])


def same_as_replay(t: LocalTournament) -> bool:
    t._runtime.writer.flush(t.name)
    return learnt(State.replay(t.journal())) == learnt(t._state)


@pytest.fixture
def quick() -> Iterator[None]:
    with unsynced():
        yield


# Ask


def test_the_same_query_gets_the_same_duel_for_ever(url: str) -> None:
    with create(url) as t:
        duels = {query: t.ask(query) for query in ("a", "b", "c", "d", "e", "f")}
        assert len({duel.id for duel in duels.values()}) == 6
        t.tell(duels["a"], FIRST)
        t.tell(duels["b"], TIE)
        assert {query: t.ask(query) for query in duels} == duels
    with LocalTournament.open("search", storage=url) as t:
        assert {query: t.ask(query) for query in duels} == duels
        assert t.counts.issued == 6
        assert t.ask("g").id not in {duel.id for duel in duels.values()}


def test_asks_without_a_query_are_all_new(url: str) -> None:
    with create(url) as t:
        assert t.ask().id != t.ask().id


def test_nothing_is_answered_or_learnt_before_it_is_stored(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with create(url) as t:
        gate, inside = threading.Event(), threading.Event()
        commit = t.storage.commit

        def held(batch: Batch) -> Committed:
            inside.set()
            gate.wait()
            return commit(batch)

        monkeypatch.setattr(t.storage, "commit", held)
        duel = t.ask("a")
        futures = [t.tell_soon([(duel, FIRST)]) for _ in range(2)]
        inside.wait()
        assert t.ask("a") == duel  # not in the storage yet, and found
        assert not any(future.done() for future in futures)  # not even the duplicate
        assert t._state.bandit.told == 0
        gate.set()
        assert [future.result()[0].status for future in futures] == ["accepted", "duplicate"]
        assert t._state.bandit.told == 1


def test_pages_are_determined_by_the_duel(url: str) -> None:
    lists = [f"a{n}" for n in range(20)], [f"b{n}" for n in range(20)]
    with create(url) as t:
        duels = [t.ask(f"q{n}") for n in range(20)]
        pages = [duel.interleave(*lists, k=10).documents for duel in duels]
        assert [duel.interleave(*lists, k=10).documents for duel in duels] == pages
        assert len(set(pages)) > 10
        assert len({duel.seed for duel in duels}) == 20
    with LocalTournament.open("search", storage=url) as t:
        assert [t.ask(f"q{n}").interleave(*lists, k=10).documents for n in range(20)] == pages


def test_clients_are_stored_as_hashes(url: str) -> None:
    with create(url) as t:
        for query, client in enumerate(["anna@example.org", "anna@example.org", "ben"]):
            t.ask(str(query), client)
        assert t.counts.issued == 3
        asked = t.duels()
    assert asked[2].client == asked[1].client != asked[0].client
    assert b"anna" not in Path(url.removeprefix("sqlite:///")).read_bytes()


# Tell


def test_statuses(url: str, clock: Clock) -> None:
    with create(url, expires_after=60) as t:
        duel, late = t.ask("a"), t.ask("b")
        assert t.tell(duel, FIRST) == rd.live.Receipt(rd.live.Status.ACCEPTED, FIRST)
        assert t.tell(duel, FIRST).status == "duplicate"
        assert t.tell(duel, SECOND) == rd.live.Receipt(rd.live.Status.CONFLICT, FIRST)
        clock.now += 60
        assert t.tell(late, SECOND) == rd.live.Receipt(rd.live.Status.LATE, SECOND)
        assert t.tell(late, SECOND).status == "duplicate"
        assert t.tell(late, TIE) == rd.live.Receipt(rd.live.Status.CONFLICT, SECOND)
        for unknown in ("1-3", "2-1", "0-0", "x", "", "1-", "-1", "1-1-1", "1-" + "9" * 30, "١-١"):
            assert t.tell(unknown, FIRST) == rd.live.Receipt(rd.live.Status.UNKNOWN, None)
        assert t.counts == rd.live.Counts(issued=2, resolved=1, late=1, expired=1)
        before = learnt(t._state)
    with LocalTournament.open("search", storage=url) as t:
        assert t.tell(duel, FIRST).status == "duplicate"
        assert t.tell(late.id or "", SECOND).status == "duplicate"
        assert t.counts == rd.live.Counts(issued=2, resolved=1, late=1, expired=1)
        assert learnt(t._state) == before


def test_many_are_told_together_each_with_its_receipt(url: str) -> None:
    with create(url) as t:
        one, two = t.ask(), t.ask()
        receipts = t.tell_many([(one, FIRST), (one, FIRST), (two, TIE), (one, SECOND), ("9-9", TIE)])
        assert [receipt.status for receipt in receipts] == ["accepted", "duplicate", "accepted", "conflict", "unknown"]
        assert t.tell_many([]) == []


def test_an_ask_that_a_crash_has_swallowed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Its number is given again, its id is not; and with its ticket it can be told.
    with create(url) as t:
        monkeypatch.setattr(t._runtime.writer, "issue" if "sqlite" in url else "put_soon", lambda *_: None)
        lost, other = t.ask("a"), t.ask("b")
    with LocalTournament.open("search", storage=url) as t:
        duel = t.ask("a")
        assert (lost.id, duel.id) == ("1-1", "2-1")
        assert t.tell("1-1", FIRST).status == "unknown"
        assert t.tell(duel, FIRST).status == "accepted"
        assert t.tell("1-1", FIRST).status == "unknown"
        assert lost.ticket is not None
        assert t.tell(lost.ticket, SECOND).status == "accepted"
        assert t.tell("1-1", SECOND).status == "duplicate"
        assert t.tell(other, SECOND).status == "accepted"
        assert t.ask("a") == duel
        assert t.ask("b") == other
        assert t.counts == rd.live.Counts(issued=3, resolved=3)
        assert same_as_replay(t)


def test_a_forged_ticket_is_unknown(url: str) -> None:
    with create(url) as t, LocalTournament.create("other", rankers=NAMES, storage=url, seed=1) as other:
        ticket = t.ask().ticket or ""
        changed = [ticket[:place] + ("A" if ticket[place] != "A" else "B") + ticket[place + 1 :] for place in range(40)]
        for forged in [*changed, ticket[:-1], ticket + "A", other.ask().ticket or "", "é" * 50, "A" * 5000, "=" * 44]:
            assert t.tell(forged, FIRST).status == "unknown"
        assert t.tell(ticket, FIRST).status == "accepted"


def test_what_was_shown(url: str, clock: Clock) -> None:
    with create(url, expires_after=60) as t:
        duel, other, late = t.ask("a"), t.ask("b"), t.ask("c")
        with pytest.raises(ValueError, match=r"no page given; call duel\.interleave\(\) first, or pass (page|shown)="):
            t.show(duel)
        page = duel.interleave(["x", "y"], ["y", "z"], k=2)
        assert t.show(duel) == "accepted"
        assert t.show(duel, page) == "duplicate"
        assert t.show(duel.id or "", other.interleave(["u"], ["v"])) == "conflict"
        assert t.show("9-9", page) == "unknown"
        assert t.counts == rd.live.Counts(issued=3, shown=1)
        assert t.tell(duel, FIRST).status == "accepted"
        clock.now += 60
        assert t.show(late, page) == "late"
        assert t.counts == rd.live.Counts(issued=3, shown=1, resolved=1, expired=2)
        assert rd.interleaving.Interleaved.from_dict(json.loads(t.duels()[-1].page or "")) == page


def test_both_lists_and_the_clicks_are_kept(url: str) -> None:
    with create(url) as t:
        duel, silent = t.ask("a"), t.ask("b")
        page = duel.interleave((name for name in "xyz"), ["z", "y", "w", "v"], k=2)
        assert page.lists == (("x", "y"), ("z", "y"))
        assert page.documents == t.method.interleave("xyz", "zywv", 2, seed=duel.seed).documents
        assert t.tell(duel, clicks=[page.documents[0]]).status == "accepted"
        stored = json.loads(t.duels()[-1].page or "")
        assert stored.pop("clicks") == [page.documents[0]]
        assert rd.interleaving.Interleaved.from_dict(stored) == page
        assert t.show(duel, page) == "duplicate"  # it comes after the tell, and is the same page
        assert t.show(duel, silent.interleave(["x"], ["y"])) == "conflict"
        with pytest.raises(TypeError, match="first must be a sequence of documents"):
            silent.interleave({"x"}, ["y"])


def test_what_was_known_at_a_time(url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.live.runtime.snapshots.SNAPSHOT_INTERVAL_EVENTS", 40)
    with create(url) as t:
        assert view_at(t.storage, "search", clock.now - 1) is None  # before it was
        views = []
        for _ in range(100):
            clock.now += 1
            t.tell(t.ask(), FIRST)
            views.append((clock.now, t.view()))
        assert len(list(t.storage.snapshots("search"))) == 2
        for time, view in views[:5] + views[50:]:
            then = view_at(t.storage, "search", time + 0.5)
            assert then is not None
            assert (then.number, then.resolved, then.wins, then.champion) == (
                view.number,
                view.resolved,
                view.wins,
                view.champion,
            )
            assert then.evidence is not None
            assert view.evidence is not None
            assert then.evidence.tolist() == view.evidence.tolist()
        monkeypatch.setattr("rankduel.live.history._MAX_REPLAYED_EVENTS", 10)
        assert view_at(t.storage, "search", views[30][0]) is None  # too much to replay
        assert view_at(t.storage, "search", views[5][0]) is not None


def test_a_void_duel_is_not_learnt(url: str) -> None:
    with create(url) as t:
        bad, told = t.ask("a"), t.ask("b")
        t.tell(told, FIRST)
        t.void(bad, "a robot", by="anna")
        assert t.tell(bad, FIRST).status == "late"
        with pytest.raises(ValueError, match="duel 1-2 is already resolved, so it cannot be declared void"):
            t.void(told)
        with pytest.raises(rd.UnknownDuel, match="unknown duel '7-7' in tournament 'search'"):
            t.void("7-7")
        assert t.counts == rd.live.Counts(issued=2, resolved=1, void=1)
        assert list(t.journal())[-1].body == {"duel": "1-1", "reason": "a robot", "by": "anna"}
        assert same_as_replay(t)


def test_clicks_are_credited_on_the_page(url: str) -> None:
    with create(url) as t:
        for query in range(10):
            duel = t.ask(str(query))
            shown = duel.interleave(["a", "b", "c"], ["x", "y", "z"], k=4)
            clicked = shown.documents[query % 4]
            expected = FIRST if clicked in ("a", "b", "c") else SECOND
            if query < 5:
                assert t.tell(duel, clicks=[clicked]).outcome is expected
            else:  # by id, later, with the page at hand
                assert t.tell(duel.id or "", clicks=[clicked], shown=shown).outcome is expected
        duel = t.ask()
        duel.interleave(["a"], ["b"])
        assert t.tell(duel, clicks=[]) == rd.live.Receipt(rd.live.Status.ACCEPTED, None)  # nothing to learn
        assert t.tell(duel, clicks=[]).status == "duplicate"
        assert (t.counts.resolved, t.counts.no_signal) == (10, 1)
        assert t.duels()[0].state == "no_signal"
        t.configure(attribution={"no_click": "half"}, reason="ties are news")
        duel = t.ask()
        duel.interleave(["a"], ["b"])
        assert t.tell(duel, clicks=[]).outcome is TIE
        assert (t.attribution.no_click, t.attribution.version) == ("half", 2)
        assert same_as_replay(t)


def test_a_search_that_finds_nothing(url: str) -> None:
    with create(url) as t:
        duel, shown = t.ask("a"), t.ask("b")
        assert duel.interleave([], []).documents == ()
        assert t.tell(duel, clicks=[]) == rd.live.Receipt(rd.live.Status.ACCEPTED, None)
        shown.interleave((), [])
        assert t.show(shown) == "accepted"


def test_what_cannot_be_told_is_refused(url: str) -> None:
    with create(url) as t:
        duel = t.ask()
        with pytest.raises(TypeError, match=r"outcome must be Outcome\.FIRST, .* got None"):
            t.tell(duel)
        with pytest.raises(TypeError, match="got 'first'"):
            t.tell(duel, "first")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="duel must be what ask"):
            t.tell(7, FIRST)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"no page given; call duel\.interleave\(\) first, or pass (page|shown)="):
            t.tell(duel, clicks=["a"])
        shown = duel.interleave(["a"], ["b"])
        with pytest.raises(ValueError, match="'c' was clicked but is not on the list"):
            t.tell(duel, clicks=["c"])
        with pytest.raises(ValueError, match="not both"):
            t.tell(duel, FIRST, clicks=["a"], shown=shown)
        with pytest.raises(TypeError, match="clicks must be a list, got 'a'"):
            t.tell(duel, clicks="a")
        with pytest.raises(ValueError, match="query_id must be 1 to 200 printable characters, got ''"):
            t.ask("")
        assert t.counts.resolved == 0


# What users do


def click(query: str, document: str, time: float, action: str = "click") -> rd.live.Signal:
    return rd.live.Signal(query, action, document, None, time, None, f"{query} {document} {action}")


def test_signals_decide_when_their_window_closes(url: str, clock: Clock) -> None:
    with create(url, attribution={"window": 60}) as t:
        duels = {query: t.ask(query) for query in ("first", "second", "nothing", "unseen", "resolved")}
        pages = {query: duel.interleave("abc", "xyz", k=4) for query, duel in duels.items()}
        seen = [rd.live.Shown(query, page) for query, page in pages.items() if query != "unseen"]
        assert t.observe(seen) == ["accepted"] * 4
        ours = next(document for document in "abc" if document in pages["first"].documents)
        theirs = next(document for document in "xyz" if document in pages["second"].documents)
        signals = [
            click("first", ours, clock.now + 5),
            click("second", theirs, clock.now + 50),
            click("?", "a", clock.now),
        ]
        assert t.observe([*signals, signals[0], click("nothing", "q", clock.now)]) == [
            "accepted", "accepted", "unknown", "duplicate", "accepted",
        ]  # fmt: skip
        t.tell(duels["resolved"], TIE)
        assert t.observe([click("resolved", "a", clock.now)]) == ["late"]
        clock.now += 59
        t.run_maintenance()
        assert t.counts.resolved == 1
        clock.now += 1
        t.run_maintenance()
        outcomes = {row.query: (row.state, row.outcome) for row in t.duels()}
        assert outcomes == {
            "first": ("resolved", "first"),
            "second": ("resolved", "second"),
            "nothing": ("no_signal", None),
            "unseen": ("issued", None),
            "resolved": ("resolved", "tie"),
        }
        health = t.health()
        assert (health.signals, health.signals_again, health.orphans, health.late_signals) == ({"click": 3}, 1, 2, 1)
        assert health.outcomes == {"first": 1, "second": 1, "tie": 1}
        assert health.delays == {1: 1, 100: 3}
        assert same_as_replay(t)


def test_a_guardrail_pauses(url: str, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    rail = rd.live.Guardrail("error", bound=0.05, window=600, minimum=50)
    with create(
        url, guardrails=[rail], baseline="production", external_baseline=True
    ) as t:  # from here on it is watched, not from the first look
        for number in range(200):
            clock.now += 1
            t.show(duel := t.ask(f"q{number}"), duel.interleave("ab", "cd"))
        t.observe([click(f"q{number}", "a", clock.now, "error") for number in range(10)])
        t.run_maintenance()
        assert t.status == "running"
        t.observe([click(f"q{number}", "a", clock.now, "error") for number in range(100, 140)])
        t.run_maintenance()
        assert t.status == "paused"
        event = list(t.journal())[-1]
        assert (event.kind, event.body["by"]) == ("paused", "guardrail")
        assert event.body["reason"].startswith("error on 50 of 200 pages in 600 s: 25 %, above the bound of 5 %")
        assert t.ask().first == "production"
        t.start("it was the network")
        t.run_maintenance()
        assert t.status == "running"  # what was seen before is forgotten


def test_the_window_closes_before_a_duel_expires(url: str) -> None:
    with pytest.raises(ValueError, match=r"the attribution window must be below expires_after \(60 s\), got 60 s"):
        create(url, attribution={"window": 60}, expires_after=60)
    with create(url, expires_after=60) as t, pytest.raises(ValueError, match=r"below expires_after \(60 s\), got 90 s"):
        t.configure(attribution=rd.live.Attribution(window=90))


# Expiry


def test_duels_that_are_not_told_expire(url: str, clock: Clock) -> None:
    with create(url, expires_after=60) as t:
        old = t.ask("old")
        clock.now += 30
        new = t.ask("new")
        assert new.expires == clock.now + 60
        clock.now += 30
        assert t.counts == rd.live.Counts(issued=2, expired=1)
        assert t.counts.in_flight == 1
        assert t.ask("old") == old
        assert t.tell(new, FIRST).status == "accepted"
        assert same_as_replay(t)


def test_a_clock_that_is_set_back_changes_nothing(url: str, clock: Clock) -> None:
    with create(url, expires_after=60) as t:
        duel = t.ask()
        t.tell(duel, FIRST)
        clock.now -= 1000
        later = t.ask()
        assert later.expires == duel.expires
        t.tell(later, FIRST)
        times = [event.time for event in t.journal()]
        assert times == sorted(times)


def test_duels_before_one_that_is_none(url: str) -> None:
    with (
        create(url) as t,
        pytest.raises(ValueError, match="before must be the id of a duel such as 3-17, got 'yesterday'"),
    ):
        t.duels(before="yesterday")


def test_times_never_go_back(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(1_000_000.0)
    for module in (runtime, local_tournament):
        monkeypatch.setattr(module, "now", ticks.__next__)  # a second later at each look
    with create(url, expires_after=20) as t:
        for number in range(60):
            t.ask()
            if number % 3 == 0:
                t.tell(t.ask(), FIRST)
        times = [event.time for event in t.journal()]
        assert t.counts.expired > 10
        assert times == sorted(times)


# Where it stands


@pytest.mark.usefixtures("quick")
def test_a_tournament_ends_with_the_best(url: str) -> None:
    with create(url, bandit="CertifiedSparring(delta=0.05)", baseline="old", external_baseline=True) as t:
        assert t.winner is None
        assert str(t.decision()).startswith("No decision yet: 5 of 5 rankers are left (0 duels).")
        play(t, 5000)
        assert t.winner == t.champion == "bm25"
        assert t.decision().winner == "bm25"
        assert set(t.decision().eliminated) == set(NAMES[1:])
        assert str(t.decision()) == (
            f"bm25 is the best of 5 rankers, with at least 95 % confidence ({t.counts.resolved:,} duels).\n"
            "The confidence holds whenever you look, provided that one ranker is at least as good as all others, votes "
            "are independent and preferences do not change."
        )
        board = t.leaderboard()
        assert [line.state for line in board] == ["champion", *["eliminated"] * 4]
        assert {line.ranker for line in board[1:]} == set(t.decision().eliminated)
        assert sum(line.wins for line in board) == sum(line.losses for line in board) == t.counts.resolved
        duel = t.ask("after the end")
        assert (duel.id, duel.first, duel.second, duel.serve) == (None, "bm25", "bm25", "winner")
        assert t.tell(duel, FIRST).status == "unknown"
        assert [gone.left for gone in t.timeline()] == [4, 3, 2, 1]
        assert [gone.ranker for gone in t.timeline()] == list(t.decision().eliminated)
        met = t.preferences()
        assert sum(pair.wins + pair.losses for pair in met) == t.counts.resolved
        assert all(pair.losses == 0 for pair in met)  # who stands further to the left has won all
        assert same_as_replay(t)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("bandit", list(rd.REGISTRY))
def test_every_bandit_goes_on_where_it_was(url: str, bandit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_INTERVAL_EVENTS", 50)
    before = None
    for _ in range(3):
        with create(url, bandit=bandit, exist_ok=True) as t:
            assert before in (None, learnt(t._state))
            for number in range(60):
                if (duel := t.ask()).id is None:
                    break
                if number % 4:
                    t.tell_many([(duel, better(t, duel))])
            assert same_as_replay(t)
            before = learnt(t._state)
    assert before is not None


# Operate


def test_pause_start_stop(url: str) -> None:
    with create(url, baseline="production", external_baseline=True) as t:
        duel, open_duel = t.ask("a"), t.ask("b")
        t.pause("a release")
        paused = t.ask("c")
        assert (paused.id, paused.first, paused.second) == (None, "production", "production")
        assert t.ask("a") == duel
        assert t.tell(duel, FIRST).status == "accepted"
        with pytest.raises(ValueError, match="tournament 'search' is paused; this is possible only while running"):
            t.pause()
    with LocalTournament.open("search", storage=url) as t:
        assert t.status == "paused"
        t.start()
        assert t.ask("c").id is not None
        t.stop("enough", by="anna")
        assert t.tell(open_duel, FIRST).status == "accepted"
        assert t.ask("d").id is None
        assert t.counts == rd.live.Counts(issued=3, resolved=2)
        with pytest.raises(ValueError, match="stopped; this is possible only while draft or paused"):
            t.start()
        reasons = [event.body["reason"] for event in t.journal() if "reason" in event.body]
        assert reasons == ["a release", "", "enough"]
        assert same_as_replay(t)


def test_the_share_of_the_traffic(url: str) -> None:
    with create(url, baseline="production", external_baseline=True, share=0.3) as t:
        clients = [f"client {number}" for number in range(300)]
        small = {client for client in clients if t.ask(client_id=client).id is not None}
        assert 60 <= len(small) <= 120  # 90 expected; four deviations
        assert {client for client in clients if t.ask(client_id=client).id is not None} == small
        t.configure(share=0.6, reason="all went well")
        large = {client for client in clients if t.ask(client_id=client).id is not None}
        assert small < large
        t.configure(share=0)
        assert t.ask("q").serve == "baseline"
        assert t.ask("q").why == "share"
        with pytest.raises(
            TypeError, match="unknown setting 'seed'; settings that can be changed: baseline, external_baseline, share"
        ):
            t.configure(seed=2)
    with LocalTournament.open("search", storage=url) as t:
        assert t.settings.share == 0
        assert t.storage.counts("search")["serve share"] > 100


def test_caps(url: str, clock: Clock) -> None:
    with create(url, daily_cap=2) as t:
        assert [t.ask(client_id="anna").why for _ in range(3)] == [None, None, "daily_cap"]
        assert t.ask(client_id="ben").why is None
        assert t.ask().why is None
    with LocalTournament.open("search", storage=url) as t:
        assert t.ask(client_id="anna").why == "daily_cap"
        assert [t.ask(client_id="ben").why for _ in range(2)] == [None, "daily_cap"]
        clock.now += 86_400
        assert t.ask(client_id="anna").why is None
        t.configure(daily_cap=None, in_flight_cap=8)
        in_flight = t.counts.in_flight
        assert [t.ask().why for _ in range(10 - in_flight)][-2:] == ["in_flight_cap"] * 2


def test_in_the_shadow_nothing_is_shown(url: str) -> None:
    with create(url, baseline="production", external_baseline=True, shadow=True) as t:
        duel = t.ask("q")
        assert (duel.id, duel.ticket, duel.serve, duel.why) == (None, None, "baseline", "shadow")
        assert {duel.first, duel.second} <= set(NAMES)
        assert t.counts.issued == 0
        t.configure(shadow=False)
        assert t.ask("q").id is not None


def test_rankers_rest(url: str) -> None:
    with create(url) as t:
        t.pause_ranker("ltr", "its index is rebuilt")
        asked = [t.ask() for _ in range(200)]
        assert not any("ltr" in (duel.first, duel.second) for duel in asked)
        assert "paused" in {line.state for line in t.leaderboard() if line.ranker == "ltr"}
    with LocalTournament.open("search", storage=url) as t:
        assert not any("ltr" in (duel.first, duel.second) for duel in (t.ask() for _ in range(100)))
        t.start_ranker("ltr")
        assert any("ltr" in (duel.first, duel.second) for duel in (t.ask() for _ in range(200)))
        assert same_as_replay(t)


def test_two_operators_do_the_same(url: str) -> None:
    with create(url) as t:
        both = [Change(0.0, "retired", {"ranker": "ltr"}), Change(0.0, "added", {"rankers": ["new", "bm25"]})] * 2
        t._runtime.writer.put("search", both).result()
        assert t.rankers == [*NAMES, "new"]
        assert t.leaderboard()[-1].ranker == "ltr"
        assert same_as_replay(t)


def test_without_a_baseline_the_champion_is_shown(url: str) -> None:
    with create(url) as t:
        t.pause()
        assert t.ask().first == t.champion


@pytest.mark.usefixtures("quick")
def test_rankers_come_and_go(url: str) -> None:
    with create(url, rankers=["ltr", "neural"]) as t:
        play(t, 3)
        t.add_rankers(["bm25", "hybrid"])
        t.retire("neural", "too slow")
        assert t.rankers == ["ltr", "neural", "bm25", "hybrid"]
    with create(url, rankers=["ltr", "neural"], exist_ok=True) as t:
        for _ in range(8):
            duel = t.ask()
            assert duel.id is not None
            assert "neural" not in (duel.first, duel.second)
            t.tell(duel, FIRST if duel.first == "bm25" else SECOND if duel.second == "bm25" else TIE)
        assert t.champion == "bm25"
        assert t.leaderboard()[-1].ranker == "neural"
        assert t.leaderboard()[-1].state == "retired"
        assert same_as_replay(t)
        kept = t._state.to_snapshot()
        assert State.from_snapshot(kept).retired == t._state.retired == {1: 3}
        old = json.loads(kept.state)
        del old["retired_at"]  # as an older version wrote it
        assert State.from_snapshot(kept._replace(state=json.dumps(old))).retired == {1: t._state.bandit.told}
        for wrong, message in [
            (lambda: t.add_rankers(["x", "ltr"]), "duplicate ranker 'ltr'"),
            (lambda: t.add_rankers(["x", "x"]), "duplicate ranker 'x'"),
            (lambda: t.retire("nobody"), "unknown ranker 'nobody' in tournament 'search'; known rankers: ltr, neural"),
            (lambda: t.retire("neural"), "ranker 'neural' is already eliminated or retired, so it cannot be retired"),
        ]:
            refused(wrong, message)
        assert same_as_replay(t)


def refused(call: Callable[[], None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_most_bandits_cannot_add_rankers(url: str) -> None:
    with create(url, bandit="MergeDTS") as t:
        refused(lambda: t.add_rankers(["new"]), "MergeDTS cannot add rankers while it runs")
        refused(lambda: t.retire("ltr"), "MergeDTS cannot retire rankers while it runs")
        assert [event.kind for event in t.journal()] == ["created"]


# Create and open


def test_creating_twice(url: str) -> None:
    with create(url) as t:
        duel = t.ask("a")
        with pytest.raises(rd.TournamentExists, match="tournament 'search' is already open in this process"):
            create(url, exist_ok=True)
    with pytest.raises(
        rd.TournamentExists, match=r"tournament 'search' already exists in sqlite.*; open it, or pass exist_ok=True"
    ):
        create(url)
    others: list[tuple[dict[str, Any], str]] = [
        ({"rankers": [*NAMES, "new"]}, "tournament 'search' already exists with rankers="),
        ({"bandit": "CertifiedSparring(delta=0.05)"}, r"bandit='CertifiedSparring\(delta=0.01, tolerance=None\)', not"),
        ({"seed": 2}, "seed=1, not 2"),
        ({"expires_after": 5}, "expires_after=86400.0, not 5.0"),
    ]
    for options, message in others:
        with pytest.raises(rd.TournamentExists, match=message):
            create(url, **options, exist_ok=True)
    with create(url, seed=None, exist_ok=True, bandit="CertifiedSparring(delta=0.01)") as t:
        assert t.ask("a") == duel


def test_tournaments_share_a_storage(url: str) -> None:
    with create(url) as one, LocalTournament.create("other", rankers=["x", "y"], storage=url, seed=2) as two:
        for query in ("a", "b"):
            assert one.tell(one.ask(query), FIRST).status == two.tell(two.ask(query), TIE).status == "accepted"
        assert [event.body["outcome"] for event in two.journal() if event.kind == "resolved"] == ["tie", "tie"]
        assert same_as_replay(one)
        assert same_as_replay(two)
    with pytest.raises(
        rd.UnknownTournament, match=r"unknown tournament 'third' in sqlite.*; known tournaments: other, search"
    ):
        LocalTournament.open("third", storage=url)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rankers": []}, "at least 2 rankers, got none"),
        ({"rankers": ["a"]}, "at least 2 rankers, got a"),
        ({"rankers": ["a", "a"]}, "duplicate ranker 'a'"),
        ({"rankers": ["a", ""]}, "a ranker must be 1 to 200 printable characters, got ''"),
        ({"rankers": ["a\n"]}, "a ranker must be"),
        ({"bandit": "Best"}, "unknown bandit 'Best'"),
        ({"interleaving": "zip"}, "unknown interleaving 'zip'"),
        ({"expires_after": 0}, "expires_after must be a number of seconds above 0 and below 1e9, got 0"),
        ({"delta": 0}, "delta must be > 0 and <= 0.5, got 0"),
        (
            {"bandit": "MergeDTS", "delta": 0.1},
            "delta and tolerance apply to the default bandit only; set them in the spec",
        ),
        ({"share": 1.5}, "share must be a number from 0 to 1, got 1.5"),
        ({"shadow": 1}, "shadow must be True or False, got 1"),
        ({"daily_cap": -1}, "daily_cap must be a whole number of at least 0, got -1"),
        ({"in_flight_cap": 2.5}, "in_flight_cap must be a whole number"),
        ({"seed": -1}, "seed must be a non-negative int, got -1"),
        ({"storage": "duels.db"}, "storage must be sqlite:///FILE or postgresql://..., got 'duels.db'"),
        ({"storage": "sqlite://"}, "storage must be sqlite:///FILE"),
    ],
)
def test_what_cannot_be_created_is_refused(url: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        create(options.pop("storage", url), **options)
    assert not Path(url.removeprefix("sqlite:///")).exists()


def test_a_closed_tournament_says_so(url: str) -> None:
    t = create(url)
    duel = t.ask()
    t.close()
    t.close()
    with pytest.raises(rd.StorageError, match="closed"):
        t.ask()
    with pytest.raises(rd.StorageError, match="closed"):
        t.tell(duel, FIRST)


def test_a_forgotten_tournament_is_closed(url: str) -> None:
    t = create(url)
    t.ask("a")
    del t
    with LocalTournament.open("search", storage=url) as t:
        assert t.counts.issued == 1


class Failing(rd.Bandit):
    """Chooses three times, and then fails."""

    def pick(self) -> tuple[int, int]:
        if self.asked == 3 and Failing.broken:
            raise ZeroDivisionError
        return int(self.random.integers(self.n_arms)), 0

    def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
        pass

    broken = True

    @property
    def champion(self) -> int:
        return 0


def test_a_bandit_that_fails_stops_the_tournament_and_nothing_is_wrong(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with create(url, bandit="live.test_local_tournament:Failing") as t:
        duels = [t.ask(f"q{n}") for n in range(3)]
        for query in ("q3", "q4"):
            duel = t.ask(query)
            assert (duel.id, duel.first, duel.serve, duel.why) == (None, "bm25", "baseline", "failed")
        assert "the bandit failed, users see the baseline: ZeroDivisionError()" in caplog.text
        assert t.tell(duels[0], FIRST).status == "accepted"  # durable, and learnt when it is opened again
    monkeypatch.setattr("live.test_local_tournament.Failing.broken", False)  # the class that bandit_from has imported
    with LocalTournament.open("search", storage=url) as t:
        assert [t.ask(f"q{n}") for n in range(3)] == duels
        assert t._state.bandit.told == 1
        assert t.tell(t.ask("q3"), FIRST).status == "accepted"


def test_threads_share_a_tournament(url: str) -> None:
    with create(url) as t:
        seen: list[tuple[str, rd.live.LiveDuel]] = []

        def work() -> None:
            for number in range(30):
                duel = t.ask(f"q{number}")
                seen.append((f"q{number}", duel))
                seen.append((t.tell(duel, FIRST).status, duel))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({(query, duel.id) for query, duel in seen if query.startswith("q")}) == 30
        statuses = [word for word, _ in seen if not word.startswith("q")]
        assert statuses.count("accepted") == 30
        assert statuses.count("duplicate") == 7 * 30
        assert t.counts == rd.live.Counts(issued=30, resolved=30)
        assert same_as_replay(t)
