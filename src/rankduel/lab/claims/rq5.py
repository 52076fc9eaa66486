"""Claims on a problem without a Condorcet winner. Section 6.5."""

from rankduel.lab.claims.forms import until
from rankduel.lab.judging import Claim, Evidence, Verdict, all_of, apart, compare_counts, different

__all__ = ["CLAIMS"]

WHERE = "Section 6.5, Figure 4"


def _lowest_copeland(evidence: Evidence) -> Verdict:
    ours = evidence.series("rq5", "copeland", "MergeDTS")
    others = [evidence.series("rq5", "copeland", "MergeRUCB")]
    others += [evidence.series("rq5", "others", label) for label in ("SelfSparring", "DTS", "RMED1", "REX3")]
    duels = until([ours, *others], 1e7)
    states = [different(ours.regret_at(duels), each.regret_at(duels)) for each in others]
    told = ", ".join(apart(each.label, each.regret_at(duels)) for each in [ours, *others])
    return Verdict(all_of(states), f"Copeland regret after {duels:,.0f} duels: {told}")


def _copeland_lost(evidence: Evidence) -> Verdict:
    measured = evidence.part("rq5", "copeland")
    series = evidence.series("rq5", "copeland", "MergeDTS")
    until([series], 1e6)
    return compare_counts(measured.lost(series) or 0, series.runs, 1)


def _one_copeland_left(evidence: Evidence) -> Verdict:
    series = evidence.series("rq5", "copeland", "MergeDTS")
    until([series], 1e6)
    kept = int((series.best_left == 1).sum())
    both, none = int((series.best_left >= 2).sum()), int((series.best_left == 0).sum())
    measured = f"one Copeland winner is left in {kept} of {series.runs} runs, both in {both}, none in {none}"
    return Verdict("holds" if both == 0 else "does not hold", measured)


CLAIMS = (
    Claim("rq5-lowest", "MergeDTS has the lowest Copeland regret of all six bandits", WHERE, _lowest_copeland),
    Claim("rq5-lost", "MergeDTS eliminates both Copeland winners in 1 of 100 runs", "Section 6.5", _copeland_lost),
    Claim(
        "rq5-one",
        "In all other runs, MergeDTS eliminates one of the two Copeland winners",
        "Section 6.5",
        _one_copeland_left,
    ),
)
