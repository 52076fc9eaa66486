"""What answers disclose: to no key but admin a path, the address of the storage, or the name of another tournament."""

import json
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attack.test_journal import POISONS, poison
from postgres.server import Server as Postgres
from rankduel.interleaving import interleaving_from
from rankduel.live import LocalTournament, storage_at
from rankduel.service import new_key
from rankduel.service.app import ROUTES
from rankduel.service.problems import PROBLEMS
from rankduel.service.routes import browser
from rankduel.types import Outcome
from service.servers import Answer, Client, Server, serving

OWN, OTHER, SICK = "own-shop", "confidential-launch", "sick-shop"
FOLDER, FILE = "secret-folder", "hidden-name"
SCOPES = {"ask": ["ask"], "tell": ["tell"], "ingest": ["ingest"], "site": ["ask", "tell", "ingest"], "read": ["read"]}
# What a key with the scope read may list: all tournaments.
LISTS = ("/v1/tournaments", "/v1/overviews", "/metrics")
NAMES = (OWN, "missing", SICK, "x" * 201, "%ff", "a%2Fb", "%00")


def prepare(url: str) -> dict[str, str]:
    """Create three tournaments, one of them broken, and a key for each role."""
    for name, method in ((OWN, "team_draft"), (OTHER, "balanced"), (SICK, "team_draft")):
        with LocalTournament.create(
            name, rankers=["a", "b"], baseline="a", storage=url, seed=1, interleaving=method
        ) as t:
            t.tell_many([(t.ask(f"{name} {number}"), Outcome.FIRST) for number in range(3)])
            t.ask(f"open query of {method}")
    storage = storage_at(url)
    try:
        made = {role: new_key(storage, role, scopes)[1] for role, scopes in SCOPES.items()}
        row, made["revoked"] = new_key(storage, "revoked", ["read"])
        storage.revoke_key(row.id, 1.0)
        return made
    finally:
        storage.close()


def bodies() -> Iterator[tuple[str, bytes | None]]:
    """Bodies of all kinds, each with its content type: good ones, wrong ones, and what is no JSON."""
    page = interleaving_from("team_draft").interleave(["d1", "d2"], ["d3", "d1"], k=2, seed=1).to_dict()
    event = {"action_name": "click", "timestamp": 1_800_000_000_000, "event_attributes": {"object": {"object_id": "d"}}}
    shown = {"action_name": "impression", "timestamp": 1_800_000_000_000, "event_attributes": {"shown": page}}
    query = "open query of balanced"  # of the other tournament
    good: list[Any] = [
        {},
        {"n": 2},
        {"query_id": "a query of its own"},
        {"duel": "1-1", "outcome": "first"},
        {"duel": "1-1", "outcome": "second"},
        {"duel": "9-9", "outcome": "tie"},
        {"duel": "1-4", "clicks": ["d1"], "shown": page},
        {"duel": "1-4", "clicks": ["d1"], "shown": page | {"method": "balanced"}},
        {"duel": "1-4", "shown": page},
        {"reason": "why"},
        {"rankers": ["c"]},
        {"share": 0.5},
        {"name": OTHER, "rankers": ["c", "d"]},
        event | {"query_id": query},
        shown | {"query_id": query},
        [shown | {"query_id": query}, event | {"query_id": "nobody's"}],
    ]
    yield "application/json", None
    yield from (("application/json", json.dumps(body).encode()) for body in good)
    yield from (
        ("application/json", body) for body in (b"{", b"[1]", b'{"no": 1}', b"\xff", b'{"shown": {"a": ' + b"[" * 5000)
    )
    yield "text/xml", b"<x/>"


