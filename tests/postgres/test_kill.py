"""Three processes share a database. They are killed, cut off, and the database crashes: nothing is lost or doubled."""

import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from live.learning import learnt
from postgres.player import digest
from postgres.server import Server
from rankduel.live import LocalTournament, Status, storage_at
from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import Created, Tell, TellResult
from rankduel.types import Outcome

HARMS = int(os.environ.get("RANKDUEL_KILLS", "6"))  # `make soak` does more harm
PLAYER = Path(__file__).with_name("player.py")
PLAYERS = 3


class Site:
    """A process that plays, known to the database by its name."""

    def __init__(self, url: str, folder: Path, number: int) -> None:
        self.name = f"site-{number}"
        self.log = folder / f"{self.name}.log"
        arguments = [f"{url}?application_name={self.name}", str(folder / "notes"), str(folder / "stop"), str(number)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(PLAYER), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join([str(PLAYER.parents[1]), os.environ.get("PYTHONPATH", "")])},
            )

    def says(self) -> str:
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, self.log.read_text()
        return said.strip()

    def hears(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        assert self.process.poll() is None, self.log.read_text()
        self.process.kill()  # SIGKILL: nothing is flushed, nothing is closed
        self.process.communicate()


@dataclass
class Played:
    """What happened, and what the sites have noted."""

    url: str
    leaders: list[str] = field(default_factory=list)  # those that were killed
    crashes: list[tuple[float, float]] = field(default_factory=list)  # of the database: from, until
    notes: list[list[str]] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)  # the last event and the digest of each site


def leader(url: str) -> str:
    """The name of who leads the tournament, as soon as somebody does."""
    statement = (
        "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) "
        "WHERE locktype = 'advisory' AND granted AND application_name LIKE 'site-%'"
    )
    for _ in range(600):
        with psycopg.connect(url) as connection:
            found = connection.execute(statement).fetchall()
        assert len(found) <= 1
        if found:
            return str(found[0][0])
        time.sleep(0.1)
    raise AssertionError("nobody leads")


@pytest.fixture(scope="module")
def played(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("sites")
    played = Played(postgres.empty())
    chance = random.Random(5)
    sites = [Site(played.url, folder, number) for number in range(PLAYERS)]
    try:
        assert [site.says() for site in sites] == ["playing"] * PLAYERS
        for harm in range(HARMS):
            time.sleep(chance.uniform(0.2, 0.7))
            if harm % 3 == 0:
                played.leaders.append(leader(played.url))
                (place,) = (place for place, site in enumerate(sites) if site.name == played.leaders[-1])
                sites[place].kill()
                while leader(played.url) == played.leaders[-1]:  # another one takes over
                    time.sleep(0.05)
                sites[place] = Site(played.url, folder, PLAYERS + harm)
                assert sites[place].says() == "playing"
            elif harm % 3 == 1:
                assert postgres.cut(played.url) > PLAYERS
            else:
                begun = time.time()
                postgres.stop()
                postgres.start()
                played.crashes.append((begun, time.time()))
        time.sleep(0.5)
        (folder / "stop").touch()
        assert [site.says() for site in sites] == ["done"] * PLAYERS
        for site in sites:
            site.hears("all are done")
        played.ends = [site.says() for site in sites]
        assert [site.process.wait(timeout=60) for site in sites] == [0] * PLAYERS
    finally:
        for site in sites:
            site.process.kill()
            site.process.communicate()
    played.notes = [line.split() for line in (folder / "notes").read_text().splitlines()]
    return played


def test_everything_acknowledged_is_there_once(played: Played) -> None:
    assert len(played.leaders) == (HARMS + 2) // 3
    accepted = [(duel, outcome) for status, duel, outcome, *_ in played.notes if status == "accepted"]
    late = {duel for status, duel, *_ in played.notes if status == "late"}
    assert {note[0] for note in played.notes} <= {"asked", "accepted", "duplicate", "late"}
    assert len(dict(accepted)) == len(accepted) > 10 * HARMS  # none was accepted twice
    with LocalTournament.open("site", storage=played.url) as t:
        events = list(t.journal())
        told = {event.body["duel"]: event.body["outcome"] for event in events if event.kind == "resolved"}
        assert dict(accepted).items() <= told.items()
        assert not late & told.keys()
        assert len(told) == len(events) - 1 == t.counts.resolved
        for duel, outcome in accepted[::50]:
            receipt = t.tell(duel, Outcome.FIRST)
            assert receipt.outcome is Outcome(outcome)
            assert receipt.status == ("duplicate" if outcome == "first" else "conflict")


def test_a_query_has_one_duel_in_all_processes(played: Played) -> None:
    """A crash of the database may swallow asks of its last moment: what is the same is what was asked between two."""
    crashes = [(0.0, 0.0), *played.crashes, (2e10, 2e10)]
    asked: dict[tuple[int, str], set[str]] = defaultdict(set)
    sites: dict[str, int] = Counter()
    for kind, query, *rest in played.notes:
        if kind == "asked":
            duel, begun, done = rest[0], float(rest[1]), float(rest[2])
            for number in range(len(crashes) - 1):
                if crashes[number][1] < begun and done < crashes[number + 1][0]:
                    asked[number, query].add(duel)
                    sites[query] += 1
    assert max(len(duels) for duels in asked.values()) == 1
    assert sum(count > 1 for count in sites.values()) > HARMS  # many were asked more than once


def test_all_have_learnt_the_same_as_one_would_have(played: Played) -> None:
    with LocalTournament.open("site", storage=played.url) as t:
        alone = State.replay(t.journal())
        assert learnt(t._state) == learnt(alone)  # from a snapshot
        assert len(list(t.storage.snapshots("site"))) == 2
    assert played.ends == [f"{alone.number} {digest(alone)}"] * PLAYERS


def test_sqlite_gives_the_same_journal_and_the_same_fold(played: Played, tmp_path: Path) -> None:
    shared, own = storage_at(played.url), storage_at(f"sqlite:///{tmp_path}/duels.db")
    events = list(shared.read("site"))
    own.commit({"site": [Created(events[0].time, events[0].body)]})
    tells = []
    for event in events[1:]:
        session, _, number = event.body["duel"].partition("-")
        row = shared.duel("site", int(session), int(number))
        assert row is not None
        issued = row._replace(state="issued", outcome=None)
        tells.append(Tell(row.session, row.number, issued, event.body["outcome"], event.time))
    for start in range(0, len(tells), 100):
        some = tells[start : start + 100]
        assert own.commit({"site": some}).results["site"] == [
            TellResult(Status.ACCEPTED, tell.outcome) for tell in some
        ]
    assert list(own.read("site")) == events
    assert learnt(State.replay(own.read("site"))) == learnt(State.replay(events))
    own.close()
    shared.close()


def test_duels_and_counters_agree(played: Played) -> None:
    with LocalTournament.open("site", storage=played.url) as t:
        while t.counts.in_flight:  # whoever leads lets the rest expire
            time.sleep(0.1)
        counts = t.counts
    with psycopg.connect(played.url) as connection:
        states: dict[str, int] = dict(
            connection.execute("SELECT state, count(*) FROM rankduel.duels GROUP BY state").fetchall()
        )
    assert set(states) <= {"resolved", "late", "expired"}
    assert counts.resolved == states["resolved"]
    assert counts.late == states.get("late", 0)
    assert counts.expired == states.get("late", 0) + states.get("expired", 0)
    assert counts.issued == sum(states.values())
