"""The OpenAPI document tells the limits of the code: a value at a limit is accepted, the next one is refused."""

import json
import math
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import rankduel
from rankduel.bandits import REGISTRY
from rankduel.bandits.parameters import MAX_WHOLE
from rankduel.service.app import ROUTES
from rankduel.service.http.openapi import document
from service.servers import Answer, Client, serving

DOCUMENT = json.loads(json.dumps(document(ROUTES, rankduel.__version__)))
TEAM_PAGE = {"method": "team_draft", "documents": ["d"], "teams": ["first"]}
EVENT = {"query_id": "q", "action_name": "click", "timestamp": 1_800_000_000_000}
# A body that is accepted, for each call that takes one.
BODIES: dict[str, Any] = {
    "create": {"name": "new", "rankers": ["a", "b"], "external_baseline": True},
    "configure": {"share": 0.5, "external_baseline": True},
    "add_rankers": {"rankers": ["new"]},
    "erase_client": {"client_id": "u-1"},
    "roll_out": {"share": 0.5},
    "ask": {},
    "tell": {"duel": "9-9", "outcome": "tie"},
    "preview": {"action": "configure"},
    "show": {"duel": "9-9", "shown": TEAM_PAGE},
    "ingest": EVENT,
    "pause_ranker": {},
}
# Values of the greatest length that mean something.
LONGEST_SPECS = {"bandit": "Uniform", "interleaving": "team_draft"}
NOT_PRINTABLE = ("a\nb", "\x00", "\x7f", "a\u00a0b", "a\u200bb", "\u2028", "\ue000", "\u0378")
PRINTABLE = ("a b", "é", "漢字", "a/b?c#d%", "😀", "'\"<&>")

Values = list[Any]


def boundary(schema: dict[str, Any], name: str) -> tuple[Values, Values]:
    """Values that a schema allows and that are as near to a limit as can be, and the nearest that it forbids."""
    if "$ref" in schema:
        return [], []
    if "anyOf" in schema:
        parts = [boundary(one, name) for one in schema["anyOf"]]
        return [value for part, _ in parts for value in part], [value for _, part in parts for value in part]
    good: Values = []
    bad: Values = []
    if "maxLength" in schema:
        longest = schema["maxLength"]
        filled = f"{LONGEST_SPECS[name]}({' ' * 1000}"[: longest - 1] + ")" if name in LONGEST_SPECS else "x" * longest
        good.append(filled)
        bad.append("x" * (longest + 1))
    if schema.get("minLength"):
        good.append("x" * schema["minLength"])
        bad.append("x" * (schema["minLength"] - 1))
    if "Printable" in schema.get("description", ""):
        good += PRINTABLE
        bad += NOT_PRINTABLE
    whole = "integer" in schema.get("type", "")
    for key, step in (("minimum", -1), ("maximum", 1)):
        if key in schema:
            limit = schema[key]
            good.append(limit)
            bad.append(limit + step if whole else math.nextafter(limit, step * math.inf))
    for key, step in (("exclusiveMinimum", 1), ("exclusiveMaximum", -1)):
        if key in schema:
            good.append(math.nextafter(schema[key], step * math.inf))
            bad.append(schema[key])
    if "maxItems" in schema:
        items = [_item(schema["items"], name, i) for i in range(schema["maxItems"] + 1)]
        good.append(items[:-1])
        bad.append(items)
    if schema.get("minItems"):
        bad.append([])
    if "items" in schema:
        fine, wrong = boundary(schema["items"], name)
        more = [f"filler {i}" for i in range(schema.get("minItems", 1) - 1)]
        good += [[value, *more] for value in fine]
        bad += [[value, *more] for value in wrong]
    return good, bad


