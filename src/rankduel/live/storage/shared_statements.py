"""SQL statements that both backends run, by name, and the list of statements that differ.

Placeholders are `$1`, `$2`, ...: SQLite and PostgreSQL both accept them, so statements run exactly as written here.
`sqlite_statements.py` and `postgres_statements.py` have the statements that differ. Bulk writes have a placeholder for
their rows, which each backend fills in its way.

A tell runs INSERT_DUELS (a duel that is told soon is written once) or UPDATE_DUELS, INSERT_EVENTS, ADVANCE_TOURNAMENT
and ADD_COUNTERS. `TournamentTransaction` in transaction.py decides which.
"""

from typing import NamedTuple

from rankduel.live.rules.duels import DuelRow

__all__ = ["DUEL_COLUMNS", "BulkWrite", "Statements"]

DUEL_COLUMNS = ", ".join(DuelRow._fields)
JOURNAL_COLUMNS = ("tournament", "number", "time", "kind", "body")
SIGNAL_COLUMNS = ("session", "number", "key", "time", "action", "object", "position", "dwell")

# Tournaments

# The id of a tournament, which all other tables refer to.
TOURNAMENT_ID = "SELECT id FROM tournaments WHERE name = $1"

# All names, and all names with their ids.
TOURNAMENT_NAMES = "SELECT name FROM tournaments"
TOURNAMENT_IDS = "SELECT name, id FROM tournaments"

# A new tournament, unless another process creates it at the same time.
CREATE_TOURNAMENT = (
    "INSERT INTO tournaments (name, number, time, session) VALUES ($1, 0, 0.0, 0) ON CONFLICT (name) DO NOTHING"
)

# The number of the next session, unique across processes.
NEXT_SESSION = "UPDATE tournaments SET session = session + 1 WHERE id = $1 RETURNING session"

# The number and time of the last event.
ADVANCE_TOURNAMENT = "UPDATE tournaments SET number = $1, time = $2 WHERE id = $3"

# The number of the last event, by id and by name.
LAST_EVENT = "SELECT number FROM tournaments WHERE id = $1"
LAST_EVENT_BY_NAME = "SELECT number FROM tournaments WHERE name = $1"

# The name of a deleted tournament, so that its own name is free. It is not printable, and no tournament can have it.
RENAME_DELETED = "UPDATE tournaments SET name = $1 WHERE id = $2"

# The first rows of a deleted tournament, up to the row after $2 others, found by the primary key; and all rows.
DELETE_FIRST_ROWS = tuple(
    f"DELETE FROM {table} WHERE tournament = $1 AND ({key}) <= "
    f"(SELECT {key} FROM {table} WHERE tournament = $1 ORDER BY {key} LIMIT 1 OFFSET $2)"
    for table, key in (("signals", "session, number, key"), ("duels", "session, number"), ("journal", "number"))
)
_ROWS_OF_TOURNAMENT = ("signals", "duels", "journal", "counters", "snapshots")
DELETE_ALL_ROWS = (
    *(f"DELETE FROM {table} WHERE tournament = $1" for table in _ROWS_OF_TOURNAMENT),
    "DELETE FROM tournaments WHERE id = $1",
)

# Journal

# Events after a number, in order: for replay.
EVENTS_AFTER = (
    "SELECT number, time, kind, body FROM journal WHERE tournament = $1 AND number > $2 ORDER BY number LIMIT $3"
)

# The time of an event.
EVENT_TIME = "SELECT time FROM journal WHERE tournament = $1 AND number = $2"

# Duels

# A duel by its id.
DUEL = f"SELECT {DUEL_COLUMNS} FROM duels WHERE tournament = $1 AND session = $2 AND number = $3"

# The duel of a query.
DUEL_OF_QUERY = f"SELECT {DUEL_COLUMNS} FROM duels WHERE tournament = $1 AND query = $2"

# Queries that have a duel, in alphabetical order: to fill the Bloom filter.
QUERIES_AFTER = "SELECT query FROM duels WHERE tournament = $1 AND query > $2 ORDER BY query LIMIT $3"

