"""Kinds of claims: one bandit has less regret than another, a ratio is in a range, all runs converge in time."""

import math
from collections.abc import Callable, Sequence

from rankduel.lab.judging import (
    MARGIN_STANDARD_ERRORS,
    Evidence,
    Floats,
    NotTestable,
    State,
    Verdict,
    all_of,
    apart,
    different,
    figure,
    mean,
    ordered,
)
from rankduel.lab.measurements import Series

__all__ = ["BASELINES", "DATASETS", "Judge", "below", "best", "converges", "ratio", "series_of", "until", "within"]

Judge = Callable[[Evidence], Verdict]
BASELINES = ("MergeRUCB", "SelfSparring", "DTS", "RMED1", "REX3")
DATASETS = {"mslr": "MSLR", "yahoo": "Yahoo", "istella": "ISTELLA"}


def series_of(evidence: Evidence, question: str, stem: str, label: str) -> Series:
    """Find the runs of a bandit, in the part or in its companion parts: slow bandits have fewer or shorter runs."""
    for part, measured in evidence.questions.get(question, {}).items():
        if part in (stem, f"{stem}-dts", f"{stem}-sparring", f"{stem}-pairs") and label in measured.series:
            return evidence.series(question, part, label)
    raise NotTestable(f"{label} was not run in {question}, part {stem}")


def until(series: Sequence[Series], least: float) -> float:
    """Return the number of duels that all bandits have played. NotTestable if it is less than `least`."""
    horizon = min(each.horizon for each in series)
    if horizon < least:
        raise NotTestable(f"{horizon:,} duels were played, but this claim needs at least {least:,.0f}")
    return horizon


def below(question: str, part: str, lower: str, higher: str, *, least: float) -> Judge:
    """Claim: one bandit has less final regret than another."""

    def judged(evidence: Evidence) -> Verdict:
        both = [series_of(evidence, question, part, label) for label in (lower, higher)]
        duels = until(both, least)
        return ordered([(each.label, each.regret_at(duels)) for each in both], what=f"regret after {duels:,.0f} duels")

    return judged


def best(question: str, part: str, others: Sequence[str], *, least: float) -> Judge:
    """Claim: MergeDTS has less regret than each of the others."""

    def judged(evidence: Evidence) -> Verdict:
        ours = series_of(evidence, question, part, "MergeDTS")
        states: list[State] = []
        compared = [(ours, ours.horizon)]
        for label in others:
            try:
                theirs = series_of(evidence, question, part, label)
            except NotTestable:
                continue  # the paper does not compare with it here
            duels = min(ours.horizon, theirs.horizon)
            states.append(
                different(ours.regret_at(duels), theirs.regret_at(duels)) if duels >= least else "not testable here"
            )
            compared.append((theirs, duels))
        until([ours], min(least, 1e6))
        why = f"some bandits played fewer than {least:,.0f} duels" if "not testable here" in states else ""
        told = [(apart(each.label, each.regret_at(duels)), f"after {duels:,} duels") for each, duels in compared]
        if len({after for _, after in told}) == 1:
            numbers = f"regret {told[0][1]}: {', '.join(regret for regret, _ in told)}"
        else:
            numbers = f"regret: {', '.join(f'{regret} {after}' for regret, after in told)}"
        return Verdict(all_of(states), numbers, why)

    return judged


def ratio(question: str, part: str, top: str, bottom: str, *, low: float, high: float, least: float) -> Judge:
    """Claim: the ratio of the mean regrets of two bandits is in a range."""

    def judged(evidence: Evidence) -> Verdict:
        both = [series_of(evidence, question, part, label) for label in (top, bottom)]
        duels = until(both, least)
        return within(*(each.regret_at(duels) for each in both), low=low, high=high, what=f"regret of {top} / {bottom}")

    return judged


def within(top: Floats, bottom: Floats, *, low: float, high: float, what: str) -> Verdict:
    """Judge whether the ratio of two means is in a range. Outside, the margin is two standard errors of the ratio."""
    (over, over_error), (under, under_error) = mean(top), mean(bottom)
    quotient = over / under
    error = quotient * math.hypot(over_error / over, under_error / under)
    if low <= quotient <= high:
        state: State = "holds"
    else:
        outside = min(abs(quotient - low), abs(quotient - high))
        state = "does not hold" if outside > MARGIN_STANDARD_ERRORS * error else "not decided here"
    expected = f"{low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"
    return Verdict(state, f"{what} = {quotient:.3g} ± {error:.2g} (expected {expected})")


def converges(question: str, part: str, labels: Sequence[str], duels: float) -> Judge:
    """Claim: every run converges to one arm within a number of duels."""

    def judged(evidence: Evidence) -> Verdict:
        series = [series_of(evidence, question, part, label) for label in labels]
        until(series, duels)
        late = [int(((each.converged_at < 0) | (each.converged_at > duels)).sum()) for each in series]
        told = [
            f"{each.label} {each.runs - missing} of {each.runs} runs, the slowest after {_last(each)}"
            for each, missing in zip(series, late, strict=True)
        ]
        return Verdict(
            "holds" if not any(late) else "does not hold", f"converged within {duels:,.0f} duels: {'; '.join(told)}"
        )

    return judged


def _last(series: Series) -> str:
    """The duel at which the slowest run converged."""
    over = bool((series.converged_at >= 0).all())
    return figure(float(series.converged_at.max())) if over else f"more than {figure(series.horizon)}"
