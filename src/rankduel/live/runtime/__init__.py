"""An open tournament in this process: its state in memory, and its operations.

- `state.py`: the state, computed by replaying the journal. `runtime.py` follows the journal, `snapshots.py` stores the
  state.
- `issuing.py`: issues duels, with `side_coin.py`, `known_queries.py`, `bloom_filter` and `recent_cache.py`.
- `recording.py`: tells, shown pages and signals. `tickets.py`: signed duels.
- `maintenance.py`: resolves and expires duels, checks guardrails.
"""