# The newest duels before a session and number.
DUELS_BEFORE = (
    f"SELECT {DUEL_COLUMNS} FROM duels WHERE tournament = $1 AND (session, number) < ($2, $3) "
    "ORDER BY session DESC, number DESC LIMIT $4"
)

# Duels whose page was shown and whose attribution window has closed.
DUELS_TO_RESOLVE = (
    f"SELECT {DUEL_COLUMNS} FROM duels WHERE tournament = $1 AND state = 'shown' AND issued <= $2 "
    "ORDER BY issued LIMIT $3"
)

# Whether any duel is overdue, and the statement that expires all overdue duels.
ANY_OVERDUE = "SELECT 1 FROM duels WHERE tournament = $1 AND state IN ('issued', 'shown') AND expires <= $2 LIMIT 1"
EXPIRE_DUELS = (
    "UPDATE duels SET state = 'expired' WHERE tournament = $1 AND state IN ('issued', 'shown') AND expires <= $2"
)

# The number of duels issued to a client since a time: for the daily cap.
DUELS_OF_CLIENT = "SELECT count(*) FROM duels WHERE tournament = $1 AND client = $2 AND issued >= $3"

# The duels of a client: for an erasure.
DUELS_BY_CLIENT = "SELECT session, number FROM duels WHERE tournament = $1 AND client = $2 LIMIT $3"

# The rankers and clients of resolved duels after a session and number: to count clients.
CLIENTS_OF_DUELS = (
    "SELECT session, number, first, second, client FROM duels "
    "WHERE tournament = $1 AND (session, number) > ($2, $3) AND state = 'resolved' ORDER BY session, number LIMIT $4"
)

# Finished duels that were issued before a time and still have personal data, oldest first; and their number. The index
# `duels_unpruned` has the same condition.
_UNPRUNED = "state NOT IN ('issued', 'shown') AND coalesce(page, 'none') <> ''"
OLD_DUELS = (
    f"SELECT session, number FROM duels WHERE tournament = $1 AND issued < $2 AND {_UNPRUNED} ORDER BY issued LIMIT $3"
)
COUNT_OLD_DUELS = f"SELECT count(*) FROM duels WHERE tournament = $1 AND issued < $2 AND {_UNPRUNED}"

# Pruned duels that still have a query id, in alphabetical order after a query; and their number.
_WITH_QUERY = "FROM duels WHERE tournament = $1 AND query > $2 AND issued < $3 AND page = ''"
PRUNED_WITH_QUERY = f"SELECT query, session, number {_WITH_QUERY} ORDER BY query LIMIT $4"
COUNT_PRUNED_WITH_QUERY = f"SELECT count(*) {_WITH_QUERY}"

# Signals and counters

# The signals of a duel, in order of time.
SIGNALS_OF_DUEL = (
    f"SELECT {', '.join(SIGNAL_COLUMNS)} FROM signals "
    "WHERE tournament = $1 AND session = $2 AND number = $3 ORDER BY time, key"
)

# Delete the signals of a duel.
DELETE_SIGNALS = "DELETE FROM signals WHERE tournament = $1 AND session = $2 AND number = $3"

# All counters.
COUNTERS = "SELECT name, value FROM counters WHERE tournament = $1"

# Snapshots

# Store a snapshot, or replace the snapshot at the same event.
SAVE_SNAPSHOT = (
    "INSERT INTO snapshots (tournament, number, state, bandit, sha256) VALUES ($1, $2, $3, $4, $5) "
    "ON CONFLICT (tournament, number) DO UPDATE "
    "SET state = excluded.state, bandit = excluded.bandit, sha256 = excluded.sha256"
)

# Delete all but the newest two snapshots of a tournament.
DELETE_OLD_SNAPSHOTS = (
    "DELETE FROM snapshots WHERE tournament = $1 AND number < "
    "(SELECT number FROM snapshots WHERE tournament = $1 ORDER BY number DESC LIMIT 1 OFFSET 1)"
)

# The numbers of the events that have a snapshot, newest first, and one snapshot.
SNAPSHOT_NUMBERS = "SELECT number FROM snapshots WHERE tournament = $1 ORDER BY number DESC"
SNAPSHOT = "SELECT number, state, bandit, sha256 FROM snapshots WHERE tournament = $1 AND number = $2"

