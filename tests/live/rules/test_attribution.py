import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankduel.interleaving import Interleaved, Interleaving, interleaving_from
from rankduel.live import Attribution, Judgement, Signal
from rankduel.types import Outcome

FIRST, SECOND, TIE = Outcome.FIRST, Outcome.SECOND, Outcome.TIE
TEAMS = interleaving_from("team_draft")
PAGE = Interleaved(
    "team_draft", ("both", "a1", "b1", "a2", "b2"), "teams", (None, "first", "second", "first", "second")
)
BOTH = Attribution(actions={"click": 1, "buy": 3})


def signal(
    document: str | None, action: str = "click", time: float = 1.0, dwell: float | None = None, key: str | None = None
) -> Signal:
    key = f"{document} {action} {time} {dwell}" if key is None else key
    return Signal("q", action, document, None, time, dwell, key)


def judged(rules: Attribution, *signals: Signal, seed: int = 7) -> Judgement:
    return rules.judge(PAGE, signals, seed=seed, method=TEAMS, issued=0.0)


def outcome(rules: Attribution, *signals: Signal, seed: int = 7) -> Outcome | None:
    return rules.resolve(PAGE, signals, seed=seed, method=TEAMS, issued=0.0)


# Credit


def test_the_side_with_more_clicks_wins() -> None:
    assert outcome(Attribution(), signal("a1")) is FIRST
    assert outcome(Attribution(), signal("a1"), signal("b1"), signal("b2")) is SECOND


def test_each_action_counts_with_its_weight() -> None:
    assert outcome(BOTH, signal("a1"), signal("a2"), signal("b1", "buy")) is SECOND
    assert outcome(replace(BOTH, actions={"click": 4, "buy": 3}), signal("a1"), signal("b1", "buy")) is FIRST


def test_weights_are_compared_as_they_are_written() -> None:
    rules = Attribution(actions={"click": 0.1, "view": 0.2, "buy": 0.3}, tie="skip")
    assert 0.1 + 0.2 > 0.3  # as floats
    assert outcome(rules, signal("a1"), signal("a1", "view"), signal("b1", "buy")) is None


def test_a_document_counts_once_for_each_action() -> None:
    again = [signal("a1", time=time) for time in (1.0, 2.0, 3.0)]
    assert judged(Attribution(), *again, signal("b1"), signal("b2")) == Judgement(SECOND, 5, 0, 0, 0)


def test_other_actions_say_nothing() -> None:
    assert judged(Attribution(), signal("a1", "hover")) == Judgement(None, 0, 0, 0, 0)
    assert judged(Attribution(actions={"click": 1, "hover": 0}), signal("a1", "hover")).counted == 0


def test_what_was_not_shown_is_an_orphan() -> None:
    assert judged(Attribution(), signal("c"), signal(None), signal("b1")) == Judgement(SECOND, 1, 2, 0, 0)


def test_numbers_as_documents_are_found_by_their_digits() -> None:
    page = Interleaved("team_draft", (41, 42), "teams", ("first", "second"))
    assert Attribution().resolve(page, [signal("42")], seed=1, method=TEAMS, issued=0.0) is SECOND


def test_a_page_of_another_method_is_refused() -> None:
    with pytest.raises(ValueError, match="a list of method 'team_draft' cannot be credited"):
        Attribution().resolve(PAGE, [signal("a1")], seed=1, method=interleaving_from("balanced"), issued=0.0)


# Time


def test_the_window_ends_after_so_many_seconds() -> None:
    rules = Attribution(window=60)
    shown: dict[str, Any] = {"seed": 1, "method": TEAMS, "issued": 1000.0}
    assert rules.judge(PAGE, [signal("a1", time=1060.0)], **shown) == Judgement(FIRST, 1, 0, 0, 0)
    assert rules.judge(PAGE, [signal("a1", time=1060.5)], **shown) == Judgement(None, 0, 0, 1, 0)


def test_a_slow_clock_of_a_user_loses_nothing() -> None:
    assert Attribution().resolve(PAGE, [signal("a1", time=990.0)], seed=1, method=TEAMS, issued=1000.0) is FIRST


def test_a_document_that_is_left_too_soon_does_not_count() -> None:
    rules = Attribution(dwell=10)
    assert judged(rules, signal("a1", time=0), signal("b1", time=9)) == Judgement(SECOND, 1, 0, 0, 1)
    assert judged(rules, signal("a1", time=0), signal("a2", time=10), signal("b1", time=20)).hasty == 0


def test_any_signal_about_something_else_ends_a_stay() -> None:
    rules = Attribution(dwell=10)
    assert judged(rules, signal("a1", time=0), signal("elsewhere", "view", time=5)).hasty == 1
    assert judged(rules, signal("a1", time=0), signal(None, "search", time=5)).hasty == 1


