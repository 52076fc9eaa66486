"""Multileaving: lists and credit against the literal twins, the door for Python's lists, and bad input."""

import copy
import doctest
import json
import pickle
from collections.abc import Hashable
from itertools import chain, combinations, pairwise, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.multileaving import NAIVE_MULTILEAVINGS, PairwisePreference, Probabilistic, Stream, broken, completed, union
from rankduel.interleaving import (
    MULTILEAVINGS,
    SOSM,
    Multileaved,
    Multileaving,
    PairwisePreferenceMultileaving,
    ProbabilisticMultileaving,
    TeamDraftMultileaving,
    multileaving_from,
    trial,
)

EVERY = pytest.mark.parametrize("name", list(MULTILEAVINGS))
A, B, C = [0, 1, 2, 3], [1, 2, 3, 0], [3, 2, 1, 0]


def matrix(rows: Any) -> npt.NDArray[np.float64]:
    return np.array(rows, float)


def subsets(things: tuple[Hashable, ...]) -> list[tuple[Hashable, ...]]:
    return list(chain.from_iterable(combinations(things, n) for n in range(len(things) + 1)))


rankings = st.lists(
    st.lists(st.integers(0, 7), unique=True, max_size=6), min_size=1, max_size=4
)  # of different length and content


@pytest.mark.slow
@EVERY
@settings(max_examples=150)
@given(orders=rankings, k=st.integers(1, 5), seed=st.integers(0, 2**70))
def test_lists_and_credit_are_the_twins(name: str, orders: list[list[int]], k: int, seed: int) -> None:
    method, twin = MULTILEAVINGS[name](), NAIVE_MULTILEAVINGS[name]
    shown = method.multileave(orders, k=k, seed=seed)
    folded = seed if seed < 2**64 else ((mix_of_low(seed) + 1) ^ (seed >> 64)) & (2**64 - 1)
    stream = Stream(folded)
    whole = completed(orders, stream.word())
    documents, teams = twin.draw(whole, k, stream)
    assert shown.documents == documents
    assert len(documents) == len(set(documents)) == min(k, len(union(orders)))
    np.testing.assert_allclose(
        np.array(shown.evidence, float), matrix(twin.evidence(whole, documents, teams)), atol=1e-12
    )
    for clicks in subsets(documents):
        preferences = method.preferences(shown, clicks)
        np.testing.assert_allclose(preferences, matrix(twin.preferences(whole, documents, teams, clicks)), atol=1e-9)
        assert (preferences == -preferences.T).all()
        if not clicks:
            assert not preferences.any()


def mix_of_low(seed: int) -> int:
    return Stream((seed & (2**64 - 1)) - 0x9E3779B97F4A7C15 & (2**64 - 1)).word()


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("ties", ["consistent", "file"])
@pytest.mark.parametrize("levels", [1, 2, 4, 1000])
def test_ties_are_broken_the_same_for_list_and_credit(name: str, ties: Any, levels: int) -> None:
    rng = np.random.default_rng(levels)
    method, twin = MULTILEAVINGS[name](), NAIVE_MULTILEAVINGS[name]
    for seed in range(40):
        scores = rng.integers(0, levels, (5, 9)).astype(float)
        done = trial(method, scores, np.full(9, 0.4), k=6, impressions=1, ties=ties, seed=seed)
        stream = Stream(Stream(seed).word())
        orders = broken(scores.tolist(), stream.word() if ties == "consistent" else None)
        documents, teams = twin.draw(orders, 6, stream)
        assert tuple(done.documents[0]) == documents
        clicks = [d for d, clicked in zip(documents, done.clicked[0], strict=True) if clicked]
        np.testing.assert_allclose(
            done.preferences, matrix(twin.preferences(orders, documents, teams, clicks)), atol=1e-9
        )


