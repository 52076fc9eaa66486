"""rankduel: find the best of hundreds of rankers from duels, and show users as few bad results as possible.

>>> import rankduel as rd
>>> problem = rd.problems.cycle2()
>>> run = rd.simulate(rd.MergeDTS(problem.n_arms, seed=1), problem, horizon=1_000_000)
>>> run.winner == problem.condorcet_winner
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankduel import clicks, datasets, interleaving
from rankduel.bandits import (
    DTS,
    MDB,
    MULTI_REGISTRY,
    REGISTRY,
    REX3,
    RMED1,
    RUCB,
    Bandit,
    Certified,
    CertifiedMulti,
    CertifiedSparring,
    Confidence,
    Decision,
    DriftAlarm,
    Elimination,
    Hoeffding,
    MergeDTS,
    MergeRUCB,
    MultiBandit,
    MultiSelfSparring,
    MultiUCB,
    SelfSparring,
    SparringEXP3,
    SparringThompson,
    SparringTsallisINF,
    SparringUCB1,
    Uniform,
    bandit_from,
)
from rankduel.errors import (
    DatasetError,
    RankduelError,
    SnapshotError,
    StorageError,
    TournamentExists,
    UnknownDuel,
    UnknownTournament,
)
from rankduel.preferences import PreferenceMatrix, Regret, Utilities, oracle_bound, problems, regret
from rankduel.simulation import Run, SearchWorld, delays, simulate, simulate_runs
from rankduel.types import Duel, MultiDuel, Outcome

if TYPE_CHECKING:
    from rankduel import lab, live
    from rankduel.client import Client
    from rankduel.lab import Estimate, estimate_preferences
    from rankduel.lab.forecast import Forecast, plan
    from rankduel.live import Tournament

__version__ = "0.1.0"

__all__ = [
    "DTS",
    "MDB",
    "MULTI_REGISTRY",
    "REGISTRY",
    "REX3",
    "RMED1",
    "RUCB",
    "Bandit",
    "Certified",
    "CertifiedMulti",
    "CertifiedSparring",
    "Client",
    "Confidence",
    "DatasetError",
    "Decision",
    "DriftAlarm",
    "Duel",
    "Elimination",
    "Estimate",
    "Forecast",
    "Hoeffding",
    "MergeDTS",
    "MergeRUCB",
    "MultiBandit",
    "MultiDuel",
    "MultiSelfSparring",
    "MultiUCB",
    "Outcome",
    "PreferenceMatrix",
    "RankduelError",
    "Regret",
    "Run",
    "SearchWorld",
    "SelfSparring",
    "SnapshotError",
    "SparringEXP3",
    "SparringThompson",
    "SparringTsallisINF",
    "SparringUCB1",
    "StorageError",
    "Tournament",
    "TournamentExists",
    "Uniform",
    "UnknownDuel",
    "UnknownTournament",
    "Utilities",
    "bandit_from",
    "clicks",
    "datasets",
    "delays",
    "estimate_preferences",
    "interleaving",
    "lab",
    "live",
    "oracle_bound",
    "plan",
    "problems",
    "regret",
    "simulate",
    "simulate_runs",
]

_LAZY = {
    "Client": "rankduel.client",
    "Estimate": "rankduel.lab",
    "Forecast": "rankduel.lab.forecast",
    "Tournament": "rankduel.client",  # the class of `live`; importing the client registers http addresses
    "estimate_preferences": "rankduel.lab",
    "lab": "rankduel.lab",
    "live": "rankduel.live",
    "plan": "rankduel.lab.forecast",
}


def __getattr__(name: str) -> Any:
    """Import the lab and live tournaments on first use, so that `import rankduel` stays fast."""
    if name not in _LAZY:
        raise AttributeError(f"module 'rankduel' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if name in {"lab", "live"} else getattr(module, name)
