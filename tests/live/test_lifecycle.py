"""A decision moves no traffic: draft, share, roll-out, pause, stop, archive and delete, as users see them."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from itertools import count
from typing import Any

import pytest

import rankduel as rd
from live.conftest import Clock
from live.learning import learnt
from rankduel.live import Guardrail, LocalTournament, Rollout, Signal
from rankduel.live.admin.verify import verify
from rankduel.live.rules import traffic_share
from rankduel.live.rules.clients import hash_client
from rankduel.live.runtime.deletion import delete_tournament
from rankduel.live.runtime.state import State
from rankduel.live.storage import removal
from rankduel.live.storage.contract import Created
from rankduel.live.storage.open_storages import acquire, release

FIRST, SECOND, TIE = rd.Outcome.FIRST, rd.Outcome.SECOND, rd.Outcome.TIE
BEST, BASELINE, OTHER = "bm25-flat", "ltr-2", "ltr"


def create(url: str, **settings: Any) -> LocalTournament:
    given: dict[str, Any] = {"rankers": [BASELINE, BEST, OTHER], "storage": url, "seed": 1}
    return LocalTournament.create("home", **given | settings)


def decided(url: str, **settings: Any) -> LocalTournament:
    """A tournament in which `BEST` has won all its duels, and so the tournament."""
    t = create(url, **settings)
    for number in count():
        asked = [(f"q {number} {n}", f"c {number} {n}") for n in range(500)]
        t.tell_many([(duel, won_by(BEST, duel)) for duel in t.ask_many(asked) if duel.id is not None])
        if t.winner is not None:
            break
    assert t.winner == BEST
    return t


def won_by(best: str, duel: rd.live.LiveDuel) -> rd.Outcome:
    return FIRST if duel.first == best else SECOND if duel.second == best else TIE


def seen(t: LocalTournament, clients: int = 1000, query: str | None = None) -> Counter[tuple[str, str | None, str]]:
    """What many clients see: `serve`, `why` and the ranker, or both rankers of a duel in alphabetical order."""
    asked = [(None if query is None else f"{query} {n}", f"client {n}") for n in range(clients)]
    return Counter((duel.serve, duel.why, "+".join(sorted({duel.first, duel.second}))) for duel in t.ask_many(asked))


def in_share(t: LocalTournament, share: float) -> int:
    """How many of the 1,000 clients are in a share."""
    salt = t.settings.salt
    hashed = [hash_client(f"client {n}", bytes.fromhex(salt)) for n in range(1000)]
    return sum(traffic_share.in_share(share, salt, client) for client in hashed)


# Decide


def test_a_decision_changes_nothing_outside_the_share(url: str) -> None:
    """With a share of 5 %, 5 % of 1,000 clients see the winner, and the others the baseline, which is fixed."""
    with decided(url, share=0.05) as t:
        assert t.status == "decided"
        inside = in_share(t, 0.05)
        assert 0 < inside < 100
        assert seen(t) == {("winner", "decided", BEST): inside, ("baseline", "share", BASELINE): 1000 - inside}
        t.configure(share=0.0)
        assert seen(t) == {("baseline", "share", BASELINE): 1000}
        t.configure(share=1.0)
        assert seen(t) == {("winner", "decided", BEST): 1000}
        t.configure(after_decision="baseline")
        assert seen(t) == {("baseline", "decided", BASELINE): 1000}
        t.configure(after_decision="winner", shadow=True)
        assert seen(t) == {("baseline", "shadow", BASELINE): 1000}


def test_the_baseline_does_not_move_with_the_champion(url: str) -> None:
    with create(url, share=0.0) as t:
        assert t.settings.baseline == BASELINE  # the first ranker
        before = t.champion
        t.configure(share=1.0)
        t.tell_many([(duel, won_by(BEST, duel)) for duel in t.ask_many([(None, None)] * 30)])
        t.configure(share=0.0)
        assert t.champion == BEST != before
        assert seen(t) == {("baseline", "share", BASELINE): 1000}
        t.configure(baseline=OTHER)
        t.configure(baseline=None)  # the first ranker again
        assert t.settings.baseline == BASELINE


def test_compare_goes_on_with_winner_and_baseline(url: str) -> None:
    with decided(url, share=0.05, after_decision="compare") as t:
        inside = in_share(t, 0.05)
        pair = "+".join(sorted((BEST, BASELINE)))
        assert seen(t, query="new") == {("duel", None, pair): inside, ("baseline", "share", BASELINE): 1000 - inside}
        before, told, evidence = t.decision(), t._state.bandit.told, str(t.view().evidence)
        duels = [duel for duel in t.ask_many([(f"new {n}", f"client {n}") for n in range(1000)]) if duel.id is not None]
        assert {duel.first for duel in duels} == {BEST, BASELINE}  # a coin decides which is first
        wins, ties = sum(t._state.wins.values()), sum(t._state.ties.values())
        t.tell_many([(duel, won_by(BASELINE, duel)) for duel in duels[1:]])
        t.tell(duels[0], TIE)
        assert sum(t._state.wins.values()) == wins + inside - 1
        assert sum(t._state.ties.values()) == ties + 1
        assert (t.decision(), t._state.bandit.told) == (before, told)
        assert str(t.view().evidence) == evidence
        assert learnt(State.replay(t.journal())) == learnt(t._state)
        t.configure(in_flight_cap=0)
        assert seen(t)["baseline", "in_flight_cap", BASELINE] == inside


@pytest.mark.parametrize(
    "settings", [{"baseline": "production", "external_baseline": True}, {"baseline": BEST}], ids=["external", "winner"]
)
def test_with_nothing_to_compare_the_winner_is_served(url: str, settings: dict[str, Any]) -> None:
    with decided(url, after_decision="compare", **settings) as t:
        assert seen(t, 10, query="new") == {("winner", "decided", BEST): 10}


def test_a_late_outcome_does_not_change_a_decision(url: str) -> None:
    with create(url) as t:
        late = t.ask_many([(None, None)] * 50)
        t.tell_many([(duel, won_by(BEST, duel)) for duel in t.ask_many([(None, None)] * 2000)])
        assert t.status == "decided"
        before = t.decision()
        t.tell_many([(duel, won_by(OTHER, duel)) for duel in late])
        assert t.decision() == before
        assert t.counts.resolved == 2050
        t.add_rankers(["new"])  # then it learns again
        assert t.status == "running"
        told = t._state.bandit.told
        t.tell(t.ask(), TIE)
        assert t._state.bandit.told == told + 1
        assert learnt(State.replay(t.journal())) == learnt(t._state)


# Draft


def test_a_draft_waits_for_its_start(url: str) -> None:
    with create(url, draft=True, by="anna") as t:
        assert (t.status, t.users_see) == ("draft", f"All users see the baseline `{BASELINE}`.")
        assert seen(t, 10) == {("baseline", "draft", BASELINE): 10}
        t.configure(share=0.5)
        t.add_rankers(["new"])
        with pytest.raises(ValueError, match="is draft; this is possible only while running or decided or rolled out"):
            t.pause()
        t.close()
    with LocalTournament.open("home", storage=url) as t:
        assert t.status == "draft"
        assert next(t.journal()).body["by"] == "anna"
        t.start("the release is out", by="bob")
        assert t.status == "running"
    with create(url, draft=True, exist_ok=True) as t:  # the same settings: it is opened as it is
        assert t.status == "running"


# Roll out


def test_roll_out_ramp_and_roll_back(url: str) -> None:
    with decided(url, share=0.5) as t:
        t.roll_out(reason="start small", by="anna")
        assert (t.status, t.rollout) == ("rolled_out", Rollout(BEST, 0.05))
        shown: set[str] = set()
        for share in (0.05, 0.5, 1.0):
            t.roll_out(share)
            now = {f"client {n}" for n in range(1000) if t.ask(None, f"client {n}").serve == "winner"}
            assert len(now) == in_share(t, share)
            assert shown <= now  # who is in stays in
            shown = now
        assert seen(t) == {("winner", "rolled_out", BEST): 1000}
        t.roll_out(0.05)
        assert seen(t) == {
            ("winner", "rolled_out", BEST): in_share(t, 0.05),
            ("baseline", "share", BASELINE): 1000 - in_share(t, 0.05),
        }
        t.pause("a look", by="anna")
        assert seen(t, 10) == {("baseline", "paused", BASELINE): 10}
        t.start()
        assert t.status == "rolled_out"
        t.roll_back("too slow", by="bob")
        assert (t.status, t.rollout, t.settings.after_decision) == ("decided", None, "baseline")
        assert seen(t) == {
            ("baseline", "decided", BASELINE): in_share(t, 0.5),
            ("baseline", "share", BASELINE): 1000 - in_share(t, 0.5),
        }
        events = [event for event in t.journal() if event.kind.startswith("rolled")]
        assert [event.body.get("share") for event in events] == [0.05, 0.05, 0.5, 1.0, 0.05, None]
        assert (events[0].body["by"], events[0].body["reason"], events[0].body["ranker"]) == (
            "anna",
            "start small",
            BEST,
        )
        assert (events[-1].kind, events[-1].body["by"]) == ("rolled_back", "bob")


def test_what_cannot_be_rolled_out(url: str) -> None:
    too_early = "'home' is running; this is possible only while decided or rolled out"
    with create(url) as t, pytest.raises(ValueError, match=too_early):
        t.roll_out()
    with LocalTournament.open("home", storage=url) as t:
        for ranker in (BEST, OTHER):
            t.retire(ranker)
        assert t.status == "decided"
        with pytest.raises(ValueError, match=f"cannot roll out '{OTHER}' .*; rankers that are left: {BASELINE}"):
            t.roll_out(ranker=OTHER)
        for share in (0, -1, 1.5, "all"):
            with pytest.raises(ValueError, match=r"share must be a number"):
                t.roll_out(share)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="is decided; this is possible only while rolled out or paused"):
            t.roll_back()
        t.pause()
        with pytest.raises(ValueError, match="has nothing to roll back"):
            t.roll_back()
        t.start()
        t.roll_out(1.0)
        with pytest.raises(
            ValueError, match=f"has rolled '{BASELINE}' out; roll it back before you change the rankers"
        ):
            t.add_rankers(["new"])


def test_one_of_the_tied_rankers_is_rolled_out_by_name(url: str) -> None:
    with create(url, tolerance=0.2, delta=0.2) as t:
        for _ in range(50):  # nobody is better: each side wins half of the duels
            duels = [duel for duel in t.ask_many([(None, None)] * 500) if duel.id is not None]
            t.tell_many([(duel, SECOND if number % 2 else FIRST) for number, duel in enumerate(duels)])
        assert len(t.decision().tied) > 1
        with pytest.raises(ValueError, match="has no single winner; name one of the tied rankers: "):
            t.roll_out(0.5)
        t.roll_out(0.5, OTHER)
        t.roll_out(1.0)  # the same ranker
        assert t.rollout == Rollout(OTHER, 1.0)
        assert seen(t, 10) == {("winner", "rolled_out", OTHER): 10}


def test_a_guardrail_pauses_a_roll_out(url: str, clock: Clock) -> None:
    rail = Guardrail("error", bound=0.05, window=600, minimum=50)
    with decided(url, guardrails=[rail], share=0.05) as t:
        t.roll_out(1.0)
        t.run_maintenance()
        before, told = t.leaderboard(), t._state.bandit.told
        assert seen(t, 10) == {("winner", "rolled_out", BEST): 10}  # without a query, no page can be counted
        for number in range(100):
            duel = t.ask(f"page {number}", f"client {number}")
            assert (duel.serve, duel.first, duel.second) == ("duel", BEST, BEST)
            page = duel.interleave(["d1", "d2"], ["d1", "d2"], k=2)
            assert page.documents == ("d1", "d2")  # the page of the winner, as it is
            t.show(duel)
        t.tell(duel, FIRST)
        assert (t.leaderboard(), t._state.bandit.told) == (before, told)  # never learnt
        signals = [Signal(f"page {n}", "error", "d1", None, clock.now, None, f"e {n}") for n in range(40)]
        t.observe(signals)
        clock.now += 1
        t.run_maintenance()
        assert t.status == "paused"
        (paused,) = (event for event in t.journal() if event.kind == "paused")
        assert paused.body["by"] == "guardrail"
        assert seen(t, 10) == {("baseline", "paused", BASELINE): 10}
        assert set(t.effects()) >= {"start", "roll_back"}
        t.roll_back()
        t.start()
        assert seen(t, 10)["winner", "decided", BEST] == 0
        assert learnt(State.replay(t.journal())) == learnt(t._state)


# The end


def test_stop_and_archive_serve_the_baseline(url: str) -> None:
    with decided(url) as t:
        t.roll_out(1.0)
        assert t.effects()["stop"] == f"All users will see the baseline `{BASELINE}`, although `{BEST}` won."
        t.stop("the season is over")
        assert (t.status, t.rollout) == ("stopped", None)
        assert t.users_see == f"All users see the baseline `{BASELINE}`, although `{BEST}` won."
        assert seen(t, 10) == {("baseline", "stopped", BASELINE): 10}
        t.archive("cleaned up", by="anna")
        assert (t.status, set(t.effects())) == ("archived", {"delete"})
        assert seen(t, 10) == {("baseline", "archived", BASELINE): 10}
        calls: list[Callable[[], object]] = [
            t.start,
            t.pause,
            t.stop,
            t.archive,
            t.roll_out,
            lambda: t.configure(share=1),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="is archived"):
                call()


def rows(url: str) -> dict[str, int]:
    """How many rows the tables of tournaments have."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("tournaments", "journal", "duels", "signals", "counters", "snapshots")
        }


