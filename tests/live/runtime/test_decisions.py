"""Each decision is noted with the event that made it, and replay and snapshots give the same."""

import random
from pathlib import Path

import pytest

import rankduel as rd
from rankduel.live import LocalTournament
from rankduel.live.results import Decided
from rankduel.live.runtime.state import State, load_state


def play(t: LocalTournament, order: str, most: int = 2_000) -> None:
    """Let the ranker that comes first in `order` win, until one is left or all are tied."""
    for _ in range(most):
        decision = t.decision()
        if decision.winner is not None or decision.tied:
            return
        duel = t.ask()
        better = order.index(duel.first) < order.index(duel.second)
        t.tell(duel, rd.Outcome.FIRST if better else rd.Outcome.SECOND)
    raise AssertionError("no decision")


def made(t: LocalTournament) -> list[Decided]:
    """The decisions, by a check of the state after each event."""
    found: list[Decided] = []
    events = list(t.journal())
    state, left = State.replay(events[:1]), 0
    for event in events[1:]:
        state.apply(event)
        bandit = state.bandit
        decided = bandit.winner is not None or bandit.decision().tied
        if decided and len(bandit.alive) != left:
            names = [state.rankers[arm] for arm in bandit.alive]
            winner, tied = (names[0], ()) if len(names) == 1 else (None, tuple(names))
            found.append(Decided(event.number, event.time, winner, tied, state.decisions[-1].headline))
        left = len(bandit.alive) if decided else 0
    return found


@pytest.mark.parametrize("bandit", ["CertifiedSparring", "CertifiedSparring(tolerance=0.2)", "MergeDTS"])
def test_decisions(tmp_path: Path, bandit: str) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("home", rankers=list("abc"), storage=url, bandit=bandit, seed=3) as t:
        assert t.decisions() == (1, [])
        play(t, "abc")
        number, decisions = t.decisions()
        assert number == decisions[0].number == t.number == t.changed_at
        assert [decision.winner for decision in decisions] == ["a"]
        assert decisions[0].headline == t.decision().headline
        if bandit != "MergeDTS":  # which cannot add rankers
            t.add_rankers(["d"])
            assert t.decisions()[1] == decisions
            play(t, "dabc")
        assert t.decisions()[1] == made(t)
        assert [decision.winner for decision in t.decisions()[1]] == (["a"] if bandit == "MergeDTS" else ["a", "d"])
        stored = t.decisions()[1]
    state, at = load_state_of(url)  # from the snapshot of `close`
    assert (state.decisions, state.changed_at) == (stored, at)


def load_state_of(url: str) -> tuple[State, int]:
    with LocalTournament.open("home", storage=url) as t:
        state, at = load_state(t.storage, "home")
        assert at == t.number
        return state, at


def test_ties_and_retired_rankers(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    chance = random.Random(1)
    bandit = "CertifiedSparring(tolerance=0.2)"
    with LocalTournament.create("home", rankers=list("abc"), storage=url, bandit=bandit, seed=3) as t:
        while not t.decision().tied:
            duels = t.ask_many([(None, None)] * 50)
            t.tell_many([(duel, chance.choice([rd.Outcome.FIRST, rd.Outcome.SECOND])) for duel in duels])
        tied = t.decision().tied
        assert [decision.tied for decision in t.decisions()[1]] == [tied]
        for ranker in tied[1:]:
            t.retire(ranker)
        decisions = t.decisions()[1]
        assert decisions == made(t)
        assert decisions[-1].winner == tied[0]
        assert [event.kind for event in t.journal(since=decisions[-1].number - 1)] == ["retired"]


def test_a_snapshot_at_any_event_gives_the_same_decisions(tmp_path: Path) -> None:
    with LocalTournament.create("home", rankers=list("abcd"), storage=f"sqlite:///{tmp_path}/duels.db", seed=2) as t:
        play(t, "abcd")
        t.add_rankers(["e"])
        play(t, "eabcd")
        events, decisions = list(t.journal()), t.decisions()[1]
        assert len(decisions) == 2
    for cut in range(1, len(events) + 1, 7):
        state = State.from_snapshot(State.replay(events[:cut]).to_snapshot())
        state.apply_all(events[cut:])
        assert state.decisions == decisions, cut


def test_a_snapshot_of_an_older_version(tmp_path: Path) -> None:
    """It has no decisions: an old one is forgotten, so that no webhook announces it again, and new ones are noted."""
    with LocalTournament.create("home", rankers=list("abc"), storage=f"sqlite:///{tmp_path}/duels.db", seed=3) as t:
        play(t, "abc")
        snapshot, cut = t._state.to_snapshot(), t.number
        t.add_rankers(["d"])
        play(t, "dabc")
        events, (_, second) = list(t.journal()), t.decisions()[1]
    old, _, rest = snapshot.state.partition(',"decisions":')
    assert rest.startswith("[[")
    state = State.from_snapshot(snapshot._replace(state=old + "}"))
    assert (state.decisions, state.changed_at) == ([], cut)
    state.apply_all(events[cut:])
    assert state.decisions == [second]
