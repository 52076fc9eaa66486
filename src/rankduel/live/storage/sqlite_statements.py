"""SQL statements of SQLite that differ from PostgreSQL, and inserts of many rows at once."""

from functools import cache

from rankduel.live.storage.shared_statements import DUEL_COLUMNS, BulkWrite, Statements

__all__ = ["STATEMENTS", "with_rows"]

STATEMENTS = Statements(
    # One process owns the file, and one of its threads writes, so no lock is needed.
    lock_tournament="SELECT id, number, time FROM tournaments WHERE name = $1",
    # Without INDEXED BY, SQLite would scan all outcomes. This index has only the other events.
    changes_before=(
        "SELECT number, time, kind, body FROM journal INDEXED BY journal_changes "
        "WHERE tournament = $1 AND number < $2 AND kind <> 'resolved' ORDER BY number DESC LIMIT $3"
    ),
    changes_after=(
        "SELECT number, time, kind, body FROM journal INDEXED BY journal_changes "
        "WHERE tournament = $1 AND number > $2 AND kind <> 'resolved' ORDER BY number LIMIT $3"
    ),
    count_changes=(
        "SELECT count(*) FROM journal INDEXED BY journal_changes "
        "WHERE tournament = $1 AND number > $2 AND number <= $3 AND kind <> 'resolved'"
    ),
    rankers_added=(
        "SELECT time, body FROM journal INDEXED BY journal_changes "
        "WHERE tournament = $1 AND kind <> 'resolved' AND kind IN ('created', 'added') ORDER BY number"
    ),
    # A join with a list is ten times as fast as IN with many placeholders. CROSS JOIN fixes the order of the join.
    duels_of_queries=(
        f"SELECT {DUEL_COLUMNS} FROM json_each($1) CROSS JOIN duels WHERE tournament = $2 AND query = value"
    ),
    duels_by_number=(
        f"SELECT {DUEL_COLUMNS} FROM json_each($1) CROSS JOIN duels "
        "WHERE tournament = $2 AND session = $3 AND number = CAST(value AS BIGINT)"
    ),
    signals_of_duels=(
        "SELECT session, number, signals.key, action FROM json_each($1) CROSS JOIN signals "
        "WHERE tournament = $2 AND session = $3 AND number = CAST(value AS BIGINT)"
    ),
)


@cache
def with_rows(write: BulkWrite, rows: int, given: tuple[bool, ...]) -> str:
    """Return the statement that writes `rows` rows at once. Columns that are not `given` are NULL.

    >>> write = BulkWrite("t", ("a", "b"), "INSERT INTO t (a, b) {rows} ON CONFLICT DO NOTHING")
    >>> with_rows(write, 2, (True, False))
    'INSERT INTO t (a, b) VALUES (?, NULL), (?, NULL) ON CONFLICT DO NOTHING'
    """
    row = ", ".join("?" if is_given else "NULL" for is_given in given)
    return write.statement.format(rows="VALUES " + ", ".join([f"({row})"] * rows))
