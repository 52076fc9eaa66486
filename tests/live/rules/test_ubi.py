import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankduel.interleaving import INTERLEAVINGS, Interleaved, TeamDraftInterleaving, interleaving_from
from rankduel.interleaving.registry import by_name
from rankduel.live import Attribution, Shown, Signal, read_events
from rankduel.live.rules.ubi import MAX_EVENTS_PER_CALL

TIME = "2027-01-15T08:00:00Z"  # 1,800,000,000 seconds after the beginning of 1970


def event(**changes: Any) -> dict[str, Any]:
    """A click as UBI's own examples have it; a change to None takes the field away."""
    whole = {
        "application": "primary-search",
        "action_name": "click",
        "query_id": "00112233-4455-6677-8899-aabbccddeeff",
        "session_id": "84266fdbd31d4c2c6d0665f7e8380fa3",
        "client_id": "5e3b2a1c-8b7d-4f2e-a3d4-c9b2e1f3a4b5",
        "user_id": None,
        "timestamp": TIME,
        "message_type": "CLICK",
        "message": "clicked",
        "event_attributes": {
            "object": {"object_id": "XYZ-12345", "object_id_field": "sku"},
            "position": {"ordinal": 3},
        },
    } | changes
    return {field: value for field, value in whole.items() if value is not None}


def attributes(**given: Any) -> dict[str, Any]:
    return event(event_attributes=given)


def one(given: Any) -> Signal:
    (result,) = read_events(given)
    assert isinstance(result, Signal), result
    return result


def error(given: Any) -> str:
    (result,) = read_events([given])
    assert isinstance(result, str), result
    return result


def test_an_event_becomes_a_signal() -> None:
    signal = one(event())
    query = "00112233-4455-6677-8899-aabbccddeeff"
    assert signal[:-1] == (query, "click", "XYZ-12345", 3, 1_800_000_000.0, None)
    assert len(signal.key) == 32


def test_only_three_fields_are_needed() -> None:
    assert one(event(event_attributes=None))[1:6] == ("click", None, None, 1_800_000_000.0, None)
    # As in UBI's own sample of a page that was left: an object without an id, and a position without a place.
    assert one(attributes(object={"idleTimeoutMs": 5000}, position={})).object is None
    assert one(attributes(position={"xy": {"x": 1, "y": 2}})).position is None


@pytest.mark.parametrize(
    "timestamp",
    [
        TIME,
        "2027-01-15T08:00:00",
        "2027-01-15T08:00:00.000+00:00",
        "2027-01-15T09:30:00+01:30",
        "2027-01-15 08:00:00",
        1_800_000_000_000,
        1_800_000_000_000.0,
    ],
)
def test_ways_to_write_a_time(timestamp: object) -> None:
    assert one(event(timestamp=timestamp)).time == 1_800_000_000.0


def test_a_time_without_a_zone_is_utc_wherever_the_server_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as tokyo:
        tokyo.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        seconds = one(event(timestamp="2027-01-15T08:00:00")).time
    time.tzset()
    assert seconds == 1_800_000_000.0


def test_milliseconds_are_kept() -> None:
    assert one(event(timestamp=1_800_000_000_250)).time == one(event(timestamp="2027-01-15T08:00:00.25Z")).time
    assert one(event(timestamp=1_800_000_000_250)).time == 1_800_000_000.25


def test_an_object_may_be_a_number() -> None:
    assert one(attributes(object={"object_id": 123})).object == "123"


# Ways to send them


def test_dictionaries_lists_and_texts_say_the_same() -> None:
    events = [event(), event(action_name="view"), event(query_id="Zoë")]
    expected = read_events(events)
    lines = [json.dumps(each, ensure_ascii=False) for each in events]
    assert [read_events(each)[0] for each in events] == expected
    for text in (
        json.dumps(events),
        json.dumps(events, indent=2),
        "\n".join(lines),
        "\r\n".join(lines) + "\r\n\r\n",
        "\ufeff" + "\n".join(lines),
    ):
        assert read_events(text) == read_events(text.encode()) == expected
    assert read_events(lines[0]) == read_events(json.dumps(events[0], indent=1)) == expected[:1]
    assert read_events("") == read_events([]) == read_events("[]") == []