# API keys and facts

KEYS = "SELECT id, name, scopes, digest, created, revoked FROM keys ORDER BY created"
ADD_KEY = "INSERT INTO keys (id, name, scopes, digest, created, revoked) VALUES ($1, $2, $3, $4, $5, $6)"
REVOKE_KEY = "UPDATE keys SET revoked = $1 WHERE id = $2 AND revoked IS NULL"

# A row that is written to find out whether the storage can be written.
CHECK_WRITABLE = (
    "INSERT INTO facts (name, value) VALUES ('last write check', $1) ON CONFLICT (name) DO UPDATE SET value = $1"
)

# A fact by its name: how far the webhooks have read the journals.
FACT = "SELECT value FROM facts WHERE name = $1"
WRITE_FACT = "INSERT INTO facts (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2"

# The secret that signs tickets.
SECRET = "SELECT value FROM facts WHERE name = 'secret'"

# Bulk writes


class BulkWrite(NamedTuple):
    """A statement that writes any number of rows of a table at once. Each backend replaces `{rows}` by the rows."""

    table: str
    columns: tuple[str, ...]
    statement: str


_DUEL_ROW = ("tournament", *DuelRow._fields)
_SIGNAL_ROW = ("tournament", *SIGNAL_COLUMNS)

# New duels, except those whose id or query already has one.
INSERT_DUELS = BulkWrite(
    "duels", _DUEL_ROW, f"INSERT INTO duels ({', '.join(_DUEL_ROW)}) {{rows}} ON CONFLICT DO NOTHING"
)

# Changed duels: an upsert that never inserts. Unlike UPDATE, it accepts many rows at once, and it finds each row by the
# primary key, whatever the table statistics of PostgreSQL are.
UPDATE_DUELS = BulkWrite(
    "duels",
    _DUEL_ROW,
    f"INSERT INTO duels ({', '.join(_DUEL_ROW)}) {{rows}} ON CONFLICT (tournament, session, number) DO UPDATE "
    "SET state = excluded.state, outcome = excluded.outcome, page = excluded.page",
)

# Duels without client and page, as an upsert that never inserts, too. The empty page means that it was removed.
STRIP_DUELS = BulkWrite(
    "duels",
    _DUEL_ROW,
    f"INSERT INTO duels ({', '.join(_DUEL_ROW)}) {{rows}} ON CONFLICT (tournament, session, number) DO UPDATE "
    "SET query = excluded.query, client = NULL, state = excluded.state, page = ''",
)

INSERT_EVENTS = BulkWrite("journal", JOURNAL_COLUMNS, f"INSERT INTO journal ({', '.join(JOURNAL_COLUMNS)}) {{rows}}")

INSERT_SIGNALS = BulkWrite("signals", _SIGNAL_ROW, f"INSERT INTO signals ({', '.join(_SIGNAL_ROW)}) {{rows}}")

# Add to counters. A counter that does not exist yet starts at 0.
ADD_COUNTERS = BulkWrite(
    "counters",
    ("tournament", "name", "value"),
    "INSERT INTO counters (tournament, name, value) {rows} "
    "ON CONFLICT (tournament, name) DO UPDATE SET value = counters.value + excluded.value",
)

# Statements that differ between the backends


class Statements(NamedTuple):
    """The statements that differ between the backends."""

    # id, number and time of the tournament named $1, locked for other writers until the end of the transaction
    lock_tournament: str
    # the newest events other than outcomes: of tournament $1, before number $2, at most $3
    changes_before: str
    # the oldest events other than outcomes: of tournament $1, after number $2, at most $3
    changes_after: str
    # the number of events other than outcomes: of tournament $1, after number $2 and up to $3
    count_changes: str
    # time and body of the events that added rankers to tournament $1, in order
    rankers_added: str
    # the duels of a JSON list of queries ($1), of tournament $2
    duels_of_queries: str
    # the duels of a JSON list of numbers ($1), of tournament $2 and session $3
    duels_by_number: str
    # session, number, key and action of the signals of these duels: values as for `duels_by_number`
    signals_of_duels: str
