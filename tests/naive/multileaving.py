"""Multileaving straight from the definitions: every list with its probability, and credit in fractions.

Rankings are strict orders, ties broken, as lists of documents. `draw` gives the list that a stream of random numbers
leads to.
"""

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Orders = Sequence[Sequence[Hashable]]
List = tuple[Hashable, ...]
Matrix = list[list[Fraction]]
WORD = 2**64 - 1


def mix(x: int) -> int:
    """SplitMix64's mixing of 64 bits."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


@dataclass
class Stream:
    """SplitMix64, and NumPy's ways to draw from it."""

    state: int

    def word(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        return mix(self.state)

    def uniform(self) -> float:
        return (self.word() >> 11) / 2**53

    def below(self, n: int) -> int:
        """One of 0, ..., n - 1: as many bits as needed, again until they are below n."""
        if n == 1:
            return 0
        mask = (1 << (n - 1).bit_length()) - 1
        while (drawn := (self.word() >> 32) & mask) >= n:
            pass
        return drawn


def broken(scores: Sequence[Sequence[float]], key: int | None) -> list[list[int]]:
    """Strict orders by score, highest first; of equal ones the smaller hash, or number if there is no key."""

    def place(r: int, d: int) -> tuple[float, int]:
        return -scores[r][d], d if key is None else mix(key ^ ((r + 1) << 32) ^ d)

    return [sorted(range(len(row)), key=lambda d, r=r: place(r, d)) for r, row in enumerate(scores)]  # type: ignore[misc]


class Partial(list[Hashable]):
    """An order that lacks some documents: asked where they are, it puts them after all it has, by their hash."""

    def __init__(self, order: Sequence[Hashable], absent: Sequence[Hashable]) -> None:
        super().__init__(order)
        self.absent = absent

    def index(self, document: Hashable, *_: object) -> int:
        return super().index(document) if document in self else len(self) + self.absent.index(document)


def completed(orders: Orders, key: int) -> list[Partial]:
    """Orders of any content. Documents are numbered as they occur, one ranking after the other."""
    number = {document: i for i, document in enumerate(dict.fromkeys(d for order in orders for d in order))}
    return [
        Partial(order, sorted(set(number) - set(order), key=lambda d, r=r: mix(key ^ ((r + 1) << 32) ^ number[d])))  # type: ignore[misc]
        for r, order in enumerate(orders)
    ]


def sign(x: Fraction | float) -> int:
    return (x > 0) - (x < 0)


def differences(scores: Sequence[Fraction], of: Callable[[Fraction], Fraction | int]) -> Matrix:
    return [[Fraction(of(x - y)) for y in scores] for x in scores]


def union(orders: Orders) -> set[Hashable]:
    return {document for order in orders for document in order}


def shown_ranks(orders: Orders, shown: List) -> list[list[int]]:
    """The rank of each shown document among them, by each ranker that has them all: [document][ranker]."""
    return [[1 + sum(o.index(e) < o.index(d) for e in shown) for o in orders] for d in shown]


class Naive(ABC):
    """One multileaving method."""

    @abstractmethod
    def lists(self, orders: Orders, k: int) -> dict[tuple[List, tuple[int, ...]], Fraction]:
        """The probability of each list, and of the teams with it where there are any."""

    @abstractmethod
    def draw(self, orders: Orders, k: int, stream: Stream) -> tuple[List, tuple[int, ...]]:
        """The list, and the teams if any, that this stream leads to."""

    @abstractmethod
    def preferences(self, orders: Orders, shown: List, teams: tuple[int, ...], clicks: Collection[Hashable]) -> Matrix:
        """Who is preferred to whom."""

    @abstractmethod
    def evidence(self, orders: Orders, shown: List, teams: tuple[int, ...]) -> list[list[Fraction | int]]:
        """What a stored list keeps of each document."""


class TeamDraft(Naive):
    """Rounds of random order; the common top is nobody's."""

    def lists(self, orders: Orders, k: int) -> dict[tuple[List, tuple[int, ...]], Fraction]:
        law: dict[tuple[List, tuple[int, ...]], Fraction] = defaultdict(Fraction)

        def go(shown: List, teams: tuple[int, ...], waiting: tuple[int, ...], chance: Fraction) -> None:
            heads = [best_unused(order, shown) for order in orders]
            active = [r for r, head in enumerate(heads) if head is not None]
            if len(shown) == k or not active:
                law[shown, teams] += chance
            elif all_common(teams) and len(set(heads)) == 1:
                go((*shown, heads[0]), (*teams, -1), (), chance)
            else:
                turn = [r for r in waiting if r in active] or active
                for r in turn:
                    rest = tuple(other for other in turn if other != r)
                    go((*shown, heads[r]), (*teams, r), rest, chance / len(turn))

        go((), (), (), Fraction(1))
        return dict(law)

    def draw(self, orders: Orders, k: int, stream: Stream) -> tuple[List, tuple[int, ...]]:
        shown: List = ()
        teams: tuple[int, ...] = ()
        waiting, done = list(range(len(orders))), list[int]()
        while len(shown) < k and (waiting or done):
            heads = [best_unused(order, shown) for order in orders]
            if all_common(teams) and len(set(heads)) == 1 and heads[0] is not None:
                shown, teams = (*shown, heads[0]), (*teams, -1)
                continue
            if not waiting:
                waiting, done = done, []
            turn = stream.below(len(waiting))
            r, waiting[turn] = waiting[turn], waiting[-1]
            waiting.pop()
            if heads[r] is None:
                # The last of those who had their turn moves up.
                done[:] = [done[-1], *done[:-1]] if done else []
                continue
            done.insert(0, r)
            shown, teams = (*shown, heads[r]), (*teams, r)
        return shown, teams

    def scores(
        self, orders: Orders, shown: List, teams: tuple[int, ...], clicks: Collection[Hashable]
    ) -> list[Fraction]:
        picks = [team for document, team in zip(shown, teams, strict=True) if document in clicks]
        return [Fraction(picks.count(r)) for r in range(len(orders))]

    def preferences(self, orders: Orders, shown: List, teams: tuple[int, ...], clicks: Collection[Hashable]) -> Matrix:
        return differences(self.scores(orders, shown, teams, clicks), sign)

    def evidence(self, orders: Orders, shown: List, teams: tuple[int, ...]) -> list[list[Fraction | int]]:
        return [[team] for team in teams]


def all_common(teams: tuple[int, ...]) -> bool:
    return all(team == -1 for team in teams)


def best_unused(order: Sequence[Hashable], shown: List) -> Hashable | None:
    return next((document for document in order if document not in shown), None)


@dataclass
class SOSM(TeamDraft):
    """Team Draft's list, inverse powers of the ranks among the documents shown."""

    tau: int = 3

    def scores(
        self, orders: Orders, shown: List, teams: tuple[int, ...], clicks: Collection[Hashable]
    ) -> list[Fraction]:
        ranks = shown_ranks(orders, shown)
        return [
            sum((Fraction(1, ranks[i][r] ** self.tau) for i, d in enumerate(shown) if d in clicks), Fraction(0))
            for r in range(len(orders))
        ]

    def evidence(self, orders: Orders, shown: List, teams: tuple[int, ...]) -> list[list[Fraction | int]]:
        return [list(row) for row in shown_ranks(orders, shown)]


@dataclass
class Probabilistic(Naive):
    """A ranker at random, then a document from it."""

    tau: int = 3

    def chances(self, orders: Orders, shown: List, document: Hashable) -> list[Fraction]:
        """P_r(document | those shown are gone), of each ranker."""
        answer = []
        for order in orders:
            left = {d: Fraction(1, (p + 1) ** self.tau) for p, d in enumerate(order) if d not in shown}
            answer.append(left[document] / sum(left.values()) if document in left else Fraction(0))
        return answer

    def lists(self, orders: Orders, k: int) -> dict[tuple[List, tuple[int, ...]], Fraction]:
        law: dict[tuple[List, tuple[int, ...]], Fraction] = {}

        def go(shown: List, chance: Fraction) -> None:
            rest = union(orders) - set(shown)
            if len(shown) == k or not rest:
                law[shown, ()] = chance
                return
            active = sum(best_unused(order, shown) is not None for order in orders)
            for document in rest:
                if total := sum(self.chances(orders, shown, document)):
                    go((*shown, document), chance * total / active)

        go((), Fraction(1))
        return law

    def draw(self, orders: Orders, k: int, stream: Stream) -> tuple[List, tuple[int, ...]]:
        shown: List = ()
        active = list(range(len(orders)))
        while len(shown) < k and active:
            turn = stream.below(len(active))
            left = {p: d for p, d in enumerate(orders[active[turn]]) if d not in shown}
            if not left:
                active[turn] = active[-1]
                active.pop()
                continue
            rest = stream.uniform() * sum((p + 1) ** -float(self.tau) for p in left)
            for place, document in left.items():  # noqa: B007 (the last one, if rounding leaves nobody)
                rest -= (place + 1) ** -float(self.tau)
                if rest < 0:
                    break
            shown = (*shown, document)
        return shown, ()

    def shares(self, orders: Orders, shown: List) -> list[list[Fraction]]:
        """The chance that each document came from each ranker."""
        rows = [self.chances(orders, shown[:i], document) for i, document in enumerate(shown)]
        return [[chance / sum(row) for chance in row] for row in rows]

    def preferences(self, orders: Orders, shown: List, teams: tuple[int, ...], clicks: Collection[Hashable]) -> Matrix:
        """Over all assignments of the clicked documents to rankers: R^c of them."""
        n = len(orders)
        shares = [row for row, document in zip(self.shares(orders, shown), shown, strict=True) if document in clicks]
        answer = [[Fraction(0)] * n for _ in range(n)]
        for assigned in product(range(n), repeat=len(shares)):
            chance = math.prod((row[r] for row, r in zip(shares, assigned, strict=True)), start=Fraction(1))
            for x, y in product(range(n), repeat=2):
                answer[x][y] += chance * sign(assigned.count(x) - assigned.count(y))
        return answer

    def evidence(self, orders: Orders, shown: List, teams: tuple[int, ...]) -> list[list[Fraction | int]]:
        return [list(row) for row in self.shares(orders, shown)]


@dataclass
class PairwisePreference(Naive):
    """Any of Omega at each place; clicked over unclicked documents, weighted."""

    average: bool = False

    def omega(self, orders: Orders, shown: List) -> list[Hashable]:
        """What stands in the first i + 1 places of some ranker, and is not shown."""
        i = len(shown)
        return sorted({d for order in orders for d in order[: i + 1]} - set(shown), key=repr)

    def lists(self, orders: Orders, k: int) -> dict[tuple[List, tuple[int, ...]], Fraction]:
        law: dict[tuple[List, tuple[int, ...]], Fraction] = {}

        def go(shown: List, chance: Fraction) -> None:
            choices = self.omega(orders, shown)
            if len(shown) == k or not choices:
                law[shown, ()] = chance
                return
            for document in choices:
                go((*shown, document), chance / len(choices))

        go((), Fraction(1))
        return law

    def draw(self, orders: Orders, k: int, stream: Stream) -> tuple[List, tuple[int, ...]]:
        shown: List = ()
        pool: list[Hashable] = []
        seen: set[Hashable] = set()
        while len(shown) < k:
            for order in orders:
                for document in order[len(shown) : len(shown) + 1]:
                    if document not in seen:
                        seen.add(document)
                        pool.append(document)
            if not pool:
                break
            choice = stream.below(len(pool))
            shown = (*shown, pool[choice])
            pool[choice] = pool[-1]
            pool.pop()
        return shown, ()

    def top(self, orders: Orders, document: Hashable) -> int:
        return min(list(order).index(document) for order in orders if document in order)

    def pairs(self, orders: Orders, shown: List, clicks: Collection[Hashable]) -> Iterator[tuple[int, int, Fraction]]:
        """The places of a better and a worse document, and the weight of the pair."""
        clicked = [i for i, document in enumerate(shown) if document in clicks]
        for better in clicked:
            for worse in range(min(len(shown), max(clicked) + 2)):
                tops = [self.top(orders, shown[i]) for i in (better, worse)]
                if worse not in clicked and min(better, worse) >= max(tops):
                    chance = Fraction(1)
                    for x in range(min(tops), max(tops)):
                        chance *= 1 - Fraction(1, len(self.omega(orders, shown[:x])))
                    yield better, worse, 1 / chance

    def scores(
        self, orders: Orders, shown: List, teams: tuple[int, ...], clicks: Collection[Hashable]
    ) -> list[Fraction]:
        ranks, pairs = shown_ranks(orders, shown), list(self.pairs(orders, shown, clicks))
        scores = [
            sum((weight for better, worse, weight in pairs if ranks[better][r] < ranks[worse][r]), Fraction(0))
            for r in range(len(orders))
        ]
        return [score / len(pairs) for score in scores] if self.average and pairs else scores

    def preferences(self, orders: Orders, shown: List, teams: tuple[int, ...], clicks: Collection[Hashable]) -> Matrix:
        return differences(self.scores(orders, shown, teams, clicks), lambda x: x)

    def evidence(self, orders: Orders, shown: List, teams: tuple[int, ...]) -> list[list[Fraction | int]]:
        ranks = shown_ranks(orders, shown)
        return [
            [self.top(orders, document), len(self.omega(orders, shown[:i])), *ranks[i]]
            for i, document in enumerate(shown)
        ]


NAIVE_MULTILEAVINGS: dict[str, Naive] = {
    "team_draft": TeamDraft(),
    "probabilistic": Probabilistic(),
    "sosm": SOSM(),
    "pairwise_preference": PairwisePreference(),
}
