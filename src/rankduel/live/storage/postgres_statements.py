"""SQL statements of PostgreSQL that differ from SQLite.

A bulk write passes all rows as one value, a JSON list of objects by column. So one statement and one plan serve any
number of rows.
"""

from rankduel.live.storage.shared_statements import DUEL_COLUMNS, JOURNAL_COLUMNS, SIGNAL_COLUMNS, BulkWrite, Statements

__all__ = ["STATEMENTS", "UNLOCKED_TOURNAMENTS"]

_DUEL_ROW = ("tournament", *DUEL_COLUMNS.split(", "))
_SIGNAL_ROW = ("tournament", *SIGNAL_COLUMNS)

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
    insert_duels=BulkWrite(
        f"INSERT INTO duels ({', '.join(_DUEL_ROW)}) "
        f"SELECT {', '.join(_DUEL_ROW)} FROM json_populate_recordset(NULL::duels, $1) ON CONFLICT DO NOTHING",
        _DUEL_ROW,
    ),
    # An upsert that never inserts: it finds each row by the primary key, whatever the table statistics are.
    update_duels=BulkWrite(
        f"INSERT INTO duels ({', '.join(_DUEL_ROW)}) "
        f"SELECT {', '.join(_DUEL_ROW)} FROM json_populate_recordset(NULL::duels, $1) "
        "ON CONFLICT (tournament, session, number) DO UPDATE "
        "SET state = excluded.state, outcome = excluded.outcome, page = excluded.page",
        _DUEL_ROW,
    ),
    insert_events=BulkWrite(
        "INSERT INTO journal (tournament, number, time, kind, body) "
        "SELECT tournament, number, time, kind, body FROM json_populate_recordset(NULL::journal, $1)",
        JOURNAL_COLUMNS,
    ),
    insert_signals=BulkWrite(
        f"INSERT INTO signals ({', '.join(_SIGNAL_ROW)}) "
        f"SELECT {', '.join(_SIGNAL_ROW)} FROM json_populate_recordset(NULL::signals, $1)",
        _SIGNAL_ROW,
    ),
    add_counters=BulkWrite(
        "INSERT INTO counters (tournament, name, value) "
        "SELECT tournament, name, value FROM json_populate_recordset(NULL::counters, $1) "
        "ON CONFLICT (tournament, name) DO UPDATE SET value = counters.value + excluded.value",
        ("tournament", "name", "value"),
    ),
)
