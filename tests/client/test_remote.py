"""A tournament of the real service does the same as one in this process (more: `live/test_tournament_protocol.py`)."""

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

import pytest

import rankduel as rd
from client import servers
from client.servers import serving
from client.service import running
from fences import ROOT, fences
from rankduel.client import Client, Counters, RemoteTournament, names_at
from rankduel.live import Status, Tournament
from rankduel.live.admin.verify import verify
from rankduel.live.rules.signals import Shown, Signal

RANKERS = ["bm25", "ltr", "neural", "a/b c:d?é"]
MADE: dict[str, Any] = {"rankers": RANKERS, "seed": 7, "baseline": "bm25", "interleaving": "probabilistic(tau=2)"}
LIST_A, LIST_B = ["d1", "d2", "d3", "d4"], ["d4", "d1", "d5", "d2"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(f"sqlite:///{tmp_path_factory.mktemp('service')}/duels.db") as url:
        yield url


def play(t: Tournament) -> list[object]:
    """The same small tournament, anywhere: all that a user can see of it."""
    seen: list[object] = [t.status, t.rankers, t.winner, t.counts]
    duels = [t.ask(f"q {number}", "somebody") for number in range(20)]
    assert t.ask("q 3") == duels[3]
    duels += t.ask_many([(None, None), ("q 5", None), ("q 99", "somebody")])
    pages = [duel.interleave(LIST_A, LIST_B, k=3) for duel in duels]
    seen += [(page.method, len(page.documents)) for page in pages]
    seen += [t.show(duels[0]), t.show(duels[0]), t.show(duels[1].id or "", pages[1])]
    seen += t.show_many([(duels[2], None), (duels[2].ticket or "", pages[3]), ("99-99", pages[3])])
    seen += [t.tell(duels[0], rd.Outcome.FIRST), t.tell(duels[0].ticket or "", rd.Outcome.FIRST)]
    seen += [t.tell(duels[0].id or "", rd.Outcome.TIE), t.tell("99-99", rd.Outcome.TIE)]
    expected = duels[1].method.outcome(pages[1], [pages[1].documents[0]])
    assert t.tell(duels[1], clicks=[pages[1].documents[0]]).outcome is expected
    assert t.tell(duels[1].id or "", clicks=[pages[1].documents[0]], shown=pages[1]).status == "duplicate"
    seen += t.tell_many([(duel, rd.Outcome.SECOND) for duel in duels[2:10]])
    assert [told.status for told in t.tell_soon([(duels[10], rd.Outcome.TIE)]).result()] == ["accepted"]
    click = Signal("q 12", "click", str(pages[12].documents[0]), 1, time(), None, "e-1")
    seen += t.observe([Shown("q 12", pages[12]), click, click, click._replace(query_id="nobody's")])
    t.void(duels[11], "a robot")
    with pytest.raises(ValueError, match="is already resolved, so it cannot be declared void"):
        t.void(duels[0])
    t.pause("a release")
    paused = t.ask("q new")
    seen += [paused.serve, paused.why, paused.first, paused.id, t.status]
    seen += [t.tell(paused, rd.Outcome.FIRST)]
    with pytest.raises(ValueError, match="paused"):
        t.pause()
    t.start()
    t.add_rankers(["new"], "fresh")
    t.pause_ranker("new")
    t.start_ranker("new")
    t.retire(RANKERS[3], "too slow")
    with pytest.raises(ValueError, match="nobody"):
        t.retire("nobody")
    t.configure(share=0.5, daily_cap=3, reason="careful")
    settings = t.settings
    seen += [settings.share, settings.daily_cap, settings.bandit, settings.interleaving, settings.rankers]
    seen += [t.rankers, t.counts, t.decision().left, sorted(line.ranker for line in t.leaderboard())]
    seen += [sum(line.wins for line in t.leaderboard()), sum(pair.wins + pair.losses for pair in t.preferences())]
    health = t.health()
    seen += [health.counts, health.served, health.told_again, health.conflicts, health.outcomes, health.failure]
    seen += [t.attribution, settings.attribution, settings.guardrails]
    seen += [[one.ranker for one in t.timeline()], len(t.duels()), len(t.duels(5)), t.duels(1, before="1-9")[0].id]
    rows = {row.id: row for row in t.duels()}
    assert t.rankers[rows[duels[0].id or ""].first] == duels[0].first
    seen += [[(event.number, event.kind) for event in t.journal()], [event.number for event in t.journal(since=9)]]
    seen += [[event.body["reason"] for event in t.journal() if event.kind in ("paused", "retired")]]
    assert t.champion == t.leaderboard()[0].ranker
    t.stop("done")
    return [*seen, t.status, t.ask().why]


def test_remote_is_as_local(service: str, tmp_path: Path) -> None:
    with rd.Tournament.create("search", storage=f"sqlite:///{tmp_path}/here.db", **MADE) as t:
        here = play(t)
    with rd.Tournament.create("search", storage=service, **MADE) as t:
        assert isinstance(t, RemoteTournament)
        there = play(t)
    assert there == here
    with rd.Tournament.open("search", storage=service) as t:
        assert (t.status, t.counts.resolved) == ("stopped", 11)
    assert "search" in names_at(service)


def test_errors_are_those_of_a_process(service: str) -> None:
    with pytest.raises(rd.UnknownTournament, match="nowhere"):
        rd.Tournament.open("nowhere", storage=service)
    rd.Tournament.create("mine", storage=service, rankers=["a", "b"], seed=1).close()
    rd.Tournament.create("mine", storage=service, rankers=["a", "b"], seed=1, exist_ok=True).close()
    with pytest.raises(rd.TournamentExists, match="already"):
        rd.Tournament.create("mine", storage=service, rankers=["a", "b"], seed=1)
    with pytest.raises(rd.TournamentExists, match="rankers"):
        rd.Tournament.create("mine", storage=service, rankers=["a", "c"], seed=1, exist_ok=True)
    with pytest.raises(ValueError, match="unknown bandit 'Nobody'"):
        rd.Tournament.create("other", storage=service, rankers=["a", "b"], bandit="Nobody")
    with pytest.raises(ValueError, match="share"):
        rd.Tournament.create("other", storage=service, rankers=["a", "b"], share=7)
    with pytest.raises(TypeError, match="rankers must be a list"):
        rd.Tournament.create("other", storage=service, rankers="ab")
    with pytest.raises(ValueError, match="key is only for a service at an http address"):
        rd.Tournament.open("other", storage="sqlite:///here.db", key="rd_1_x")
    assert names_at(service) == sorted({*names_at(service)} - {"other"})


@pytest.mark.parametrize(
    ("behaves", "told"),
    [
        (servers.status(500), "rejected the request"),
        (servers.status(503), "rejected the request"),
        (servers.closes, "no valid response from"),
        (servers.resets, "no valid response from"),
        (servers.told([1, 2]), "check that client and service run the same version"),
        (servers.told({"hello": 1}), "check that client and service run the same version"),
        (servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html"), "no valid response from"),
    ],
)
def test_a_bad_service_is_a_storage_error(behaves: servers.Behaviour, told: str) -> None:
    with serving(behaves) as server, RemoteTournament("search", server.url) as t:  # noqa: SIM117
        with pytest.raises(rd.StorageError, match=told):
            t.decision()


@pytest.mark.slow
def test_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankduel.live import storage_at  # noqa: PLC0415
    from rankduel.service import new_key  # noqa: PLC0415

    url = f"sqlite:///{tmp_path}/duels.db"
    storage = storage_at(url)
    _, admin = new_key(storage, "boss", ["admin"])
    _, shop = new_key(storage, "shop", ["ask", "tell"])
    storage.close()
    with running(url) as service:
        with pytest.raises(rd.StorageError, match="rejected the request"):
            rd.Tournament.create("search", storage=service, rankers=["a", "b"])
        with rd.Tournament.create("search", storage=service, rankers=["a", "b"], key=admin) as t:
            t.pause("lunch")
            assert [event.body for event in t.journal() if event.kind == "paused"] == [
                {"reason": "lunch", "by": "boss"}
            ]
            t.start()
        monkeypatch.setenv("RANKDUEL_KEY", shop)
        with Client(service, "search", deadline=5) as client:
            duel = client.ask("q")
            assert duel.serve == "duel"
            client.tell(duel, rd.Outcome.FIRST)
            assert client.flush()
            assert client.counters.accepted == 1
        with pytest.raises(rd.StorageError, match="rejected the request") as caught:
            rd.Tournament.open("search", storage=service)
        assert shop not in str(caught.value)


def test_a_search_application(service: str) -> None:
    # Eight threads of an application, each asking, showing and telling: everything arrives, once.
    rd.Tournament.create("shop", storage=service, **MADE).close()
    with Client(service, "shop", baseline="bm25", deadline=10) as client:

        def search(name: int) -> None:
            for number in range(25):
                duel = client.ask(query_id=f"{name}.{number}", client_id=f"user {name}")
                page = duel.interleave(LIST_A, LIST_B, k=4)
                client.show(duel)
                client.tell(duel, clicks=[page.documents[0]])
                client.tell(duel, clicks=[page.documents[0]])
                client.observe([Signal(f"{name}.{number}", "click", "d1", 1, time(), 2.5, f"{name}.{number}")])

        threads = [threading.Thread(target=search, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert client.flush(60)
        counters = client.counters
        assert (counters.asks, counters.answered) == (200, 200)
        assert (counters.queued, counters.sent, counters.rejected, counters.dropped) == (800, 800, 0, 0)
        assert counters.accepted + counters.told_late + counters.duplicate == 800
        assert counters.accepted >= 200
    with rd.Tournament.open("shop", storage=service) as t:
        assert (t.counts.issued, t.counts.resolved) == (200, 200)


def test_the_ten_lines_of_the_page(service: str, tmp_path: Path) -> None:
    lines = next(fence.text for fence in fences(ROOT / "docs" / "client.md") if fence.info == "python")
    assert "http://127.0.0.1:8080" in lines
    with rd.Tournament.create("home-search", storage=service, rankers=RANKERS) as t:
        exec(lines.replace("http://127.0.0.1:8080", service).replace('baseline="bm25"', "deadline=5"), {})
        assert (t.counts.issued, t.counts.resolved) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_of_the_service(tmp_path: Path, end: signal.Signals) -> None:
    # While it is away users see the baseline, and what is told waits for it. Tickets vouch for asks that were lost.
    url = f"sqlite:///{tmp_path}/duels.db"
    with running(url, end=end) as first:
        rd.Tournament.create("search", storage=first, rankers=RANKERS).close()
        port = first.rpartition(":")[2]
        client = Client(first, "search", baseline="bm25", deadline=5)
        duels = [client.ask() for _ in range(50)]
        assert {duel.serve for duel in duels} == {"duel"}
    assert client.ask().serve == "baseline"
    for duel in duels:
        assert client.tell(duel, rd.Outcome.SECOND)
    assert not client.flush(0.5)
    with running(url, "--port", port):
        assert client.flush(60)
        assert client.counters.accepted == 50
        assert client.counters.retries > 0
    client.close()
    with rd.Tournament.open("search", storage=url) as t:
        assert t.counts.resolved == 50
    assert {finding.level for finding in verify(url)} == {"ok"}


@pytest.mark.slow
def test_asks_and_tells_come_back_by_themselves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After `kill -9` and an outage: probes do not slow down meanwhile (how soon is in test_breaker.py)."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with caplog.at_level("INFO", logger="rankduel"):
        with running(url, end=signal.SIGKILL) as first:
            rd.Tournament.create("search", storage=first, rankers=RANKERS).close()
            port = first.rpartition(":")[2]
            client = Client(first, "search", baseline="bm25", deadline=1)
            duel = client.ask("q")
            assert duel.serve == "duel"
        client.tell(duel, rd.Outcome.FIRST)
        ended = monotonic() + 3
        while monotonic() < ended:
            assert client.ask().serve == "baseline"
            sleep(0.002)
        assert client.ask().why in ("resting", "unreachable")
        probes = client.counters.failed
        with running(url, "--port", port):
            due = monotonic() + 30
            while client.ask().serve != "duel":
                assert monotonic() < due
                sleep(0.002)
            assert client.counters.failed - probes < 40
            assert client.flush(30)
            assert client.counters.accepted == 1
            assert client.last_problem is not None
            assert client.last_problem.over
        client.close()
    ends = [record.getMessage() for record in caplog.records if record.levelname == "INFO"]
    assert sorted(end.partition(" ")[0] for end in ends if "works again" in end) == ["ask", "tell"]


def test_statuses_are_those_of_live() -> None:
    counted = {status.value if status is not Status.LATE else "told_late" for status in Status}
    assert counted <= set(Counters.__slots__)
