"""The rules of a tournament as pure functions, without storage and clock.

`duels.py` (states of a duel), `events.py` (the journal), `attribution.py` and `signals.py` (from clicks to outcomes),
`ubi.py` (events of the UBI standard), `guardrails.py`, `lifecycle.py`, `traffic_share.py` and `validation.py`.
"""