def test_to_go_on_with_the_same_document_is_to_stay() -> None:
    rules = Attribution(dwell=10)
    assert outcome(rules, signal("a1", time=0), signal("a1", "cart", time=2), signal("a1", time=3)) is FIRST
    assert judged(rules, signal("a1", time=0), signal("a1", "cart", time=2), signal("b1", time=9)).hasty == 1


def test_signals_of_one_moment_end_each_other() -> None:
    assert judged(Attribution(dwell=1), signal("a1"), signal("a2"), signal("b1")).hasty == 3
    assert judged(Attribution(dwell=1), signal("a1"), signal("a1", "cart")).hasty == 0


def test_a_measured_stay_that_is_too_short_does_not_count() -> None:
    assert judged(Attribution(dwell=10), signal("a1", dwell=9.5), signal("b1", dwell=10)).hasty == 2  # of one moment
    assert judged(Attribution(dwell=10), signal("a1", dwell=9.5)) == Judgement(None, 0, 0, 0, 1)
    assert outcome(Attribution(dwell=10), signal("a1", dwell=10.0)) is FIRST


def test_what_comes_after_the_window_ends_no_stay() -> None:
    rules = Attribution(window=60, dwell=10)
    assert judged(rules, signal("a1", time=58), signal("b1", time=61)) == Judgement(FIRST, 1, 0, 1, 0)


# Ties and silence


@pytest.mark.parametrize(("rule", "expected"), [("skip", None), ("half", TIE)])
def test_rules_for_ties_and_for_silence(rule: str, expected: Outcome | None) -> None:
    other = "half" if rule == "skip" else "skip"
    for clicks in ([signal("both")], [signal("a1"), signal("b1")]):
        assert outcome(Attribution(tie=rule, no_click=other), *clicks) is expected
    for silence in ([], [signal("c")], [signal("a1", "hover")], [signal("a1", time=1e6)]):
        assert outcome(Attribution(tie=other, no_click=rule), *silence) is expected


def test_the_coin_is_fair_and_not_a_bit_of_the_seed() -> None:
    """The coins of 20,000 seeds: their number, and that of those which differ from each of the seed's lowest bits.

    Each is Binomial(20,000, 1/2) and misses 10,000 by 400 or more (5.6 standard deviations) with a probability of 2e-8;
    the seeds are fixed. The seed's own bit differs from itself 0 times.
    """
    rules = Attribution(no_click="coin")
    coins = [outcome(rules, seed=seed) is FIRST for seed in range(20_000)]
    assert coins == [outcome(rules, seed=seed) is FIRST for seed in range(20_000)]
    assert abs(sum(coins) - 10_000) < 400
    for bit in range(10):
        differ = sum(coin != (seed >> bit) & 1 for seed, coin in enumerate(coins))
        assert abs(differ - 10_000) < 400
    assert outcome(Attribution(tie="coin"), signal("both"), seed=5) is outcome(rules, seed=5)


# For any page and any signals

METHODS = ["team_draft", "probabilistic", "balanced", "balanced(depth='both')", "optimized"]
DOCUMENTS = "abcdefg"


@st.composite
def pages(draw: st.DrawFn) -> tuple[Interleaving, Interleaved]:
    method = interleaving_from(draw(st.sampled_from(METHODS)))
    first = draw(st.permutations(DOCUMENTS[:5]))
    second = draw(st.permutations(DOCUMENTS[1:6]))
    return method, method.interleave(first, second, k=draw(st.integers(1, 4)), seed=draw(st.integers(0, 2**48 - 1)))


SIGNALS = st.lists(
    st.builds(
        signal,
        st.sampled_from([*DOCUMENTS, None]),
        st.sampled_from(["click", "buy", "hover"]),
        st.integers(0, 12).map(float),
        st.sampled_from([None, 0.0, 2.0, 9.0]),
        st.sampled_from([None, "one", "two"]),
    ),
    max_size=12,
)
RULES = st.builds(
    Attribution,
    st.sampled_from([{"click": 1}, {"click": 1, "buy": 2}, {"buy": 0.5, "click": 0.5}]),
    window=st.sampled_from([10, 1800]),
    dwell=st.sampled_from([0, 3]),
    tie=st.sampled_from(["half", "skip"]),
    no_click=st.sampled_from(["half", "skip"]),
)


def swapped(page: Interleaved) -> Interleaved:
    """The same page, had the two rankers stood the other way round."""
    other = {"first": "second", "second": "first", None: None}
    swap: dict[str, Callable[[Any], Any]] = {
        "probabilities": lambda chance: 1 - chance,
        "teams": lambda team: other[team],
        "places": lambda places: places[::-1],
        "credits": lambda credit: -credit,
    }
    return replace(page, credit_data=tuple(map(swap[page.credit_field or ""], page.credit_data or ())))


