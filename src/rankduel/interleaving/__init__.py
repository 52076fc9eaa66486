"""Two or more rankers share one page: build the list that a user sees, and credit the clicks."""

from rankduel.interleaving.multileaved import Multileaved
from rankduel.interleaving.multileaving import Multileaving
from rankduel.interleaving.pairwise_preference_multileaving import PairwisePreferenceMultileaving
from rankduel.interleaving.probabilistic_multileaving import ProbabilisticMultileaving
from rankduel.interleaving.sosm import SOSM
from rankduel.interleaving.team_draft_multileaving import TeamDraftMultileaving
from rankduel.interleaving.trials import Trial, trial
from rankduel.spec import parse

MULTILEAVINGS: dict[str, type[Multileaving]] = {
    "TeamDraftMultileaving": TeamDraftMultileaving,
    "ProbabilisticMultileaving": ProbabilisticMultileaving,
    "SOSM": SOSM,
    "PairwisePreferenceMultileaving": PairwisePreferenceMultileaving,
}


def multileaving_from(spec: str) -> Multileaving:
    """The multileaving method of a spec as people type it.

    >>> multileaving_from("SOSM(tau=2)")
    SOSM(tau=2.0)
    """
    name, options = parse(spec)
    if name not in MULTILEAVINGS:
        raise ValueError(f"unknown multileaving {name!r}, expected one of {', '.join(MULTILEAVINGS)}")
    known = MULTILEAVINGS[name]().parameters
    for option in options:
        if option not in known:
            raise ValueError(f"{name} has no option {option!r}, expected {', '.join(known) or 'none'}")
    return MULTILEAVINGS[name](**options)


__all__ = [
    "MULTILEAVINGS",
    "SOSM",
    "Multileaved",
    "Multileaving",
    "PairwisePreferenceMultileaving",
    "ProbabilisticMultileaving",
    "TeamDraftMultileaving",
    "Trial",
    "multileaving_from",
    "trial",
]
