"""Claims on noisy clicks. Section 6.3."""

import numpy as np

from rankduel.lab.claims.forms import BASELINES, DATASETS, Judge, best, series_of, until
from rankduel.lab.judging import Claim, Evidence, Verdict, all_of, ordered

__all__ = ["CLAIMS"]

WHERE = "Section 6.3, Figure 2"
NOISE = ("perfect", "navigational", "informational")


def _wins_under_noise(dataset: str, least: float) -> Judge:
    def judged(evidence: Evidence) -> Verdict:
        verdicts = [best("rq3", f"{dataset}-{noise}", BASELINES, least=least)(evidence) for noise in NOISE]
        told = [f"{noise} clicks, {verdict.measured}" for noise, verdict in zip(NOISE, verdicts, strict=True)]
        why = next((verdict.why for verdict in verdicts if verdict.why), "")
        return Verdict(all_of([verdict.state for verdict in verdicts]), " | ".join(told), why)

    return judged


def _gaps_grow(evidence: Evidence) -> Verdict:
    gaps = []
    for noise in NOISE:
        ours, theirs = (series_of(evidence, "rq3", f"mslr-{noise}", label) for label in ("MergeDTS", "MergeRUCB"))
        duels = until([ours, theirs], 2e6)
        gaps.append((noise, theirs.regret_at(duels) - ours.regret_at(duels)))
    return ordered(gaps, what="regret of MergeRUCB minus regret of MergeDTS, run by run")


def _sparring_suffers(evidence: Evidence) -> Verdict:
    series = [series_of(evidence, "rq3", f"mslr-{noise}", "SelfSparring") for noise in NOISE]
    duels = until(series, 1e8)
    regrets = [(noise, each.regret_at(duels)) for noise, each in zip(NOISE, series, strict=True)]
    return ordered(regrets, what=f"regret of SelfSparring after {duels:,.0f} duels")


def _yahoo_suffers(evidence: Evidence) -> Verdict:
    """Compare the factors by which noise increases regret, run by run."""
    told = []
    for label in ("SelfSparring", "MergeDTS"):
        least, most = (series_of(evidence, "rq3", f"yahoo-{noise}", label) for noise in ("perfect", "informational"))
        until([least, most], 3e5)
        runs = min(least.runs, most.runs)
        grown = most.regret[:runs, -1] / least.regret[:runs, -1]
        told.append((label, np.asarray(grown)))
    return ordered(told, what="regret with informational / perfect clicks")


CLAIMS = (
    *(
        Claim(
            f"rq3-{part}",
            f"On {DATASETS[part]}, MergeDTS has less regret than all baselines at every noise level",
            WHERE,
            _wins_under_noise(part, 1e7),
        )
        for part in ("mslr", "istella")
    ),
    Claim("rq3-gaps", "On MSLR, the lead of MergeDTS over MergeRUCB grows with the noise", WHERE, _gaps_grow),
    Claim("rq3-sparring", "On MSLR, the regret of SelfSparring grows with the noise", WHERE, _sparring_suffers),
    Claim(
        "rq3-yahoo",
        "On Yahoo, noise increases the regret of MergeDTS more than the regret of SelfSparring",
        WHERE,
        _yahoo_suffers,
    ),
)
