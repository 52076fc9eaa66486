"""A prune that is killed at any moment leaves a sound storage, and the next one finishes it."""

import random
import subprocess
import sys
import time
from pathlib import Path

import rankduel as rd
from live.learning import learnt
from rankduel.live import Clicks, LocalTournament, Signal
from rankduel.live.admin.retention import count_old, prune
from rankduel.live.admin.verify import verify
from rankduel.live.runtime.state import State

DUELS = 3_000
KILLS = 6
PRUNER = """
import sys
from rankduel.live.admin.retention import prune
from rankduel.live.runtime import retention
retention._MAX_DUELS_PER_BATCH = 10
for state in prune(sys.argv[1], 1e-6):
    print(state.done, flush=True)
"""


def play(url: str) -> None:
    with LocalTournament.create("site", rankers=["a", "b", "c"], storage=url, seed=1) as t:
        duels = t.ask_many([(f"q{number}", f"client {number % 9}") for number in range(DUELS)])
        pages = [duel.interleave("abcdef", "fedcba", k=4) for duel in duels]
        t.observe([Signal(f"q{number}", "click", "a", 1, time.time(), None, "k") for number in range(0, DUELS, 3)])
        t.tell_many([(duel, Clicks(page.documents[:1], page)) for duel, page in zip(duels, pages, strict=True)])


def test_a_prune_that_is_killed(tmp_path: Path) -> None:
    url, chance, left = f"sqlite:///{tmp_path}/duels.db", random.Random(5), [DUELS]
    play(url)
    for _ in range(KILLS):
        with subprocess.Popen([sys.executable, "-c", PRUNER, url], stdout=subprocess.PIPE, text=True) as pruner:
            assert pruner.stdout is not None
            for _ in range(chance.randrange(2, 20)):
                done = int(pruner.stdout.readline())
            time.sleep(chance.uniform(0, 0.01))
            pruner.kill()  # SIGKILL
        assert [finding for finding in verify(url) if finding.level != "ok"] == []
        left.append(count_old(url, 1e-6)["site"])
        assert left[-1] <= left[-2] - done
    assert left[-1] > 0  # else none was killed in the middle
    *_, last = prune(url, 1e-6)
    assert last.done == last.total == left[-1]
    assert [finding for finding in verify(url) if finding.level != "ok"] == []
    with LocalTournament.open("site", storage=url) as t:
        assert {(row.client, row.page, row.state == "resolved") for row in t.duels(DUELS)} == {(None, "", True)}
        assert not any(t.storage.signals("site", row.session, row.number) for row in t.duels(DUELS))
        assert learnt(State.replay(t.journal())) == learnt(t._state)
        assert t.tell("1-1", rd.Outcome.TIE).status in ("duplicate", "conflict")
