"""True preferences: matrices and utilities, their winners, regret, named problems and the oracle's bound."""

from rankduel.preferences import problems
from rankduel.preferences.matrix import PreferenceMatrix, Summary
from rankduel.preferences.oracle import oracle_bound
from rankduel.preferences.regret import Combine, Kind, Problem, Regret, regret
from rankduel.preferences.utilities import Utilities

__all__ = [
    "PreferenceMatrix",
    "Utilities",
    "Problem",
    "Summary",
    "Regret",
    "regret",
    "oracle_bound",
    "Kind",
    "Combine",
    "problems",
]
