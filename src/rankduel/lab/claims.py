"""The claims of the paper's Sections 3 to 6, each judged by a function of the stored results and by nothing else."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rankduel.lab.measured import Measured, Series
from rankduel.lab.verdicts import (
    Claim,
    Evidence,
    Floats,
    NotTestable,
    State,
    Verdict,
    all_of,
    apart,
    as_often,
    count_of,
    different,
    figure,
    mean,
    ordered,
)

__all__ = ["CLAIMS", "judge"]

Judge = Callable[[Evidence], Verdict]
BASELINES = ("MergeRUCB", "SelfSparring", "DTS", "RMED1", "REX3")


def judge(studied: Mapping[str, Mapping[str, Measured]]) -> dict[Claim, Verdict]:
    """A verdict on every claim of the questions that were studied: {question: {part: measured}}."""
    evidence = Evidence(studied)
    return {claim: claim.verdict(evidence) for claim in CLAIMS if claim.question in studied}


def _of(evidence: Evidence, question: str, stem: str, label: str) -> Series:
    """A bandit that may be in a part of its own: the slow ones play fewer or shorter runs."""
    for part, measured in evidence.questions.get(question, {}).items():
        if part in (stem, f"{stem}-dts", f"{stem}-sparring", f"{stem}-pairs") and label in measured.series:
            return evidence.series(question, part, label)
    raise NotTestable(f"{label} was not run in {question}, part {stem}")


def _until(series: Sequence[Series], least: float) -> float:
    """The duels that all of them have played: enough, or not testable."""
    horizon = min(each.horizon for each in series)
    if horizon < least:
        raise NotTestable(f"{horizon:,} duels were played, and this can be seen from {least:,.0f} on")
    return horizon


def _below(question: str, part: str, lower: str, higher: str, *, least: float, at: float | None = None) -> Judge:
    """One bandit has less regret than another, at the end or after so many duels."""

    def judged(evidence: Evidence) -> Verdict:
        both = [_of(evidence, question, part, label) for label in (lower, higher)]
        duels = at or _until(both, least)
        _until(both, duels)
        return ordered([(each.label, each.regret_at(duels)) for each in both], what=f" after {duels:,.0f} duels")

    return judged


def _best(question: str, part: str, others: Sequence[str], *, least: float) -> Judge:
    """MergeDTS has less regret than each of the others."""

    def judged(evidence: Evidence) -> Verdict:
        ours = _of(evidence, question, part, "MergeDTS")
        states: list[State] = []
        told = []
        for label in others:
            try:
                theirs = _of(evidence, question, part, label)
            except NotTestable:
                continue  # the paper left it out there too
            duels = min(ours.horizon, theirs.horizon)
            states.append(
                different(ours.regret_at(duels), theirs.regret_at(duels)) if duels >= least else "not testable here"
            )
            told.append(f"{apart(label, theirs.regret_at(duels))} after {duels:,.0f} duels")
        _until([ours], min(least, 1e6))
        why = f"some were played for less than {least:,.0f} duels" if "not testable here" in states else ""
        return Verdict(all_of(states), f"{apart('MergeDTS', ours.regret_at(ours.horizon))}; {', '.join(told)}", why)

    return judged


def _ratio(question: str, part: str, above: str, below: str, *, low: float, high: float, least: float) -> Judge:
    """The ratio of two mean regrets is in a range, by more than its own error."""

    def judged(evidence: Evidence) -> Verdict:
        both = [_of(evidence, question, part, label) for label in (above, below)]
        duels = _until(both, least)
        top, bottom = (each.regret_at(duels) for each in both)
        return _within(top, bottom, low, high, f"{above} / {below}")

    return judged


def _within(above: Floats, below: Floats, low: float, high: float, what: str) -> Verdict:
    (top, top_error), (bottom, bottom_error) = mean(above), mean(below)
    ratio = top / bottom
    error = ratio * math.hypot(top_error / top, bottom_error / bottom)
    if low <= ratio <= high:
        state: State = "holds"
    else:
        state = "does not hold" if min(abs(ratio - low), abs(ratio - high)) > 2 * error else "not decided here"
    expected = f"{low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"
    return Verdict(state, f"{what} = {ratio:.3g} ± {error:.2g} (expected {expected})")


def _converges(question: str, part: str, labels: Sequence[str], within: float) -> Judge:
    """Every run ends with one arm in time."""

    def judged(evidence: Evidence) -> Verdict:
        series = [_of(evidence, question, part, label) for label in labels]
        _until(series, within)
        late = [int(((each.converged_at < 0) | (each.converged_at > within)).sum()) for each in series]
        told = [
            f"{each.label} {each.runs - missing} of {each.runs} runs, the last after {_last(each)}"
            for each, missing in zip(series, late, strict=True)
        ]
        return Verdict("holds" if not any(late) else "does not hold", f"within {within:,.0f}: {'; '.join(told)}")

    return judged


def _last(series: Series) -> str:
    """The latest end of a run."""
    over = bool((series.converged_at >= 0).all())
    return figure(float(series.converged_at.max())) if over else f"more than {figure(series.horizon)}"


def _slope(series: Series) -> Floats:
    """By how many powers of ten regret grows in the last decade of duels: 1/2 for sqrt(T)."""
    return np.asarray(np.log10(series.regret_at(series.horizon) / series.regret_at(series.horizon / 10)))


def _rex3_grows(evidence: Evidence) -> Verdict:
    series = [
        _of(evidence, "rq1", "mslr", label) for label in ("REX3", "MergeDTS", "MergeRUCB", "SelfSparring", "RMED1")
    ]
    _until(series, 1e8)
    ours, *others = series
    states = [different(_slope(each), _slope(ours)) for each in others]
    told = ", ".join(apart(each.label, _slope(each)) for each in series)
    return Verdict(all_of(states), f"growth of log10 regret in the last decade: {told}")


def _still_growing(evidence: Evidence) -> Verdict:
    series = _of(evidence, "rq1", "yahoo", "SelfSparring")
    duels = _until([series], 1e8)
    return ordered([(f"{at:,.0f}", series.regret_at(at)) for at in (duels / 2, duels)], what=" by duels")


def _early(evidence: Evidence) -> Verdict:
    others = [_of(evidence, "rq1", "mslr", label) for label in ("SelfSparring", "DTS")]
    ours = _of(evidence, "rq1", "mslr", "MergeDTS")
    _until([ours, *others], 1e5)
    states = [different(each.regret_at(1e5), ours.regret_at(1e5)) for each in others]
    told = ", ".join(apart(each.label, each.regret_at(1e5)) for each in [ours, *others])
    return Verdict(all_of(states), f"{told} after 100,000 duels")


# Running time


def _seconds(evidence: Evidence, part: str, label: str) -> Series:
    series = _of(evidence, "rq2", part, label)
    _until([series], 2e4)
    return series


def _cheapest(evidence: Evidence) -> Verdict:
    times = {label: _seconds(evidence, "mslr", label).seconds_to(1e8) for label in ("MergeDTS", *BASELINES)}
    rest = [values for label, values in times.items() if label not in ("MergeDTS", "MergeRUCB")]
    states = [different(times[label], values) for label in ("MergeDTS", "MergeRUCB") for values in rest]
    return Verdict(all_of(states), "CPU seconds to 1e8: " + ", ".join(apart(*each) for each in times.items()))


def _dts_slow(evidence: Evidence) -> Verdict:
    dts = _seconds(evidence, "mslr", "DTS")
    others = [_seconds(evidence, "mslr", label) for label in ("SelfSparring", "RMED1", "REX3", "MergeRUCB", "MergeDTS")]
    slowest = max(others, key=lambda each: float(each.seconds_per_duel.mean()))
    what = f"CPU per duel, DTS / {slowest.label} (the slowest other)"
    return _within(dts.seconds_per_duel, slowest.seconds_per_duel, 10, math.inf, what)


def _grows_with_arms(label: str, low: float, high: float) -> Judge:
    """The exponent of K in the CPU time per duel, between the problems of 136 and of 700 rankers, at equal horizons."""

    def judged(evidence: Evidence) -> Verdict:
        few, many = (evidence.series("rq2", f"equal-{n_arms}", label) for n_arms in (136, 700))
        _until([few, many], 2e4)
        (small, small_error), (large, large_error) = mean(few.seconds_per_duel), mean(many.seconds_per_duel)
        exponent = math.log(large / small) / math.log(700 / 136)
        error = math.hypot(small_error / small, large_error / large) / math.log(700 / 136)
        numbers = f"{1e6 * small:.3g} us at 136 rankers, {1e6 * large:.3g} us at 700: K^{exponent:.2f} ± {error:.2f}"
        if low <= exponent <= high:
            return Verdict("holds", numbers)
        near = min(abs(exponent - low), abs(exponent - high)) <= 2 * error
        return Verdict("not decided here" if near else "does not hold", f"{numbers} (expected K^{low:g} to K^{high:g})")

    return judged


def _flat_in_arms(evidence: Evidence) -> Verdict:
    few, many = (evidence.series("rq2", f"arms-{n_arms}", "MergeDTS") for n_arms in (1_000, 100_000))
    _until([few, many], 1e5)
    return _within(many.seconds_per_duel, few.seconds_per_duel, 0, 10, "CPU per duel, 100,000 / 1,000 rankers")


def _batches(evidence: Evidence) -> Verdict:
    small, large = (evidence.series("rq2", "batch", f"MergeDTS, batch_size={size}") for size in (4, 64))
    _until([small, large], 1e5)
    return _within(large.seconds_per_duel, small.seconds_per_duel, 0, 16**2, "CPU per duel, M = 64 / M = 4")


# Noise

NOISE = ("perfect", "navigational", "informational")


def _wins_under_noise(dataset: str, least: float) -> Judge:
    def judged(evidence: Evidence) -> Verdict:
        verdicts = [_best("rq3", f"{dataset}-{noise}", BASELINES, least=least)(evidence) for noise in NOISE]
        told = [f"{noise}: {verdict.measured}" for noise, verdict in zip(NOISE, verdicts, strict=True)]
        why = next((verdict.why for verdict in verdicts if verdict.why), "")
        return Verdict(all_of([verdict.state for verdict in verdicts]), " | ".join(told), why)

    return judged


def _gaps_grow(evidence: Evidence) -> Verdict:
    gaps = []
    for noise in NOISE:
        ours, theirs = (_of(evidence, "rq3", f"mslr-{noise}", label) for label in ("MergeDTS", "MergeRUCB"))
        duels = _until([ours, theirs], 2e6)
        gaps.append((noise, theirs.regret_at(duels) - ours.regret_at(duels)))
    return ordered(gaps, what=" (regret of MergeRUCB - MergeDTS, run by run)")


def _sparring_suffers(evidence: Evidence) -> Verdict:
    series = [_of(evidence, "rq3", f"mslr-{noise}", "SelfSparring") for noise in NOISE]
    duels = _until(series, 1e8)
    return ordered([(noise, each.regret_at(duels)) for noise, each in zip(NOISE, series, strict=True)])


def _yahoo_suffers(evidence: Evidence) -> Verdict:
    """Logarithms of the regret: how many times as much noise makes it."""
    told = []
    for label in ("SelfSparring", "MergeDTS"):
        least, most = (_of(evidence, "rq3", f"yahoo-{noise}", label) for noise in ("perfect", "informational"))
        _until([least, most], 3e5)
        runs = min(least.runs, most.runs)
        grown = most.regret[:runs, -1] / least.regret[:runs, -1]
        told.append((f"{label}, informational / perfect", np.asarray(grown)))
    return ordered(told)


# Cycles


def _much_better_with_clear_winner(evidence: Evidence) -> Verdict:
    ratios = []
    for part in ("cycle2", "cycle"):
        sparring, ours = (evidence.series("rq4", part, label) for label in ("SelfSparring", "MergeDTS"))
        duels = _until([sparring, ours], 1e6)
        ratios.append((part, sparring.regret_at(duels) / ours.regret_at(duels).mean()))
    return ordered(ratios, what=" (Self-Sparring / MergeDTS)")


# No Condorcet winner


def _lowest_copeland(evidence: Evidence) -> Verdict:
    ours = evidence.series("rq5", "copeland", "MergeDTS")
    others = [evidence.series("rq5", "copeland", "MergeRUCB")]
    others += [evidence.series("rq5", "others", label) for label in ("SelfSparring", "DTS", "RMED1", "REX3")]
    duels = _until([ours, *others], 1e7)
    states = [different(ours.regret_at(duels), each.regret_at(duels)) for each in others]
    return Verdict(all_of(states), ", ".join(apart(each.label, each.regret_at(duels)) for each in [ours, *others]))


def _copeland_lost(evidence: Evidence) -> Verdict:
    measured = evidence.part("rq5", "copeland")
    series = evidence.series("rq5", "copeland", "MergeDTS")
    _until([series], 1e6)
    return count_of(measured.lost(series) or 0, series.runs, 1)


def _one_copeland_left(evidence: Evidence) -> Verdict:
    series = evidence.series("rq5", "copeland", "MergeDTS")
    _until([series], 1e6)
    kept = int((series.best_left == 1).sum())
    both, none = int((series.best_left >= 2).sum()), int((series.best_left == 0).sum())
    measured = f"one of the two is left in {kept} of {series.runs} runs, both in {both}, none in {none}"
    return Verdict("holds" if both == 0 else "does not hold", measured)


# Multileaving

OURS, CORRECTED, RELEASED = "MergeDTS(alpha=0.51)", "MultiUCB", "MultiUCB(rule='released')"


def _better_pages(part: str, measure: str, other: str) -> Judge:
    def judged(evidence: Evidence) -> Verdict:
        both = [evidence.series("rq6", part, label) for label in (other, OURS)]
        duels = _until(both, 3e3)
        return ordered([(each.label, each.mean_of(measure)) for each in both], what=f", mean {measure} of {duels:,.0f}")

    return judged


def _finds_online(part: str) -> Judge:
    return _converges("rq6", part, [OURS], 2e6)


def _all_compared(evidence: Evidence) -> Verdict:
    told, states = [], []
    for part in ("mslr", "yahoo", "istella"):
        measured = evidence.part("rq6", part)
        series = evidence.series("rq6", part, RELEASED)
        told.append(f"{part}: {series.left.min()} of {measured.n_arms}")
        states.append(bool((series.left == measured.n_arms).all()))
    return Verdict("holds" if all(states) else "does not hold", f"rankers compared at the end: {', '.join(told)}")


def _flat(evidence: Evidence) -> Verdict:
    series = evidence.series("rq6", "mslr", RELEASED)
    duels = _until([series], 3e4)
    pages = series.measures["ndcg@10"]
    half = np.array([np.interp(duels / 2, series.checkpoints, curve) for curve in pages])
    late, early = (pages[:, -1] - half) / (duels / 2), half / (duels / 2)
    return _within(late, early, 0.95, 1.05, "NDCG@10, second half / first half")


# Parameters


def _alpha(evidence: Evidence, power: int) -> tuple[Measured, Series]:
    part = "alpha" if power < 6 else "alpha-low"
    series = evidence.series("rq7", part, f"alpha=0.8**{power}")
    _until([series], 1e7)
    return evidence.part("rq7", part), series


def _third(evidence: Evidence) -> Verdict:
    (_, low), (_, high) = _alpha(evidence, 4), _alpha(evidence, 0)
    return _within(low.regret[:, -1], high.regret[:, -1], 0.25, 0.42, "alpha 0.8^4 / alpha 1")


def _failures(power: int, theirs: int) -> Judge:
    def judged(evidence: Evidence) -> Verdict:
        measured, series = _alpha(evidence, power)
        return count_of(measured.lost(series) or 0, series.runs, theirs)

    return judged


def _larger_batches(evidence: Evidence) -> Verdict:
    series = [evidence.series("rq7", "batch", f"M={size}") for size in (16, 8, 4, 2)]
    duels = _until(series, 1e7)
    return ordered([(each.label, each.regret_at(duels)) for each in series])


def _lost_by_c(evidence: Evidence) -> dict[str, tuple[int, int]]:
    measured = evidence.part("rq7", "c")
    _until(list(measured.series.values()), 1e7)
    return {label: (measured.lost(series) or 0, series.runs) for label, series in measured.series.items()}


def _smallest_c(evidence: Evidence) -> Verdict:
    lost = _lost_by_c(evidence)
    told = f"failures: {', '.join(f'{label} {failures}/{runs}' for label, (failures, runs) in lost.items())}"
    safe = as_often(*lost["C=4000000"], 0)
    if safe != "holds":
        return Verdict(safe, told)
    below = [failures for label, (failures, _) in lost.items() if float(label[2:]) < 4e6]
    if lost["C=4000000"][0] == 0 and all(below):
        return Verdict("holds", told)
    return Verdict("not decided here", told, "a failure that happens in 1 of 100 runs may not be seen in so few")


def _lower_c(evidence: Evidence) -> Verdict:
    """Regret until the end of a run: what a lost winner costs afterwards is counted as a failure, not here."""
    ends = [(label, evidence.series("rq7", "c", label).converged_at.astype(float)) for label in ("C=400", "C=4000000")]
    _until([evidence.series("rq7", "c", label) for label, _ in ends], 1e7)
    return ordered(ends, what=" (duels until one arm is left)")


# Theory


def theorem(measured: Measured, series: Series) -> float | None:
    """The bound of Theorem 1: 8 alpha M K ln(T + C) / Delta_min^2; None where Delta_min is not known."""
    gap = measured.facts["smallest_difference"]
    if not gap:
        return None
    options = dict(option.split("=") for option in series.spec.partition("(")[2].rstrip(")").split(", "))
    alpha, size, c = (float(options[name]) for name in ("alpha", "batch_size", "c"))
    return 8 * alpha * size * measured.n_arms * math.log(series.horizon + c) / float(gap) ** 2


THEORETICAL = "MergeDTS.theoretical"


def _bounded(evidence: Evidence) -> Verdict:
    told, kept = [], True
    for part in ("cycle2", "tournament", "mslr"):
        measured, series = evidence.part("theory", part), evidence.series("theory", part, THEORETICAL)
        bound = theorem(measured, series)
        assert bound is not None
        worst = float(series.regret[:, -1].max())
        kept &= worst < bound
        told.append(f"{part}: at most {figure(worst)}, bound {bound:.2g}")
    return Verdict("holds" if kept else "does not hold", "; ".join(told))


def _winner_kept(evidence: Evidence) -> Verdict:
    told, lost = [], 0
    for part in ("cycle2", "tournament", "mslr"):
        measured, series = evidence.part("theory", part), evidence.series("theory", part, THEORETICAL)
        _until([series], 1e6)
        lost += measured.lost(series) or 0
        told.append(f"{part}: {measured.lost(series)} of {series.runs}")
    return Verdict("holds" if lost == 0 else "does not hold", f"winner eliminated: {', '.join(told)}")


def _linear(evidence: Evidence) -> Verdict:
    few, many = (evidence.series("theory", f"growth-{n_arms}", THEORETICAL) for n_arms in (32, 256))
    _until([few, many], 1e6)
    (low, low_error), (high, high_error) = mean(few.regret[:, -1]), mean(many.regret[:, -1])
    exponent = math.log(high / low) / math.log(8)
    error = math.hypot(low_error / low, high_error / high) / math.log(8)
    measured = f"from {figure(low)} at K = 32 to {figure(high)} at 256: K^{exponent:.2f} ± {error:.2f}"
    if exponent <= 1.15:
        return Verdict("holds", measured, "linear or slower: an exponent of at most 1.15")
    return Verdict("not decided here" if exponent - 1.15 <= 2 * error else "does not hold", measured)


def _tuned(evidence: Evidence) -> Verdict:
    both = [evidence.series("theory", "mslr", label) for label in ("MergeDTS", THEORETICAL)]
    duels = _until(both, 1e6)
    return ordered([(each.label, each.regret_at(duels)) for each in both])


# The claims themselves

DATASETS = {"mslr": "MSLR", "yahoo": "Yahoo", "istella": "ISTELLA"}


def _large_scale() -> list[Claim]:
    def claim(name: str, text: str, judged: Judge, where: str = "Section 6.1, Figure 1") -> Claim:
        return Claim(f"rq1-{name}", text, where, judged)

    return [
        *(
            claim(
                f"mergerucb-{part}",
                f"MergeDTS has less regret than MergeRUCB on {dataset}-Navigational",
                _below("rq1", part, "MergeDTS", "MergeRUCB", least=2e6),
            )
            for part, dataset in DATASETS.items()
        ),
        claim(
            "twice",
            "The regret of MergeRUCB is almost twice that of MergeDTS at large scale (MSLR-Navigational)",
            _ratio("rq1", "mslr", "MergeRUCB", "MergeDTS", low=1.5, high=2.2, least=2e6),
            "Section 3",
        ),
        *(
            claim(
                f"{other.lower()}-{part}",
                f"MergeDTS has less regret than {other} on {DATASETS[part]}-Navigational in the end",
                _below("rq1", part, "MergeDTS", other, least=1e7 if other == "DTS" else 1e8),
            )
            for part in ("mslr", "istella")
            for other in ("SelfSparring", "DTS")
        ),
        claim("early", "In the early steps, MergeDTS has more regret than Self-Sparring and DTS", _early),
        claim(
            "yahoo-sparring",
            "On Yahoo-Navigational, MergeDTS has slightly more regret than Self-Sparring (up to a half more)",
            _ratio("rq1", "yahoo", "MergeDTS", "SelfSparring", low=1.0, high=1.5, least=1e8),
        ),
        claim(
            "yahoo-converges",
            "On Yahoo-Navigational, MergeDTS converges within three million steps",
            _converges("rq1", "yahoo", ["MergeDTS"], 3e6),
        ),
        claim("yahoo-grows", "There, Self-Sparring's regret is still growing after 100 million steps", _still_growing),
        claim("rex3", "REX3's regret is of a higher order than that of the others", _rex3_grows),
    ]


def _running_time() -> list[Claim]:
    where = "Section 6.2, Table 2"
    return [
        Claim("rq2-merging", "MergeDTS and MergeRUCB take the least time for 1e8 steps on MSLR", where, _cheapest),
        Claim(
            "rq2-dts", "DTS is at least an order of magnitude slower than any other", where, _dts_slow, any_data=True
        ),
        Claim(
            "rq2-linear",
            "Self-Sparring's time grows roughly linearly with the number of rankers",
            where,
            _grows_with_arms("SelfSparring", 0.7, 1.3),
            any_data=True,
        ),
        Claim(
            "rq2-quadratic",
            "DTS's time grows roughly quadratically with the number of rankers",
            where,
            _grows_with_arms("DTS", 1.6, 2.4),
            any_data=True,
        ),
        Claim(
            "rq2-arms",
            "MergeDTS computes within batches: its time per step does not depend on K (a factor of 10 for caches)",
            "Section 6.2",
            _flat_in_arms,
            any_data=True,
        ),
        Claim(
            "rq2-batches", "MergeDTS's time per step is at most quadratic in M", "Section 6.2", _batches, any_data=True
        ),
    ]


def _noise() -> list[Claim]:
    where = "Section 6.3, Figure 2"
    return [
        *(
            Claim(
                f"rq3-{part}",
                f"On {DATASETS[part]}, MergeDTS has less regret than all baselines, whatever the noise",
                where,
                _wins_under_noise(part, 1e7),
            )
            for part in ("mslr", "istella")
        ),
        Claim("rq3-gaps", "On MSLR, MergeDTS's lead over MergeRUCB grows with the noise", where, _gaps_grow),
        Claim("rq3-sparring", "On MSLR, noise costs Self-Sparring more and more regret", where, _sparring_suffers),
        Claim("rq3-yahoo", "On Yahoo, noise affects MergeDTS more than Self-Sparring", where, _yahoo_suffers),
    ]


def _cycles() -> list[Claim]:
    where = "Section 6.4, Figure 3"
    return [
        Claim(
            "rq4-sparring",
            "On Cycle, Self-Sparring's regret is an order of magnitude above MergeDTS's",
            where,
            _ratio("rq4", "cycle", "SelfSparring", "MergeDTS", low=5, high=math.inf, least=1e7),
        ),
        *(
            Claim(
                f"rq4-{other.lower()}",
                f"On Cycle, {other} has less regret than MergeDTS",
                where,
                _below("rq4", "cycle", other, "MergeDTS", least=1e6),
            )
            for other in ("RMED1", "MergeRUCB")
        ),
        Claim(
            "rq4-slightly",
            "On Cycle, MergeRUCB's lead over MergeDTS is small",
            where,
            _ratio("rq4", "cycle", "MergeRUCB", "MergeDTS", low=0.8, high=1.0, least=1e6),
        ),
        Claim(
            "rq4-only",
            "On Cycle, no other baseline outperforms MergeDTS",
            where,
            _best("rq4", "cycle", ("SelfSparring", "DTS", "REX3"), least=1e7),
        ),
        Claim(
            "rq4-clear",
            "Self-Sparring does well where Borda scores differ: beside MergeDTS, better on Cycle2 than on Cycle",
            where,
            _much_better_with_clear_winner,
        ),
        Claim(
            "rq4-rmed1-cycle2",
            "On Cycle2, RMED1 has more regret than MergeDTS",
            where,
            _below("rq4", "cycle2", "MergeDTS", "RMED1", least=1e6),
        ),
        *(
            Claim(
                f"rq4-converges-{part}",
                f"On {name}, MergeDTS and MergeRUCB converge within a million steps",
                "Section 6.4",
                _converges("rq4", part, ["MergeDTS", "MergeRUCB"], 1e6),
            )
            for part, name in (("cycle", "Cycle"), ("cycle2", "Cycle2"))
        ),
    ]


def _no_condorcet_winner() -> list[Claim]:
    where = "Section 6.5, Figure 4"
    return [
        Claim("rq5-lowest", "MergeDTS has the lowest Copeland regret of all six", where, _lowest_copeland),
        Claim("rq5-lost", "MergeDTS eliminates both Copeland winners in 1 of 100 runs", "Section 6.5", _copeland_lost),
        Claim("rq5-one", "In all other runs, it eliminates one of the two", "Section 6.5", _one_copeland_left),
    ]


def _multileaving() -> list[Claim]:
    where = "Section 6.6, Figure 5"
    quantities = (("clicks@10", "clicks"), ("ndcg@10", "ndcg"))
    return [
        *(
            Claim(
                f"rq6-{short}-{part}-{rule}",
                f"Online on {dataset}, lists of MergeDTS have higher {measure} than those of SOSM ({told})",
                where,
                _better_pages(part, measure, label),
            )
            for measure, short in quantities
            for part, dataset in DATASETS.items()
            for rule, label, told in (
                ("released", RELEASED, "as the authors ran it"),
                ("corrected", CORRECTED, "by the rule as it is written"),
            )
        ),
        *(
            Claim(
                f"rq6-finds-{part}",
                f"Online on {DATASETS[part]}, MergeDTS ends with one ranker in less than two million steps",
                "Section 6.6",
                _finds_online(part),
            )
            for part in ("mslr", "istella")
        ),
        Claim("rq6-flat", "The curves of SOSM are almost flat (NDCG@10 within 5 %)", where, _flat),
        Claim("rq6-all", "SOSM compares all rankers in each step", "Section 6.6", _all_compared),
    ]


def _parameters() -> list[Claim]:
    where = "Section 6.7, Figure 6"
    return [
        Claim("rq7-third", "The regret at alpha = 0.8^4 is about a third of that at alpha = 1", where, _third),
        *(
            Claim(
                f"rq7-failures-{power}",
                f"At alpha = 0.8^{power}, MergeDTS eliminates the winner in {failures or 'none'} of 100 runs",
                "Section 6.7",
                _failures(power, failures),
            )
            for power, failures in ((9, 10), (8, 4), (7, 1), (6, 0))
        ),
        Claim("rq7-batches", "The larger M, the lower the regret (2, 4, 8, 16)", where, _larger_batches),
        Claim("rq7-smallest-c", "C = 4,000,000 is the lowest value that leads to no failure", where, _smallest_c),
        Claim("rq7-lower-c", "Lower values of C end sooner: less regret, if the winner is kept", where, _lower_c),
    ]


def _theory() -> list[Claim]:
    where = "Section 4.2, Theorem 1"
    return [
        Claim(
            "theory-bound",
            "With the theorem's parameters, regret stays below its bound",
            where,
            _bounded,
            any_data=True,
        ),
        Claim("theory-winner", "... and the winner is never eliminated", where, _winner_kept, any_data=True),
        Claim("theory-linear", "Regret grows linearly with K", where, _linear),
        Claim("theory-tuned", "Tuned parameters cost less regret than the theorem's (MSLR)", "Section 6.7", _tuned),
    ]


CLAIMS = (
    *_large_scale(),
    *_running_time(),
    *_noise(),
    *_cycles(),
    *_no_condorcet_winner(),
    *_multileaving(),
    *_parameters(),
    *_theory(),
)
