"""Simulated users: exact formulas, and the law of their clicks.

False alarm: at most 1e-6 per test that draws anything.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.interleaving import click_vectors
from rankduel import clicks
from rankduel.clicks import CLICKS, CascadeModel, ClickModel, PositionBased, RandomUser, clicks_from
from statistical.evidence import ALARM, CAUGHT, fit

SHARES = (0.515, 0.325, 0.134, 0.018, 0.008)  # of the grades of a web collection


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        (clicks.perfect(), [0, 2, 4, 8, 10]),
        (clicks.navigational(), [0.478, 2.035, 1.887, 1.427, 1.111]),
        (clicks.informational(), [3.352, 3.607, 3.018, 2.447, 1.995]),
    ],
)
def test_clicks_on_ten_documents_of_a_grade(user: ClickModel, expected: list[float]) -> None:
    assert [user.expected_clicks([grade] * 10) for grade in range(5)] == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(
    ("name", "stops", "clicked", "examined", "none"),
    [
        ("perfect", "after_click", 1.410, 1, 0.2187),
        ("perfect", "anywhere", 1.410, 1, 0.2187),
        ("navigational", "after_click", 1.466, 0.456, 0.0941),
        ("navigational", "anywhere", 0.708, 0.047, 0.4943),
        ("informational", "after_click", 3.403, 0.399, 0.0007),
        ("informational", "anywhere", 2.586, 0.191, 0.1207),
        ("almost_random", "after_click", 1.827, 0.111, 0.0034),
        ("almost_random", "anywhere", 0.867, 0.002, 0.3948),
    ],
)
def test_clicks_on_a_web_page(name: str, stops: str, clicked: float, examined: float, none: float) -> None:
    """Of ten documents with independent grades: the means are exact, and factor over the positions."""
    user = CLICKS[name](grades=5, stops=stops)
    click = sum(share * user.expected_clicks([grade]) for grade, share in enumerate(SHARES))
    stay = sum(share * user.examination([grade, 0])[1] for grade, share in enumerate(SHARES))
    assert sum(click * stay**position for position in range(10)) == pytest.approx(clicked, abs=6e-4)
    assert stay**9 == pytest.approx(examined, abs=6e-4)
    # 20,000 pages: five standard errors are at most .0177.
    grades = [grade for grade, share in enumerate(SHARES) for _ in range(round(1000 * share))]
    empty = sum(
        not user.click(
            [grades[(seed * 7919 + 10_007 * place * (seed + place)) % 1000] for place in range(10)], seed=seed
        )
        for seed in range(20_000)
    )
    assert empty / 20_000 == pytest.approx(none, abs=0.0183)


@pytest.mark.parametrize("stops", ["after_click", "anywhere"])
def test_law_of_clicks(stops: str) -> None:
    """Caught: the other rule of stopping."""
    click, stop = [Fraction(1, 10), Fraction(3, 5), Fraction(9, 10)], [Fraction(1, 5), Fraction(1, 2), Fraction(4, 5)]
    grades = [1, 0, 2, 1]
    user = CascadeModel(list(map(float, click)), list(map(float, stop)), stops=stops)
    counts = Counter(tuple(user.click(grades, seed=seed)) for seed in range(40_000))

    def agreement(*, anywhere: bool) -> float:
        vectors = click_vectors([click[g] for g in grades], [stop[g] for g in grades], anywhere=anywhere)
        law = {tuple(p for p, c in enumerate(vector) if c): float(chance) for vector, chance in vectors.items()}
        assert set(counts) <= set(law)
        return fit([counts[cell] for cell in law], list(law.values()))

    assert agreement(anywhere=stops == "anywhere") > ALARM
    assert agreement(anywhere=stops != "anywhere") < CAUGHT


tables = st.lists(st.tuples(st.fractions(0, 1), st.fractions(0, 1)), min_size=1, max_size=4)


@pytest.mark.slow
@given(tables, st.data())
def test_expectations_are_those_of_the_enumeration(table: list[tuple[Fraction, Fraction]], data: st.DataObject) -> None:
    grades = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=4))
    anywhere = data.draw(st.booleans())
    user = CascadeModel(
        [float(c) for c, _ in table], [float(s) for _, s in table], stops="anywhere" if anywhere else "after_click"
    )
    vectors = click_vectors([table[g][0] for g in grades], [table[g][1] for g in grades], anywhere=anywhere)
    assert sum(vectors.values()) == 1
    expected = sum(sum(vector) * chance for vector, chance in vectors.items())
    assert user.expected_clicks(grades) == pytest.approx(float(expected), abs=1e-12)
    clicked = user.click(grades, seed=data.draw(st.integers(0, 1000)))
    assert vectors[tuple(p in clicked for p in range(len(grades)))] > 0


def test_sure_things() -> None:
    assert clicks.perfect(grades=5).click([4, 0, 4, 0, 4]) == [0, 2, 4]
    assert clicks.perfect(grades=2, stops="anywhere").click([1, 0, 1]) == [0, 2]  # never stops
    assert CascadeModel([0, 1], [0, 1]).click([0, 1, 1, 1]) == [1]
    assert CascadeModel([0, 1], [1, 0], stops="anywhere").click([1, 0, 1]) == [0]
    assert PositionBased([1, 0, 1], [0, 1]).click([1, 1, 1, 1]) == [0, 2]  # the fourth is never looked at
    assert PositionBased([1, 0.5], [0, 1]).examination([1, 1, 1]) == [1, 0.5, 0]
    assert RandomUser(1.0).click([9, 9]) == [0, 1]
    assert clicks.navigational().click([]) == []


def test_position_based_clicks_are_independent() -> None:
    user = PositionBased([0.9, 0.5, 0.2], [0.5])
    counts = Counter(tuple(user.click([0, 0, 0], seed=seed)) for seed in range(40_000))
    chances = [0.45, 0.25, 0.1]
    law = {}
    for bits in range(8):
        p = 1.0
        for position, chance in enumerate(chances):
            p *= chance if bits >> position & 1 else 1 - chance
        law[tuple(position for position in range(3) if bits >> position & 1)] = p
    assert fit([counts[cell] for cell in law], list(law.values())) > ALARM


@pytest.mark.parametrize("name", CLICKS)
@pytest.mark.parametrize("grades", [2, 3, 5])
def test_specs(name: str, grades: int) -> None:
    user = clicks_from(name, grades=grades)
    assert user.n_grades == grades
    assert repr(clicks_from(repr(user), grades=grades)) == repr(user)
    assert repr(user) == repr(CLICKS[name](grades=grades))
    # The better document is clicked more, by all but those who choose at random.
    chances = [user.expected_clicks([grade]) for grade in range(grades)]
    assert chances == sorted(chances)
    assert (chances[0] < chances[-1]) is (name != "random")


@pytest.mark.parametrize("spec", ["PositionBased(examination=[1.0, 0.5], click=[0.0, 1.0])", "RandomUser(p=0.2)"])
def test_other_models_as_specs(spec: str) -> None:
    assert repr(clicks_from(spec, grades=2)) == spec


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CascadeModel([0.1, 1.1], [0, 0]), r"click\[1\] must be a probability from 0 to 1, got 1.1"),
        (lambda: CascadeModel([0.1], [float("nan")]), r"stop\[0\] must be a probability from 0 to 1, got nan"),
        (lambda: CascadeModel([0.1], [0, 0]), "click and stop must have the same length, got 1 and 2"),
        (lambda: CascadeModel([], []), "click needs at least one probability"),
        (lambda: CascadeModel([0.1], [0.1], stops="never"), "stops must be 'after_click' or 'anywhere', got 'never'"),
        (lambda: PositionBased([1, 2], [0.5]), r"examination\[1\]"),
        (lambda: RandomUser(-0.1), r"p\[0\] must be a probability"),
        (lambda: clicks.navigational(grades=4), "grades must be 2, 3 or 5, got 4"),
        (
            lambda: clicks.navigational(grades=5).click([0, 5]),
            "grade at position 1 must be a whole number from 0 to 4, got 5",
        ),
        (
            lambda: clicks.navigational(grades=2).expected_clicks([-1]),
            "grade at position 0 must be a whole number from 0 to 1, got -1",
        ),
        (
            lambda: clicks.navigational(grades=2).click([0.5]),  # type: ignore[list-item]
            "grade at position 0 must be a whole number from 0 to 1, got 0.5",
        ),
        (lambda: clicks.navigational().click([0], seed=-1), "seed must be a non-negative int, got -1"),
        (lambda: clicks_from("nobody"), "unknown click model 'nobody'; expected one of perfect"),
        (lambda: clicks_from("perfect(speed=3)"), r"invalid click model 'perfect\(speed=3\)'"),
        (
            lambda: clicks_from("PositionBased(examination=[1.0], click=[0.5])", grades=5),
            "supports 1 grades, expected at least 5",
        ),
    ],
)
def test_bad_values(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
