import re
from collections.abc import Callable

import numpy as np
import pytest

from rankduel.preferences import PreferenceMatrix, Utilities, problems


@pytest.mark.parametrize(
    ("problem", "winner", "other", "gap"),
    [(problems.cycle(), 10.19, 9.99, 0.01), (problems.cycle2(), 11.90, 9.90, 0.1)],
)
def test_the_round_tables_have_the_papers_borda_scores(
    problem: PreferenceMatrix, winner: float, other: float, gap: float
) -> None:
    assert problem.borda_scores.tolist() == pytest.approx([winner] + [other] * 19, abs=1e-12)
    assert (problem.n_arms, problem.condorcet_winner) == (20, 0)
    assert problem.gaps[1:].tolist() == pytest.approx([gap] * 19)
    beats = problem.probabilities > 0.5
    assert beats[1:, 1:].sum(axis=1).tolist() == [9] * 19
    assert problem.three_cycles == 19 * 18 * 20 // 24  # a regular tournament of n arms has n (n^2 - 1) / 24
    assert np.flatnonzero(beats[1]).tolist() == list(range(2, 11))  # the nine nearest on one side
    assert np.flatnonzero(beats[19]).tolist() == list(range(1, 10))


def test_cycle_is_certain_and_cycle2_faint() -> None:
    assert set(problems.cycle().probabilities[1:, 1:].flat) == {0.0, 0.5, 1.0}
    assert set(problems.cycle2().probabilities[1:, 1:].flat) == {0.49, 0.5, 0.51}


@pytest.mark.shared_data
def test_non_condorcet_is_the_papers_problem(real_matrix: Callable[[str], PreferenceMatrix]) -> None:
    problem = problems.non_condorcet(real_matrix("mslr_informational_cdc_135"))
    assert problem == real_matrix("dts_mslr32_noncondorcet_reconstructed")
    first, second = problem.copeland_winners
    rankers = range(3, 128, 4)
    assert (rankers[first], rankers[second]) == (59, 119)
    assert problem.copeland_scores[[first, second]].tolist() == [30 / 31] * 2
    P = problem.probabilities
    assert P[second, first] == pytest.approx(0.497389, abs=5e-7)
    assert P[first, rankers.index(127)] == pytest.approx(0.492108, abs=5e-7)
    assert problem.condorcet_winner is None


@pytest.mark.parametrize("n_arms", [135, 136])
def test_non_condorcet_takes_every_fourth_ranker(n_arms: int) -> None:
    rankers = [ranker for ranker in range(136) if n_arms == 136 or ranker != 109]
    matrix = PreferenceMatrix(problems.bradley_terry(n_arms).probabilities, tuple(map(str, rankers)))
    assert problems.non_condorcet(matrix).names == tuple(str(ranker) for ranker in range(3, 128, 4))


def test_non_condorcet_refuses_other_matrices() -> None:
    with pytest.raises(ValueError, match="needs the MSLR-Informational matrix of 135 or 136 arms, got 20"):
        problems.non_condorcet(problems.cycle())


def closeness(problem: PreferenceMatrix) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.abs(problem.probabilities[np.triu_indices(problem.n_arms, 1)] - 0.5)


@pytest.mark.parametrize("seed", range(8))
def test_web_search_is_shaped_like_mslr(seed: int) -> None:
    problem = problems.web_search(seed=seed)
    assert problem.n_arms == 136
    assert problem.smallest_gap is not None
    assert 0.006 <= problem.smallest_gap <= 0.01
    assert problem.borda_winner == problem.condorcet_winner
    assert 150 <= problem.three_cycles <= 800
    assert 12 <= len(problem.duplicates()) <= 30
    assert (problem.borda_scores < 0.35 * 136).mean() > 0.05  # very bad rankers
    assert 0.3 < closeness(problem).max() < 0.4


