"""From one state, do kernel and literal twin choose by the same law?

A kernel is played to a state and the twin is given the same evidence; then both are asked again and again without
being told, and their choices are compared.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency

import rankduel as rd
from naive import NAIVE, REX3, RMED1, RUCB, Naive, SparringEXP3
from naive.base import Pairwise
from naive.merging import Merging
from rankduel.preferences.arrays import Floats

ALARM = 1e-7  # p-values below it are alarms; as a tail of chi-square is approximate, we state a rate of 1e-6 per test
CAUGHT = 1e-9  # what a wrong variant must fall below
RARE = 20  # expected draws in a cell; rarer ones are pooled

Pair = tuple[int, int]
Law = dict[object, Counter[Pair]]  # choices by what they depend on and nobody draws: the batch visited, the arm on turn


class NeverReached(AssertionError):  # noqa: N818 - it names what happened
    """The play did not lead to the state in question."""


@dataclass(frozen=True)
class State:
    """A bandit, and the play that brings it to the state in question."""

    bandit: str
    problem: rd.PreferenceMatrix
    n_duels: int
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    until: Callable[[Naive], bool] | None = None  # and on, until this holds for the twin
    patience: int = 20_000

    def __str__(self) -> str:
        options = "".join(f",{name}={value}" for name, value in self.options.items())
        return f"{self.bandit}({self.problem.n_arms}{options})-after-{self.n_duels}"


def reach(state: State, variant: type[Naive] | None = None) -> tuple[rd.Bandit, Naive]:
    """The kernel in that state, and the twin, or a wrong variant of it, with the same evidence."""
    n_arms, chances = state.problem.n_arms, state.problem.probabilities
    bandit = rd.REGISTRY[state.bandit](n_arms, seed=state.seed, **state.options)
    twin: Naive = (variant or NAIVE[state.bandit])(n_arms, rng=np.random.default_rng(2), **state.options)
    if isinstance(twin, RMED1):
        start_in_order(twin, rd.REGISTRY[state.bandit](n_arms, seed=state.seed, **state.options))
    coin = np.random.default_rng(state.seed)
    while bandit.told < state.n_duels or (state.until is not None and not state.until(twin)):
        if bandit.told >= state.n_duels + state.patience:
            raise NeverReached(f"{state} needs more than {state.patience} duels")
        duel = bandit.ask()
        won = bool(coin.random() < chances[duel.first, duel.second])
        bandit.tell(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
        if isinstance(twin, Merging):  # elimination and merging have tests of their own: here the kernel's count
            Pairwise.learn(twin, duel.first, duel.second, won)
            continue
        if isinstance(twin, RUCB | REX3 | SparringEXP3):
            twin.choose()  # moves B, or the probabilities that learning needs
        twin.learn(duel.first, duel.second, won)
    if isinstance(twin, Merging):
        assert isinstance(bandit, rd.MergeDTS | rd.MergeRUCB)
        twin.batches = bandit.batches
    return bandit, twin


def start_in_order(twin: RMED1, bandit: rd.Bandit) -> None:
    """The arbitrary order of the arms is the kernel's: its first duels are the first arm's with all the others."""
    duels = [bandit.ask() for _ in range(twin.n_arms - 1)]
    order = [duels[0].first] + [duel.second for duel in duels]
    assert sorted(order) == list(range(twin.n_arms))
    twin.order, twin.L_C, twin.L_R = order, list(order), list(order)
    twin.first_pass = list(combinations(order, 2))


def law_of_kernel(bandit: rd.Bandit, n: int) -> Law:
    """What it asks for, time and again: without a tell its evidence stays as it is."""
    law: Law = {}
    home = {}
    if isinstance(bandit, rd.MergeDTS | rd.MergeRUCB):
        home = {arm: tuple(batch) for batch in bandit.batches for arm in batch}
    for _ in range(n):
        duel = bandit.ask()
        bandit.forget(duel)
        given = home.get(duel.first) if home else duel.first if isinstance(bandit, rd.RMED1) else None
        law.setdefault(given, Counter())[duel.first, duel.second] += 1
    return law


def law_of_twin(twin: Naive, givens: Iterable[object], n: int) -> Law:
    """The same of the twin, for the same batches or the same arms on turn."""
    law: Law = {}
    givens = list(givens)
    for given in givens:
        pairs: Counter[Pair] = Counter()
        for _ in range(n // len(givens)):
            if isinstance(twin, Merging):
                assert isinstance(given, tuple)
                pairs[twin.choose_in(list(given)) if len(given) > 1 else given * 2] += 1
            elif isinstance(twin, RMED1):
                assert isinstance(given, int)
                pairs[given, twin.opponent(given)] += 1
            else:
                pairs[twin.choose()] += 1
        law[given] = pairs
    return law


def p_value(one: Law, other: Law) -> float:
    """How surprising the difference is, if it is one law: of first arms, of second arms, of pairs; each chi-square."""
    assert one.keys() == other.keys()
    values = [
        homogeneity(seen(pairs, view), seen(other[given], view)) for given, pairs in one.items() for view in (0, 1, 2)
    ]
    return min(1.0, len(values) * min(values))


def seen(pairs: Counter[Pair], view: int) -> Counter[object]:
    """The pairs as they are, or one side of them."""
    counts: Counter[object] = Counter()
    for pair, n in pairs.items():
        counts[pair if view == 2 else pair[view]] += n
    return counts


def homogeneity(one: Counter[object], other: Counter[object]) -> float:
    """The p-value of chi-square's test that two samples are of one law; rare cells are pooled."""
    cells = sorted(one.keys() | other.keys(), key=lambda cell: one[cell] + other[cell], reverse=True)
    share = min(one.total(), other.total()) / (one.total() + other.total())
    table: list[Floats] = []
    rest = np.zeros(2)
    for cell in cells:
        counts = np.array([float(one[cell]), float(other[cell])])
        if counts.sum() * share >= RARE:
            table.append(counts)
        else:
            rest += counts
    if rest.sum() * share >= RARE or not table:
        table.append(rest)
    else:
        table[-1] = table[-1] + rest
    return 1.0 if len(table) == 1 else float(chi2_contingency(np.array(table), correction=False).pvalue)


def compare(state: State, variant: type[Naive] | None = None, *, kernel: int = 40_000, twin: int = 6_000) -> float:
    """The p-value of kernel and twin, or a wrong variant of it, in that state."""
    bandit, naive = reach(state, variant)
    of_kernel = law_of_kernel(bandit, kernel)
    return p_value(of_kernel, law_of_twin(naive, of_kernel, twin))


def caught(state: State, variant: type[Naive], tries: int = 10) -> bool:
    """Whether one of so many states of the same kind gives the wrong variant away; the p-value allows for all tries."""
    for seed in range(1, tries + 1):
        kernel, twin = (15_000, 2_500) if seed % 2 else (40_000, 12_000)
        with suppress(NeverReached):
            if tries * compare(replace(state, seed=seed), variant, kernel=kernel, twin=twin) < CAUGHT:
                return True
    return False