def _item(schema: dict[str, Any], name: str, i: int) -> Any:
    if name == "guardrails":
        return {"action": f"a{i}", "bound": 0.5}
    return {"query_id": f"q{i}"} if "$ref" in schema else f"x{i}"


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema, or the one that it refers to; of several, the object."""
    for one in schema.get("oneOf", schema.get("anyOf", [])):
        if one.get("type") != "array":
            return resolved(one)
    reference = schema.get("$ref")
    return schema if reference is None else DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]]


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def properties() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Call, path, property and its schema, for all bodies."""
    found = []
    for _, path, operation in operations():
        if operation["operationId"] in BODIES:
            schema = resolved(operation["requestBody"]["content"]["application/json"]["schema"])
            found += [(operation["operationId"], path, name, one) for name, one in schema["properties"].items()]
    return found


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    url = f"sqlite:///{tmp_path_factory.mktemp('bounds')}/duels.db"
    with serving(url, largest_body=10_000_000) as server, server.client as client:
        yield client
        assert not [line for line in server.lines if "Traceback" in line]


numbers = iter(range(10**9))


def tournament(client: Client) -> str:
    """A new one."""
    name = f"t{next(numbers)}"
    assert client.post("/v1/tournaments", {"name": name, "rankers": ["a", "b"]}).status == 201
    return name


def body_with(call: str, name: str, value: Any) -> dict[str, Any]:
    """A body that would be accepted, with another value of one property."""
    body = BODIES[call] | {name: value}
    if name == "clicks":  # on documents of the page, and instead of an outcome
        shown = {"method": "team_draft", "documents": value or ["d"], "teams": ["first"] * max(1, len(value))}
        body |= {"shown": shown, "outcome": None}
    return dict(body)


def send(client: Client, call: str, path: str, body: Any) -> Answer:
    method = "PATCH" if call == "configure" else "POST"
    if call == "create" and body["name"] == "new":
        body = body | {"name": f"new{next(numbers)}"}
    return client.send(method, path.replace("{name}", tournament(client)).replace("{ranker}", "a"), body)


@pytest.mark.parametrize(
    ("call", "path", "name", "schema"), properties(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_body_is_accepted_up_to_the_limits_of_the_document(
    client: Client, call: str, path: str, name: str, schema: dict[str, Any]
) -> None:
    good, bad = boundary(schema, name)
    for value in good:
        answer = send(client, call, path, body_with(call, name, value))
        assert answer.status < 500, (value, answer)
        assert answer.status != 422, (value, answer)
    for value in bad:
        answer = send(client, call, path, body_with(call, name, value))
        assert (answer.status, answer.problem) == (422, "bad-value"), (value, answer)


@pytest.mark.parametrize("call", ["tell", "show", "ingest"])
def test_a_batch_is_accepted_up_to_its_limit(client: Client, call: str) -> None:
    path, operation = next((path, one) for _, path, one in operations() if one["operationId"] == call)
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    batch = next(one for one in schema.get("oneOf", schema.get("anyOf")) if one.get("type") == "array")
    assert send(client, call, path, [BODIES[call]] * batch["maxItems"]).status == 200
    assert send(client, call, path, [BODIES[call]] * (batch["maxItems"] + 1)).problem == "bad-value"
    assert send(client, call, path, [BODIES[call]] * (batch["minItems"] - 1)).problem == "bad-value"


ATTRIBUTES = resolved(DOCUMENT["paths"]["/v1/events"]["post"]["requestBody"]["content"]["application/json"]["schema"])[
    "properties"
]["event_attributes"]["properties"]


@pytest.mark.parametrize(
    ("within", "name"), [("object", "object_id"), ("position", "ordinal"), (None, "dwell")], ids=str
)
def test_attributes_of_an_event_up_to_their_limits(client: Client, within: str | None, name: str) -> None:
    schema = ATTRIBUTES[name] if within is None else ATTRIBUTES[within]["properties"][name]
    good, bad = boundary(schema, name)
    assert good
    assert bad
    for values, status in ((good, 200), (bad, 422)):
        for value in values:
            attributes = {name: value} if within is None else {within: {name: value}}
            answer = send(client, "ingest", "/v1/events", EVENT | {"event_attributes": attributes})
            assert answer.status == status, (value, answer)


def parameters() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, one["name"], one["schema"])
        for method, path, operation in operations()
        for one in operation["parameters"]
        if one["in"] == "query" and method == "GET"
    ]


