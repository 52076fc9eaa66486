"""A process that is killed forgets only asks that were not on the disk yet, and their tickets count all the same."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rankduel.live import Tournament
from rankduel.types import Outcome

ASKER = Path(__file__).with_name("asker.py")
HELD_SECONDS = 0.1  # each ask is in the first commit that begins so long after it


def killed(url: str, notes: Path, seed: int) -> tuple[list[dict[str, Any]], float]:
    """The asks of a process that was killed, and when its last commit began that was done."""
    command = [sys.executable, str(ASKER), url, str(notes), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as asker:
        assert asker.stdout is not None
        assert asker.stdout.readline() == "asking\n"
        time.sleep(0.4)
        asker.kill()  # SIGKILL: nothing is flushed, nothing is closed
    lines = [json.loads(line) for line in notes.read_text().splitlines()]
    return [line for line in lines if "query" in line], max(line.get("commit_began", 0.0) for line in lines)


def test_asks_that_were_written_keep_their_duel_and_all_tickets_count(tmp_path: Path) -> None:
    url, lost = f"sqlite:///{tmp_path}/duels.db", 0
    for seed in range(4):
        asks, commit_began = killed(url, tmp_path / f"notes {seed}", seed)
        with Tournament.open("site", storage=url) as t:
            again = t.ask_many([(ask["query"], None) for ask in asks])
            changed = [ask for ask, duel in zip(asks, again, strict=True) if duel.id != ask["id"]]
            assert all(ask["asked"] > commit_began - HELD_SECONDS for ask in changed)
            receipts = t.tell_many([(ask["ticket"], Outcome.FIRST) for ask in changed])
            assert all(receipt.status == "accepted" for receipt in receipts)
            assert len(asks) > len(changed)
        lost += len(changed)
    assert lost  # else this test has shown nothing
