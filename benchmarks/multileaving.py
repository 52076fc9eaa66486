"""CPU time of one multileaved page of 136 rankers: build the list, click, compute all preferences."""

import time
from statistics import median

import numpy as np

from benchmarks.speed import per_call
from rankduel.interleaving import MULTILEAVINGS, Multileaving, trial

N_RANKERS, N_DOCUMENTS, K = 136, 120, 10
TARGETS = {"sosm": 40}  # microseconds, in the compiled loop


def report(*, repeat: int, quick: bool) -> None:
    """Print a line for each method."""
    print(
        f"\nMultileaving of {N_RANKERS} rankers, {N_DOCUMENTS} documents, {K} places: CPU microseconds per page"
        " (list, clicks, all preferences)"
    )
    print(f"{'':32}{'median':>9}{'minimum':>9}{'ties':>9}{'list':>9}{'credit':>9}")
    print(f"{'':32}{'compiled':>27}{'from Python':>18}")
    for name, method in MULTILEAVINGS.items():
        distinct, tied = (times(method(), levels, repeat, 200 if quick else 10_000) for levels in (10**9, 12))
        target = f"   (target: {TARGETS[name]})" if name in TARGETS else ""
        built, credited = from_python(method(), 0.01 if quick else 0.5)
        print(
            f"{name:32}{median(distinct):9.1f}{min(distinct):9.1f}{median(tied):9.1f}{built:9.0f}{credited:9.0f}{target}",
            flush=True,
        )


def scores(levels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Random scores with this number of levels. Fewer levels give more ties."""
    return np.random.default_rng(1).integers(0, levels, (N_RANKERS, N_DOCUMENTS)).astype(float)


def times(method: Multileaving, levels: int, repeat: int, impressions: int) -> list[float]:
    """Microseconds per page in the compiled loop. Each document is clicked with probability 0.15."""
    table, clicks, took = scores(levels), np.full(N_DOCUMENTS, 0.15), []
    for _ in range(repeat):
        started = time.thread_time()
        trial(method, table, clicks, k=K, impressions=impressions, seed=1)
        took.append(1e6 * (time.thread_time() - started) / impressions)
    return took


def from_python(method: Multileaving, seconds: float) -> tuple[float, float]:
    """Microseconds to build a list from Python lists, and to credit two clicks on it."""
    rankings = np.argsort(-scores(10**9), axis=1).tolist()
    shown = method.multileave(rankings, k=K, seed=1)
    built = per_call(lambda: method.multileave(rankings, k=K, seed=1), seconds)
    return 1e6 * built, 1e6 * per_call(lambda: method.preferences(shown, shown.documents[:2]), seconds)
