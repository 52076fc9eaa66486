"""Connections to PostgreSQL: addresses, session settings, and a connection that reconnects.

It requires the extra `postgres`, so import it only for a `postgresql://` address.
"""

import os
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Any

from rankduel.errors import StorageError
from rankduel.live.storage.schema import opened_before_fork

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.types.numeric import Int8Dumper
except ImportError as missing:
    raise ImportError(
        f"PostgreSQL needs psycopg; install it by pip install 'rankduel[postgres]' ({missing})"
    ) from missing

__all__ = [
    "LONG_LOCK_SECONDS",
    "SHORT_LOCK_SECONDS",
    "Connection",
    "ReconnectingConnection",
    "connect",
    "parse_address",
    "psycopg",  # import it from here: a missing module gives a helpful error
    "public_address",
    "said",
]

SHORT_LOCK_SECONDS = 0.25  # how long a commit or an ask waits for a lock of another process
LONG_LOCK_SECONDS = 15.0  # how long other statements wait for a lock
_RECONNECT_PAUSE_SECONDS = 0.5  # after a failed attempt to connect, further attempts fail at once
_DEFAULTS = {  # unless the address says otherwise
    "fallback_application_name": "rankduel",
    "connect_timeout": 5,
    "target_session_attrs": "read-write",  # of several hosts, the primary
    # Detect an unreachable database after about ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_SETTINGS = """
SET search_path = rankduel, pg_temp;
SET statement_timeout = '30s';
-- End a stalled transaction before the processes that wait for its locks give up.
SET idle_in_transaction_session_timeout = '10s';
-- Detect an unreachable client: its locks are free after about ten seconds.
SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
-- Each statement has its index. Plans made while a table was empty must use it too.
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET plan_cache_mode = force_generic_plan;
-- Stronger settings than `on` are not changed.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""

Connection = psycopg.Connection[tuple[Any, ...]]


class ReconnectingConnection:
    """A connection that reconnects after it was lost. Callers hold its lock."""

    def __init__(
        self,
        address: dict[str, Any],
        *,
        lock_seconds: float = LONG_LOCK_SECONDS,
        idle_timeout_seconds: float | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self._lock_seconds = lock_seconds  # lock timeout of a statement
        self._address = address
        self._idle_timeout_seconds = idle_timeout_seconds  # after which the database closes an idle connection
        self._connection: Connection | None = None
        self._process = os.getpid()
        self._refusal: tuple[float, str] | None = None  # until when not to reconnect, and the last error
        self._checked_at = 0.0
        self._closed = False

    @property
    def cut(self) -> bool:
        return self._connection is None or self._connection.closed

    def connected(self) -> Connection:
        """Return the connection. Open a new one if there is none."""
        if self._process != os.getpid():
            raise StorageError(opened_before_fork(self._process))
        if self._closed:
            raise StorageError("the storage is closed; open it again")
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
        """Return the connection. If it was idle for at least `idle_seconds`, check first that it still works."""
        if monotonic() >= self._checked_at + idle_seconds:
            self.read("SELECT 1")
        self._checked_at = monotonic()
        return self.connected()

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement that changes nothing. If the connection was lost, run it again on a new one."""
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
    """Parse an address, and add our defaults."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:  # the message must not show the address, which may contain a password
        raise ValueError("storage must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE, got something else") from None
    return _DEFAULTS | given | {"client_encoding": "utf8"}


def public_address(address: dict[str, Any]) -> str:
    """Return an address without the password, for messages."""
    user = f"{address['user']}@" if "user" in address else ""
    port = f":{address['port']}" if "port" in address else ""
    return f"postgresql://{user}{address.get('host', '')}{port}/{address.get('dbname', '')}"


def connect(
    address: dict[str, Any], *, lock_seconds: float = LONG_LOCK_SECONDS, idle_timeout_seconds: float | None = None
) -> Connection:
    """Open a connection and apply the session settings."""
    connection = psycopg.connect(**address, autocommit=True, cursor_factory=psycopg.RawCursor)
    try:
        connection.adapters.register_dumper(int, Int8Dumper)  # one type for all integers, so one plan per statement
        connection.execute(_SETTINGS)
        connection.execute(f"SET lock_timeout = {round(1000 * lock_seconds)}")
        if idle_timeout_seconds is not None and connection.info.server_version >= 14_00_00:
            connection.execute(f"SET idle_session_timeout = {round(1000 * idle_timeout_seconds)}")
    except BaseException:
        connection.close()
        raise
    return connection


def said(error: psycopg.Error) -> str:
    """Return the message of PostgreSQL on one line."""
    return " ".join(str(error).split()) or type(error).__name__
