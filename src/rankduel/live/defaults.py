"""The defaults of a new tournament: Python, the command line, HTTP and the dashboard all read them here."""

from typing import Any

from rankduel.live.rules.attribution import Attribution

__all__ = ["DAY", "DEFAULT", "DEFAULTS", "DEFAULT_DELTA", "DEFAULT_INTERLEAVING", "DEFAULT_ROLLOUT_SHARE"]

DAY = 86_400.0  # seconds
DEFAULT = "CertifiedSparring"  # the bandit
DEFAULT_DELTA = 0.01  # the largest probability that the default bandit eliminates the best ranker
DEFAULT_INTERLEAVING = "team_draft"
DEFAULT_ROLLOUT_SHARE = 0.05  # of all traffic
DEFAULTS: dict[str, Any] = {
    "bandit": DEFAULT,
    "delta": DEFAULT_DELTA,
    "tolerance": None,  # never end with tied rankers
    "interleaving": DEFAULT_INTERLEAVING,
    "expires_after": DAY,
    "seed": None,  # random
    "draft": False,
    "baseline": None,  # the first ranker
    "external_baseline": False,
    "share": 1.0,
    "shadow": False,
    "after_decision": "winner",
    "daily_cap": None,  # no cap
    "in_flight_cap": None,
    "guardrails": [],
    "attribution": Attribution().to_dict(),
}
