"""Tournaments in every state, as test data."""

import sqlite3
from collections.abc import Sequence
from time import time

import numpy as np
import numpy.typing as npt

import rankduel as rd
from rankduel.live import LocalTournament, storage_at
from rankduel.live.runtime.state import State
from rankduel.service import new_key


def names(n: int) -> list[str]:
    return [f"ranker-{number}" for number in range(n)]


def play(t: LocalTournament, duels: int, utilities: Sequence[float] | npt.NDArray[np.float64], seed: int = 0) -> None:
    """Play duels by simulated users who prefer rankers with a high utility."""
    random = np.random.default_rng(seed)
    for _ in range(0, duels, 500):
        asked = t.ask_many([(None, None)] * 500)
        if asked[0].id is None:
            return
        arms = {name: arm for arm, name in enumerate(t.rankers)}
        lead = [utilities[arms[duel.first]] - utilities[arms[duel.second]] for duel in asked]
        first = random.random(500) < 1 / (1 + np.exp(-np.array(lead)))
        t.tell_many(
            [
                (duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
                for duel, won in zip(asked, first.tolist(), strict=True)
            ]
        )


def show(t: LocalTournament, query: str, *, told: bool) -> None:
    """Add a duel with a page and a click."""
    duel = t.ask(query_id=query)
    page = duel.interleave(["d1", "d2", "d3", "d4"], ["d4", "d3", "d5", "d1"], k=4)
    t.show(duel, page)
    t.observe([rd.live.Signal(query, "click", "d3", 2, time(), None, query)])
    if told:
        t.tell(duel, clicks=["d3"], shown=page)


def some(url: str) -> None:
    """Create a tournament in each state."""
    spread = np.linspace(1.5, 0, 5)
    with LocalTournament.create(
        "finished", rankers=names(5), storage=url, baseline="ranker-4", delta=0.05, seed=1
    ) as t:
        play(t, 20_000, spread)
        assert t.winner == "ranker-0"
    with LocalTournament.create(
        "running", rankers=names(136), storage=url, baseline="ranker-9", delta=0.05, seed=1
    ) as t:
        play(t, 10_000, np.linspace(1.0, 0, 136))
        show(t, "q-1", told=False)
        show(t, "q-2", told=True)
        t.configure(share=0.5, reason="a careful begin", by="ann")
        assert 1 < len(t.decision().left) < 136
    LocalTournament.create("empty", rankers=names(12), storage=url, seed=1).close()
    with LocalTournament.create("paused", rankers=names(40), storage=url, bandit="MergeDTS", seed=1) as t:
        play(t, 5_000, np.linspace(2, 0, 40))
        t.pause("a release", by="ann")


def keys(url: str) -> dict[str, str]:
    """Create a key for each of three scopes."""
    storage = storage_at(url, own=False)
    try:
        return {scope: new_key(storage, f"{scope}'s", [scope])[1] for scope in ("admin", "read", "ask")}
    finally:
        storage.close()


def a_million(url: str) -> None:
    """Create 136 equal rankers with 10^6 outcomes: write the journal and a snapshot directly."""
    n = 10**6
    with LocalTournament.create("large", rankers=names(136), storage=url, baseline="ranker-0", seed=1) as t:
        created = next(t.journal())
        storage = t.storage
        state = State.replay([created])
        rd.simulate(state.bandit, rd.Utilities(np.zeros(136)), horizon=n, kind="copeland")
        met = np.random.default_rng(0).integers(0, 136, (n, 2))
        pairs, counts = np.unique(met[met[:, 0] != met[:, 1]], axis=0, return_counts=True)
        state.wins = {(i, j): count for (i, j), count in zip(pairs.tolist(), counts.tolist(), strict=True)}
        state.number, state.time = n + 1, created.time
        kept = state.to_snapshot()
        storage.write_snapshot("large", kept)
    file = sqlite3.connect(url.removeprefix("sqlite:///"))
    with file:
        body = '{"duel":"1-1","first":0,"second":1,"outcome":"first"}'
        rows = ((1, number, created.time, "resolved", body) for number in range(2, n + 2))
        file.executemany("INSERT INTO journal (tournament, number, time, kind, body) VALUES (?, ?, ?, ?, ?)", rows)
        file.execute("UPDATE tournaments SET number = ?", (n + 1,))
        file.execute("INSERT OR REPLACE INTO counters VALUES (1, 'issued', ?), (1, 'resolved', ?)", (n, n))
    file.close()
