"""SQL statements of PostgreSQL that differ from SQLite, and inserts of many rows at once."""

from functools import cache

from rankduel.live.storage.shared_statements import DUEL_COLUMNS, BulkWrite, Statements

__all__ = ["STATEMENTS", "UNLOCKED_TOURNAMENTS", "with_rows"]

# The tournaments of a JSON list whose row no other process has locked now.
UNLOCKED_TOURNAMENTS = (
    "SELECT name FROM tournaments WHERE name IN (SELECT json_array_elements_text($1::json)) FOR UPDATE SKIP LOCKED"
)


def _for_each_listed(columns: str, table: str, condition: str) -> str:
    """Return a statement that finds the rows for each `value` of a JSON list ($1), by the index.

    `OFFSET 0` keeps the planner from turning the lookups into a join. While the table is empty, or was when it was
    last analyzed, PostgreSQL would rather read the whole tournament and compare each row with the list. It keeps such a
    plan however large the table becomes.
    """
    listed = "json_array_elements_text($1::json) AS listed (value)"
    rows = f"SELECT {columns} FROM {table} WHERE {condition} OFFSET 0"
    return f"SELECT found.* FROM {listed} CROSS JOIN LATERAL ({rows}) AS found"


STATEMENTS = Statements(
    # All processes number events under the lock on this row.
    lock_tournament="SELECT id, number, time FROM tournaments WHERE name = $1 FOR UPDATE",
    changes_before=(
        "SELECT number, time, kind, body FROM journal "
        "WHERE tournament = $1 AND number < $2 AND kind <> 'resolved' ORDER BY number DESC LIMIT $3"
    ),
    changes_after=(
        "SELECT number, time, kind, body FROM journal "
        "WHERE tournament = $1 AND number > $2 AND kind <> 'resolved' ORDER BY number LIMIT $3"
    ),
    count_changes=(
        "SELECT count(*) FROM journal WHERE tournament = $1 AND number > $2 AND number <= $3 AND kind <> 'resolved'"
    ),
    # `kind <> 'resolved'` makes PostgreSQL use the index `journal_changes`.
    rankers_added=(
        "SELECT time, body FROM journal "
        "WHERE tournament = $1 AND kind <> 'resolved' AND kind IN ('created', 'added') ORDER BY number"
    ),
    duels_of_queries=_for_each_listed(DUEL_COLUMNS, "duels", "tournament = $2 AND query = value"),
    duels_by_number=_for_each_listed(
        DUEL_COLUMNS, "duels", "tournament = $2 AND session = $3 AND number = CAST(value AS BIGINT)"
    ),
    signals_of_duels=_for_each_listed(
        "session, number, key, action", "signals", "tournament = $2 AND session = $3 AND number = CAST(value AS BIGINT)"
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