@EVERY
def test_wide_tables(name: str) -> None:
    """More documents than 16 bits can number: the same lists as without the hopeless ones."""
    scores = np.random.default_rng(1).random((3, 20))
    many = np.concatenate([scores, np.tile(-np.arange(70_000.0), (3, 1))], axis=1)
    few, wide = (
        trial(MULTILEAVINGS[name](), s, np.full(s.shape[1], 0.5), impressions=20, k=5, ties="file", seed=1)
        for s in (scores, many)
    )
    if name == "probabilistic":
        assert (wide.documents < 20).mean() > 0.9  # there the hopeless are possible
    else:
        np.testing.assert_array_equal(few.documents, wide.documents)
        np.testing.assert_array_equal(few.preferences, wide.preferences)


@EVERY
def test_a_trial_is_its_impressions(name: str) -> None:
    """More impressions begin with the same ones, and the preferences are their mean."""
    scores, clicks = np.random.default_rng(2).integers(0, 5, (4, 12)), np.linspace(0, 1, 12)
    trials = [trial(MULTILEAVINGS[name](), scores, clicks, impressions=n, seed=5) for n in (1, 2, 1001, 1002)]
    for fewer, more in pairwise(trials):
        np.testing.assert_array_equal(fewer.documents, more.documents[: len(fewer.documents)])
        np.testing.assert_array_equal(fewer.clicked, more.clicked[: len(fewer.clicked)])
    last = 1002 * trials[3].preferences - 1001 * trials[2].preferences
    assert np.abs(last).max() < 20
    assert (trials[2].preferences == -trials[2].preferences.T).all()


@EVERY
def test_equal_seeds_and_longer_pages(name: str) -> None:
    method, rng = MULTILEAVINGS[name](), np.random.default_rng(3)
    orders = [rng.permutation(30).tolist() for _ in range(7)]
    for seed in range(20):
        pages = [method.multileave(orders, k=k, seed=seed).documents for k in (1, 4, 10, 30, 40)]
        assert pages[-1] == pages[-2] == method.multileave(iter(orders), k=30, seed=seed).documents
        assert len(pages[-1]) == 30
        for shorter, longer in pairwise(pages):
            assert longer[: len(shorter)] == shorter
    assert len({method.multileave(orders, seed=seed).documents for seed in range(20)}) > 15
    assert method.multileave(orders, k=20).documents != method.multileave(orders, k=20).documents  # fresh seeds


@EVERY
def test_storage(name: str) -> None:
    method = MULTILEAVINGS[name]()
    shown = method.multileave([["a", "b", "c"], ["c", "a"], ["d"]], seed=1)
    again = Multileaved.from_json(shown.to_json())
    assert again == shown
    assert hash(again) == hash(shown)
    assert shown.n_rankers == 3
    clicks = shown.documents[:2]
    np.testing.assert_array_equal(method.preferences(again, clicks), method.preferences(shown, clicks))
    np.testing.assert_array_equal(method.preferences(shown, [*clicks, *clicks]), method.preferences(shown, clicks))
    for copied in (eval(repr(method)), copy.deepcopy(method), pickle.loads(pickle.dumps(method))):
        assert repr(copied) == repr(method) == repr(multileaving_from(repr(method)))
        np.testing.assert_array_equal(copied.preferences(shown, clicks), method.preferences(shown, clicks))


@EVERY
def test_empty_and_single(name: str) -> None:
    method = MULTILEAVINGS[name]()
    assert method.multileave([[], []]).documents == ()
    assert method.preferences(method.multileave([[], []]), []).tolist() == [[0, 0], [0, 0]]
    alone = method.multileave(["abc"], seed=1)
    assert method.preferences(alone, "a").tolist() == [[0]]
    if name != "probabilistic":
        assert alone.documents == ("a", "b", "c")
    assert set(method.multileave([[], "abc", []], seed=1).documents) == set("abc")


