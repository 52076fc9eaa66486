"""Connections to PostgreSQL: the address, the settings of a session, and a connection that is made again when cut.

Needs an extra, so import it only where an address names it.
"""

import os
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Any

from rankduel.errors import StorageError

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.types.numeric import Int8Dumper
except ImportError as missing:
    raise ImportError(f"no PostgreSQL without psycopg: pip install 'rankduel[postgres]' ({missing})") from missing

__all__ = [
    "LONG_LOCK_SECONDS",
    "SHORT_LOCK_SECONDS",
    "Connection",
    "ReconnectingConnection",
    "connect",
    "parse_address",
    "psycopg",  # for modules that need it: from here, a missing one is explained
    "public_address",
    "said",
]

SHORT_LOCK_SECONDS = 0.25  # that a commit or an ask waits for a lock of another process at a time
LONG_LOCK_SECONDS = 15.0  # that anything else waits for one
_RECONNECT_PAUSE_SECONDS = 0.5  # after a failed connection, in which no other one is tried: nobody waits for it twice
_DEFAULTS = {  # unless the address says otherwise
    "fallback_application_name": "rankduel",
    "connect_timeout": 5,
    "target_session_attrs": "read-write",  # of several hosts, the one that takes writes
    # A database that is gone without a word is noticed after about ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_SETTINGS = """
SET search_path = rankduel, pg_temp;
SET statement_timeout = '30s';
-- A process that stops within a transaction is cut off before those who wait for it give up.
SET idle_in_transaction_session_timeout = '10s';
-- So is a machine that is gone without a word: its locks are free after about ten seconds.
SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
-- Each statement has its index; a plan that was made while a table was empty must not say otherwise.
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET plan_cache_mode = force_generic_plan;
-- Stronger promises than `on` are left as they are.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""

Connection = psycopg.Connection[tuple[Any, ...]]


class ReconnectingConnection:
    """A connection that is made again when it was cut. Callers hold its lock."""

    def __init__(
        self,
        address: dict[str, Any],
        *,
        lock_seconds: float = LONG_LOCK_SECONDS,
        idle_timeout_seconds: float | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self._lock_seconds = lock_seconds  # after which a statement that waits for a lock fails
        self._address = address
        self._idle_timeout_seconds = idle_timeout_seconds  # without a statement, after which the database cuts it
        self._connection: Connection | None = None
        self._process = os.getpid()
        self._refusal: tuple[float, str] | None = None  # until when the last one counts, and what it said
        self._checked_at = 0.0
        self._closed = False

    @property
    def cut(self) -> bool:
        return self._connection is None or self._connection.closed

    def connected(self) -> Connection:
        """The connection; a new one if there is none."""
        if self._process != os.getpid():
            raise StorageError(f"opened by process {self._process}, used by {os.getpid()}: open it after the fork")
        if self._closed:
            raise StorageError("this storage is closed")
        if self._connection is None or self._connection.closed:
            if self._refusal is not None and monotonic() < self._refusal[0]:
                raise psycopg.OperationalError(self._refusal[1])
            try:
                self._connection = connect(
                    self._address, lock_seconds=self._lock_seconds, idle_timeout_seconds=self._idle_timeout_seconds
                )
            except psycopg.Error as error:
                self._refusal = monotonic() + _RECONNECT_PAUSE_SECONDS, str(error)
                raise
        return self._connection

    def checked(self, *, idle_seconds: float = 0.0) -> Connection:
        """The connection; if it was idle for so many seconds, after a check that it is still there."""
        if monotonic() >= self._checked_at + idle_seconds:
            self.read("SELECT 1")
        self._checked_at = monotonic()
        return self.connected()

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement that changes nothing: if the connection was cut meanwhile, on a new one."""
        connection = self.connected()
        try:
            return connection.execute(statement, values, binary=True).fetchall()
        except psycopg.Error:
            if not connection.closed:
                raise
        return self.connected().execute(statement, values, binary=True).fetchall()

    def close(self) -> None:
        self._closed = True
        if self._process == os.getpid() and self.lock.acquire(timeout=30):
            try:
                if self._connection is not None:
                    self._connection.close()
            finally:
                self.lock.release()


def parse_address(url: str) -> dict[str, Any]:
    """The parts of an address, with our defaults."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:  # its message may have the password
        raise ValueError("storage must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE, got another form") from None
    return _DEFAULTS | given | {"client_encoding": "utf8"}


def public_address(address: dict[str, Any]) -> str:
    """An address as messages have it: without a password."""
    user = f"{address['user']}@" if "user" in address else ""
    port = f":{address['port']}" if "port" in address else ""
    return f"postgresql://{user}{address.get('host', '')}{port}/{address.get('dbname', '')}"


def connect(
    address: dict[str, Any], *, lock_seconds: float = LONG_LOCK_SECONDS, idle_timeout_seconds: float | None = None
) -> Connection:
    """A new connection, with the settings of a session."""
    connection = psycopg.connect(**address, autocommit=True, cursor_factory=psycopg.RawCursor)
    try:
        connection.adapters.register_dumper(int, Int8Dumper)  # one type for all: one plan for all
        connection.execute(_SETTINGS)
        connection.execute(f"SET lock_timeout = {round(1000 * lock_seconds)}")
        if idle_timeout_seconds is not None and connection.info.server_version >= 14_00_00:
            connection.execute(f"SET idle_session_timeout = {round(1000 * idle_timeout_seconds)}")
    except BaseException:
        connection.close()
        raise
    return connection


def said(error: psycopg.Error) -> str:
    """What PostgreSQL says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__
