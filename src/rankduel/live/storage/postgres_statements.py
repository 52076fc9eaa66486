"""SQL statements of PostgreSQL that differ from SQLite, and inserts of many rows at once."""

from functools import cache

from rankduel.live.storage.shared_statements import DUEL_COLUMNS, BulkWrite, Statements

__all__ = ["STATEMENTS", "UNLOCKED_TOURNAMENTS", "with_rows"]

# The tournaments of a JSON list whose row no other process has locked now.
UNLOCKED_TOURNAMENTS = (
    "SELECT name FROM tournaments WHERE name IN (SELECT json_array_elements_text($1::json)) FOR UPDATE SKIP LOCKED"
)

STATEMENTS = Statements(
    # All processes number events under the lock on this row.
    lock_tournament="SELECT id, number, time FROM tournaments WHERE name = $1 FOR UPDATE",
    changes_before=(
        "SELECT number, time, kind, body FROM journal "
        "WHERE tournament = $1 AND number < $2 AND kind <> 'resolved' ORDER BY number DESC LIMIT $3"
    ),
    count_changes=(
        "SELECT count(*) FROM journal WHERE tournament = $1 AND number > $2 AND number <= $3 AND kind <> 'resolved'"
    ),
    # `kind <> 'resolved'` makes PostgreSQL use the index `journal_changes`.
    rankers_added=(
        "SELECT time, body FROM journal "
        "WHERE tournament = $1 AND kind <> 'resolved' AND kind IN ('created', 'added') ORDER BY number"
    ),
    duels_of_queries=(
        f"SELECT {DUEL_COLUMNS} FROM json_array_elements_text($1::json) AS listed (value) CROSS JOIN duels "
        "WHERE tournament = $2 AND query = value"
    ),
    duels_by_number=(
        f"SELECT {DUEL_COLUMNS} FROM json_array_elements_text($1::json) AS listed (value) CROSS JOIN duels "
        "WHERE tournament = $2 AND session = $3 AND number = CAST(value AS BIGINT)"
    ),
    signals_of_duels=(
        "SELECT session, number, signals.key, action "
        "FROM json_array_elements_text($1::json) AS listed (value) CROSS JOIN signals "
        "WHERE tournament = $2 AND session = $3 AND number = CAST(value AS BIGINT)"
    ),
)


@cache
def with_rows(write: BulkWrite) -> str:
    """Return the statement of a bulk write, with the rows as one value: a JSON list of objects by column.

    So one statement and one plan serve any number of rows.

    >>> with_rows(BulkWrite("t", ("a", "b"), "INSERT INTO t (a, b) {rows}"))
    'INSERT INTO t (a, b) SELECT a, b FROM json_populate_recordset(NULL::t, $1)'
    """
    rows = f"SELECT {', '.join(write.columns)} FROM json_populate_recordset(NULL::{write.table}, $1)"
    return write.statement.format(rows=rows)
