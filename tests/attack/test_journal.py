"""Nothing enters the journal that replay cannot take, and a tournament that is broken all the same can be repaired."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import rankduel as rd
from rankduel.cli import main
from rankduel.live import LiveDuel, LocalTournament, Status
from rankduel.live.admin.backup import backup
from rankduel.live.admin.verify import verify
from service.servers import Client, serving

FIRST = rd.Outcome.FIRST


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/duels.db"


def begin(url: str, name: str = "search") -> LocalTournament:
    return LocalTournament.create(name, rankers=["a", "b", "c"], storage=url, seed=1, exist_ok=True)


def duel_of_a_new_ranker(t: LocalTournament) -> LiveDuel:
    """A duel with a ranker that is not a, b or c."""
    for _ in range(10_000):
        if {(duel := t.ask()).first, duel.second} - set("abc"):
            return duel
    raise AssertionError("no new ranker was asked for")


def load_state(url: str, tmp_path: Path) -> tuple[str, LiveDuel, str]:
    """A storage restored from a backup, and a duel and its ticket of a ranker that was added after the backup."""
    with begin(url) as t:
        backup(url, tmp_path / "backup.db")
        t.add_rankers([f"new {number}" for number in range(20)])
        duel = duel_of_a_new_ranker(t)
        assert duel.ticket is not None
        return f"sqlite:///{tmp_path}/backup.db", duel, duel.ticket


def test_a_ticket_newer_than_the_restored_storage_is_unknown(url: str, tmp_path: Path) -> None:
    """A tell or a page of a ranker that the storage does not know is unknown and leaves no trace."""
    copy, duel, ticket = load_state(url, tmp_path)
    page = duel.interleave("abc", "cde", 3)
    for _ in range(2):  # and again after a restart
        with begin(copy) as t:
            counts = t.counts
            for known in (ticket, duel):
                assert t.tell(known, FIRST).status is Status.UNKNOWN
                assert t.show(known, page) is Status.UNKNOWN
                assert t.tell(known, clicks=[page.documents[0]], shown=page).status is Status.UNKNOWN
            assert [event.kind for event in t.journal()] == ["created"]
            assert t.counts == counts
            assert t.health().failure is None
            assert t.ask().serve == "duel"
    assert all(finding.level == "ok" for finding in verify(copy))


def test_a_ticket_is_never_credited_to_a_ranker_that_was_added_later(url: str, tmp_path: Path) -> None:
    """After a restore, another ranker has the arm of the one that the ticket names: still unknown."""
    copy, duel, ticket = load_state(url, tmp_path)
    with begin(copy) as t:
        t.add_rankers([f"other {number}" for number in range(20)])
        for known in (ticket, duel):
            assert t.tell(known, FIRST).status is Status.UNKNOWN
            assert t.show(known, duel.interleave("abc", "cde", 3)) is Status.UNKNOWN
        assert [event.kind for event in t.journal()] == ["created", "added"]
        assert t.tell(duel_of_a_new_ranker(t), FIRST).status is Status.ACCEPTED  # its own ones count
    assert all(finding.level == "ok" for finding in verify(copy))


def test_a_ticket_of_another_duel_with_the_same_id_is_unknown(url: str, tmp_path: Path) -> None:
    """A backup that is restored twice issues the same ids twice: a ticket counts for its own duel only."""
    begin(url).close()
    backup(url, tmp_path / "one.db")
    shutil.copy(tmp_path / "one.db", tmp_path / "two.db")
    with begin(f"sqlite:///{tmp_path}/one.db") as one, begin(f"sqlite:///{tmp_path}/two.db") as two:
        duel, same_id = one.ask("q"), two.ask("r")
        assert duel.id == same_id.id
        assert duel.ticket is not None
        for known in (duel, duel.ticket):
            assert two.tell(known, FIRST).status is Status.UNKNOWN
            assert two.show(known, duel.interleave("abc", "cde", 3)) is Status.UNKNOWN
        assert two.tell(same_id, FIRST).status is Status.ACCEPTED
        assert one.tell(duel, FIRST).status is Status.ACCEPTED


def test_a_duel_of_another_tournament_is_unknown(url: str) -> None:
    """What one tournament has issued cannot be told to another, though both are in this process."""
    with begin(url, "one") as one, LocalTournament.create("two", rankers=["a", "b"], storage=url) as two:
        one.add_rankers(["d", "e"])
        assert two.tell(duel_of_a_new_ranker(one), FIRST).status is Status.UNKNOWN
        assert [event.kind for event in two.journal()] == ["created"]


# A storage that an older version has poisoned


def poison(url: str, name: str, kind: str, body: str) -> int:
    """Append an event that replay cannot take, as older versions could; its number."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
        ((owner, number, time),) = file.execute("SELECT id, number, time FROM tournaments WHERE name = ?", (name,))
        file.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", (owner, number + 1, time, kind, body))
        file.execute("UPDATE tournaments SET number = number + 1 WHERE id = ?", (owner,))
        if kind == "resolved" and body.startswith("{"):
            told = json.loads(body)
            session, _, duel = told["duel"].partition("-")
            row = owner, int(session), int(duel), told["first"], told["second"], time, time + 60, "resolved", "first"
            columns = "tournament, session, number, first, second, issued, expires, state, outcome"
            file.execute(f"INSERT INTO duels ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            for counter in ("issued", "resolved", "outcome first"):
                file.execute(
                    "UPDATE counters SET value = value + 1 WHERE tournament = ? AND name = ?", (owner, counter)
                )
    return int(number) + 1


POISONS = {
    "ranker": ("resolved", '{"duel":"9-1","first":3,"second":0,"outcome":"first"}'),
    "outcome": ("resolved", '{"duel":"9-1","first":1,"second":0,"outcome":"fifth"}'),
    "text": ("configured", '{"share": 0.5'),
    "kind": ("danced", "{}"),
    "retired": ("retired", '{"ranker":"nobody","by":"","reason":""}'),
}


@pytest.fixture(params=POISONS)
def poisoned(url: str, request: pytest.FixtureRequest) -> str:
    for name in ("good", "sick"):
        with begin(url, name) as t:
            for _ in range(5):
                t.tell(t.ask(), FIRST)
    poison(url, "sick", *POISONS[request.param])
    return url


def test_a_broken_tournament_keeps_no_other_one_closed(poisoned: str) -> None:
    """The service starts, serves the others, and says which one is broken, why, and what to do."""
    with serving(poisoned) as server, server.client as client:
        assert client.post("/v1/tournaments/good/ask", {}).body["serve"] == "duel"
        for call in ("", "/leaderboard", "/health"):
            answer = client.get(f"/v1/tournaments/sick{call}")
            assert answer.status == 503
            assert answer.problem == "broken-tournament"
            assert "storage verify --repair" in answer.body["detail"]
            assert not re.search(r"\w(Error|Exception)\b|sqlite:|postgresql:|\.db\b", answer.body["detail"])
        assert client.post("/v1/tournaments/sick/ask", {}).problem == "broken-tournament"
        assert client.post("/v1/tournaments", {"name": "sick", "rankers": ["a", "b"]}).problem == "broken-tournament"
        for path in ("/v1/tournaments", "/v1/overviews"):
            listed = client.get(path).body
            assert [one["name"] for one in listed["tournaments"]] == ["good"]
            assert [one["name"] for one in listed["broken"]] == ["sick"]
        ready = client.get("/readyz")
        assert (ready.status, ready.raw) == (200, b"degraded: 1 tournaments cannot be opened\n")
        assert b'rankduel_tournament_broken{tournament="sick"} 1' in client.get("/metrics").raw


def test_repair_sets_the_event_aside(poisoned: str, capsys: pytest.CaptureFixture[str]) -> None:
    """After `storage verify --repair` everything else is there, the audit log says what was done, and it verifies."""
    with pytest.raises(rd.StorageError):
        begin(poisoned, "sick")
    assert main(["storage", "verify", "--storage", poisoned]) == 1
    assert main(["storage", "verify", "--repair", "--storage", poisoned]) == 0
    assert "quarantined event" in capsys.readouterr().out
    with begin(poisoned, "sick") as t:
        assert t.counts.resolved == 5
        assert t.ask().serve == "duel"
        (aside,) = (event for event in t.audit() if event.kind == "quarantined")
        assert aside.body["by"] == "rankduel storage verify --repair"
    assert {finding.level for finding in verify(poisoned)} == {"ok"}


def test_duels_of_unknown_rankers_are_deleted_by_repair(url: str) -> None:
    """Duels that an older version has stored for rankers it does not know cannot be told, and go with a repair."""
    with begin(url) as t:
        t.tell(t.ask(), FIRST)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
        file.execute(
            "INSERT INTO duels (tournament, session, number, query, first, second, issued, expires, state) "
            "SELECT id, 7, 1, 'q', 5, 1, time, time + 1e6, 'issued' FROM tournaments"
        )
        file.execute("UPDATE counters SET value = value + 1 WHERE name = 'issued'")
    with begin(url) as t:
        assert t.tell("7-1", FIRST).status is Status.UNKNOWN
        assert t.ask("q").why == "storage"
        assert t.ask("another").serve == "duel"
    assert main(["storage", "verify", "--repair", "--storage", url]) == 0
    with begin(url) as t:
        assert t.ask("q").serve == "duel"
    assert {finding.level for finding in verify(url)} == {"ok"}


def test_a_broken_tournament_is_shown_without_the_path(poisoned: str, tmp_path: Path) -> None:
    """The reason names no path of the server."""
    with serving(poisoned) as server, Client(server.port) as client:
        assert str(tmp_path).encode() not in client.get("/v1/overviews").raw