def test_delete_removes_every_row_and_frees_the_name(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "_MAX_ROWS_PER_DELETION", 7)  # many batches
    with create(url) as t, LocalTournament.create("kept", rankers=["a", "b"], storage=url) as kept:
        for tournament in (t, kept):
            duels = [tournament.ask(f"q {n}", "me") for n in range(50)]
            for duel in duels:
                tournament.show(duel, duel.interleave("abc", "bca", k=3))
            tournament.observe(
                [Signal(f"q {n}", "click", "a", 1, duels[0].expires - 86_400, None, "k") for n in range(50)]
            )
            tournament.tell_many([(duel, FIRST) for duel in duels[:40]])
        old = duels[0]
        with pytest.raises(ValueError, match="'home' is open in this process; close it before you delete it"):
            LocalTournament.delete("home", storage=url, confirm="home")
        t.close()
        with pytest.raises(ValueError, match="to delete tournament 'home', confirm its name; got 'hom'"):
            LocalTournament.delete("home", storage=url, confirm="hom")
        with pytest.raises(
            ValueError, match="'home' is running; this is possible only while draft or stopped or archived"
        ):
            LocalTournament.delete("home", storage=url, confirm="home")
        with LocalTournament.open("home", storage=url) as again:
            ticket = again.ask("lost").ticket
            again.stop()
        before = rows(url)
        LocalTournament.delete("home", storage=url, confirm="home")
        kept.close()
    after = rows(url)
    assert after["tournaments"] == before["tournaments"] - 1 == 1
    assert after["duels"] == before["duels"] - 51 == 50
    assert after["signals"] == before["signals"] - 50 == 50
    assert all(after[table] < before[table] for table in ("journal", "counters"))
    with pytest.raises(rd.UnknownTournament, match=r"unknown tournament 'home' in .*; known tournaments: kept"):
        LocalTournament.delete("home", storage=url, confirm="home")
    assert [finding for finding in verify(url) if finding.level != "ok"] == []
    with create(url) as t:  # the name can be used again, and nothing of the old one counts
        assert (t.number, t.counts.issued) == (1, 0)
        assert ticket is not None
        assert t.tell(ticket, FIRST).status == "unknown"
        assert t.ask("q 1") != old
    with LocalTournament.open("kept", storage=url) as t:
        assert t.counts.resolved == 40


