"""What every interleaving method promises: seeds, pages, stored lists, and clear errors."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankduel as rd
from rankduel.interleaving import INTERLEAVINGS, Impression, Interleaved, Interleaving, interleaving_from
from rankduel.interleaving.registry import by_name
from statistical.evidence import ALARM, fit

METHODS = [make() for make in INTERLEAVINGS.values()]
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)
rankings = st.lists(st.integers(0, 12), unique=True, max_size=10)


@pytest.mark.slow
@every_method
@settings(max_examples=60)
@given(first=rankings, second=rankings, k=st.integers(1, 12), seed=st.integers(0, 2**70))
def test_lists(method: Interleaving, first: list[int], second: list[int], k: int, seed: int) -> None:
    """No duplicates, nothing invented, as many as there are, equal for equal seeds, and page 2 continues page 1."""
    if method.name == "optimized":
        first, second, k = first[:5], second[:5], min(k, 5)
    if not first and not second:
        return
    shown = method.interleave(first, second, k=k, seed=seed)
    assert len(set(shown.documents)) == len(shown.documents) == min(k, len({*first, *second}))
    assert set(shown.documents) <= {*first, *second}
    assert method.interleave(tuple(first), tuple(second), k=k, seed=seed) == shown
    if method.name != "optimized":
        longer = method.interleave(first, second, k=k + 5, seed=seed)
        assert longer.documents[:k] == shown.documents
    stored = Interleaved.from_dict(json.loads(json.dumps(shown.to_dict())))
    assert stored == shown
    for clicks in (shown.documents[:1], shown.documents[::2], shown.documents):
        credit = method.credit(stored, clicks)
        assert credit == method.credit(shown, iter([*clicks, *clicks]))
        assert -1 <= credit <= 1
        sign = rd.Outcome.FIRST if credit > 0 else rd.Outcome.SECOND if credit < 0 else rd.Outcome.TIE
        assert method.outcome(shown, clicks) is sign
    assert method.credit(shown, []) == 0


@every_method
def test_one_empty_ranking(method: Interleaving) -> None:
    for first, second in [("abc", ""), ("", "abc")]:
        shown = method.interleave(first, second, k=9, seed=1).documents
        assert set(shown) == {"a", "b", "c"}
        assert shown == ("a", "b", "c") or method.name == "probabilistic"  # which draws from the one list, too


@every_method
@pytest.mark.parametrize(
    ("first", "second", "k", "seed", "error", "message"),
    [
        ([], [], 10, 1, ValueError, "both rankings are empty"),
        (["a"], ["b"], 0, 1, ValueError, "k must be a whole number of at least 1, got 0"),
        (["a"], ["b"], -3, 1, ValueError, "got -3"),
        (["a"], ["b"], 2.5, 1, ValueError, "got 2.5"),
        (["a"], ["b"], True, 1, ValueError, "got True"),
        (["a"], ["b"], 10, -1, ValueError, "seed must be a non-negative int, got -1"),
        (["a"], ["b"], 10, "x", ValueError, "got 'x'"),
        (["a"], ["b"], 10, np.arange(2), ValueError, "seed must be"),
        (["a", "b", "a"], ["b"], 10, 1, ValueError, "document 'a' occurs twice"),
        ({"a", "b"}, ["b"], 10, 1, TypeError, "first must be a sequence of documents, best first, got set"),
        (["a"], 5, 10, 1, TypeError, "second must be a sequence"),
        ([["a"]], ["b"], 10, 1, TypeError, "unhashable"),
    ],
)
def test_bad_input(
    *, method: Interleaving, first: Any, second: Any, k: Any, seed: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        method.interleave(first, second, k=k, seed=seed)


@every_method
def test_clicks_on_what_was_not_shown(method: Interleaving) -> None:
    shown = method.interleave("abc", "bca", k=2, seed=1)
    with pytest.raises(ValueError, match="document 'z' was clicked but is not on the list"):
        method.credit(shown, ["z"])
    with pytest.raises(ValueError, match="cannot be credited"):
        METHODS[METHODS.index(method) - 1].credit(shown, [])


def test_integers_of_numpy() -> None:
    for seed in np.arange(3):
        made = METHODS[0].interleave(np.arange(20), np.arange(20)[::-1], k=np.int64(5), seed=seed)  # type: ignore[arg-type]
        assert made == METHODS[0].interleave(range(20), range(19, -1, -1), k=5, seed=int(seed))


def test_huge_k() -> None:
    assert len(METHODS[0].interleave("abc", "bca", k=10**30).documents) == 3


def test_fresh_seeds_differ() -> None:
    assert len({METHODS[0].interleave(range(50), range(50)[::-1]).documents for _ in range(20)}) > 1


PINNED = """
import rankduel.interleaving as i
print([m.interleave("abcdefghij", "jcaebdgifh", k=6, seed=s).documents
       for m in (i.ProbabilisticInterleaving(), i.TeamDraftInterleaving(), i.BalancedInterleaving())
       for s in (0, 1, 2**64 + 5)])
