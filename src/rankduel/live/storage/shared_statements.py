"""The SQL statements of a storage, by name: those that both backends run, and a list of those that differ.

Placeholders are `$1`, `$2`, ...: SQLite and PostgreSQL both take them, so what is written here is what runs.
`sqlite_statements.py` and `postgres_statements.py` have the statements that differ between the two.
"""

from typing import NamedTuple

from rankduel.live.rules.duels import DuelRow

__all__ = ["DUEL_COLUMNS", "JOURNAL_COLUMNS", "SIGNAL_COLUMNS", "BulkWrite", "Statements"]

DUEL_COLUMNS = ", ".join(DuelRow._fields)
JOURNAL_COLUMNS = ("tournament", "number", "time", "kind", "body")
SIGNAL_COLUMNS = ("session", "number", "key", "time", "action", "object", "position", "dwell")

# Tournaments

# The id of a tournament, which all other tables refer to.
TOURNAMENT_ID = "SELECT id FROM tournaments WHERE name = $1"

# All names.
TOURNAMENT_NAMES = "SELECT name FROM tournaments"

# A new tournament, unless another process creates it at the same moment.
CREATE_TOURNAMENT = (
    "INSERT INTO tournaments (name, number, time, session) VALUES ($1, 0, 0.0, 0) ON CONFLICT (name) DO NOTHING"
)

# The number of the next session: no two processes have the same.
NEXT_SESSION = "UPDATE tournaments SET session = session + 1 WHERE id = $1 RETURNING session"

# The journal has grown up to this event.
ADVANCE_TOURNAMENT = "UPDATE tournaments SET number = $1, time = $2 WHERE id = $3"

# The number of the last event, by id and by name.
LAST_EVENT = "SELECT number FROM tournaments WHERE id = $1"
LAST_EVENT_BY_NAME = "SELECT number FROM tournaments WHERE name = $1"

# Journal

# Events after a number, in their order: for replay.
EVENTS_AFTER = (
    "SELECT number, time, kind, body FROM journal WHERE tournament = $1 AND number > $2 ORDER BY number LIMIT $3"
)

# When an event happened.
EVENT_TIME = "SELECT time FROM journal WHERE tournament = $1 AND number = $2"

# Duels

# One duel by its id.
DUEL = f"SELECT {DUEL_COLUMNS} FROM duels WHERE tournament = $1 AND session = $2 AND number = $3"

# The duel of one query.
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

# Whether a duel should expire, and the statement that lets all of them expire.
ANY_OVERDUE = "SELECT 1 FROM duels WHERE tournament = $1 AND state IN ('issued', 'shown') AND expires <= $2 LIMIT 1"
EXPIRE_DUELS = (
    "UPDATE duels SET state = 'expired' WHERE tournament = $1 AND state IN ('issued', 'shown') AND expires <= $2"
)

# How many duels a client was issued since a time: for the daily cap.
DUELS_OF_CLIENT = "SELECT count(*) FROM duels WHERE tournament = $1 AND client = $2 AND issued >= $3"

# Signals and counters

# What users did on the page of a duel, in the order of time.
SIGNALS_OF_DUEL = (
    f"SELECT {', '.join(SIGNAL_COLUMNS)} FROM signals "
    "WHERE tournament = $1 AND session = $2 AND number = $3 ORDER BY time, key"
)

# All counters.
COUNTERS = "SELECT name, value FROM counters WHERE tournament = $1"

# Snapshots

# Store a snapshot; the same one again replaces it.
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

# The events at which there are snapshots, newest first; and one snapshot.
SNAPSHOT_NUMBERS = "SELECT number FROM snapshots WHERE tournament = $1 ORDER BY number DESC"
SNAPSHOT = "SELECT number, state, bandit, sha256 FROM snapshots WHERE tournament = $1 AND number = $2"

# API keys and facts

KEYS = "SELECT id, name, scopes, digest, created, revoked FROM keys ORDER BY created"
ADD_KEY = "INSERT INTO keys (id, name, scopes, digest, created, revoked) VALUES ($1, $2, $3, $4, $5, $6)"
REVOKE_KEY = "UPDATE keys SET revoked = $1 WHERE id = $2 AND revoked IS NULL"

# The secret that signs tickets.
SECRET = "SELECT value FROM facts WHERE name = 'secret'"

# Statements that each backend writes itself


class BulkWrite(NamedTuple):
    """A statement that writes any number of rows at once, and the columns of a row."""

    statement: str
    columns: tuple[str, ...]


class Statements(NamedTuple):
    """The statements that differ between the backends."""

    # id, number and time of a tournament ($1 is its name), which nobody else writes to until the transaction is over
    lock_tournament: str
    # the newest events that are no outcomes: of tournament $1, before number $2, at most $3
    changes_before: str
    # how many events are no outcomes: of tournament $1, after number $2 and up to $3
    count_changes: str
    # time and body of the events that have added rankers to tournament $1, in their order
    rankers_added: str
    # the duels of a JSON list of queries ($1), of tournament $2
    duels_of_queries: str
    # the duels of a JSON list of numbers ($1), of tournament $2 and session $3
    duels_by_number: str
    # session, number, key and action of the signals of these duels: values as for `duels_by_number`
    signals_of_duels: str
    # write duels that are new: neither they nor another one of their query are there
    insert_duels: BulkWrite
    # write duels that have changed
    update_duels: BulkWrite
    insert_events: BulkWrite
    insert_signals: BulkWrite
    # add to counters
    add_counters: BulkWrite
