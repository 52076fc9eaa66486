"""A site that asks and tells until it is killed, and notes what was acknowledged: `player.py URL NOTES SEED`."""

import os
import random
import sys
import threading
from itertools import count

from rankduel.live import LiveDuel, Tournament
from rankduel.live.runtime import snapshots
from rankduel.types import Outcome

RANKERS = [f"ranker {number}" for number in range(12)]
THREADS = 4


def main(url: str, notes: str, seed: int) -> None:
    snapshots.SNAPSHOT_INTERVAL_EVENTS = 150
    t = Tournament.create("site", rankers=RANKERS, storage=url, seed=1, exist_ok=True)
    file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)  # what is written survives the process
    threads = [threading.Thread(target=play, args=(t, file, f"{seed}.{number}")) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    print("playing", flush=True)
    for thread in threads:
        thread.join()


def play(t: Tournament, file: int, name: str) -> None:
    chance = random.Random(name)
    open_duels: list[LiveDuel] = []
    for number in count():
        open_duels.append(t.ask(query_id=f"{name}.{number}"))
        chance.shuffle(open_duels)  # outcomes come late and in any order, and some never
        told = [(open_duels.pop(), chance.choice(list(Outcome))) for _ in range(chance.randrange(len(open_duels) + 1))]
        if len(told) == 1:
            note(file, told, [t.tell(*told[0]).status])
        elif told:
            note(file, told, [receipt.status for receipt in t.tell_many(told)])
        if told and chance.random() < 0.3:
            assert t.tell(*told[0]).status == "duplicate"


def note(file: int, told: list[tuple[LiveDuel, Outcome]], statuses: list[str]) -> None:
    assert set(statuses) == {"accepted"}, statuses
    os.write(file, "".join(f"{duel.id} {outcome.value}\n" for duel, outcome in told).encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
