"""Any actions of operators and any outcomes: live state, replay and restored snapshots are the same."""

import tempfile
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import rankduel as rd
from live.learning import learnt
from live.unsynced import unsynced
from rankduel.live import LocalTournament
from rankduel.live.rules.lifecycle import STATUSES
from rankduel.live.runtime.state import State

RANKERS = ["a", "b", "c"]
ranker = st.sampled_from([*RANKERS, "new"])
action = st.one_of(
    st.tuples(st.just("play"), st.integers(1, 60), st.sampled_from(["a", "b", "tie"])),
    st.tuples(st.just("tell_late")),
    st.tuples(st.sampled_from(["start", "pause", "stop", "roll_back"])),
    st.tuples(st.just("roll_out"), st.sampled_from([0.05, 0.5, 1.0]), st.none() | ranker),
    st.tuples(st.sampled_from(["retire", "pause_ranker", "start_ranker"]), ranker),
    st.tuples(st.just("add_rankers"), st.just(["new"])),
    st.tuples(st.just("after_decision"), st.sampled_from(["winner", "baseline", "compare"])),
    st.tuples(st.just("guardrails"), st.booleans()),
    st.tuples(st.just("share"), st.sampled_from([0.0, 0.5, 1.0])),
)


@settings(max_examples=60, deadline=None)
@given(
    actions=st.lists(action, max_size=25),
    draft=st.booleans(),
    bandit=st.sampled_from(["CertifiedSparring", "MergeDTS"]),
)
def test_replay_and_snapshots(actions: list[tuple[Any, ...]], draft: bool, bandit: str) -> None:
    with tempfile.TemporaryDirectory() as folder, unsynced():
        url = f"sqlite:///{folder}/duels.db"
        with LocalTournament.create(
            "t", rankers=RANKERS, storage=url, bandit=bandit, seed=1, draft=len(actions) % 2 == 1
        ) as t:
            open_duels: list[rd.live.LiveDuel] = []
            for number, (name, *values) in enumerate(actions):
                with suppress(ValueError):  # what the status does not allow
                    act(t, name, values, number, open_duels)
                assert t.status in STATUSES
                assert t.users_see.endswith(".")
                decided = t.winner is not None or bool(t.decision().tied)
                assert t.status not in ("decided", "rolled_out") or decided
                if t.ask(None, f"client {number}").serve == "duel":
                    assert t.status in ("running", "decided")
            state = t._state
            assert learnt(State.replay(t.journal())) == learnt(state)
            assert learnt(State.from_snapshot(state.to_snapshot())) == learnt(state)
            expected = learnt(state)
        with LocalTournament.open("t", storage=url) as t:
            assert learnt(t._state) == expected


def act(t: LocalTournament, name: str, values: list[Any], number: int, open_duels: list[rd.live.LiveDuel]) -> None:
    if name == "play":
        size, best = values
        duels = [
            duel for duel in t.ask_many([(f"q {number} {n}", f"c {n}") for n in range(size)]) if duel.id is not None
        ]
        open_duels += duels[:5]
        t.tell_many([(duel, outcome(best, duel)) for duel in duels[5:]])
    elif name == "tell_late":
        t.tell_many([(duel, rd.Outcome.FIRST) for duel in open_duels])
        open_duels.clear()
    elif name in ("after_decision", "share"):
        t.configure(**{name: values[0]})
    elif name == "guardrails":
        t.configure(guardrails=[rd.live.Guardrail("error", 0.5)] if values[0] else [])
    else:
        getattr(t, name)(*values)


def outcome(best: str, duel: rd.live.LiveDuel) -> rd.Outcome:
    if best in (duel.first, duel.second) and duel.first != duel.second:
        return rd.Outcome.FIRST if duel.first == best else rd.Outcome.SECOND
    return rd.Outcome.TIE
