"""CPU time of interleaving: one duel in the compiled loop of an estimate, and one page from Python."""

import random
import time
from collections.abc import Callable
from typing import get_args

import numpy as np

import rankduel as rd
from rankduel.datasets import Collection, synthetic
from rankduel.randomness import bit_generator
from rankduel.simulation import Comparing, SearchWorld, Ties

TARGETS = {"team_draft": 10}  # microseconds
DUEL_TARGET = 1.5  # microseconds


def report(*, repeat: int, quick: bool) -> None:
    """Print the time of a duel for each click model, and of a page for each method without a linear program."""
    _duels(repeat, 1 if quick else 30)
    _pages(repeat, quick)


def strict(n_rankers: int = 136) -> Collection:
    """Create a collection of three queries with 120 documents each, and rankers without ties."""
    random = np.random.default_rng(1)
    grades = random.choice(5, p=[0.515, 0.325, 0.134, 0.018, 0.008], size=3 * 120)
    scores = 0.3 * grades[:, None] + random.normal(size=(len(grades), n_rankers))
    return Collection.from_scores(grades, [0, 120, 240, 360], scores)


def _duels(repeat: int, each: int) -> None:
    """Measure duels with probabilistic interleaving: build the page, click, credit."""
    print("\nOne duel with probabilistic interleaving, k = 10, 120 documents, minimum CPU time", end=" ")
    print(f"(target: {DUEL_TARGET} us):")
    for name, collection in (("no ties", strict()), ("ties", synthetic(n_queries=3, seed=1))):
        for ties in get_args(Ties):
            costs = []
            for clicks in ("navigational", "perfect", "informational"):
                comparing = Comparing(SearchWorld(collection, clicks=clicks, ties=ties), coin=False)
                extra = np.zeros(136 * 135 // 2, np.int64)
                times = []
                for _ in range(repeat):
                    before, started = comparing.duels, time.process_time()
                    comparing.play(bit_generator(1), 0, 3, each, extra, independent=False)
                    times.append((time.process_time() - started) / (comparing.duels - before))
                costs.append(f"{1e6 * min(times):.2f} us {clicks}")
            print(f"{name}, {ties}: {', '.join(costs)}")


def _pages(repeat: int, quick: bool) -> None:
    print("\nOne page of 10 documents from Python, minimum CPU time:")
    calls = 50 if quick else 2000
    for name in ("team_draft", "balanced", "probabilistic"):
        method = rd.interleaving.interleaving_from(name)
        for n in (10, 100):
            first = [f"document {number}" for number in range(n)]
            second = random.Random(1).sample(first, n)
            shown = method.interleave(first, second, seed=1)
            clicks = [shown.documents[1], shown.documents[4]]
            made = minimum(lambda m=method, a=first, b=second: m.interleave(a, b, seed=1), repeat, calls)  # type: ignore[misc]
            credited = minimum(lambda m=method, s=shown, c=clicks: m.credit(s, c), repeat, calls)  # type: ignore[misc]
            target = f" (target: {TARGETS[name]} us)" if name in TARGETS else ""
            print(f"{name}, lists of {n}: {1e6 * made:.1f} us to build{target}, {1e6 * credited:.1f} us to credit")


def minimum(call: Callable[[], object], repeat: int, calls: int) -> float:
    """CPU seconds of one call, in the fastest repetition."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - started) / calls)
    return min(times)
