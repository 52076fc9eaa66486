"""Which queries have a duel: one that has is always found, and one that is new needs no look at the storage."""

from pathlib import Path
from unittest.mock import patch

import pytest

from rankduel import Outcome
from rankduel.live import LocalTournament, Status
from rankduel.live.rules.duels import DuelRow
from rankduel.live.runtime import known_queries
from rankduel.live.runtime.bloom_filter import BloomFilter
from rankduel.live.runtime.tickets import Tickets

RANKERS = ["a", "b", "c"]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/duels.db"


def test_added_keys_are_found_and_hardly_any_others() -> None:
    """Of 100,000 new keys, a full layer of 32 bits per key and 6 probes finds 2.5 on average.

    False-alarm rate below 1e-13 (more than 25 of a Poisson variable with mean 2.5). Two probes in eight bits per key
    find 4,900, so nearly every batch of 100 new queries would wait for the disk.
    """
    asked = BloomFilter(2**14)
    assert "" not in asked
    for number in range(2**14):
        asked.add(f"q-{number}")
    assert all(f"q-{number}" in asked for number in range(2**14))
    assert sum(f"other-{number}" in asked for number in range(100_000)) <= 25


def test_a_filter_that_has_grown_finds_all_keys() -> None:
    asked = BloomFilter(64)
    for number in range(10_000):  # in eight layers
        asked.add(f"q-{number}")
    assert all(f"q-{number}" in asked for number in range(10_000))
    assert sum(f"other-{number}" in asked for number in range(10_000)) <= 25


def asked_before(url: str) -> list[str | None]:
    """The ids of the duels of 250 queries, in a storage that is closed again."""
    with LocalTournament.create("search", rankers=RANKERS, storage=url, seed=1) as t:
        return [duel.id for duel in t.ask_many([(f"q-{number}", None) for number in range(250)])]


@pytest.mark.parametrize("looks", [0, 1, 2, 5])
def test_queries_from_before_have_their_duels_however_many_are_loaded(
    url: str, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong rule, to ask the filter before all are loaded, forgets most of them."""
    monkeypatch.setattr(known_queries, "_QUERIES_PER_LOAD", 100)
    monkeypatch.setattr("rankduel.live.storage.open_storages._MAINTENANCE_INTERVAL_SECONDS", 3600.0)
    ids = asked_before(url)
    with LocalTournament.open("search", storage=url) as t:
        for _ in range(looks):
            t.run_maintenance()
        assert [t.ask(f"q-{number}").id for number in range(250)] == ids
        assert t.ask("new").id == t.ask("new").id == "2-1"


def test_new_queries_need_no_look_at_the_storage(url: str) -> None:
    ids = asked_before(url)
    with LocalTournament.open("search", storage=url) as t:
        t.run_maintenance()
        with patch.object(t.storage, "duels_of", side_effect=t.storage.duels_of) as duels_of:
            for number in range(1000):
                t.ask(f"new-{number}")
            assert duels_of.call_count < 100  # by chance, few are taken for ones that are known
            assert t.ask("q-17").id == ids[17]


def test_a_query_whose_ask_a_crash_has_swallowed_is_known_by_its_ticket(url: str) -> None:
    asked_before(url)
    with LocalTournament.open("search", storage=url) as t:
        t.run_maintenance()
        now = t.ask("now")
        lost = DuelRow(1, 251, "lost", None, 0, 1, None, None, issued=now.expires - 86400, expires=now.expires)
        ticket = Tickets("search", t.storage.secret).of(lost)
        assert t.tell(ticket, Outcome.FIRST).status is Status.ACCEPTED
        assert t.ask("lost").id == "1-251"
