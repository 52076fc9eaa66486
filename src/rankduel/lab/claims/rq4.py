"""Claims on problems with cycles. Section 6.4."""

import math

from rankduel.lab.claims.forms import below, best, converges, ratio, until
from rankduel.lab.judging import Claim, Evidence, Verdict, ordered

__all__ = ["CLAIMS"]

WHERE = "Section 6.4, Figure 3"


def _much_better_with_clear_winner(evidence: Evidence) -> Verdict:
    ratios = []
    for part in ("cycle2", "cycle"):
        sparring, ours = (evidence.series("rq4", part, label) for label in ("SelfSparring", "MergeDTS"))
        duels = until([sparring, ours], 1e6)
        ratios.append((part, sparring.regret_at(duels) / ours.regret_at(duels).mean()))
    return ordered(ratios, what="regret of SelfSparring / mean regret of MergeDTS")


CLAIMS = (
    Claim(
        "rq4-sparring",
        "On Cycle, the regret of SelfSparring is an order of magnitude above the regret of MergeDTS",
        WHERE,
        ratio("rq4", "cycle", "SelfSparring", "MergeDTS", low=5, high=math.inf, least=1e7),
    ),
    *(
        Claim(
            f"rq4-{other.lower()}",
            f"On Cycle, {other} has less regret than MergeDTS",
            WHERE,
            below("rq4", "cycle", other, "MergeDTS", least=1e6),
        )
        for other in ("RMED1", "MergeRUCB")
    ),
    Claim(
        "rq4-slightly",
        "On Cycle, the lead of MergeRUCB over MergeDTS is small",
        WHERE,
        ratio("rq4", "cycle", "MergeRUCB", "MergeDTS", low=0.8, high=1.0, least=1e6),
    ),
    Claim(
        "rq4-only",
        "On Cycle, no baseline except RMED1 and MergeRUCB outperforms MergeDTS",
        WHERE,
        best("rq4", "cycle", ("SelfSparring", "DTS", "REX3"), least=1e7),
    ),
    Claim(
        "rq4-clear",
        "SelfSparring does well if Borda scores differ: relative to MergeDTS, it is better on Cycle2 than on Cycle",
        WHERE,
        _much_better_with_clear_winner,
    ),
    Claim(
        "rq4-rmed1-cycle2",
        "On Cycle2, RMED1 has more regret than MergeDTS",
        WHERE,
        below("rq4", "cycle2", "MergeDTS", "RMED1", least=1e6),
    ),
    *(
        Claim(
            f"rq4-converges-{part}",
            f"On {name}, MergeDTS and MergeRUCB converge within a million duels",
            "Section 6.4",
            converges("rq4", part, ["MergeDTS", "MergeRUCB"], 1e6),
        )
        for part, name in (("cycle", "Cycle"), ("cycle2", "Cycle2"))
    ),
)
