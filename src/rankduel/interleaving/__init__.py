"""Interleaving and multileaving: merge the results of several rankers into one page, and credit the clicks."""

from rankduel.interleaving.balanced import BalancedInterleaving
from rankduel.interleaving.base import Impression, Interleaving
from rankduel.interleaving.interleaved import Interleaved
from rankduel.interleaving.multileaved import Multileaved
from rankduel.interleaving.multileaving import Multileaving
from rankduel.interleaving.optimized import OptimizedInterleaving
from rankduel.interleaving.pairwise_preference_multileaving import PairwisePreferenceMultileaving
from rankduel.interleaving.probabilistic import ProbabilisticInterleaving
from rankduel.interleaving.probabilistic_multileaving import ProbabilisticMultileaving
from rankduel.interleaving.registry import INTERLEAVINGS, MULTILEAVINGS, interleaving_from, multileaving_from
from rankduel.interleaving.sosm import SOSM
from rankduel.interleaving.team_draft import TeamDraftInterleaving
from rankduel.interleaving.team_draft_multileaving import TeamDraftMultileaving
from rankduel.interleaving.trials import Trial, trial

__all__ = [
    "INTERLEAVINGS",
    "MULTILEAVINGS",
    "SOSM",
    "BalancedInterleaving",
    "Impression",
    "Interleaved",
    "Interleaving",
    "Multileaved",
    "Multileaving",
    "OptimizedInterleaving",
    "PairwisePreferenceMultileaving",
    "ProbabilisticInterleaving",
    "ProbabilisticMultileaving",
    "TeamDraftInterleaving",
    "TeamDraftMultileaving",
    "Trial",
    "interleaving_from",
    "multileaving_from",
    "trial",
]
