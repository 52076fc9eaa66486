"""`SearchWorld`: simulated search with queries, rankers, interleaved lists, users and clicks."""

import hashlib
from functools import cached_property
from typing import Literal, get_args

from rankduel.clicks import ClickModel, clicks_from
from rankduel.datasets import Collection
from rankduel.interleaving import Interleaving, Multileaving, interleaving_from, multileaving_from
from rankduel.preferences import PreferenceMatrix

__all__ = ["SearchWorld", "Ties"]

Ties = Literal["consistent", "redraw", "file"]
_PUBLISHED_GRADES = (2, 3, 5)  # numbers of grades for which click probabilities are published


class SearchWorld:
    """Simulated users search a collection, see the interleaved lists of two rankers, and click.

    A duel draws a query, interleaves the lists of the two rankers to k documents (all documents, if the query has
    fewer), and shows them to a user. A duel without a winner is a `TIE`. A ranker that meets itself shows its own list.
    `simulate` plays a bandit here as on a matrix, and sums clicks@k and NDCG@k of the lists shown. Regret is NaN unless
    you pass `preferences`, for example from `estimate_preferences`. A `MultiBandit` plays on pages that many rankers
    share, made by `multileaving`.

    You can pass `clicks`, `interleaving` and `multileaving` as text. A click model given by name uses the smallest
    published table (2, 3 or 5 grades) that has all grades of the collection. Choose a table with
    "navigational(grades=5)". `ties` is the order of documents with equal scores:

    - "consistent": drawn at random for each impression.
    - "redraw": drawn again when clicks are credited, as in the matrices published with MergeDTS. There, rankers with
      many ties lose for this reason alone.
    - "file": the order in the file.

    >>> import rankduel as rd
    >>> world = SearchWorld(rd.datasets.synthetic(n_queries=50, n_rankers=10, seed=1), clicks="perfect")
    >>> world
    <SearchWorld: 10 rankers, 50 queries, probabilistic interleaving of 10, consistent ties>
    >>> run = rd.simulate(rd.MergeDTS(world.n_arms, seed=1), world, horizon=10_000)
    >>> {name: round(float(values[-1] / 10_000)) for name, values in run.measures.items()}
    {'clicks@10': 4, 'ndcg@10': 1}
    """

    def __init__(
        self,
        collection: Collection,
        *,
        clicks: ClickModel | str = "navigational",
        interleaving: Interleaving | str = "probabilistic",
        multileaving: Multileaving | str = "team_draft",
        k: int = 10,
        ties: Ties = "consistent",
        preferences: PreferenceMatrix | None = None,
    ) -> None:
        if not isinstance(collection, Collection):
            raise TypeError(f"collection must be a rankduel Collection, got {collection!r}")
        self.collection = collection
        self.clicks = clicks_from(clicks, _table(collection.n_grades)) if isinstance(clicks, str) else clicks
        self.interleaving = interleaving_from(interleaving) if isinstance(interleaving, str) else interleaving
        self.multileaving = multileaving_from(multileaving) if isinstance(multileaving, str) else multileaving
        if not isinstance(self.clicks, ClickModel):
            raise TypeError(f"clicks must be a ClickModel, got {clicks!r}")
        if not isinstance(self.interleaving, Interleaving):
            raise TypeError(f"interleaving must be an Interleaving of two rankers, got {interleaving!r}")
        if not isinstance(self.multileaving, Multileaving):
            raise TypeError(f"multileaving must be a Multileaving of many rankers, got {multileaving!r}")
        if self.clicks.n_grades < collection.n_grades:
            raise ValueError(
                f"the collection has grades 0 to {collection.n_grades - 1}, but {self.clicks!r} has only "
                f"{self.clicks.n_grades} grades; use a click model with more grades"
            )
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= 1000:
            raise ValueError(f"k must be a whole number from 1 to 1000, got {k!r}")
        if ties not in get_args(Ties):
            raise ValueError(f"ties must be one of {', '.join(get_args(Ties))}, got {ties!r}")
        if preferences is not None and preferences.n_arms != collection.n_rankers:
            raise ValueError(
                f"preferences have {preferences.n_arms} arms, but the collection has {collection.n_rankers} rankers"
            )
        self.k, self.ties, self.preferences = k, ties, preferences

    @property
    def n_arms(self) -> int:
        """The number of arms: the rankers of the collection."""
        return self.collection.n_rankers

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rankers."""
        return self.collection.rankers

    @property
    def condorcet_winner(self) -> int | None:
        """The Condorcet winner of the preferences. None if there is none, or if no preferences are given."""
        return None if self.preferences is None else self.preferences.condorcet_winner

    @property
    def copeland_winners(self) -> tuple[int, ...]:
        """The Copeland winners of the preferences. Empty if no preferences are given."""
        return () if self.preferences is None else self.preferences.copeland_winners

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of everything that determines the outcomes."""
        truth = None if self.preferences is None else self.preferences.fingerprint
        methods = repr(self.clicks), repr(self.interleaving), repr(self.multileaving)
        parts = ("SearchWorld", self.collection.fingerprint, *methods, self.k, self.ties, truth)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def __repr__(self) -> str:
        collection = self.collection
        return (
            f"<SearchWorld: {collection.n_rankers:,} rankers, {collection.n_queries:,} queries, "
            f"{self.interleaving.name} interleaving of {self.k}, {self.ties} ties>"
        )


def _table(n_grades: int) -> int:
    """The number of grades of the smallest published table with at least `n_grades` grades."""
    for grades in _PUBLISHED_GRADES:
        if n_grades <= grades:
            return grades
    raise ValueError(
        f"the collection has grades 0 to {n_grades - 1}, but published click models have at most "
        f"{_PUBLISHED_GRADES[-1]} grades; "
        "pass clicks=CascadeModel(click=[...], stop=[...]) with your own probabilities"
    )