def test_what_is_wrong_with_one_event_is_not_wrong_with_the_others() -> None:
    lines = [json.dumps(event()), '{"query_id": ', "[1]", "7", "null", '{"a": NaN}', json.dumps(event(query_id=""))]
    good, *bad, last = read_events("\n".join([*lines, json.dumps(event())]))
    assert isinstance(good, Signal)
    assert good == last
    expected = [
        "event 2: expected an event as JSON, got ",
        "event 3: an event must be a dictionary, got [1]",
        "event 4: an event must be a dictionary, got 7",
        "event 5: an event must be a dictionary, got None",
        "event 6: expected an event as JSON, got '{\"a\": NaN}': NaN is not a number",
        "event 7: query_id must be 1 to 200 printable characters, got ''",
    ]
    assert [str(result).startswith(start) for result, start in zip(bad, expected, strict=True)] == [True] * 6, bad


def test_bytes_that_are_no_text_spoil_one_event() -> None:
    good = json.dumps(event()).encode()
    results = read_events(b"\n".join([good, good.replace(b"0011", b"\xff\xfe"), b"\x80\x00", good]))
    assert [isinstance(result, Signal) for result in results] == [True, False, False, True]
    assert str(results[1]).startswith("event 2: query_id must be")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 10_000, '{"query_id": ' + "9" * 5_000 + "}"])
def test_hostile_json_is_an_error_like_any_other(text: str) -> None:
    (result,) = read_events(text)
    assert isinstance(result, str)
    assert result.startswith("event 1: ")
    assert len(result) < 300


def test_a_thousand_at_once() -> None:
    assert len(read_events([event()] * MAX_EVENTS_PER_CALL)) == MAX_EVENTS_PER_CALL == 1_000
    with pytest.raises(ValueError, match="expected at most 1,000 events, got more; split them into batches"):
        read_events([event()] * (MAX_EVENTS_PER_CALL + 1))
    with pytest.raises(ValueError, match="at most 1,000"):
        read_events("7\n" * (MAX_EVENTS_PER_CALL + 1))


def test_events_must_be_events() -> None:
    with pytest.raises(TypeError, match="events must be a dictionary, a list or text, got 7"):
        read_events(7)  # type: ignore[arg-type]


# What is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (event(query_id=None), "query_id must be 1 to 200 printable characters, got None"),
        (event(query_id=5), "query_id must be 1 to 200 printable characters, got 5"),
        (event(query_id="a" * 201), "query_id must be 1 to 200"),
        (event(query_id="a\nb"), "query_id must be 1 to 200"),
        (event(query_id="\ud800"), "query_id must be 1 to 200"),
        (event(action_name=None), "action_name must be 1 to 200"),
        (event(event_id=""), "event_id must be 1 to 200"),
        (event(timestamp=None), "timestamp must be ISO 8601 or milliseconds since 1970, got None"),
        (event(timestamp="yesterday at noon"), "timestamp must be ISO 8601"),
        (event(timestamp="2027-01-15"), "timestamp must be ISO 8601"),
        (event(timestamp=True), "timestamp must be ISO 8601"),
        (event(timestamp=float("nan")), "timestamp must be ISO 8601"),
        (event(timestamp=10**400), "timestamp must be ISO 8601"),
        (event(timestamp=1_800_000_000), "timestamp must be in the years 2000 to 2099 (milliseconds, not seconds)"),
        (event(timestamp="0001-01-01T00:00:00+14:00"), "timestamp must be in the years 2000 to 2099"),
        (event(event_attributes=[]), "event_attributes must be a dictionary, got []"),
        (attributes(object="XYZ"), "object must be a dictionary, got 'XYZ'"),
        (attributes(object={"object_id": 1.5}), "object_id must be 1 to 256 printable characters, got 1.5"),
        (attributes(object={"object_id": True}), "object_id must be"),
        (attributes(object={"object_id": "a" * 257}), "object_id must be 1 to 256"),
        (attributes(position=3), "position must be a dictionary, got 3"),
        (attributes(position={"ordinal": 1.5}), "position.ordinal must be a whole number of at least 0, got 1.5"),
        (attributes(position={"ordinal": -1}), "position.ordinal must be a whole number of at least 0, got -1"),
        (attributes(position={"ordinal": 10**30}), "position.ordinal must be"),
        (attributes(dwell=-1), "dwell must be a number of at least 0, got -1"),
        (attributes(dwell="3"), "dwell must be a number of at least 0, got '3'"),
        (attributes(dwell=float("inf")), "dwell must be"),
        (attributes(dwell=10**400), "dwell must be"),
    ],
)
def test_errors_name_the_item_and_what_was_expected(given: dict[str, Any], message: str) -> None:
    assert error(given).startswith(f"event 1: {message}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["query_id", "action_name", "timestamp", "event_id"]
INNER = ["object", "position", "dwell", "shown"]


@pytest.mark.slow
@given(
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=2),
    st.dictionaries(st.sampled_from(INNER), JSON, max_size=2),
)
def test_no_value_anywhere_breaks_anything(fields: dict[str, Any], inner: dict[str, Any]) -> None:
    given = {**event(action_name="impression"), "event_attributes": inner, **fields}
    (result,) = read_events(given)
    assert isinstance(result, Signal | Shown | str)
    (again,) = read_events(json.dumps(given))
    assert isinstance(again, str) or again == result