@EVERY
def test_identical_rankers_tie(name: str) -> None:
    method = MULTILEAVINGS[name]()
    if name == "team_draft":
        shown = method.multileave([A, A, A], seed=1)
        assert [team for (team,) in shown.evidence] == [-1] * 4
    for seed in range(50):
        shown = method.multileave([A, B, A], seed=seed)
        for clicks in subsets(shown.documents):
            if name != "team_draft":
                assert method.preferences(shown, clicks)[0, 2] == 0


@EVERY
def test_the_better_ranker_is_preferred(name: str) -> None:
    """The mean of 4,000 preferences is hundreds of deviations from 0. Caught: wins and losses the wrong way round."""
    relevance = np.array([0.9, 0.7, 0.5, 0.3, 0.1, 0.0])
    preferences = trial(MULTILEAVINGS[name](), [relevance, -relevance], relevance, impressions=4000, seed=1).preferences
    assert preferences[0, 1] > 0.3


@EVERY
def test_k_larger_than_ten(name: str) -> None:
    """Pages of 25: ties by tolerance. With all clicked everybody is equal, by SOSM's and the pairs' scores."""
    method, rng = MULTILEAVINGS[name](), np.random.default_rng(4)
    shown = method.multileave([rng.permutation(25).tolist() for _ in range(6)], k=25, seed=1)
    preferences = method.preferences(shown, shown.documents)
    if name in ("sosm", "pairwise_preference"):
        assert not preferences.any()
    assert np.isfinite(preferences).all()


def test_team_sizes_differ_by_one_at_most() -> None:
    rng = np.random.default_rng(5)
    for n_rankers, k in [(2, 10), (3, 10), (4, 7), (12, 10)]:
        for seed in range(50):
            orders = [rng.permutation(40).tolist() for _ in range(n_rankers)]
            shown = TeamDraftMultileaving().multileave(orders, k=k, seed=seed)
            teams = [int(team) for (team,) in shown.evidence]
            sizes = np.bincount([team for team in teams if team >= 0], minlength=n_rankers)
            assert sizes.max() - sizes.min() <= 1
            assert -1 not in teams[teams.count(-1) :]


def test_omega() -> None:
    """A document at place i stands in the first i places of somebody."""
    rng = np.random.default_rng(6)
    for seed in range(50):
        orders = [rng.permutation(40).tolist() for _ in range(5)]
        for i, document in enumerate(PairwisePreferenceMultileaving().multileave(orders, seed=seed).documents):
            assert any(document in order[: i + 1] for order in orders)


def test_sosm_sums() -> None:
    """Inverse cubes of 1 to 10."""
    rng = np.random.default_rng(7)
    shown = SOSM().multileave([rng.permutation(50).tolist() for _ in range(20)], seed=1)
    np.testing.assert_allclose(SOSM().scores(shown, shown.documents), 1.197532, atol=1e-6)
    assert not SOSM().preferences(shown, shown.documents).any()
    assert SOSM().multileave([A, B], seed=3).documents == TeamDraftMultileaving().multileave([A, B], seed=3).documents


