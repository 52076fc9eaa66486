"""A process that is killed at any moment loses nothing that it has acknowledged, and counts nothing twice."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from live.learning import learnt
from rankduel.live import LocalTournament
from rankduel.live.runtime.state import State
from rankduel.types import Outcome

KILLS = int(os.environ.get("RANKDUEL_KILLS", "24"))  # `make soak` kills more often
PLAYER = Path(__file__).with_name("player.py")


def play_until_killed(url: str, notes: Path, seed: int, seconds: float) -> None:
    command = [sys.executable, str(PLAYER), url, str(notes), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as player:
        assert player.stdout is not None
        assert player.stderr is not None
        started = player.stdout.readline()
        time.sleep(seconds)
        alive = player.poll() is None
        player.kill()  # SIGKILL: nothing is flushed, nothing is closed
        errors = player.stderr.read()
    assert started == "playing\n", errors
    assert alive, errors


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """The storage of a tournament whose process was killed again and again, and all that was acknowledged."""
    folder = tmp_path_factory.mktemp("crash")
    url, notes = f"sqlite:///{folder}/duels.db", folder / "notes"
    chance = random.Random(5)
    for seed in range(KILLS):
        play_until_killed(url, notes, seed, chance.uniform(0, 0.25))
    lines = [line.split() for line in notes.read_text().splitlines()]
    acknowledged = dict(lines)
    assert len(acknowledged) == len(lines) > 20 * KILLS  # no duel was accepted twice
    return url, acknowledged


def test_everything_acknowledged_is_there_once(killed: tuple[str, dict[str, str]]) -> None:
    url, acknowledged = killed
    with LocalTournament.open("site", storage=url) as t:
        events = list(t.journal())
        told = {event.body["duel"]: event.body["outcome"] for event in events if event.kind == "resolved"}
        kinds = Counter(event.kind for event in events)
        assert acknowledged.items() <= told.items()
        assert len(told) == kinds["resolved"] == t.counts.resolved
        assert t._issuer._session == KILLS + 1
        for duel, outcome in list(acknowledged.items())[::50]:
            receipt = t.tell(duel, Outcome.FIRST)
            assert receipt.outcome is Outcome(outcome)
            assert receipt.status == ("duplicate" if outcome == "first" else "conflict")
        assert t.counts.resolved == kinds["resolved"]


def test_replay_and_snapshots_give_the_same_bandit(killed: tuple[str, dict[str, str]]) -> None:
    url, _ = killed
    with LocalTournament.open("site", storage=url) as t:
        load_state = t._state
        assert len(list(t.storage.snapshots("site"))) == 2
        assert learnt(State.replay(t.journal())) == learnt(load_state)


def test_the_index_of_duels_is_that_of_the_journal(killed: tuple[str, dict[str, str]]) -> None:
    url, _ = killed
    with sqlite3.connect(url.removeprefix("sqlite:///")) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        indexed = dict(file.execute("SELECT state, count(*) FROM duels GROUP BY state"))
        kinds = dict(file.execute("SELECT kind, count(*) FROM journal GROUP BY kind"))
        counters = dict(file.execute("SELECT name, value FROM counters"))
    assert indexed["resolved"] == kinds["resolved"] == counters["resolved"]
    assert sum(indexed.values()) == counters["issued"]
    file.close()
