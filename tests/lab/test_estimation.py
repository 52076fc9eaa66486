"""Preference matrices from clicks: right by enumeration, the same whatever the jobs, and kept when interrupted."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from naive.search import duel
from rankduel.datasets import Collection, load_letor, synthetic
from rankduel.lab import Estimation, Progress
from rankduel.simulation import SearchWorld

LIMIT = 5.0  # standard errors: less than 1e-6 per entry
CLICK, STOP = [0.05, 0.3, 0.5, 0.7, 0.95], [0.2, 0.3, 0.5, 0.7, 0.9]  # navigational
TINY = Collection.from_scores(
    grades=[4, 0, 1, 2, 0, 0, 3, 1, 0, 2],
    offsets=[0, 5, 10],
    scores=np.array(
        [[5, 1, 3], [4, 2, 1], [3, 3, 2], [2, 4, 5], [1, 5, 4], [1, 3, 2], [2, 5, 1], [3, 1, 5], [4, 2, 3], [5, 4, 4]]
    ),
)
SMALL = synthetic(n_queries=37, n_rankers=6, n_documents=20, seed=2)


def truth(i: int, j: int) -> tuple[float, float, float]:
    """The mean over both queries, by enumeration."""
    chances = []
    for query in range(2):
        orders = tuple(TINY.ranking(query, i).tolist()), tuple(TINY.ranking(query, j).tolist())
        chances.append(duel(orders, TINY.grades_of(query).tolist(), (CLICK, STOP), 4))
    won, lost, tied = np.mean(chances, axis=0).tolist()
    assert won + lost + tied == pytest.approx(1)
    return won, lost, tied


@pytest.mark.parametrize("faithful", [False, True])
def test_entries_are_those_of_the_enumeration(faithful: bool) -> None:
    """Caught: ties that are not shared fairly, clicks below where the user left, a list credited to the wrong side."""
    n = 200_000
    estimate = rd.estimate_preferences(TINY, clicks="navigational", k=4, duels=n, faithful=faithful, seed=1)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        won, _, tied = truth(i, j)
        p = won + tied / 2
        error = math.sqrt((p * (1 - p) if faithful else won + tied / 4 - p * p) / n)
        assert abs(estimate.matrix.probabilities[i, j] - p) < LIMIT * error
        assert abs(estimate.matrix.probabilities[i, j] - won) > LIMIT * error  # ties for the second: seen
        assert estimate.standard_errors[i, j] == pytest.approx(error, rel=0.02)
        if not faithful:
            assert abs(estimate.wins[i, j] / n - won) < LIMIT * math.sqrt(won * (1 - won) / n)


def test_half_a_win_for_a_tie_is_less_noise() -> None:
    """Variance over 60 estimates of one entry, against the coin's: the ratio is about 0.85 by enumeration."""
    won, _, tied = truth(0, 1)
    p = won + tied / 2
    n = 2000
    entries = [rd.estimate_preferences(TINY, k=4, duels=n, seed=seed).matrix.probabilities[0, 1] for seed in range(60)]
    variance = (won + tied / 4 - p * p) / n
    assert variance < 0.95 * p * (1 - p) / n
    # Stratification takes off some more; a chi-square of 59 degrees is above 2.1 times its mean once in 1e6.
    assert np.var(entries) < 2.1 * variance


