"""Claims on CPU time. Section 6.2."""

import math

from rankduel.lab.claims.forms import BASELINES, Judge, series_of, until, within
from rankduel.lab.judging import Claim, Evidence, Verdict, all_of, apart, different, mean
from rankduel.lab.measurements import Series

__all__ = ["CLAIMS"]

WHERE = "Section 6.2, Table 2"


def _seconds(evidence: Evidence, part: str, label: str) -> Series:
    series = series_of(evidence, "rq2", part, label)
    until([series], 2e4)
    return series


def _cheapest(evidence: Evidence) -> Verdict:
    times = {label: _seconds(evidence, "mslr", label).seconds_to(1e8) for label in ("MergeDTS", *BASELINES)}
    rest = [values for label, values in times.items() if label not in ("MergeDTS", "MergeRUCB")]
    states = [different(times[label], values) for label in ("MergeDTS", "MergeRUCB") for values in rest]
    return Verdict(all_of(states), "CPU seconds for 1e8 duels: " + ", ".join(apart(*each) for each in times.items()))


def _dts_slow(evidence: Evidence) -> Verdict:
    dts = _seconds(evidence, "mslr", "DTS")
    others = [_seconds(evidence, "mslr", label) for label in ("SelfSparring", "RMED1", "REX3", "MergeRUCB", "MergeDTS")]
    duels = until([dts, *others], 1e8)  # bandits get faster as they converge, so compare equal horizons
    slowest = max(others, key=lambda each: float(each.seconds_to(duels).mean()))
    what = f"CPU time for {duels:,.0f} duels, DTS / {slowest.label} (the slowest other)"
    return within(dts.seconds_to(duels), slowest.seconds_to(duels), low=10, high=math.inf, what=what)


def _grows_with_arms(label: str, low: float, high: float) -> Judge:
    """Claim: CPU time per duel grows as K^x, with x from `low` to `high`. Measured at 136 and 700 rankers."""

    def judged(evidence: Evidence) -> Verdict:
        few, many = (evidence.series("rq2", f"equal-{n_arms}", label) for n_arms in (136, 700))
        until([few, many], 2e4)
        (small, small_error), (large, large_error) = mean(few.seconds_per_duel), mean(many.seconds_per_duel)
        exponent = math.log(large / small) / math.log(700 / 136)
        error = math.hypot(small_error / small, large_error / large) / math.log(700 / 136)
        times = f"{1e6 * small:.3g} us with 136 rankers, {1e6 * large:.3g} us with 700"
        numbers = f"CPU time per duel: {times}: K^{exponent:.2f} ± {error:.2f}"
        if low <= exponent <= high:
            return Verdict("holds", numbers)
        near = min(abs(exponent - low), abs(exponent - high)) <= 2 * error
        return Verdict("not decided here" if near else "does not hold", f"{numbers} (expected K^{low:g} to K^{high:g})")

    return judged


def _flat_in_arms(evidence: Evidence) -> Verdict:
    few, many = (evidence.series("rq2", f"arms-{n_arms}", "MergeDTS") for n_arms in (1_000, 100_000))
    until([few, many], 1e5)
    return within(
        many.seconds_per_duel, few.seconds_per_duel, low=0, high=10, what="CPU time per duel, 100,000 / 1,000 rankers"
    )


def _batches(evidence: Evidence) -> Verdict:
    small, large = (evidence.series("rq2", "batch", f"MergeDTS, batch_size={size}") for size in (4, 64))
    until([small, large], 1e5)
    return within(
        large.seconds_per_duel, small.seconds_per_duel, low=0, high=16**2, what="CPU time per duel, M = 64 / M = 4"
    )


CLAIMS = (
    Claim("rq2-merging", "MergeDTS and MergeRUCB need the least CPU time for 1e8 duels on MSLR", WHERE, _cheapest),
    Claim("rq2-dts", "DTS is at least ten times slower than any other bandit", WHERE, _dts_slow, any_data=True),
    Claim(
        "rq2-linear",
        "The CPU time of SelfSparring grows roughly linearly with the number of rankers",
        WHERE,
        _grows_with_arms("SelfSparring", 0.7, 1.3),
        any_data=True,
    ),
    Claim(
        "rq2-quadratic",
        "The CPU time of DTS grows roughly quadratically with the number of rankers",
        WHERE,
        _grows_with_arms("DTS", 1.6, 2.4),
        any_data=True,
    ),
    Claim(
        "rq2-arms",
        "The CPU time per duel of MergeDTS does not depend on K (caches may cost a factor of 10)",
        "Section 6.2",
        _flat_in_arms,
        any_data=True,
    ),
    Claim(
        "rq2-batches",
        "The CPU time per duel of MergeDTS grows at most quadratically with M",
        "Section 6.2",
        _batches,
        any_data=True,
    ),
)
