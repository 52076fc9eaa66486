"""Interleaving straight from the definitions, in fractions: every list that can come about, with its probability.

Positive credit is the first ranker's, as everywhere in rankduel.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

Order = tuple[int, ...]
Clicks = tuple[bool, ...]
HALF = Fraction(1, 2)


def sign(value: Fraction | int) -> int:
    return (value > 0) - (value < 0)


# Probabilistic


@cache
def chance(order: Order, document: int, shown: Sequence[int], tau: int) -> Fraction:
    """P_j(d): rank^-tau over the documents that are left; the ranks are those of the whole list."""
    weights = {d: Fraction(1, rank**tau) for rank, d in enumerate(order, 1) if d not in shown}
    return weights[document] / sum(weights.values()) if document in weights else Fraction(0)


def re_ranked_chance(order: Order, document: int, shown: Sequence[int], tau: int) -> Fraction:
    """Wrong: ranks among the documents that are left."""
    return chance(tuple(d for d in order if d not in shown), document, (), tau)


def probabilistic(
    first: Order, second: Order, k: int, tau: int = 3, chance: Callable[..., Fraction] = chance
) -> dict[Order, Fraction]:
    """P(list) = product of (P_1 + P_2) / 2; where a ranker has run out, of the other's."""
    lists: dict[Order, Fraction] = {(): Fraction(1)}
    for _ in range(min(k, len({*first, *second}))):
        longer: dict[Order, Fraction] = {}
        for shown, probability in lists.items():
            left = [order for order in (first, second) if set(order) - set(shown)]
            for d in {*first, *second} - set(shown):
                p = sum((chance(order, d, shown, tau) for order in left), Fraction(0)) / len(left)
                if p:
                    longer[(*shown, d)] = probability * p
        lists = longer
    return lists


def posteriors(first: Order, second: Order, shown: Order, tau: int = 3) -> list[Fraction]:
    """The chance that the first ranker placed each document."""
    result = []
    for position, d in enumerate(shown):
        p, q = (chance(order, d, shown[:position], tau) for order in (first, second))
        result.append(p / (p + q))
    return result


def probabilistic_credit(chances: Sequence[Fraction | float], clicks: Sequence[bool]) -> Fraction | float:
    """The expected sign, over all assignments of the clicked documents."""
    clicked = [p for p, click in zip(chances, clicks, strict=True) if click]
    credit: Fraction | float = Fraction(0)
    for assignment in product([1, -1], repeat=len(clicked)):
        weight: Fraction | float = Fraction(1)
        for side, p in zip(assignment, clicked, strict=True):
            weight *= p if side == 1 else 1 - p
        credit += sign(sum(assignment)) * weight
    return credit


# Team Draft

Drafted = tuple[Order, tuple[int, ...]]  # the list, and +1, -1 or 0 for the team of each document


def team_draft(first: Order, second: Order, k: int) -> dict[Drafted, Fraction]:
    common = 0
    while common < min(k, len(first), len(second)) and first[common] == second[common]:
        common += 1
    lists: dict[Drafted, Fraction] = {(first[:common], (0,) * common): Fraction(1)}
    for _ in range(common, min(k, len({*first, *second}))):
        longer: dict[Drafted, Fraction] = defaultdict(Fraction)
        for (shown, teams), probability in lists.items():
            lead = sum(teams)
            movers = [1, -1] if lead == 0 else [-1] if lead > 0 else [1]
            for team in movers:
                own, other = (first, second) if team == 1 else (second, first)
                best = next((d for d in own if d not in shown), None)
                if best is None:
                    team, best = -team, next(d for d in other if d not in shown)  # noqa: PLW2901
                longer[(*shown, best), (*teams, team)] += probability / len(movers)
        lists = dict(longer)
    return lists


def team_draft_credit(teams: Sequence[int], clicks: Sequence[bool]) -> int:
    return sign(sum(team for team, click in zip(teams, clicks, strict=True) if click))