@pytest.mark.slow
@given(pages(), SIGNALS, RULES)
def test_swapping_the_sides_swaps_the_outcome(
    page: tuple[Interleaving, Interleaved], signals: list[Signal], rules: Attribution
) -> None:
    method, shown = page
    mirrored = {FIRST: SECOND, SECOND: FIRST, TIE: TIE, None: None}
    here = rules.judge(shown, signals, seed=1, method=method, issued=0.0)
    there = rules.judge(swapped(shown), signals, seed=1, method=method, issued=0.0)
    assert there == here._replace(outcome=mirrored[here.outcome])


@pytest.mark.slow
@given(pages(), st.data())
def test_plain_clicks_are_what_the_method_makes_of_them(
    page: tuple[Interleaving, Interleaved], data: st.DataObject
) -> None:
    method, shown = page
    clicks = data.draw(st.lists(st.sampled_from([str(document) for document in shown.documents])))
    signals = [signal(document, time=float(time)) for time, document in enumerate(clicks)]
    rules = Attribution(no_click="half")
    assert rules.resolve(shown, signals, seed=1, method=method, issued=0.0) is method.outcome(shown, clicks)


@pytest.mark.slow
@given(pages(), SIGNALS, RULES, st.randoms(use_true_random=False))
def test_order_and_duplicates_do_not_matter(
    page: tuple[Interleaving, Interleaved], signals: list[Signal], rules: Attribution, random: Any
) -> None:
    method, shown = page
    again = [*signals, *random.sample(signals, len(signals) // 2)]
    random.shuffle(again)
    expected = rules.judge(shown, signals, seed=1, method=method, issued=0.0)
    assert rules.judge(shown, again, seed=1, method=method, issued=0.0) == expected


@pytest.mark.slow
@given(pages(), SIGNALS, RULES)
def test_stays_are_as_the_definition_says(
    page: tuple[Interleaving, Interleaved], signals: list[Signal], rules: Attribution
) -> None:
    """The quick way, from the last signal to the first, against a look at all pairs."""
    method, shown = page
    unique: dict[str, Signal] = {}
    for each in sorted(signals, key=lambda each: (each.time, repr(each))):
        unique.setdefault(each.key, each)
    timely = [each for each in unique.values() if each.time <= rules.window]
    hasty = 0
    for each in timely:
        left = [other.time - each.time for other in timely if other.time >= each.time and other.object != each.object]
        stay = min([*left, math.inf if each.dwell is None else each.dwell])
        hasty += each.action in rules.actions and each.object in shown.documents and stay < rules.dwell
    judgement = rules.judge(shown, signals, seed=1, method=method, issued=0.0)
    weighted = [each for each in unique.values() if each.action in rules.actions]
    assert judgement.hasty == hasty
    assert judgement.late == sum(each.time > rules.window for each in weighted)
    assert sum(judgement[1:]) == len(weighted)


# The rules themselves


def test_rules_can_be_stored() -> None:
    rules = Attribution(actions={"buy": 2}, window=60, dwell=5, tie="coin", no_click="half", version=3)
    assert Attribution.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert Attribution.from_dict({}) == Attribution()
    assert hash(rules) == hash(Attribution.from_dict(rules.to_dict()))


def test_rules_do_not_change_with_what_they_were_made_of() -> None:
    actions = {"click": 1.0}
    rules = Attribution(actions=actions)
    actions["click"] = 2.0
    rules.to_dict()["actions"]["click"] = 3.0
    assert rules == Attribution()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"actions": {}}, "actions must have a weight above 0, got {}"),
        ({"actions": {"click": 0}}, "actions must have a weight above 0"),
        ({"actions": {"click": -1}}, "the weight of 'click' must be a number of at least 0 .*, got -1"),
        ({"actions": {"click": math.inf}}, "the weight of 'click' .* got inf"),
        ({"actions": {"click": True}}, "the weight of 'click' .* got True"),
        ({"actions": {"": 1}}, "an action must be 1 to 200 printable characters, got ''"),
        ({"actions": ["click"]}, r"actions must be a dictionary of weights by action, got \['click'\]"),
        ({"window": 0}, "window must be a number of seconds above 0, got 0"),
        ({"window": math.nan}, "window must be a number of at least 0, got nan"),
        ({"window": "60"}, "window must be a number of at least 0, got '60'"),
        ({"dwell": -1}, "dwell must be a number of at least 0"),
        ({"window": 60, "dwell": 60}, "dwell must be a number of at least 0 and below 60, got 60"),
        ({"tie": None}, "tie must be one of skip, half, coin, got None"),
        ({"no_click": "first"}, "no_click must be one of skip, half, coin, got 'first'"),
        ({"version": 0}, "version must be a whole number of at least 1, got 0"),
        ({"windw": 60}, "unknown field 'windw' in an attribution; known fields: actions, window"),
    ],
)
def test_rules_that_make_no_sense_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Attribution.from_dict(given)


def test_rules_must_be_a_dictionary() -> None:
    with pytest.raises(ValueError, match="an attribution must be a dictionary, got 3"):
        Attribution.from_dict(3)  # type: ignore[arg-type]
