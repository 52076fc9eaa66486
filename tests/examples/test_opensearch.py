"""The recipe for OpenSearch: the script sends the requests of the page, and understands the answers."""

import json
import re
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import rankduel as rd
from examples.running import EXAMPLES, needs_service, run, service
from examples.stub import opensearch
from fences import fences
from rankduel.live import LocalTournament

PAGE = EXAMPLES / "opensearch" / "README.md"
SCRIPT = "opensearch/search.py"
TYPED = 'running shoes\n1\nshoes\n\ntea\n1\n"elegant" {{shoes}}\n9\nnothing has this\n\n'


class Shown(NamedTuple):
    """A request of the page, or the answer that follows it."""

    line: str
    kind: str | None
    body: str

    @property
    def path(self) -> str:
        return self.line.split()[1]


def shown(info: str) -> list[Shown]:
    """The blocks of the page: a request line, headers, an empty line and a body."""
    found = []
    for fence in fences(PAGE):
        if fence.info == info:
            head, _, body = fence.text.partition("\n\n")
            kind = re.search(r"^Content-Type: (.*)$", head, re.MULTILINE)
            found.append(Shown(head.splitlines()[0], kind and kind[1], body))
    return found


def documented(path: str) -> Shown:
    (request,) = [request for request in shown("http") if request.path == path]
    return request


def shape(value: Any) -> Any:
    """The names in a JSON value, however deep; lists by their first item."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return [shape(inner) for inner in value[:1]] if isinstance(value, list) else ""


def test_the_script_sends_what_the_page_says(tmp_path: Path) -> None:
    with opensearch() as stub:
        run(SCRIPT, "--engine", stub.url, cwd=tmp_path, typed=TYPED, OPENSEARCH_AUTHORIZATION="ApiKey abc")
    stored = [request for request in stub.requests if request.method == "PUT"]
    searched = [request for request in stub.requests if request.method == "POST"]
    assert {request.authorization for request in stub.requests} == {"ApiKey abc"}
    assert len(stored) == 6
    assert len(searched) == 5

    asked = documented("/_scripts/best_fields-title-3")
    (sent,) = [request for request in stored if request.path == asked.path]
    assert (asked.line.split()[0], asked.kind) == (sent.method, sent.kind)
    assert json.loads(asked.body) == json.loads(sent.body)

    asked = documented("/_msearch/template")
    sent = searched[0]
    assert (asked.line.split()[0], asked.kind) == (sent.method, sent.kind)
    expected, found = ([json.loads(line) for line in body.splitlines()] for body in (asked.body, sent.body))
    assert [line["params"] for line in expected[1::2]] == [line["params"] for line in found[1::2]]
    assert expected[::2] == found[::2]
    assert shape(expected) == shape(found)


def test_the_stub_answers_as_the_page_says(tmp_path: Path) -> None:
    with opensearch() as stub:
        run(SCRIPT, "--engine", stub.url, cwd=tmp_path, typed="")
        answers = {}
        for path in ("/_scripts/best_fields-title-3", "/_msearch/template"):
            asked = documented(path)
            request = urllib.request.Request(
                stub.url + path,
                asked.body.encode(),
                {"Content-Type": asked.kind or ""},
                method=asked.line.split()[0],
            )
            with urllib.request.urlopen(request) as answer:
                answers[path] = shape(json.load(answer))
    assert answers["/_scripts/best_fields-title-3"] == shape({"acknowledged": True})
    (told,) = [block for block in fences(PAGE) if block.info == "json" and '"responses"' in block.text]
    assert answers["/_msearch/template"] == shape(json.loads(told.text))


def test_clicks_decide_duels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opensearch() as stub:
        printed = run(SCRIPT, "--engine", stub.url, cwd=tmp_path, typed=TYPED)
    assert "  1 Running shoes\n" in printed
    assert printed.count("['accepted']") == 2  # the third click was on no result
    assert "No decision yet: 6 of 6 rankers are left" in printed
    later = time.time() + 1900
    monkeypatch.setattr("rankduel.live.runtime.runtime.now", lambda: later)  # the window has closed
    with LocalTournament.open("articles", storage=f"sqlite:///{tmp_path / 'duels.db'}") as t:
        t.run_maintenance()
        assert t.counts.issued == 5
        assert t.counts.shown == 4  # one page was empty
        assert (t.counts.resolved, t.counts.no_signal) == (2, 2)
        assert t.health().signals == {"click": 2}


def test_a_search_that_fails_is_told(tmp_path: Path) -> None:
    with opensearch() as stub, pytest.raises(AssertionError, match=r"no such index \[books\]"):
        run(SCRIPT, "--engine", stub.url, "--index", "books", cwd=tmp_path, typed="tea\n\n")


def test_the_event_of_the_page_is_one() -> None:
    event = json.loads(documented("/v1/events?tournament=articles").body)
    (signal,) = rd.live.read_events(event)
    assert isinstance(signal, rd.live.Signal)
    assert (signal.action, signal.object, signal.position) == ("click", "a2", 1)
    # What UBI 1.3 demands of an event.
    assert {"action_name", "timestamp"} <= set(event[0])
    assert event[0]["timestamp"].endswith("Z")
    assert isinstance(event[0]["event_attributes"]["position"]["ordinal"], int)


@needs_service
def test_the_service_answers_as_the_page_says(tmp_path: Path) -> None:
    answers: list[Any] = []
    with opensearch() as stub, service(tmp_path) as url:
        printed = run(SCRIPT, "--engine", stub.url, "--service", url, cwd=tmp_path, typed=TYPED)
        for asked in shown("http"):
            if asked.path.startswith("/v1/"):
                ticket = answers[0]["ticket"] if answers else ""
                body = asked.body.replace('"ticket": "..."', f'"ticket": "{ticket}"')
                request = urllib.request.Request(url + asked.path, body.encode(), {"Content-Type": asked.kind or ""})
                with urllib.request.urlopen(request) as answer:
                    answers.append(json.load(answer))
    assert printed.count("{'statuses': ['accepted'], 'errors': []}") == 2
    blocks = [block.text for block in fences(PAGE) if block.info == "json"]
    told = [json.loads(block) for block in blocks if '"responses"' not in block]
    assert len(told) == 3
    assert [shape(answer) for answer in answers] == [shape(answer) for answer in told]
    assert answers[1:] == told[1:]  # accepted, both
