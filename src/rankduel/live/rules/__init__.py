"""The rules of a tournament, without storage and clock, so that each can be tested by itself.

`duels.py` (the life of a duel), `events.py` (the journal), `attribution.py` and `signals.py` (from clicks to outcomes),
`ubi.py` (events of the UBI standard), `guardrails.py`, `traffic_share.py` and `validation.py`.
"""
