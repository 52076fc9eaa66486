"""Durable storage of tournaments, in SQLite or PostgreSQL: `contract.py` defines the interface.

- `writer.py`: group commit, with `pending_asks.py`; `open_storages.py`: one writer per storage of this process.
- `transaction.py`: applies entries such as a tell to duels, journal and counters; `sql.py`: commits and reads.
- `shared_statements.py`, `sqlite_statements.py`, `postgres_statements.py`: all SQL, by name; `schema.py`: the tables.
- `sqlite.py`: one file, with `sqlite_file_checks.py` and `sqlite_wal_checks.py` for damage.
- `postgres.py`: a shared database, with `postgres_connection.py`, `postgres_leader.py` (leader election) and
  `postgres_tables.py`.
"""
