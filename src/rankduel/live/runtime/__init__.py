"""An open tournament in this process: its state in memory, and what happens to it while it runs.

- `state.py`: the state as the fold over the journal; `runtime.py` follows the journal, `snapshots.py` stores the state.
- `issuing.py`: which query gets which duel, with `known_queries.py`, `bloom_filter` and `recent_cache.py`.
- `tickets.py`: duels that vouch for themselves; `maintenance.py`: resolves and expires duels, checks guardrails.
"""
