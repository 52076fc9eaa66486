"""The OpenAPI document tells the truth: every route is in it, and whatever it allows is answered as it says."""

import os
import re
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import booleans
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Route, Router

import rankduel
from rankduel.live.rules.attribution import MAX_ACTIONS
from rankduel.service.app import ROUTES, make_app
from rankduel.service.http.endpoint import Endpoint
from rankduel.service.http.openapi import document
from rankduel.service.problems import PROBLEMS
from rankduel.service.routes import browser
from service.servers import Client, Server, at

EXAMPLES = int(os.environ.get("RANKDUEL_EXAMPLES", "8"))  # `make soak` makes more
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
KNOWN = {"name": "0", "ranker": "0", "duel": "1-1"}  # in the tournament that is there
DOCUMENT = document(ROUTES, rankduel.__version__)


def operations() -> list[tuple[str, str]]:
    return [(method.upper(), path) for path, item in DOCUMENT["paths"].items() for method in item]


def test_every_route_is_in_the_document() -> None:
    app = make_app("sqlite:///never-opened.db")
    assert isinstance(app.app, Router)
    routed = [route for route in app.app.routes if isinstance(route, Route)]
    places = [route.endpoint for route in routed if isinstance(route.endpoint, Endpoint)]
    served = {(method, place.path) for place in places for method in place.methods if method != "HEAD"}
    browsers = {(call.method, call.path) for call in browser.ROUTES}  # pages, sessions and streams are no part of it
    assert served == set(operations()) | browsers
    assert len(served) == len(ROUTES) + len(browsers)


def test_the_document_is_served_and_whole(client: Client) -> None:
    served = client.get("/v1/openapi.json").body
    assert served["openapi"].startswith("3.1")
    assert served.keys() == DOCUMENT.keys()
    assert served["paths"].keys() == DOCUMENT["paths"].keys()
    names = [operation["operationId"] for item in served["paths"].values() for operation in item.values()]
    assert len(set(names)) == len(names) == len(ROUTES)
    references = set(re.findall(r"#/components/schemas/(\w+)", str(served)))
    assert references <= served["components"]["schemas"].keys()
    for item in served["paths"].values():
        for operation in item.values():
            assert operation["summary"].endswith(".")


def test_every_problem_is_told_of_somewhere() -> None:
    told = str(DOCUMENT["paths"])
    assert [kind.type for kind in PROBLEMS.values() if kind.type not in told and kind.name != "wrong-method"] == []


@pytest.mark.parametrize("body", ["CreateTournament", "ChangeSettings"])
def test_the_document_states_the_limit_of_declared_actions(client: Client, body: str) -> None:
    """A tournament with as many actions as the document allows is accepted, one action more is refused."""
    attribution = DOCUMENT["components"]["schemas"][body]["properties"]["attribution"]
    rules = attribution.get("anyOf", [attribution])[0]
    limit = rules["properties"]["actions"]["maxProperties"]
    assert limit == MAX_ACTIONS
    assert f"at most {limit} " in rules["description"]
    tournament = {"name": f"actions of {body}", "rankers": ["a", "b"]}
    if body == "ChangeSettings":
        client.post("/v1/tournaments", tournament)
    for count, status in ((limit + 1, 422), (limit, 201 if body == "CreateTournament" else 200)):
        change = {"attribution": {"actions": {f"action {number}": 1 for number in range(count)}}}
        if body == "CreateTournament":
            answer = client.post("/v1/tournaments", tournament | change)
        else:
            answer = client.send("PATCH", at(f"actions of {body}"), change)
        assert answer.status == status, answer


@pytest.fixture(scope="module")
def schema(server: Server) -> Any:
    with server.client as client:
        client.post("/v1/tournaments", {"name": "0", "rankers": ["0", "1"]})
        client.post("/v1/tournaments/0/ask", {"n": 5})
    return schemathesis.openapi.from_dict(DOCUMENT)


def cases() -> list[tuple[str, str, str]]:
    """Each operation with what is allowed, and those that take something with what is not."""
    found = []
    for method, path in operations():
        operation = DOCUMENT["paths"][path][method.lower()]
        found.append((method, path, "positive"))
        if "requestBody" in operation or any(given["in"] == "query" for given in operation["parameters"]):
            found.append((method, path, "negative"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path", "mode"), cases(), ids=str)
def test_whatever_is_sent_is_answered_as_the_document_says(
    server: Server, schema: Any, method: str, path: str, mode: str
) -> None:
    strategy = schema[path][method].as_strategy(generation_mode=schemathesis.GenerationMode(mode))

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=strategy, known=booleans())
    def send(case: Any, known: bool) -> None:
        if known and case.path_parameters:
            case.path_parameters.update({name: KNOWN[name] for name in case.path_parameters})
        case.call_and_validate(base_url=f"http://127.0.0.1:{server.port}", checks=CHECKS, timeout=30)

    send()
