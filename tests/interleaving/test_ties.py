"""Tied documents in the kernels: drawn lazily, by the law of an order in which all ties are broken at random.

False alarm: at most 1e-6 per test, by chi-square or at five standard errors.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest

from naive import interleaving as naive
from rankduel import clicks
from rankduel.interleaving import (
    BalancedInterleaving,
    Interleaving,
    OptimizedInterleaving,
    ProbabilisticInterleaving,
    TeamDraftInterleaving,
)
from statistical.evidence import ALARM, CAUGHT, fit

Order = tuple[int, ...]
Law = Mapping[Any, Fraction]
N = 60_000


def team_draft_lists(first: Order, second: Order, k: int) -> dict[Order, Fraction]:
    lists: Counter[Order] = Counter()
    for (shown, _), probability in naive.team_draft(first, second, k).items():
        lists[shown] += probability  # type: ignore[assignment]
    return dict(lists)  # type: ignore[arg-type]


METHODS: dict[str, tuple[Interleaving, Callable[[Order, Order, int], Mapping[Order, Fraction]]]] = {
    "probabilistic": (ProbabilisticInterleaving(tau=1), lambda a, b, k: naive.probabilistic(a, b, k, tau=1)),
    "team_draft": (TeamDraftInterleaving(), team_draft_lists),
    "balanced": (BalancedInterleaving(), naive.balanced),
}
TABLES = {
    "one group": ([[0, 1, 2, 3]], [[2], [0], [3], [1]]),
    "two groups": ([[0, 3], [1, 2]], [[1], [0, 2, 3]]),
    "the same groups": ([[0, 1], [2, 3]], [[0, 1], [2, 3]]),
    "three and two": ([[0, 1, 2], [3]], [[3], [0, 1], [2]]),
    "five": ([[4], [0, 1, 2], [3]], [[0, 4], [1], [2, 3]]),
}


def agreement(observed: Mapping[Any, int], law: Law) -> float:
    assert set(observed) <= set(law)
    return fit([observed.get(cell, 0) for cell in law], [float(p) for p in law.values()])


def in_file_order(groups: naive.Groups) -> Order:
    return tuple(document for group in groups for document in sorted(group))


def disagreement(observed: Mapping[Any, int], law: Law) -> float:
    """As `agreement`, with a wrong law, which may not know all that was seen."""
    return agreement(observed, {**dict.fromkeys(observed, Fraction(0)), **law})


@pytest.mark.slow
@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("name", METHODS)
def test_law_of_lists(name: str, tables: str, kernel: Any) -> None:
    """Caught: ties in file order."""
    method, twin = METHODS[name]
    first, second = TABLES[tables]
    made = kernel.lists(method, kernel.Table(first), kernel.Table(second), "consistent", 3, N, 1)
    assert agreement(Counter(made), naive.law_of_lists(twin, first, second, 3)) > ALARM
    filed = twin(in_file_order(first), in_file_order(second), 3)
    assert disagreement(Counter(made), filed) < CAUGHT
    made = kernel.lists(method, kernel.Table(first), kernel.Table(second), "file", 3, N, 2)
    assert agreement(Counter(made), filed) > ALARM


@pytest.mark.slow
def test_optimized_breaks_ties_too(kernel: Any) -> None:
    first, second = kernel.Table([[0, 1, 2], [3]]), kernel.Table([[3], [0, 1, 2]])
    made = kernel.lists(OptimizedInterleaving(), first, second, "consistent", 2, 3000, 1)
    heads = Counter(shown[0] for shown in made)
    assert fit([heads[0], heads[1], heads[2]], [1 / 3] * 3) > ALARM


def probabilistic_credit(first: Order, second: Order, shown: Order, clicked: tuple[bool, ...]) -> float:
    return float(naive.probabilistic_credit(naive.posteriors(first, second, shown, tau=1), clicked))


CREDITS: dict[str, Callable[[Order, Order, Order, tuple[bool, ...]], float | int]] = {
    "probabilistic": probabilistic_credit,
    "balanced": naive.balanced_credit,
}


@pytest.mark.slow
@pytest.mark.parametrize("clicked", [(False, True, False), (True, False, True)])
@pytest.mark.parametrize("tables", ["two groups", "three and two"])
@pytest.mark.parametrize("name", CREDITS)
def test_law_of_credits(name: str, tables: str, clicked: tuple[bool, ...], kernel: Any) -> None:
    """Caught: in either mode the other one."""
    method, twin = METHODS[name]
    first, second = TABLES[tables]
    laws = {
        ties: naive.law_of_credits(twin, CREDITS[name], first, second, 3, clicks=clicked, redraw=ties == "redraw")
        for ties in ("consistent", "redraw")
    }
    positions = [position for position, click in enumerate(clicked) if click]
    observed = {}
    for ties, law in laws.items():
        made = kernel.credits(method, kernel.Table(first), kernel.Table(second), ties, 3, positions, N, 1)
        observed[ties] = Counter((shown, round(credit, 6) + 0.0) for shown, credit in made)
        assert agreement(observed[ties], law) > ALARM
    for ties, wrong in [("consistent", "redraw"), ("redraw", "consistent")]:
        assert disagreement(observed[ties], laws[wrong]) < CAUGHT


def test_redraw_is_consistent_for_team_draft(kernel: Any) -> None:
    tables = [kernel.Table(groups) for groups in TABLES["five"]]
    made = [
        kernel.credits(TeamDraftInterleaving(), *tables, ties, 4, [1, 2], 500, 1) for ties in ("consistent", "redraw")
    ]
    assert made[0] == made[1]


def test_one_impression_serves_any_query(kernel: Any) -> None:
    """Caught: marks of an earlier list that were not undone, memory or weights of a smaller query."""
    rng = random.Random(1)
    methods = [*(method for method, _ in METHODS.values()), ProbabilisticInterleaving()]
    legs = []
    for _ in range(400):
        n = rng.choice([2, 5, 12, 63, 64, 65, 128, 300, 1024, 1500])
        tables = []
        for _ in range(2):
            documents, size = rng.sample(range(n), n), rng.choice([1, 2, 7, n])
            tables.append(kernel.Table([documents[start : start + size] for start in range(0, n, size)]))
        legs.append((rng.choice(methods), *tables, rng.choice(["file", "consistent", "redraw"])))
    assert kernel.relay(legs, 10, True) == kernel.relay(legs, 10, False)
    for _, documents in kernel.relay(legs, 70, True):
        assert len(set(documents)) == len(documents)


GRADES = [0] * 515 + [1] * 325 + [2] * 134 + [3] * 18 + [4] * 8  # of a thousand documents of a web collection


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_groups", "perfect", "navigational", "informational"),
    [
        (1, 0.812, 0.839, 0.912),
        (2, 0.735, 0.746, 0.818),
        (4, 0.653, 0.654, 0.707),
        (8, 0.595, 0.594, 0.627),
        (12, 0.573, 0.571, 0.597),
        (24, 0.537, 0.537, 0.553),
        (60, 0.507, 0.509, 0.511),
        (120, 0.5, 0.5, 0.5),
    ],
)
def test_redraw_punishes_ties(
    n_groups: int, perfect: float, navigational: float, informational: float, kernel: Any
) -> None:
    """How often a strict ranker beats one with so many groups of ties, if neither knows what is relevant.

    120,000 duels each: five standard errors are .0072 at most, and .001 are for the rounding of the table. Caught: no
    redraw, which gives .5; for few groups, users who may leave at every document.
    """
    size = 120 // n_groups
    strict = kernel.Table([[d] for d in range(120)])  # in a new random order for each duel
    tied = kernel.Table([list(range(start, start + size)) for start in range(0, 120, size)])
    method = ProbabilisticInterleaving()
    for user, expected in [
        (clicks.perfect(), perfect),
        (clicks.navigational(), navigational),
        (clicks.informational(), informational),
    ]:
        n = 120_000
        won, lost, *_ = kernel.duels(method, user, strict, tied, GRADES, "redraw", 10, n, 1, True)
        assert won / n + (n - won - lost) / n / 2 == pytest.approx(expected, abs=0.0082)
        if n_groups == 1:
            won, lost, credit, _ = kernel.duels(method, user, strict, tied, GRADES, "consistent", 10, n, 2, True)
            assert won / n + (n - won - lost) / n / 2 == pytest.approx(0.5, abs=0.0073)
            assert credit / n == pytest.approx(0, abs=5 * n**-0.5)
    if n_groups == 1:
        leaver = clicks.navigational(stops="anywhere")
        won, lost, *_ = kernel.duels(method, leaver, strict, tied, GRADES, "redraw", 10, 120_000, 3, True)
        assert won / 120_000 + (120_000 - won - lost) / 240_000 == pytest.approx(0.666, abs=0.0082)


@pytest.mark.parametrize("ties", ["consistent", "redraw"])
def test_duplicates_are_even(ties: str, kernel: Any) -> None:
    # 100,000 duels: five standard errors are .008.
    table = kernel.Table([list(range(start, start + 10)) for start in range(0, 120, 10)])
    won, lost, *_ = kernel.duels(
        ProbabilisticInterleaving(), clicks.navigational(), table, table, GRADES, ties, 10, 100_000, 1
    )
    assert won / 1e5 + (1e5 - won - lost) / 2e5 == pytest.approx(0.5, abs=0.008)


@pytest.mark.parametrize("user", list(clicks.CLICKS.values())[:4])
@pytest.mark.parametrize("method", [*(method for method, _ in METHODS.values()), ProbabilisticInterleaving()])
def test_the_better_ranker_wins(method: Interleaving, user: Callable[[], clicks.ClickModel], kernel: Any) -> None:
    # From the most relevant document down, and up. At 5,000 duels and p = .5, .54 would be at 5.6 standard errors.
    grades = [4, 4, 3, 3, 2, 2, 1, 1, 0, 0, 0, 0]
    down = kernel.Table([[d] for d in range(12)])
    up = kernel.Table([[d] for d in reversed(range(12))])
    won, lost, *_ = kernel.duels(method, user(), down, up, grades, "consistent", 10, 5000, 1)
    assert won / 5000 + (5000 - won - lost) / 10_000 > 0.54