"""


@pytest.mark.slow
def test_the_same_in_every_process() -> None:
    namespace: dict[str, object] = {}
    printed = [
        subprocess.run(
            [sys.executable, "-c", PINNED], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": h}
        )
        for h in ("1", "2")
    ]
    exec(PINNED.replace("print(", "made = ("), namespace)
    assert printed[0].stdout == printed[1].stdout == f"{namespace['made']}\n"


def test_a_user_is_independent_of_the_list_with_the_same_seed() -> None:
    """False alarm: at most 1e-6. Caught: one stream for both, where the coin decides the click."""
    user, method = rd.clicks.RandomUser(0.5), INTERLEAVINGS["team_draft"]()
    cells = [0, 0, 0, 0]
    for seed in range(20_000):
        first = method.interleave("ab", "ba", seed=seed).documents[0] == "a"
        cells[2 * first + (user.click([0], seed=seed) == [0])] += 1
    assert fit(cells, [0.25] * 4) > ALARM


@pytest.mark.parametrize("spec", INTERLEAVINGS)
def test_specs(spec: str) -> None:
    method = interleaving_from(spec)
    assert isinstance(method, INTERLEAVINGS[spec])
    assert method.name == spec
    assert repr(interleaving_from(repr(method))) == repr(method)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: interleaving_from("zipper"), "unknown interleaving 'zipper'; expected one of probabilistic"),
        (lambda: interleaving_from("team_draft(tau=3)"), r"invalid interleaving 'team_draft\(tau=3\)'"),
        (lambda: interleaving_from("probabilistic(tau=-1)"), "tau must be from 0 to 50, got -1"),
        (lambda: interleaving_from("probabilistic(tau='x')"), "tau must be from 0 to 50, got 'x'"),
        (lambda: interleaving_from("balanced(depth='top')"), "depth must be 'lowest' or 'both', got 'top'"),
        (lambda: interleaving_from("optimized(credit='x')"), "credit must be one of linear, inverse, binary, got 'x'"),
        (lambda: Impression(0, 10), "k must be at least 1 and n_documents at least 0, got 0 and 10"),
        (
            lambda: Interleaved.from_dict({"method": "balanced", "documents": ["a"], "x": 1}),
            "x must be a list of 1, one per document, got 1",
        ),
        (lambda: Interleaved.from_dict({"method": "m", "documents": ["a"], "x": [1], "y": [1]}), "got x and y"),
        (
            lambda: Interleaved.from_dict({"method": "balanced", "documents": ["a"], "places": []}),
            "places must be a list of 1, one per document, got 0",
        ),
        (lambda: interleaving_from("team_draft").credit(Interleaved("team_draft", ("a",)), ["a"]), "teams"),
    ],
)
def test_bad_values(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"name": "new", "credit_field": "sides"},
        {"name": "new", "check_credit_value": staticmethod(lambda _value: None)},
        {"credit_field": "sides", "check_credit_value": staticmethod(lambda _value: None)},
    ],
)
def test_a_method_that_does_not_declare_its_pages_is_not_registered(declared: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="New must define name, credit_field and check_credit_value"):
        by_name(type("New", (Interleaving,), declared))


@every_method
def test_stored_pages(method: Interleaving) -> None:
    shown = method.interleave("abcdef", "fbxad", k=5, seed=3)
    assert shown.credit_field == type(method).credit_field
    again = Interleaved.from_dict(json.loads(json.dumps(shown.to_dict())))
    assert again == shown
    assert repr(again) == repr(shown)
    for value in shown.credit_data or ():
        method.check_credit_value(value)
    wrong: Any
    for wrong in ("third", [], [0], [0, -1], [0, 2**31], {}, True, float("nan"), -1e9, 10**400):
        with pytest.raises(ValueError, match="must be"):
            method.check_credit_value(wrong)