@given(st.binary() | st.text())
def test_no_text_breaks_anything(text: str | bytes) -> None:
    assert all(isinstance(result, str) for result in read_events(text))


# Duplicates


def test_the_same_content_has_the_same_key() -> None:
    again = {**event(message="sent again", session_id="another"), "sent_at": 5}
    assert one(event()).key == one(again).key == one(event(timestamp=1_800_000_000_000)).key
    others = [
        event(query_id="q"),
        event(action_name="view"),
        event(timestamp="2027-01-15T08:00:01Z"),
        attributes(object={"object_id": "XYZ-12345"}),
        attributes(object={"object_id": "other"}, position={"ordinal": 3}),
        {**event(), "event_attributes": {**event()["event_attributes"], "dwell": 3}},
    ]
    assert len({one(each).key for each in [event(), *others]}) == 7


def test_an_id_of_the_event_is_its_key() -> None:
    assert one(event(event_id="e-1")).key == one(event(event_id="e-1", action_name="view")).key
    assert len({one(event(event_id=own)).key for own in ("e-1", "e-2", None)}) == 3


# Pages

PLACED: dict[str, Any] = {"method": "team_draft", "documents": ["a"], "teams": ["first"]}


@pytest.mark.parametrize("method", INTERLEAVINGS)
def test_an_impression_may_carry_the_page(method: str) -> None:
    interleaving = interleaving_from(method)
    page = interleaving.interleave(["a", "b", "c", "d"], ["d", "b", "e"], k=4, seed=3)
    text = json.dumps(event(action_name="impression", event_attributes={"shown": page.to_dict()}))
    (result,) = read_events(text)
    assert result == Shown(event()["query_id"], page)
    assert read_events(event(action_name="impression", event_attributes={"shown": page.to_dict()})) == [result]
    clicks = [Signal("q", "click", str(document), None, 0.0, None, "k") for document in page.documents]
    rules = Attribution(tie="skip")
    for click in clicks:
        expected = rules.resolve(page, [click], seed=1, method=interleaving, issued=0.0)
        assert rules.resolve(result.page, [click], seed=1, method=interleaving, issued=0.0) is expected


class CaptainsInterleaving(TeamDraftInterleaving):
    """A method that is nowhere but here: its pages carry something else."""

    name = "captains"
    credit_field = "captains"

    @staticmethod
    def check_credit_value(value: object) -> None:
        if value not in ("first", "second", None):
            raise ValueError(f"a captain must be first, second or null, got {value!r}")