def test_sosm_ties_are_exact() -> None:
    """At ten places no two different sums of inverse cubes are within the tolerance of each other."""
    sums = np.zeros(1, np.int64)
    for rank in range(1, 11):
        sums = np.concatenate([sums, sums + (2520 // rank) ** 3])
    apart = np.diff(np.unique(sums))
    assert len(np.unique(sums)) == 1024
    assert apart.min() / 2520**3 > 10 * 1e-12


def test_steep_probabilities() -> None:
    """However large tau is, nothing is divided by zero, and a list is complete."""
    method = ProbabilisticMultileaving(tau=500.0)
    rankings = [list(range(60)), list(range(59, -1, -1))]
    shown = method.multileave(rankings, k=60, seed=1)
    assert sorted(shown.documents) == list(range(60))
    assert np.isfinite(np.array(shown.evidence)).all()
    assert {*shown.documents[:2]} <= {0, 1, 58, 59}


def test_rounding_does_not_build_up() -> None:
    """All of 100 documents are shown: the chances of the last ones are those of the fractions."""
    rng = np.random.default_rng(8)
    orders = [rng.permutation(100).tolist() for _ in range(3)]
    shown = ProbabilisticMultileaving().multileave(orders, k=100, seed=1)
    shares = matrix(Probabilistic().shares(orders, shown.documents))
    np.testing.assert_allclose(np.array(shown.evidence), shares, rtol=1e-9)


def test_sampled_credit() -> None:
    """The walk against 40,000 sampled assignments: eight deviations for each of ten pairs, false alarm 1e-14."""
    rng = np.random.default_rng(9)
    shown = ProbabilisticMultileaving().multileave([rng.permutation(20).tolist() for _ in range(5)], seed=2)
    clicked = [1, 2, 5, 7]
    preferences = ProbabilisticMultileaving().preferences(shown, [shown.documents[i] for i in clicked])
    counts = np.zeros((40_000, 5))
    for i in clicked:
        counts[np.arange(40_000), rng.choice(5, 40_000, p=shown.evidence[i])] += 1
    sampled = np.sign(counts[:, :, None] - counts[:, None, :]).mean(axis=0)
    np.testing.assert_allclose(preferences, sampled, atol=0.04)


def test_averaged_pairs() -> None:
    method, twin = PairwisePreferenceMultileaving(average=True), PairwisePreference(average=True)
    for seed in range(30):
        shown = method.multileave([A, B, C], seed=seed)
        for clicks in subsets(shown.documents):
            expected = matrix(twin.preferences([A, B, C], shown.documents, (), clicks))
            np.testing.assert_allclose(method.preferences(shown, clicks), expected, atol=1e-12)
            np.testing.assert_allclose(
                method.scores(shown, clicks), matrix(twin.scores([A, B, C], shown.documents, (), clicks)), atol=1e-12
            )


def test_every_pair_of_two_is_probabilistic_interleaving() -> None:
    """With two rankers: N clicks, each the second's with chance q, independently; P(N1 > N2) - P(N2 > N1)."""
    for first, second in permutations([A, B, C], 2):
        shown = ProbabilisticMultileaving().multileave([first, second], seed=4)
        for clicks in subsets(shown.documents):
            chances = [1.0]  # of so many clicks of the first
            for document in clicks:
                p = shown.evidence[shown.documents.index(document)][0]
                chances = [
                    p * (chances[n - 1] if n else 0) + (1 - p) * (chances[n] if n < len(chances) else 0)
                    for n in range(len(chances) + 1)
                ]
            expected = sum(chance * np.sign(2 * n - len(clicks)) for n, chance in enumerate(chances))
            assert ProbabilisticMultileaving().preferences(shown, clicks)[0, 1] == pytest.approx(expected, abs=1e-12)


def test_example_of_a_trial() -> None:
    test = doctest.DocTestParser().get_doctest(trial.__doc__ or "", {}, "trial", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test) == (0, 3)


# Bad input


@EVERY
def test_bad_rankings(name: str) -> None:
    method = MULTILEAVINGS[name]()
    with pytest.raises(ValueError, match="at least one ranking, got none"):
        method.multileave([])
    with pytest.raises(ValueError, match="document 'a' occurs twice in ranking 1"):
        method.multileave(["abc", "aba"])
    for k in (0, -1, 2.5, True, None, 2**40):
        with pytest.raises(ValueError, match="k must be a whole number"):
            method.multileave(["abc"], k=k)  # type: ignore[arg-type]
    for seed in (-1, 1.5, "x", True):
        with pytest.raises(ValueError, match="seed must be a non-negative int"):
            method.multileave(["abc"], seed=seed)  # type: ignore[arg-type]


@EVERY
def test_bad_clicks(name: str) -> None:
    method = MULTILEAVINGS[name]()
    shown = method.multileave(["abc", "bca"], k=2, seed=1)
    with pytest.raises(ValueError, match="clicked document 'z' is not on the list"):
        method.preferences(shown, ["z"])
    with pytest.raises(TypeError, match="shown must be a Multileaved"):
        method.preferences(["a"], ["a"])  # type: ignore[arg-type]
    other: Multileaving = SOSM(tau=2)
    with pytest.raises(ValueError, match=r"a list of method .* cannot be credited by SOSM\(tau=2.0\)"):
        other.preferences(shown, [])


@EVERY
def test_damaged_evidence(name: str) -> None:
    method = MULTILEAVINGS[name]()
    told = json.loads(method.multileave(["abc", "bca"], k=2, seed=1).to_json())
    for damage in (-5, 1e9, float("nan")):
        evidence = [list(row) for row in told["evidence"]]
        evidence[1][0] = damage
        with pytest.raises(ValueError, match=r"evidence\[1\]\[0\] must be from"):
            method.preferences(Multileaved.from_json(json.dumps(told | {"evidence": evidence})), ["b"])
    shorts: list[list[list[float]]] = [[], [[1]], [[], []]]
    for short in shorts:
        with pytest.raises(ValueError, match="evidence must be 2 rows"):
            method.preferences(Multileaved.from_json(json.dumps(told | {"evidence": short})), [])
    with pytest.raises(ValueError, match="n_rankers must be at least 1, got 0"):
        method.preferences(Multileaved.from_json(json.dumps(told | {"n_rankers": 0})), [])
    for text in ("", "{}", "[]", '{"method": "x", "n_rankers": 1, "documents": 3}'):
        with pytest.raises(ValueError, match="invalid JSON of a multileaved list"):
            Multileaved.from_json(text)


@pytest.mark.parametrize("tau", [0, -1, float("inf"), float("nan"), "3", True, None])
def test_bad_parameters(tau: Any) -> None:
    for method in (SOSM, ProbabilisticMultileaving):
        with pytest.raises(ValueError, match="tau must be a number > 0"):
            method(tau=tau)
    with pytest.raises(ValueError, match="average must be True or False"):
        PairwisePreferenceMultileaving(average=1)  # type: ignore[arg-type]


def test_specs() -> None:
    assert repr(multileaving_from("PairwisePreferenceMultileaving(average=True)")).endswith("(average=True)")
    with pytest.raises(ValueError, match="unknown multileaving 'Sosm'; expected one of sosm"):
        multileaving_from("Sosm")
    with pytest.raises(ValueError, match=r"invalid multileaving 'SOSM\(rho=1\)': .*rho"):
        multileaving_from("SOSM(rho=1)")
    with pytest.raises(ValueError, match=r"invalid multileaving 'TeamDraftMultileaving\(tau=1\)'"):
        multileaving_from("TeamDraftMultileaving(tau=1)")


def test_bad_trials() -> None:
    good: dict[str, Any] = {"scores": [[1, 2], [2, 1]], "clicks": [0.5, 0.5]}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"scores": [1, 2]}, r"scores must have shape \(n_rankers, n_documents\), got \(2,\)"),
        ({"scores": [[1, float("nan")]]}, r"got nan at \[0, 1\]"),
        ({"clicks": [0.5]}, "clicks must be 2 probabilities from 0 to 1"),
        ({"clicks": [0.5, 1.5]}, "clicks must be 2 probabilities from 0 to 1"),
        ({"impressions": 0}, "impressions must be a whole number of at least 1, got 0"),
        ({"ties": "redraw"}, "ties must be file or consistent, got 'redraw'"),
        ({"k": 0}, "k must be a whole number"),
    ]
    for bad, message in cases:
        with pytest.raises(ValueError, match=message):
            trial(SOSM(), **(good | bad))
    with pytest.raises(TypeError):
        trial("SOSM", **good)  # type: ignore[arg-type]