def requests() -> Iterator[tuple[str, str, str, bytes | None]]:
    """Every route with names of all kinds, parameters that are wrong, and bodies of all kinds."""
    for route in (*ROUTES, *browser.ROUTES):
        for name in NAMES if "{name}" in route.path else ("",):
            path = route.path.replace("{name}", name).replace("{duel}", "1-1")
            path = (
                path.replace("{ranker}", "a").replace("{file}", "x").replace("{page}", "duels").replace("{item}", "1-1")
            )
            if route.method in ("POST", "PATCH") and name in ("", OWN, SICK):
                yield from ((route.method, path, kind, body) for kind, body in bodies())
            elif route.path != "/v1/watch":  # it does not end
                yield route.method, path, "application/json", None
            yield route.method, f"{path}?no=1", "application/json", None
            yield "DELETE" if route.method != "DELETE" else "PATCH", path, "application/json", None
    yield "POST", "/v1/events?tournament=missing", "application/json", b'{"action_name": "click"}'
    yield "GET", "/v1/watch?tournament=missing", "application/json", None
    yield "GET", f"/v1/tournaments/{OWN}/duels/9-9", "application/json", None
    yield "GET", f"/v1/tournaments/{OWN}/journal?limit=0", "application/json", None
    yield "GET", f"/v1/tournaments?after={'x' * 600}", "application/json", None
    yield "GET", "/nowhere", "application/json", None


def disclosed(answer: Answer, sent: str, role: str, path: str, secrets: tuple[str, ...]) -> list[str]:
    """Which secrets an answer contains that were not in the request."""
    text = answer.raw.decode("latin-1") + str(dict(answer.headers))
    hidden = [*secrets, OTHER]
    if role == "read" and answer.status == 200 and path.partition("?")[0] in LISTS:
        hidden.remove(OTHER)
    return [secret for secret in hidden if secret in text and secret not in sent]


def ask_everything(server: Server, keys: dict[str, str], secrets: tuple[str, ...]) -> set[str]:
    """Send all requests with each key and without. Return the types of the problems."""
    problems = set()
    for role, key in {**keys, "nobody": ""}.items():
        with Client(server.port) as client:
            for method, path, kind, body in requests():
                headers = {"Content-Type": kind} | ({"Authorization": f"Bearer {key}"} if key else {})
                answer = client.send(method, path, body, headers, raw=True)
                if answer.headers["content-type"] == "application/problem+json":
                    problems.add(answer.problem)
                found = disclosed(answer, f"{path} {body!r}", role, path, secrets)
                assert not found, (role, method, path, body and body[:200], answer.raw[:2000])
    return problems


def test_no_answer_discloses_where_the_storage_is_or_what_else_is_there(tmp_path: Path) -> None:
    """All routes with all keys but admin, and all problems: also while the disk is full, and when the file is gone."""
    path = tmp_path / FOLDER / f"{FILE}.db"
    path.parent.mkdir()
    url, secrets = f"sqlite:///{path}", (FOLDER, FILE, "sqlite:", str(tmp_path))
    made = prepare(url)
    poison(url, SICK, *POISONS["kind"])
    with serving(url, wrong_keys=5, wrong_keys_burst=20, keys_every=0.2) as server:
        seen = ask_everything(server, made, secrets)
        with server.client as stranger:
            seen.add(stranger.send("GET", "/readyz", headers={"Host": "evil.example"}).problem)
        with server.client.with_key(made["ask"]) as site:
            large = {"Content-Type": "application/json", "Content-Length": "1000001"}
            seen.add(site.send("POST", f"/v1/tournaments/{OWN}/ask", headers=large).problem)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        seen |= ask_everything(server, made, secrets)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        path.unlink()
        seen |= ask_everything(server, made, secrets)
        logged = "".join(server.lines)
        assert str(path) in logged  # operators find it in the log
    elsewhere = {"cross-site", "session-over", "failed", "stopping", "busy", "deadline", "too-many-requests"}
    of_admins = {"tournament-exists", "wrong-state", "unknown-ranker"}
    assert PROBLEMS.keys() - seen == elsewhere | of_admins


def test_no_answer_discloses_where_the_database_is(postgres: Postgres) -> None:
    """The same with PostgreSQL, also while it is down."""
    url = postgres.database()
    database = url.rpartition("/")[2]
    made = prepare(url)
    secrets = (database, "postgresql:", "postgres@", f"{postgres.port}", "127.0.0.1")
    with serving(url, keys_every=0.2) as server:
        ask_everything(server, made, secrets)
        postgres.stop()
        try:
            ask_everything(server, made, secrets)
        finally:
            postgres.start()
