"""One of several sites that share a tournament: `player.py URL NOTES STOP SEED`.

It asks and tells until there is a file STOP, whatever happens to the database, and notes what was answered. Then it
takes in the end of the journal, and prints a digest of what it has learnt.
"""

import os
import random
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TypeVar

from live.learning import learnt
from rankduel.errors import StorageError
from rankduel.live import LiveDuel, LocalTournament
from rankduel.live.runtime import snapshots
from rankduel.live.runtime.state import State
from rankduel.types import Outcome

RANKERS = [f"ranker {number}" for number in range(12)]
EXPIRES_AFTER = 4.0
THREADS = 3
T = TypeVar("T")


def main(url: str, notes: str, stop: Path, seed: int) -> None:
    snapshots.SNAPSHOT_INTERVAL_EVENTS = 150
    t = patiently(
        lambda: LocalTournament.create(
            "site", rankers=RANKERS, storage=url, seed=1, expires_after=EXPIRES_AFTER, exist_ok=True
        )
    )
    file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)  # what is written survives the process
    threads = [threading.Thread(target=play, args=(t, file, stop, f"{seed}.{n}")) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    print("playing", flush=True)
    for thread in threads:
        thread.join()
    print("done", flush=True)
    assert sys.stdin.readline() == "all are done\n"
    end = max(event.number for event in t.journal())
    while t._state.number < end:
        time.sleep(0.01)
    print(end, digest(t._state), flush=True)
    t.close()


def play(t: LocalTournament, file: int, stop: Path, name: str) -> None:
    chance = random.Random(name)
    open_duels: list[LiveDuel] = []
    for number in count():
        if stop.exists():
            return
        # Some queries are asked by several sites at about the same time.
        query = f"{name}.{number}" if chance.random() < 0.5 else f"common {int(20 * time.time())}"
        started = time.time()
        duel = t.ask(query_id=query)
        if duel.id is None:
            assert duel.why == "storage", duel
            time.sleep(0.01)
            continue
        note(file, f"asked {query.replace(' ', '-')} {duel.id} {started} {time.time()}")
        open_duels.append(duel)
        chance.shuffle(open_duels)
        for duel in open_duels[: chance.randrange(len(open_duels) + 1)]:
            open_duels.remove(duel)
            outcome = outcome_of(duel)
            how = duel.ticket or "" if chance.random() < 0.5 else duel
            receipt = patiently(partial(t.tell, how, outcome))
            note(file, f"{receipt.status} {duel.id} {outcome.value}")


def outcome_of(duel: LiveDuel) -> Outcome:
    """Whoever tells a duel tells the same."""
    return random.Random(duel.id).choice(list(Outcome))


def patiently(work: Callable[[], T]) -> T:
    """Try again while the database is away."""
    while True:
        try:
            return work()
        except StorageError:
            time.sleep(0.02)


def note(file: int, line: str) -> None:
    os.write(file, f"{line}\n".encode())


def digest(state: State) -> str:
    """The same for two processes that have learnt the same."""
    parts = [
        sorted(part.items()) if isinstance(part, dict) else sorted(part) if isinstance(part, set) else part
        for part in learnt(state)
    ]
    return sha256(repr(parts).encode()).hexdigest()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
