"""The tables of a PostgreSQL storage: created once, checked at each start, migrated by `rankduel storage upgrade`."""

import logging
import secrets
from collections.abc import Mapping

from rankduel.errors import StorageError
from rankduel.live.storage.postgres_connection import (
    LONG_LOCK_SECONDS,
    Connection,
    connect,
    parse_address,
    psycopg,
    public_address,
    said,
)
from rankduel.live.storage.schema import SCHEMA, no_storage, tables, wrong_schema

__all__ = ["migrate", "prepare_tables"]

_TABLES = tables(
    id="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    int="BIGINT",
    float="DOUBLE PRECISION",
    bytes="BYTEA",
    text='TEXT COLLATE "C"',  # sort like SQLite, whatever the locale of the database
    clustered="",
)
_CREATION_LOCK = 0x52414E4B  # "RANK": the advisory lock for creating or migrating the tables
_SCHEMA_OF_TABLES = "SELECT value FROM facts WHERE name = 'schema'"
_log = logging.getLogger("rankduel")


def prepare_tables(connection: Connection, url: str, *, own: bool, create: bool) -> None:
    """Create the tables of a new database. Raise StorageError if the tables have another schema."""
    ((encoding, exists),) = connection.execute(
        "SELECT current_setting('server_encoding'), to_regclass('rankduel.facts') IS NOT NULL"
    )
    if encoding != "UTF8":
        raise StorageError(f"{url} has the encoding {encoding}; create a database with ENCODING 'UTF8'")
    if not exists:
        if not create:
            raise StorageError(no_storage(url))
        _make(connection)
    schema = _schema(connection)
    if schema != SCHEMA:
        raise StorageError(wrong_schema(url, schema, SCHEMA))
    if connection.execute("SHOW fsync").fetchone() != ("on",):
        _log.warning("%s runs with fsync off: acknowledged data may be lost when its machine fails", url)
    if own and connection.execute("SHOW data_checksums").fetchone() != ("on",):
        _log.warning("%s runs without data checksums: damage on its disk may stay undetected", url)


def _make(connection: Connection) -> None:
    """Create the tables, unless another process creates them at the same time."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = {round(1000 * LONG_LOCK_SECONDS)}")
        connection.execute("SELECT pg_advisory_xact_lock($1)", (_CREATION_LOCK,))
        ((has_schema, has_tables),) = connection.execute(
            "SELECT to_regnamespace('rankduel') IS NOT NULL, to_regclass('rankduel.facts') IS NOT NULL"
        )
        if has_tables:
            return
        if not has_schema:
            connection.execute("CREATE SCHEMA rankduel")
        connection.execute(_TABLES)
        facts = {"schema": str(SCHEMA), "secret": secrets.token_hex(32)}
        for fact in facts.items():
            connection.execute("INSERT INTO facts VALUES ($1, $2)", fact)


def migrate(url: str, steps: Mapping[int, str]) -> tuple[int, int]:
    """Migrate the tables to the schema of this version. Return the schemas before and after.

    Each step is one transaction.
    """
    address = parse_address(url)
    shown = public_address(address)
    try:
        with connect(address) as connection:
            connection.execute("SET statement_timeout = 0")
            ((exists,),) = connection.execute("SELECT to_regclass('rankduel.facts') IS NOT NULL")
            if not exists:
                raise StorageError(no_storage(shown))
            before = _schema(connection)
            if before > SCHEMA:
                raise StorageError(wrong_schema(shown, before, SCHEMA))
            for schema in range(before, SCHEMA):
                if schema not in steps:
                    raise StorageError(f"cannot upgrade {shown}: no migration from schema {schema} to {SCHEMA}")
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock($1)", (_CREATION_LOCK,))
                    if _schema(connection) == schema:  # no other process has done it meanwhile
                        connection.execute(steps[schema].encode())
                        connection.execute("UPDATE facts SET value = $1 WHERE name = 'schema'", (str(schema + 1),))
    except psycopg.Error as error:
        raise StorageError(f"cannot upgrade {shown}: {said(error)}") from error
    return before, SCHEMA


def _schema(connection: Connection) -> int:
    return int(connection.execute(_SCHEMA_OF_TABLES).fetchall()[0][0])
