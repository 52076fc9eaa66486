"""A request that is answered 4xx has changed nothing: no duel, no event of the journal, no signal, no setting."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service.servers import Answer, Client, serving

REFUSALS = ("conflict", "unknown", "duplicate", "orphan signals")  # counters of what was refused
PAGE = {"method": "team_draft", "documents": ["d1", "d2"], "teams": ["first", "second"]}
OTHER_PAGE = {"method": "probabilistic", "documents": ["d1", "d2"], "probabilities": [0.5, 0.5]}
CLICK = {"query_id": "known", "action_name": "click", "timestamp": 1_800_000_000_000}
SETTINGS = {"rankers": ["a", "b", "c"], "baseline": "a", "seed": 1}

Tickets = list[str]  # of four duels: the first is resolved, the others are in flight


def queries(last: dict[str, str]) -> dict[str, Any]:
    """A batch in which only the last of many queries is wrong."""
    return {"queries": [{"query_id": f"q{i}", "client_id": f"c{i}"} for i in range(300)] + [last]}


def tells(tickets: Tickets, *wrong: dict[str, Any]) -> list[dict[str, Any]]:
    """A batch of three outcomes that would be accepted, and others."""
    return [*({"ticket": ticket, "outcome": "first"} for ticket in tickets[1:]), *wrong]


def shows(tickets: Tickets, *wrong: dict[str, Any]) -> list[dict[str, Any]]:
    return [*({"ticket": ticket, "shown": PAGE} for ticket in tickets[1:]), *wrong]


# By name: the call (with {t} for the tournament and {d} for the resolved duel), and a body made of the tickets.
CASES: dict[str, tuple[str, Callable[[Tickets], Any]]] = {
    "ask: the ids that are made of query_id and n become too long": (
        "POST {t}/ask",
        lambda _: {"n": 1000, "query_id": "x" * 197},
    ),
    "ask: a query id is not printable": ("POST {t}/ask", lambda _: queries({"query_id": "a\nb"})),
    "ask: a client id is not printable": ("POST {t}/ask", lambda _: queries({"client_id": "a\u200bb"})),
    "ask: the client id of all is not printable": ("POST {t}/ask", lambda _: {"n": 300, "client_id": "a\tb"}),
    "ask: a query id is too long": ("POST {t}/ask", lambda _: queries({"query_id": "x" * 201})),
    "ask: both n and queries": ("POST {t}/ask", lambda _: queries({}) | {"n": 3}),
    "ask: both query_id and queries": ("POST {t}/ask", lambda _: queries({}) | {"query_id": "q"}),
    "ask: too many": ("POST {t}/ask", lambda _: {"n": 1001}),
    "tell: without an outcome": ("POST {t}/tell", lambda tickets: tells(tickets, {"ticket": tickets[1]})),
    "tell: without a duel": ("POST {t}/tell", lambda tickets: tells(tickets, {"outcome": "tie"})),
    "tell: an unknown outcome": ("POST {t}/tell", lambda tickets: tells(tickets, {"duel": "1-1", "outcome": "won"})),
    "tell: clicks without a page": (
        "POST {t}/tell",
        lambda tickets: tells(tickets, {"ticket": tickets[1], "clicks": ["d1"]}),
    ),
    "tell: clicks on a page of another method": (
        "POST {t}/tell",
        lambda tickets: tells(tickets, {"ticket": tickets[1], "clicks": ["d1"], "shown": OTHER_PAGE}),
    ),
    "tell: too many": ("POST {t}/tell", lambda tickets: tells(tickets) * 334),
    "tell: another outcome is stored": ("POST {t}/tell", lambda tickets: {"ticket": tickets[0], "outcome": "second"}),
    "tell: a forged ticket": ("POST {t}/tell", lambda tickets: {"ticket": tickets[1] + "x", "outcome": "first"}),
    "show: a page that is none": ("POST {t}/show", lambda tickets: shows(tickets, {"duel": "1-1", "shown": {}})),
    "show: a page of another method": (
        "POST {t}/show",
        lambda tickets: shows(tickets, {"duel": "1-1", "shown": OTHER_PAGE}),
    ),
    "show: without a duel": ("POST {t}/show", lambda tickets: shows(tickets, {"shown": PAGE})),
    "show: an unknown duel": ("POST {t}/show", lambda _: {"duel": "99-99", "shown": PAGE}),
    "events: too many": ("POST /v1/events?tournament={n}", lambda _: [CLICK] * 1001),
    "events: all are wrong": ("POST /v1/events?tournament={n}", lambda _: [CLICK | {"timestamp": 1}] * 3),
    "events: an unknown tournament": ("POST /v1/events?tournament=none", lambda _: [CLICK]),
    "rankers: one is there already": ("POST {t}/rankers", lambda _: {"rankers": ["new", "a"]}),
    "rankers: one twice": ("POST {t}/rankers", lambda _: {"rankers": ["new", "new"]}),
    "rankers: one is not printable": ("POST {t}/rankers", lambda _: {"rankers": ["new", "a\nb"]}),
    "rankers: too many in total": ("POST {t}/rankers", lambda _: {"rankers": [f"r{i}" for i in range(9_998)]}),
    "configure: a guardrail is wrong": ("PATCH {t}", lambda _: {"share": 0.5, "guardrails": [{"bund": 1}]}),
    "configure: the window never closes": ("PATCH {t}", lambda _: {"share": 0.5, "attribution": {"window": 1e12}}),
    "configure: the baseline is not printable": ("PATCH {t}", lambda _: {"share": 0.5, "baseline": "\n"}),
    "configure: an unknown setting": ("PATCH {t}", lambda _: {"share": 0.5, "seed": 2}),
    "configure: nothing": ("PATCH {t}", lambda _: {"reason": "none"}),
    "start: it runs": ("POST {t}:start", lambda _: None),
    "retire: an unknown ranker": ("POST {t}/rankers/none:retire", lambda _: None),
    "start a ranker: a reason that is too long": ("POST {t}/rankers/a:pause", lambda _: {"reason": "x" * 1001}),
    "void: a duel that is learnt": ("POST {t}/duels/{d}:void", lambda _: None),
    "void: an unknown duel": ("POST {t}/duels/99-99:void", lambda _: None),
    "create: it is there with other settings": ("POST /v1/tournaments", lambda _: {"rankers": ["a", "b"], "seed": 1}),
    "create: a ranker twice": ("POST /v1/tournaments", lambda _: {"name": "new", "rankers": ["a", "a"]}),
    "create: a name that is not printable": ("POST /v1/tournaments", lambda _: {"name": "a\nb", "rankers": ["a", "b"]}),
    "create: an option out of range": (
        "POST /v1/tournaments",
        lambda _: {"name": "new", "rankers": ["a", "b"], "bandit": "MergeDTS", "parameters": {"alpha": 10**400}},
    ),
    "create: attribution of the wrong type": (
        "POST /v1/tournaments",
        lambda _: {"name": "new", "rankers": ["a", "b"], "attribution": {"window": "long"}},
    ),
}


def dump(path: Path) -> dict[tuple[str, Any], list[tuple[Any, ...]]]:
    """All rows by table and tournament, but for what an opening, a write check and a refusal write."""
    found: dict[tuple[str, Any], list[tuple[Any, ...]]] = {}
    with closing(sqlite3.connect(path)) as file:
        names = dict(file.execute("SELECT id, name FROM tournaments"))
        for (table,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            cursor = file.execute(f"SELECT * FROM {table}")
            columns = [column for column, *_ in cursor.description]
            for values in cursor:
                row = dict(zip(columns, values, strict=True))
                if table == "counters" and row["name"] in REFUSALS:
                    continue
                if table == "facts" and row["name"] == "last write check":
                    continue
                if table == "tournaments":
                    del row["session"]  # each opening has a new one
                whose = names.get(row.get("tournament"), row["name"] if table == "tournaments" else None)
                found.setdefault((table, whose), []).append(tuple(row.values()))
    return {key: sorted(rows, key=repr) for key, rows in found.items()}


def prepared(client: Client, name: str) -> tuple[str, Tickets]:
    """A tournament of its own, with four duels of which the first is resolved; its id, and their tickets."""
    assert client.post("/v1/tournaments", SETTINGS | {"name": name}).status == 201
    duels = [client.post(f"/v1/tournaments/{name}/ask", {"query_id": f"known{i}"}).body for i in range(4)]
    assert client.post(f"/v1/tournaments/{name}/tell", {"ticket": duels[0]["ticket"], "outcome": "first"}).status == 200
    return duels[0]["duel"], [duel["ticket"] for duel in duels]


def refused(client: Client, name: str, case: str, duel: str, tickets: Tickets) -> Answer:
    call, body = CASES[case]
    method, path = call.format(t=f"/v1/tournaments/{name}", n=name, d=duel).split(" ")
    sent = body(tickets)
    if case == "create: it is there with other settings":
        sent["name"] = name
    return client.send(method, path, sent)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Answer, list[Any]]]:
    """By case: the answer, and what is in the storage that was not there before, or the other way round."""
    path = tmp_path_factory.mktemp("atomic") / "duels.db"
    with serving(f"sqlite:///{path}") as server, server.client as client:
        known = {case: prepared(client, f"t{number}") for number, case in enumerate(CASES)}
    before = dump(path)
    with serving(f"sqlite:///{path}") as server, server.client as client:
        answers = {case: refused(client, f"t{number}", case, *known[case]) for number, case in enumerate(CASES)}
    after = dump(path)
    changed = [key for key in before | after if before.get(key) != after.get(key)]
    return {
        case: (answers[case], [key for key in changed if key[1] in (f"t{number}", None, "new", "a\nb")])
        for number, case in enumerate(CASES)
    }


@pytest.mark.parametrize("case", CASES)
def test_a_refused_request_leaves_the_storage_unchanged(
    outcomes: dict[str, tuple[Answer, list[Any]]], case: str
) -> None:
    answer, changed = outcomes[case]
    assert 400 <= answer.status < 500, answer
    assert answer.problem
    assert changed == []


def test_every_call_that_changes_something_is_among_the_cases() -> None:
    calls = {call.partition("?")[0] for call, _ in CASES.values()}
    written = {"/ask", "/tell", "/show", "/rankers", ":start", ":retire", ":void", "/v1/events", "/v1/tournaments"}
    for end in written:
        assert any(call.endswith(end) for call in calls), end
