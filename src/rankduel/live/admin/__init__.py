"""Administration of a storage: `backup.py`, `verify.py`, `repair.py`, `migrate.py` and `import_export.py`.

`findings.py` is what checks report, `sqlite_files.py` what several of them do with SQLite files.
"""
