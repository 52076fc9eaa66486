"""Claims on regret with hundreds of rankers. Section 6.1."""

import numpy as np

from rankduel.lab.claims.forms import DATASETS, Judge, below, converges, ratio, series_of, until
from rankduel.lab.judging import Claim, Evidence, Floats, Verdict, all_of, apart, different, ordered
from rankduel.lab.measurements import Series

__all__ = ["CLAIMS"]

WHERE = "Section 6.1, Figure 1"


def _slope(series: Series) -> Floats:
    """Growth of log10(regret) over the last factor of ten in duels, per run. It is 1/2 for sqrt(T)."""
    return np.asarray(np.log10(series.regret_at(series.horizon) / series.regret_at(series.horizon / 10)))


def _rex3_grows(evidence: Evidence) -> Verdict:
    series = [
        series_of(evidence, "rq1", "mslr", label)
        for label in ("REX3", "MergeDTS", "MergeRUCB", "SelfSparring", "RMED1")
    ]
    until(series, 1e8)
    ours, *others = series
    states = [different(_slope(each), _slope(ours)) for each in others]
    told = ", ".join(apart(each.label, _slope(each)) for each in series)
    return Verdict(all_of(states), f"growth of log10(regret) over the last factor of ten in duels: {told}")


def _still_growing(evidence: Evidence) -> Verdict:
    series = series_of(evidence, "rq1", "yahoo", "SelfSparring")
    duels = until([series], 1e8)
    points = [(f"{at:,.0f} duels", series.regret_at(at)) for at in (duels / 2, duels)]
    return ordered(points, what="regret of SelfSparring after")


def _early(evidence: Evidence) -> Verdict:
    others = [series_of(evidence, "rq1", "mslr", label) for label in ("SelfSparring", "DTS")]
    ours = series_of(evidence, "rq1", "mslr", "MergeDTS")
    until([ours, *others], 1e5)
    states = [different(each.regret_at(1e5), ours.regret_at(1e5)) for each in others]
    told = ", ".join(apart(each.label, each.regret_at(1e5)) for each in [ours, *others])
    return Verdict(all_of(states), f"regret after 100,000 duels: {told}")


def _claim(name: str, text: str, judged: Judge, where: str = WHERE) -> Claim:
    return Claim(f"rq1-{name}", text, where, judged)


CLAIMS = (
    *(
        _claim(
            f"mergerucb-{part}",
            f"MergeDTS has less regret than MergeRUCB on {dataset}-Navigational",
            below("rq1", part, "MergeDTS", "MergeRUCB", least=2e6),
        )
        for part, dataset in DATASETS.items()
    ),
    _claim(
        "twice",
        "At large scale, MergeRUCB has almost twice the regret of MergeDTS (MSLR-Navigational)",
        ratio("rq1", "mslr", "MergeRUCB", "MergeDTS", low=1.5, high=2.2, least=2e6),
        "Section 3",
    ),
    *(
        _claim(
            f"{other.lower()}-{part}",
            f"MergeDTS has less final regret than {other} on {DATASETS[part]}-Navigational",
            below("rq1", part, "MergeDTS", other, least=1e7 if other == "DTS" else 1e8),
        )
        for part in ("mslr", "istella")
        for other in ("SelfSparring", "DTS")
    ),
    _claim("early", "Early on, MergeDTS has more regret than SelfSparring and DTS", _early),
    _claim(
        "yahoo-sparring",
        "On Yahoo-Navigational, MergeDTS has slightly more regret than SelfSparring (up to half as much again)",
        ratio("rq1", "yahoo", "MergeDTS", "SelfSparring", low=1.0, high=1.5, least=1e8),
    ),
    _claim(
        "yahoo-converges",
        "On Yahoo-Navigational, MergeDTS converges within three million duels",
        converges("rq1", "yahoo", ["MergeDTS"], 3e6),
    ),
    _claim(
        "yahoo-grows",
        "On Yahoo-Navigational, the regret of SelfSparring still grows after 100 million duels",
        _still_growing,
    ),
    _claim("rex3", "The regret of REX3 grows at a higher order than the regret of the others", _rex3_grows),
)