@pytest.mark.parametrize(
    ("path", "name", "schema"), parameters(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_parameter_is_accepted_up_to_the_limits_of_the_document(
    client: Client, path: str, name: str, schema: dict[str, Any]
) -> None:
    good, bad = boundary(schema, name)
    if name == "archived":
        good, bad = ["true", "false"], ["yes", "True", ""]
    elif "pattern" in schema:
        good, bad = ["1-1", "1-" + "9" * (schema["maxLength"] - 2)], [*bad, "x", "1", "1-", "-1", "1-x", "1-1-1"]
    at = path.replace("{name}", tournament(client))
    for values, status in ((good, 200), (bad, 422)):
        for value in values:
            answer = client.get(f"{at}?{urlencode({name: value})}")
            assert answer.status == status, (value, answer)


def test_names_in_paths_up_to_their_limit(client: Client) -> None:
    schema = DOCUMENT["paths"]["/v1/tournaments/{name}"]["get"]["parameters"][0]["schema"]
    longest = "é" * schema["maxLength"]
    assert client.post("/v1/tournaments", {"name": longest, "rankers": ["a", "b"]}).status == 201
    assert client.get(f"/v1/tournaments/{quote(longest)}").status == 200
    assert client.get(f"/v1/tournaments/{quote(longest + 'é')}").status in (404, 422)


HUGE = {
    "10**400": 10**400,
    "-10**400": -(10**400),
    "2**63": 2**63,
    "2**64": 2**64,
    "10**5000": "1" + "0" * 5000,  # sent as a number
    "1e999": "1e999",
}


def option_bodies() -> list[tuple[str, str]]:
    return [(bandit, option) for bandit in REGISTRY for option in REGISTRY[bandit](1, seed=0).parameters]


@pytest.mark.parametrize(("bandit", "option"), option_bodies())
def test_an_option_of_any_size_is_never_a_failure_of_the_server(client: Client, bandit: str, option: str) -> None:
    for word, number in HUGE.items():
        sent = json.dumps(
            {"name": f"n{next(numbers)}", "rankers": ["a", "b"], "bandit": bandit, "parameters": {option: 0}}
        ).replace('": 0}', f'": {number}}}')
        answer = client.send("POST", "/v1/tournaments", sent.encode(), {"Content-Type": "application/json"}, raw=True)
        huge = not (word.startswith("2**") and answer.status == 201)  # a large number may be a good one
        assert answer.status in ((400, 422) if huge else (201,)), (word, answer)
    for value in ("10**400", "9" * 400, "1e999", "-1e999", "9" * 300 + "**1000", "[" * 90 + "]" * 90, "A(" * 90):
        body = {"name": f"n{next(numbers)}", "rankers": ["a", "b"], "bandit": f"{bandit}({option}={value})"}
        assert client.post("/v1/tournaments", body).problem == "bad-value", value


def test_a_whole_number_up_to_its_limit() -> None:
    """A limit of the kernels is refused with the number that is allowed, not by an overflow."""
    for bandit in ("MergeDTS", "MergeRUCB"):
        assert REGISTRY[bandit](3, seed=1, batch_size=MAX_WHOLE).ask()
        with pytest.raises(ValueError, match=f"batch_size must be .* at most {MAX_WHOLE}, got {MAX_WHOLE + 1}"):
            REGISTRY[bandit](3, seed=1, batch_size=MAX_WHOLE + 1)
    with pytest.raises(ValueError, match=r"alpha must be > 0, got 1000000.*\.\.\.$"):
        REGISTRY["MergeDTS"](3, seed=1, alpha=10**400)


def test_every_limit_of_the_document_is_probed() -> None:
    """No body and no limit of it is left out: a new call must come with one that is accepted."""
    for _, path, operation in operations():
        reasons_only = str(operation.get("requestBody", "")).count("schemas/Reason")
        assert operation["operationId"] in BODIES or "requestBody" not in operation or reasons_only, path