def test_a_new_method_needs_nothing_but_a_line_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(INTERLEAVINGS, "captains", by_name(CaptainsInterleaving)["captains"])
    test_an_impression_may_carry_the_page("captains")
    wrong = {"method": "captains", "documents": ["a"], "captains": ["third"]}
    message = error(event(action_name="impression", event_attributes={"shown": wrong}))
    assert message == "event 1: captains of shown: a captain must be first, second or null, got 'third'"


def test_a_page_may_carry_both_lists() -> None:
    (result,) = read_events(
        event(action_name="impression", event_attributes={"shown": PLACED | {"lists": [["a", 7], []]}})
    )
    assert isinstance(result, Shown)
    assert result.page.lists == (("a", 7), ())
    assert Interleaved.from_dict(json.loads(json.dumps(result.page.to_dict()))) == result.page
    with pytest.raises(ValueError, match="lists must be two, one per ranker, got 1"):
        Interleaved.from_dict(PLACED | {"lists": [["a"]]})


def test_an_impression_without_a_page_and_another_action_with_one_are_signals() -> None:
    assert one(event(action_name="impression")).action == "impression"
    assert one(attributes(shown={"method": "nonsense"})).action == "click"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ([], "shown must be a dictionary, got []"),
        ({}, "method of shown must be one of probabilistic, team_draft, balanced, optimized, got None"),
        ({"method": ["team_draft"]}, "method of shown must be one of"),
        ({"method": "team_draft"}, "documents of shown must be a list of 1 to 1,000, got None"),
        ({"method": "team_draft", "documents": ["a"]}, "teams of shown must be a list of 1 to 1,000, got None"),
        ({"method": "team_draft", "documents": [], "teams": []}, "documents of shown must be a list"),
        ({"method": "team_draft", "documents": "ab", "teams": ["first", None]}, "documents of shown must be a list"),
        ({"method": "team_draft", "documents": ["a"] * 1001, "teams": [None] * 1001}, "documents of shown must be"),
        ({"method": "team_draft", "documents": ["a", ["b"]], "teams": [None, None]}, "a document of shown must be"),
        (
            {"method": "team_draft", "documents": ["1", 1], "teams": [None, None]},
            "documents of shown must not have duplicates",
        ),
        (
            {"method": "team_draft", "documents": ["a"], "teams": ["third"]},
            "teams of shown: a team must be",
        ),
        (
            {"method": "team_draft", "documents": ["a", "b"], "teams": ["first"]},
            "teams must be a list of 2, one per document, got 1",
        ),
        (
            {"method": "probabilistic", "documents": ["a"], "probabilities": ["x"]},
            "probabilities of shown: a prob",
        ),
        (
            {"method": "probabilistic", "documents": ["a"], "probabilities": [1.1]},
            "probabilities of shown: a prob",
        ),
        ({"method": "optimized", "documents": ["a"], "credits": [None]}, "credits of shown: a credit must be a number"),
        (
            {"method": "balanced", "documents": ["a"], "places": [[1]]},
            "places of shown: places must be a pair",
        ),
        (
            {"method": "balanced", "documents": ["a"], "places": [[0, -1]]},
            "places of shown: a place must be",
        ),
        (
            {"method": "balanced", "documents": ["a"], "places": [[0, 2**31]]},
            "places of shown: a place must be",
        ),
        (
            PLACED | {"lists": [["a"]]},
            "lists of shown must be two lists, of the first and the second ranker, got [['a']]",
        ),
        (PLACED | {"lists": ["a", "b"]}, "each of the lists of shown must be a list of up to 1,000, got 'a'"),
        (PLACED | {"lists": [["a"], [["b"]]]}, "a document of the lists of shown must be"),
        (PLACED | {"lists": [["a"], ["b"] * 1001]}, "each of the lists of shown must be a list of up to 1,000"),
    ],
)
def test_a_page_that_could_not_be_credited_is_refused(page: Any, message: str) -> None:
    assert error(event(action_name="impression", event_attributes={"shown": page})).startswith(f"event 1: {message}")
