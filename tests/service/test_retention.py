"""A service with `retention_days` prunes old duels by itself."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

import rankduel as rd
from rankduel.live import LocalTournament, Signal
from rankduel.live.admin.verify import verify
from rankduel.service import ServiceSettings
from service.servers import at, serving

DAY = 86_400.0


def test_old_duels_are_pruned_while_it_serves(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("home", rankers=["a", "b"], storage=url, seed=1) as t:
        duels = t.ask_many([(f"q{number}", f"u{number}") for number in range(700)])
        for duel in duels:
            duel.interleave("abc", "cba", k=3)
        t.show_many([(duel, None) for duel in duels])
        t.tell_many([(duel, rd.Outcome.TIE) for duel in duels])
    with closing(sqlite3.connect(tmp_path / "duels.db")) as file, file:
        file.execute("UPDATE duels SET issued = issued - ?, expires = expires - ? WHERE number <= 600", (91 * DAY,) * 2)
    with serving(url, retention_days=90, retention_query_ids=True) as server, server.client as client:
        for _ in range(600):
            if client.get(at("home", "/duels/1-600")).body["removed"]:
                break
            time.sleep(0.05)
        assert client.get(at("home", "/duels/1-600")).body["query_id"] is None
        assert client.get(at("home", "/duels/1-601")).body["removed"] is False
        assert client.post(at("home", "/ask"), {"query_id": "q700"}).body["serve"] == "duel"
        time.sleep(0.3)
    assert not [line for line in server.lines if "Traceback" in line or "prune" in line]
    with LocalTournament.open("home", storage=url) as t:
        rows = [row for row in t.duels(1000) if row.session == 1]
        old, young = ([row for row in rows if (row.number <= 600) == is_old] for is_old in (True, False))
        assert (len(old), len(young)) == (600, 100)
        assert {(row.page, row.client, row.query) for row in old} == {("", None, None)}
        assert all(row.page and row.client and row.query for row in young)
        assert t.observe([Signal("q1", "click", "a", 1, time.time(), None, "k")]) == ["unknown"]
        assert t.observe([Signal("q650", "click", "a", 1, time.time(), None, "k")]) == ["late"]
    assert [finding for finding in verify(url) if finding.level != "ok"] == []


@pytest.mark.parametrize("wrong", [-1, 1e6, True, "90d", float("nan")])
def test_wrong_days(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"retention_days must be a number >= 0 and < 1e6, got .*; 0 keeps everything"):
        ServiceSettings(retention_days=wrong)  # type: ignore[arg-type]