def test_an_interrupted_deletion_is_completed_by_the_next(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with create(url) as t:
        t.tell_many([(duel, FIRST) for duel in t.ask_many([(None, None)] * 20)])
        t.stop()
    writer = acquire(url, "")
    monkeypatch.setattr("rankduel.live.runtime.deletion.remove_deleted", lambda writer: None)  # killed here
    delete_tournament(writer, "home")
    assert writer.storage.names() == []
    release(writer, "")
    monkeypatch.undo()
    with create(url) as t:
        assert t.counts.resolved == 0
        t.stop()
    assert rows(url)["duels"] == 20
    LocalTournament.delete("home", storage=url, confirm="home")
    assert set(rows(url).values()) == {0}


# Settings


def test_wrong_settings(url: str) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"rankers": ["a"]}, "a tournament needs at least 2 rankers, got a"),
        ({"rankers": []}, "a tournament needs at least 2 rankers, got none"),
        (
            {"baseline": "production"},
            "the baseline 'production' is not a ranker of the tournament; rankers: ltr-2, bm25-flat, ltr; "
            "if your application shows another baseline, set external_baseline",
        ),
        ({"external_baseline": "yes"}, "external_baseline must be True or False, got 'yes'"),
        ({"after_decision": "keep"}, "after_decision must be one of winner, baseline, compare, got 'keep'"),
    ]
    for settings, message in wrong:
        with pytest.raises(ValueError, match=message):
            create(url, **settings)
    with create(url, baseline="production", external_baseline=True) as t:
        assert t.ask().serve == "duel"
        with pytest.raises(ValueError, match="the baseline 'production' is not a ranker"):
            t.configure(external_baseline=False)
        t.configure(baseline=BEST, external_baseline=False)
        with pytest.raises(ValueError, match="the baseline 'new' is not a ranker"):
            t.configure(baseline="new")
        t.add_rankers(["new"])
        t.configure(baseline="new")
        assert t.settings.baseline == "new"


