"""Remove rows in a transaction: personal data of duels (pages, signals, clients, query ids), or whole tournaments."""

from rankduel.live.rules.duels import OPEN, REMOVED, DuelRow
from rankduel.live.storage import shared_statements as sql
from rankduel.live.storage.contract import Remove
from rankduel.live.storage.schema import Database, by_session

__all__ = ["delete_rows", "remove"]

_MAX_ROWS_PER_DELETION = 2_000  # a commit of some milliseconds, so that other tournaments do not wait


def remove(storage: Database, tournament: int, entry: Remove) -> tuple[list[DuelRow], int]:
    """Carry out an entry. Return the changed duels, and the number of open ones that became void."""
    values = by_session(tournament, entry.duels)
    if not values:
        return [], 0
    stored = [DuelRow(*row) for row in storage.fetch_each(storage.statements.duels_by_number, values)]
    n_open = sum(row.state in OPEN for row in stored)
    if entry.erasure is None:
        stored, n_open = [row for row in stored if row.state not in OPEN], 0
    rows = [
        row._replace(
            query=None if entry.query_ids else row.query,
            client=None,
            state="void" if row.state in OPEN else row.state,
            page=REMOVED,
        )
        for row in stored
    ]
    with_signals = {row[:2] for row in storage.fetch_each(storage.statements.signals_of_duels, values)}
    for key in sorted(with_signals & {row[:2] for row in rows}):
        storage.write(sql.DELETE_SIGNALS, (tournament, *key))
    if rows:
        storage.write_rows(sql.STRIP_DUELS, [(tournament, *row) for row in rows])
    return rows, n_open


def delete_rows(storage: Database, name: str, tournament: int) -> int:
    """Remove some rows of a deleted tournament. Return their number; 0: nothing is left."""
    for statement in sql.DELETE_FIRST_ROWS:
        if removed := storage.count_written(statement, (tournament, _MAX_ROWS_PER_DELETION)):
            return removed
    for statement in sql.DELETE_ALL_ROWS:
        storage.write(statement, (tournament,))
    storage.forget(name)
    return 0
