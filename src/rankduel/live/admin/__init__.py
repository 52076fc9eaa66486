"""Administration of a storage: `backup.py`, `verify.py`, `repair.py`, `migrate.py`, `retention.py` and
`import_export.py`.

`findings.py` has the results of checks, `sqlite_files.py` the shared code for SQLite files.
"""
