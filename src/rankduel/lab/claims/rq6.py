"""Claims on the comparison with multileaving, online. Section 6.6."""

import numpy as np

from rankduel.lab.claims.forms import DATASETS, Judge, converges, until, within
from rankduel.lab.judging import Claim, Evidence, Verdict, ordered

__all__ = ["CLAIMS"]

WHERE = "Section 6.6, Figure 5"
OURS, CORRECTED, RELEASED = "MergeDTS(alpha=0.51)", "MultiUCB", "MultiUCB(rule='released')"


def _better_pages(part: str, measure: str, other: str) -> Judge:
    def judged(evidence: Evidence) -> Verdict:
        both = [evidence.series("rq6", part, label) for label in (other, OURS)]
        duels = until(both, 3e3)
        means = [(each.label, each.mean_of(measure)) for each in both]
        return ordered(means, what=f"mean {measure} over {duels:,.0f} pages")

    return judged


def _finds_online(part: str) -> Judge:
    return converges("rq6", part, [OURS], 2e6)


def _all_compared(evidence: Evidence) -> Verdict:
    told, states = [], []
    for part in ("mslr", "yahoo", "istella"):
        measured = evidence.part("rq6", part)
        series = evidence.series("rq6", part, RELEASED)
        told.append(f"{part}: {series.left.min()} of {measured.n_arms}")
        states.append(bool((series.left == measured.n_arms).all()))
    return Verdict("holds" if all(states) else "does not hold", f"rankers still compared at the end: {', '.join(told)}")


def _flat(evidence: Evidence) -> Verdict:
    series = evidence.series("rq6", "mslr", RELEASED)
    duels = until([series], 3e4)
    pages = series.measures["ndcg@10"]
    half = np.array([np.interp(duels / 2, series.checkpoints, curve) for curve in pages])
    late, early = (pages[:, -1] - half) / (duels / 2), half / (duels / 2)
    return within(late, early, low=0.95, high=1.05, what="mean NDCG@10, second half / first half")


CLAIMS = (
    *(
        Claim(
            f"rq6-{short}-{part}-{rule}",
            f"Online on {dataset}, the pages of MergeDTS have higher {measure} than the pages of SOSM ({told})",
            WHERE,
            _better_pages(part, measure, label),
        )
        for measure, short in (("clicks@10", "clicks"), ("ndcg@10", "ndcg"))
        for part, dataset in DATASETS.items()
        for rule, label, told in (
            ("released", RELEASED, "released rule"),
            ("corrected", CORRECTED, "corrected rule"),
        )
    ),
    *(
        Claim(
            f"rq6-finds-{part}",
            f"Online on {DATASETS[part]}, MergeDTS is left with one ranker within two million duels",
            "Section 6.6",
            _finds_online(part),
        )
        for part in ("mslr", "istella")
    ),
    Claim("rq6-flat", "The NDCG@10 curve of SOSM is almost flat (changes by at most 5 %)", WHERE, _flat),
    Claim("rq6-all", "SOSM compares all rankers on every page", "Section 6.6", _all_compared),
)
