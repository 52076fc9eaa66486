"""A site that asks until it is killed, and notes asks and commits: `asker.py URL NOTES SEED`."""

import json
import os
import sys
import threading
from itertools import count
from time import monotonic
from typing import Any

from rankduel.live import LocalTournament
from rankduel.live.storage.contract import Batch, Committed
from rankduel.types import Outcome


def main(url: str, notes: str, seed: int) -> None:
    t = LocalTournament.create("site", rankers=["a", "b", "c"], storage=url, seed=1, exist_ok=True)
    file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)  # what is written survives the process
    commit = t.storage.commit

    def noted(batch: Batch) -> Committed:
        began = monotonic()
        committed = commit(batch)
        note(file, commit_began=began)
        return committed

    t.storage.commit = noted  # type: ignore[method-assign]
    for number in range(2):
        threading.Thread(target=ask, args=(t, file, f"{seed}.{number}")).start()
    print("asking", flush=True)


def ask(t: LocalTournament, file: int, name: str) -> None:
    for number in count():
        duel = t.ask(f"{name}.{number}")
        note(file, query=f"{name}.{number}", id=duel.id, ticket=duel.ticket, asked=monotonic())
        if number % 50 == 49:
            t.tell(duel, Outcome.TIE)


def note(file: int, **what: Any) -> None:
    os.write(file, f"{json.dumps(what)}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