def test_symmetry_is_exact_and_faithful_counts_are_whole() -> None:
    for faithful in (False, True):
        estimate = rd.estimate_preferences(SMALL, duels=998, faithful=faithful)
        P = estimate.matrix.probabilities
        assert (P + P.T == 1).all()
        assert (P.diagonal() == 0.5).all()
        if faithful:
            counts = P * (998 + 2)
            assert np.abs(counts - counts.round()).max() < 1e-9
            assert (estimate.wins + estimate.wins.T == 998 * (1 - np.eye(6))).all()
        else:
            assert (estimate.wins + estimate.wins.T <= 998).all()


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("n_duels", [1, 20, 37, 1000])
def test_every_pair_has_its_duels(n_duels: int, faithful: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many parts: together they have the duels asked for, and stratified ones no query more than once too often."""
    monkeypatch.setattr("rankduel.lab.estimation._DUELS_PER_PART", 50)
    monkeypatch.setattr(Estimation, "_MIN_DUELS_PER_PAIR_AND_PART", 1)
    estimation = Estimation(SearchWorld(SMALL), duels=n_duels, faithful=faithful, seed=1)
    parts = estimation._parts
    assert len(parts) > (1 if n_duels > 1 else 0)
    extra = np.array([estimation._extra(part) for part in parts])
    sizes = [estimation._queries(part.chunk) for part in parts]
    each = [(last - first) * estimation._each(part) for part, (first, last) in zip(parts, sizes, strict=True)]
    assert (extra.sum(axis=0) + sum(each) == n_duels).all()
    assert (extra >= 0).all()
    if not faithful:
        assert all((row <= last - first).all() for row, (first, last) in zip(extra, sizes, strict=True))
    assert sum(estimation._size(part) for part in parts) == estimation.total


@pytest.mark.parametrize("faithful", [False, True])
def test_the_number_of_jobs_does_not_matter(faithful: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.lab.estimation._DUELS_PER_PART", 500)
    monkeypatch.setattr(Estimation, "_MIN_DUELS_PER_PAIR_AND_PART", 1)
    wins = [
        rd.estimate_preferences(SMALL, duels=500, faithful=faithful, seed=4, jobs=jobs).wins.tolist() for jobs in (1, 3)
    ]
    assert wins[0] == wins[1]
    other = rd.estimate_preferences(SMALL, duels=500, faithful=faithful, seed=5)
    assert other.wins.tolist() != wins[0]


class Enough(Exception):  # noqa: N818 - nothing is wrong
    pass


def test_what_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.lab.estimation._DUELS_PER_PART", 2000)
    monkeypatch.setattr(Estimation, "_MIN_DUELS_PER_PAIR_AND_PART", 1)
    world, kept = SearchWorld(SMALL), tmp_path / "kept"
    whole = Estimation(world, duels=3000).run()
    shown: list[Progress] = []

    def some(progress: Progress) -> None:
        shown.append(progress)
        if progress.done >= 5:
            raise Enough

    with pytest.raises(Enough):
        Estimation(world, duels=3000).run(checkpoint=kept, watch=some)
    again: list[Progress] = []
    estimate = Estimation(world, duels=3000).run(checkpoint=kept, watch=again.append, jobs=2)
    assert again[0].reused >= 5
    assert again[0].share > 0
    assert again[-1].share == pytest.approx(1)
    assert again[-1].done == again[-1].total == shown[0].total
    assert estimate.wins.tolist() == whole.wins.tolist()


def test_a_checkpoint_of_another_estimate_is_refused_and_a_damaged_one_counted_anew(tmp_path: Path) -> None:
    world, kept = SearchWorld(SMALL), tmp_path / "kept"
    whole = Estimation(world, duels=100).run(checkpoint=kept)
    with pytest.raises(ValueError, match="is the checkpoint of another estimate"):
        Estimation(world, duels=101).run(checkpoint=kept)
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 0xFF
    for damaged in (bytes(content), content[: len(content) // 2], b""):
        kept.write_bytes(damaged)
        assert Estimation(world, duels=100).run(checkpoint=kept).wins.tolist() == whole.wins.tolist()


def test_the_file_is_a_matrix_that_knows_where_it_comes_from(tmp_path: Path) -> None:
    estimate = rd.estimate_preferences(SMALL, duels=50, clicks="perfect", seed=9)
    estimate.save(tmp_path / "P.npz")
    assert rd.PreferenceMatrix.load(tmp_path / "P.npz") == estimate.matrix
    assert estimate.matrix.names == SMALL.rankers
    with np.load(tmp_path / "P.npz", allow_pickle=False) as file:
        assert file["wins"].tolist() == estimate.wins.tolist()
        assert file["duels"] == 50
        assert SMALL.fingerprint in str(file["provenance"])


def test_rankers_that_tie_lose_by_redraw_alone() -> None:
    """A strict ranker that knows nothing against one that ties everything: 0.839 for navigational users (n = 120).

    False alarm: 1e-6. Caught: ties drawn once, which gives 0.5.
    """
    random = np.random.default_rng(1)
    grades = random.choice(5, p=[0.515, 0.325, 0.134, 0.018, 0.008], size=(400, 120))
    scores = np.stack([random.normal(size=48_000), np.zeros(48_000)], axis=1)
    collection = Collection.from_scores(grades.ravel(), np.arange(401) * 120, scores)
    entries = {
        ties: rd.estimate_preferences(collection, duels=40_000, ties=ties).matrix.probabilities[0, 1]
        for ties in ("redraw", "consistent")
    }
    noise = 0.5 / math.sqrt(40_000) + 0.004  # and the 400 queries, by a wide margin
    assert abs(entries["redraw"] - 0.839) < LIMIT * noise
    assert abs(entries["consistent"] - 0.5) < LIMIT * noise


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="duels must be a whole number from 1 to 1e12, got 0"):
        rd.estimate_preferences(SMALL, duels=0)
    with pytest.raises(ValueError, match="preferences need at least 2 rankers, but the collection has 1"):
        rd.estimate_preferences(SMALL.select(rankers=[0]))
    with pytest.raises(ValueError, match="seed must be a non-negative int, got -1"):
        rd.estimate_preferences(SMALL, seed=-1)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("files", "clicks", "duels"),
    [
        ([f"mq2008/S{part}.txt" for part in range(1, 6)], "perfect", 2000),
        (["mslr_sample/mslr_merged.txt.gz"], "navigational", 400),
    ],
)
def test_on_real_collections_the_bandit_finds_the_matrix_winner(
    real_collection: Callable[[str], Path], files: list[str], clicks: str, duels: int
) -> None:
    collection = load_letor([real_collection(file) for file in files])
    matrix = rd.estimate_preferences(collection, clicks=clicks, duels=duels, jobs=2).matrix
    run = rd.simulate(
        rd.MergeDTS(collection.n_rankers, seed=1), SearchWorld(collection, clicks=clicks), horizon=1_500_000, seed=1
    )
    assert run.winner == matrix.borda_winner == matrix.copeland_winners[0]
    assert matrix.condorcet_winner in (run.winner, None)  # so few duels may leave one of its pairs undecided