@pytest.mark.shared_data
def test_web_search_compares_with_mslr_as_its_docstring_says(
    real_matrix: Callable[[str], PreferenceMatrix],
) -> None:
    real, ours = real_matrix("mslr_navigational_136"), problems.web_search()
    quantiles = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95]
    ratio = np.quantile(closeness(ours), quantiles) / np.quantile(closeness(real), quantiles)
    assert ratio.tolist() == pytest.approx([1.0] * 6, abs=0.2)
    facts = [
        (
            f"{closeness(p).mean():.3f}",
            f"{p.gaps.sum() / 135:.3f}",
            f"{p.smallest_gap:.4f}",
            str((closeness(p) < 0.005).sum()),
            str(len(p.duplicates())),
            str(p.three_cycles),
        )
        for p in (real, ours)
    ]
    claims = re.findall(r"([\d.]+) / ([\d.]*\d)", problems.web_search.__doc__ or "")
    assert [
        tuple(f"0{fact}" if fact[0] == "." else fact for fact in side) for side in zip(*claims, strict=True)
    ] == facts


def test_bradley_terry_is_the_matrix_of_utilities() -> None:
    options = {"n_arms": 30, "spread": 2.0, "winner": 0.7, "seed": 4}
    assert problems.bradley_terry(**options) == problems.utilities(**options).matrix()  # type: ignore[arg-type]
    assert problems.bradley_terry(30).three_cycles == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_winner_leads_by_what_was_asked(seed: int) -> None:
    for n_arms in (2, 3, 100):
        assert problems.utilities(n_arms, winner=0.6, seed=seed).smallest_gap == pytest.approx(0.1)
        assert problems.random_tournament(n_arms, winner=0.6, seed=seed).gaps.sum() == pytest.approx(0.1 * (n_arms - 1))
    natural, moved = problems.utilities(50, winner=None, seed=seed), problems.utilities(50, winner=0.9, seed=seed)
    assert natural.condorcet_winner == moved.condorcet_winner
    assert (natural.utilities != moved.utilities).sum() == 1


def test_spread_scales_the_utilities() -> None:
    assert problems.utilities(10_000, spread=3.0).utilities.std() == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize(("n_arms", "share", "useless"), [(700, 181 / 700, 181), (40, 0.5, 20), (10, 0.0, 0)])
def test_uninformative_arms_beat_nobody_and_draw_with_their_like(n_arms: int, share: float, useless: int) -> None:
    problem = problems.uninformative(n_arms, share, seed=3)
    P = problem.probabilities
    bad = (P < 0.45).sum(axis=1) == n_arms - useless if useless else np.zeros(n_arms, bool)
    assert bad.sum() == useless
    assert (P[np.ix_(bad, bad)] == 0.5).all()
    assert (P[np.ix_(~bad, bad)] >= 0.6).all()
    assert not (P[bad] > 0.5).any()
    assert problem.smallest_gap == pytest.approx(0.05)
    assert useless == 0 or not bad[:useless].all()  # mixed among the others


def test_a_random_tournament_is_full_of_circles() -> None:
    problem = problems.random_tournament(60, winner=None)
    assert problem.condorcet_winner is None
    assert problem.three_cycles == pytest.approx(60 * 59 * 58 / 24, rel=0.05)  # a quarter of all triples
    assert len({problems.random_tournament(30, seed=seed).condorcet_winner for seed in range(10)}) > 5


