"""Bytes per stored duel, with and without client ids, pages and signals, before and after pruning.

`python -m benchmarks --sizes` measures SQLite. `--sizes --postgres URL` measures PostgreSQL, and deletes all
tournaments in that database.
"""

from random import Random
from time import perf_counter, time
from uuid import UUID

import psycopg

import rankduel as rd
from benchmarks.live import on_disk
from rankduel.live import Clicks, LocalTournament, Signal
from rankduel.live.admin.retention import prune, vacuum

_DUELS_PER_BATCH = 500
_DOCUMENTS = [f"doc-{number:06}" for number in range(1_000)]  # 10 characters
_TABLE_SIZE = "SELECT pg_total_relation_size(%s::regclass)"  # with its indexes
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'rankduel'"
_KINDS = {  # whether there are client ids and pages, and the number of signals
    "query ids": (False, False, 0),
    "query and client ids": (True, False, 0),
    "query and client ids, pages with both lists and clicks": (True, True, 0),
    "query and client ids, pages with both lists, two signals": (True, True, 2),
}


def report(postgres: str | None, *, quick: bool) -> None:
    """Print the sizes in one database."""
    duels = 2_000 if quick else 20_000
    print(f"\nbytes per duel on {'PostgreSQL' if postgres else 'SQLite'}, without unused space: {duels:,} duels each")
    for kind, (clients, pages, signals) in _KINDS.items():
        sizes, rates = [], []
        for query_ids in (False, True):
            with on_disk() as folder:
                url = postgres or f"sqlite:///{folder}/duels.db"
                empty = _empty(url, postgres=postgres is not None)
                _play(url, duels, clients=clients, pages=pages, signals=signals)
                sizes.append(_size(url, postgres=postgres is not None) - empty)
                started = perf_counter()
                *_, last = prune(url, 1e-6, query_ids=query_ids)
                rates.append(last.done / (perf_counter() - started))
                assert last.done == duels
                sizes.append(_size(url, postgres=postgres is not None) - empty)
        played, pruned, _, anonymous = (size / duels for size in sizes)
        print(
            f"{kind}: {played:.0f}, pruned {pruned:.0f}, also of query ids {anonymous:.0f}; "
            f"{min(rates):,.0f} duels pruned per second",
            flush=True,
        )


def _play(url: str, duels: int, *, clients: bool, pages: bool, signals: int) -> None:
    """Play duels as an application does: the page is shown after the ask is stored, the outcome comes later."""
    random = Random(1)
    with LocalTournament.open("bench", storage=url) as t:
        for _ in range(0, duels, _DUELS_PER_BATCH):
            queries = [str(UUID(int=random.getrandbits(128))) for _ in range(_DUELS_PER_BATCH)]
            asked = t.ask_many([(query, query[:8] if clients else None) for query in queries])
            t._runtime.writer.flush("bench")
            for duel in asked:
                duel.interleave(random.sample(_DOCUMENTS, 10), random.sample(_DOCUMENTS, 10), k=10)
            if signals:
                t.show_many([(duel, None) for duel in asked])
                t.observe(
                    Signal(query, "click", _DOCUMENTS[k], k, time(), None, f"{query}-{k}")
                    for query in queries
                    for k in range(signals)
                )
            if pages and not signals:
                t.tell_many([(duel, Clicks(duel.shown.documents[:2], duel.shown)) for duel in asked if duel.shown])
            else:
                t.tell_many([(duel, rd.Outcome.TIE) for duel in asked])


def _empty(url: str, *, postgres: bool) -> int:
    """Create the tournament in an empty storage. Return its size."""
    if postgres:
        with psycopg.connect(url) as connection:
            connection.execute("DROP SCHEMA IF EXISTS rankduel CASCADE")
    LocalTournament.create("bench", rankers=["a", "b", "c"], storage=url, seed=1).close()
    return _size(url, postgres=postgres)


def _size(url: str, *, postgres: bool) -> int:
    """Bytes of a storage without unused space."""
    if not postgres:
        return vacuum(url)[1]
    with psycopg.connect(url, autocommit=True) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'rankduel'")
        ]
        for name in tables:
            connection.execute(f"VACUUM FULL rankduel.{name}".encode())
        sizes = [connection.execute(_TABLE_SIZE, (f"rankduel.{name}",)).fetchall()[0][0] for name in tables]
        return sum(sizes)
