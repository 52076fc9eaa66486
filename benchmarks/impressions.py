"""What a page costs from Python: a list made of two, and its clicks credited."""

import random
import time
from collections.abc import Callable

import rankduel as rd

TARGETS = {"team_draft": 10}  # microseconds


def report(*, repeat: int, quick: bool) -> None:
    """Print a line for each method that makes a list without solving anything, and each length of the lists."""
    print("\nOne page of 10 from Python, least CPU time:")
    calls = 50 if quick else 2000
    for name in ("team_draft", "balanced", "probabilistic"):
        method = rd.interleaving.interleaving_from(name)
        for n in (10, 100):
            first = [f"document {number}" for number in range(n)]
            second = random.Random(1).sample(first, n)
            shown = method.interleave(first, second, seed=1)
            clicks = [shown.documents[1], shown.documents[4]]
            made = least(lambda m=method, a=first, b=second: m.interleave(a, b, seed=1), repeat, calls)  # type: ignore[misc]
            credited = least(lambda m=method, s=shown, c=clicks: m.credit(s, c), repeat, calls)  # type: ignore[misc]
            target = f" (target: {TARGETS[name]} us)" if name in TARGETS else ""
            print(f"{name}, lists of {n}: {1e6 * made:.1f} us to make{target}, {1e6 * credited:.1f} us to credit")


def least(call: Callable[[], object], repeat: int, calls: int) -> float:
    """Seconds of CPU for one call, in the fastest of some repetitions."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - started) / calls)
    return min(times)