@pytest.mark.parametrize("name", problems.PROBLEMS)
def test_every_problem_is_deterministic_in_its_seed(name: str) -> None:
    if name in ("cycle", "cycle2"):
        assert problems.named(name) == problems.named(name)
        return
    one, again, other = (problems.named(f"{name}(n_arms=12, seed={seed})") for seed in (1, 1, 2))
    assert one == again
    assert one != other
    for n_arms in {"two_winners": (5, 6), "twins": (3, 4)}.get(name, (1, 2, 3)):
        assert problems.named(f"{name}(n_arms={n_arms})").n_arms == n_arms


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("cycle2", problems.cycle2()),
        ("bradley_terry(n_arms=100, seed=3)", problems.bradley_terry(100, seed=3)),
        ("uninformative(n_arms=20, share=2**-1)", problems.uninformative(20, 0.5)),
        ("utilities(n_arms=10, winner=None)", problems.utilities(10, winner=None)),
    ],
)
def test_named_builds_what_was_typed(spec: str, expected: PreferenceMatrix | Utilities) -> None:
    assert problems.named(spec) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cycle3", "unknown problem 'cycle3', expected one of cycle, cycle2, two_winners, web_search, "),
        ("cycle(n_arms=3)", "cycle has no option 'n_arms'; its options: none"),
        ("bradley_terry", "bradley_terry needs the option n_arms; its options: n_arms, spread"),
        ("bradley_terry(n_arms=5, spread='wide')", "invalid value in bradley_terry(n_arms=5, spread='wide'): "),
        ("bradley_terry(5)", "'5' needs the name of its option: option=value"),
        ("bradley_terry(n_arms=0)", "n_arms must be a whole number of at least 1, got 0"),
        ("web_search(n_arms=2.5)", "n_arms must be a whole number of at least 1, got 2.5"),
        ("random_tournament(n_arms=True)", "n_arms must be a whole number of at least 1, got True"),
        ("utilities(n_arms=5, spread=0)", "spread must be above 0, got 0"),
        ("utilities(n_arms=5, winner=0.5)", "winner must be above 0.5 and below 1, got 0.5"),
        ("random_tournament(n_arms=5, winner=1)", "winner must be above 0.5 and below 1, got 1"),
        ("twins(n_arms=5, copies=1)", "copies must be from 2 to n_arms = 5, got 1"),
        ("twins(n_arms=5, copies=6)", "copies must be from 2 to n_arms = 5, got 6"),
        ("uninformative(n_arms=5, share=1)", "share must leave at least one informative arm among 5, got 1"),
        ("uninformative(n_arms=5, share=-0.5)", "share must leave at least one informative arm among 5, got -0.5"),
        ("cycle(seed=-1)", "cycle has no option 'seed'"),
        ("web_search(seed=-1)", "seed must be a non-negative int, got -1"),
        ("bradley_terry(n_arms=10**5)", "a matrix of 100,000 arms is too large"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        problems.named(spec)


@pytest.mark.parametrize("n_arms", [5, 32, 100])
@pytest.mark.parametrize("seed", range(5))
def test_two_winners_is_like_the_papers(n_arms: int, seed: int) -> None:
    problem = problems.two_winners(n_arms, seed=seed)
    beaten = (problem.probabilities > 0.5).sum(axis=1)
    first, second = sorted(
        problem.copeland_winners, key=lambda arm: -problem.probabilities[arm, problem.copeland_winners].max()
    )
    assert problem.condorcet_winner is None
    assert beaten[first] == beaten[second] == n_arms - 2
    assert problem.probabilities[first, second] > 0.5  # one beats the other and loses to a worse one
    (third,) = np.flatnonzero(problem.probabilities[first] < 0.5)
    assert beaten[third] <= n_arms - 3


def test_two_winners_need_a_few_others() -> None:
    with pytest.raises(ValueError, match="n_arms must be at least 5 for two_winners, got 4"):
        problems.two_winners(4)


@pytest.mark.parametrize("copies", [2, 5, 12])
def test_twins_draw_with_each_other_and_beat_the_rest_as_one(copies: int) -> None:
    problem = problems.twins(12, copies, winner=0.6, seed=4)
    assert problem.copeland_winners == tuple(range(copies))
    assert (problem.probabilities[:copies, :copies] == 0.5).all()
    assert (problem.probabilities[:copies] == problem.probabilities[0]).all()
    if copies < 12:
        assert problem.probabilities[0, copies:].min() == pytest.approx(0.6)
        assert problem.three_cycles == 0


@pytest.mark.parametrize("problem", [problems.web_search, problems.uninformative])
def test_clarity_moves_preferences_away_from_a_coin(problem: Callable[..., PreferenceMatrix]) -> None:
    clear, plain, faint = (problem(60, clarity=clarity, seed=1) for clarity in (1.2, 1.0, 0.7))
    spread = [float(abs(each.probabilities - 0.5).mean()) for each in (faint, plain, clear)]
    gaps = [each.smallest_gap for each in (faint, plain, clear)]
    assert spread == sorted(spread)
    assert gaps == sorted(gaps)  # type: ignore[type-var]
    assert plain == problem(60, seed=1)
    for wrong in (0.0, -1.0, 2.0):
        with pytest.raises(ValueError, match=r"clarity must be above 0 and at most 1\.4"):
            problem(60, clarity=wrong)