# Tournaments of older versions


def old_tournament(url: str, **settings: Any) -> None:
    """As version 0.1 has stored it: without the new settings, and perhaps without a baseline."""
    with create(url) as t:
        body = next(t.journal()).body
        for new in ("by", "after_decision", "external_baseline"):
            del body[new]
        t.stop()
    LocalTournament.delete("home", storage=url, confirm="home")
    writer = acquire(url, "")
    writer.put("home", [Created(1e9, body | {"baseline": None} | settings)]).result()
    release(writer, "")


def test_an_old_tournament_without_a_baseline_shows_the_champion(url: str) -> None:
    old_tournament(url)
    with create(url, exist_ok=True) as t:  # the same settings as those of today
        assert (t.status, t.settings.after_decision, t.settings.baseline) == ("running", "winner", None)
        assert t.users_see == "All users see pages that mix the results of two rankers."
        t.pause()
        assert t.ask().first == t.champion
        assert t.users_see == f"All users see the champion `{t.champion}`, because no baseline is set."
        t.configure(baseline=None)
        assert t.settings.baseline == BASELINE


def test_an_old_tournament_with_another_baseline_opens(url: str) -> None:
    old_tournament(url, baseline="production")
    with LocalTournament.open("home", storage=url) as t:
        t.configure(share=0.5)
        t.pause()
        assert t.ask().first == "production"