# Balanced


def balanced(first: Order, second: Order, k: int) -> dict[Order, Fraction]:
    lists: dict[Order, Fraction] = defaultdict(Fraction)
    for first_begins in (True, False):
        shown: list[int] = []
        a = b = 0
        while len(shown) < k and (a < len(first) or b < len(second)):
            if b == len(second) or (a < len(first) and (a < b or (a == b and first_begins))):
                d, a = first[a], a + 1
            else:
                d, b = second[b], b + 1
            if d not in shown:
                shown.append(d)
        lists[tuple(shown)] += HALF
    return dict(lists)


def balanced_credit(first: Order, second: Order, shown: Order, clicks: Sequence[bool], depth: str = "lowest") -> int:
    clicked = [d for d, click in zip(shown, clicks, strict=True) if click]
    if not clicked:
        return 0
    ranks = [{d: order.index(d) if d in order else 10**9 for d in clicked} for order in (first, second)]
    cut = min(rank[clicked[-1]] if depth == "lowest" else max(rank.values()) for rank in ranks)
    a, b = (sum(value <= cut and value < 10**9 for value in rank.values()) for rank in ranks)
    return sign(a - b)


# Ties

Groups = Sequence[Sequence[int]]


def orders(groups: Groups) -> list[Order]:
    """Every order of documents in tied groups; each is as likely."""
    return [sum(choice, ()) for choice in product(*(tuple(permutations(group)) for group in groups))]


def law_of_lists(
    method: Callable[[Order, Order, int], Mapping[Order, Fraction]], first: Groups, second: Groups, k: int
) -> dict[Order, Fraction]:
    """The law of lists when ties are broken at random."""
    law: dict[Order, Fraction] = defaultdict(Fraction)
    pairs = list(product(orders(first), orders(second)))
    for a, b in pairs:
        for shown, probability in method(a, b, k).items():
            law[shown] += probability / len(pairs)
    return dict(law)


def law_of_credits(
    method: Callable[[Order, Order, int], Mapping[Order, Fraction]],
    credit: Callable[[Order, Order, Order, Clicks], Fraction | float | int],
    first: Groups,
    second: Groups,
    k: int,
    *,
    clicks: Clicks,
    redraw: bool,
) -> dict[tuple[Order, float], Fraction]:
    """The joint law of list and credit: by the order that built the list, or by another one, drawn for the credit."""
    law: dict[tuple[Order, float], Fraction] = defaultdict(Fraction)
    pairs = list(product(orders(first), orders(second)))
    for a, b in pairs:
        for shown, probability in method(a, b, k).items():
            for again in pairs if redraw else [(a, b)]:
                value = round(float(credit(*again, shown, clicks)), 6)
                law[shown, value] += probability / len(pairs) / (len(pairs) if redraw else 1)
    return dict(law)


# Clicks that no relevance guides


def click_vectors(click: Sequence[Fraction], stop: Sequence[Fraction], *, anywhere: bool) -> dict[Clicks, Fraction]:
    """Every way to click a list whose positions have these probabilities, looking from the top until a stop."""

    def walk(position: int) -> Iterator[tuple[Clicks, Fraction]]:
        if position == len(click):
            yield (), Fraction(1)
            return
        for clicked, stopped in product([True, False], repeat=2):
            p = click[position] if clicked else 1 - click[position]
            may_stop = stop[position] if clicked or anywhere else Fraction(0)
            p *= may_stop if stopped else 1 - may_stop
            if not p:
                continue
            if stopped:
                yield (clicked, *[False] * (len(click) - position - 1)), p
            else:
                for rest, q in walk(position + 1):
                    yield (clicked, *rest), p * q

    vectors: dict[Clicks, Fraction] = defaultdict(Fraction)
    for vector, probability in walk(0):
        vectors[vector] += probability
    return dict(vectors)


def subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(items) + 1):
        yield from combinations(items, size)