def test_an_old_tournament_learns_after_its_decision_until_it_is_rolled_out(url: str) -> None:
    """Its journal has such outcomes, and replay must give the same state as before."""
    old_tournament(url)
    with LocalTournament.open("home", storage=url) as t:
        late = t.ask_many([(None, None)] * 20)
        while t.winner is None:
            t.tell_many(
                [(duel, won_by(BEST, duel)) for duel in t.ask_many([(None, None)] * 500) if duel.id is not None]
            )
        told = t._state.bandit.told
        t.tell(late[0], TIE)
        assert t._state.bandit.told == told + 1
        t.roll_out()
        t.tell(late[1], TIE)
        assert t._state.bandit.told == told + 1
        assert learnt(State.replay(t.journal())) == learnt(t._state)
        snapshot = t._state.to_snapshot()
        assert learnt(State.from_snapshot(snapshot)) == learnt(t._state)


def test_a_snapshot_without_the_new_fields(url: str) -> None:
    with create(url) as t:
        snapshot = t._state.to_snapshot()
        stored = json.loads(snapshot.state)
        del stored["rollout"], stored["keeps_decision"]
        for new in ("after_decision", "external_baseline"):
            del stored["settings"][new]
        state = State.from_snapshot(snapshot._replace(state=json.dumps(stored)))
        assert (state.status, state.rollout, state.settings.after_decision) == ("running", None, "winner")
