"""Who may come in: keys, scopes, addresses, and ten thousand wrong keys."""

import http.client
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankduel.live import storage_at
from rankduel.service import SCOPES, ApiKeys, new_key
from service.servers import Client, Server, serving

BODY = {"name": "t", "rankers": ["a", "b"]}
# Each scope, and a call that it opens: what is answered when the scope is there.
CALLS = {
    "ask": ("POST", "/v1/tournaments/t/ask", {}, 200),
    "tell": ("POST", "/v1/tournaments/t/tell", {"duel": "9-9", "outcome": "tie"}, 404),
    "read": ("GET", "/v1/tournaments/t", None, 200),
    "admin": ("POST", "/v1/tournaments", BODY, 201),
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('keys')}/duels.db"


@pytest.fixture(scope="module")
def keys(url: str) -> dict[str, str]:
    """A key for each scope alone."""
    storage = storage_at(url)
    made = {scope: new_key(storage, f"the {scope} key", [scope])[1] for scope in SCOPES}
    storage.close()
    return made


@pytest.fixture(scope="module")
def server(url: str, keys: dict[str, str]) -> Iterator[Server]:
    with serving(url, keys_every=0.1) as server:
        with server.client.with_key(keys["admin"]) as admin:
            assert admin.post("/v1/tournaments", BODY).status == 201
        yield server
        logged = "".join(server.lines)
        assert "Traceback" not in logged
        assert not [key for key in keys.values() if key in logged or key.split("_", 2)[2] in logged]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("call", CALLS)
def test_a_key_opens_what_its_scope_says(client: Client, keys: dict[str, str], scope: str, call: str) -> None:
    method, path, body, status = CALLS[call]
    with client.with_key(keys[scope]) as known:
        answer = known.send(method, path, body)
    if scope in (call, "admin"):
        assert answer.status == status
    else:
        assert (answer.status, answer.problem) == (403, "wrong-scope")


def test_without_a_key_nothing_opens_but_what_machines_look_at(client: Client) -> None:
    for method, path, body, _ in CALLS.values():
        answer = client.send(method, path, body)
        assert (answer.status, answer.problem) == (401, "no-key")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert client.get("/metrics").status == 401
    assert client.get("/livez").status == client.get("/readyz").status == client.get("/v1/openapi.json").status == 200


def test_wrong_keys_of_all_kinds(client: Client, keys: dict[str, str]) -> None:
    right = keys["admin"]
    prefix, id, secret = right.split("_", 2)
    other = keys["read"].split("_", 2)
    wrong = ["", "x", "rd", "rd__", f"rd_{id}", f"rd_{id}_", f"{prefix}_{id}_{secret[:-1]}", f"{right}x"]
    wrong += [f"RD_{id}_{secret}", f"rd_{other[1]}_{secret}", f"rd_{id}_{other[2]}", "ü" * 10, "rd_" + "x" * 10_000]
    for key in wrong:
        answer = client.send("GET", "/v1/tournaments", headers={"Authorization": f"Bearer {key}"})
        assert answer.status in (401, 429), key
    for header in (right, f"Basic {right}", f"Bearer{right}"):
        assert client.send("GET", "/v1/tournaments", headers={"Authorization": header}).status == 401
    assert client.send("GET", "/v1/tournaments", headers={"Authorization": f"bearer  {right}"}).status == 200


@pytest.mark.slow
def test_ten_thousand_wrong_keys_shut_nobody_out(server: Server, keys: dict[str, str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    statuses: dict[int, int] = {}
    lines = len(server.lines)
    for number in range(10_000):
        connection.request("GET", "/v1/tournaments", headers={"Authorization": f"Bearer rd_{number:012x}_{number}"})
        answer = connection.getresponse()
        answer.read()
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        if answer.status == 429:
            assert int(answer.headers["retry-after"]) >= 1
    connection.close()
    assert set(statuses) == {401, 429}
    assert statuses[429] > 9_000
    assert len(server.lines) == lines  # and they do not fill the log
    with server.client.with_key(keys["read"]) as reader:
        assert reader.get("/v1/tournaments").status == 200


def test_a_key_can_be_revoked_while_the_server_runs(server: Server, url: str) -> None:
    storage = storage_at(url, own=False)
    row, key = new_key(storage, "short-lived", ["read"])
    with server.client.with_key(key) as known:
        assert wait_for(known, 200)
        storage.revoke_key(row.id, time.time())
        assert wait_for(known, 401)
    storage.close()


def wait_for(client: Client, status: int) -> bool:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if client.get("/v1/tournaments").status == status:
            return True
        time.sleep(0.05)
    return False


def test_the_journal_names_the_key(server: Server, keys: dict[str, str]) -> None:
    with server.client.with_key(keys["admin"]) as admin:
        admin.post("/v1/tournaments", {"name": "named", "rankers": ["a", "b"]})
        admin.post("/v1/tournaments/named:pause", {"reason": "why not"})
        events = admin.get("/v1/tournaments/named/journal").body["events"]
    assert events[-1]["body"] == {"reason": "why not", "by": "the admin key"}


@pytest.mark.slow
def test_each_key_has_its_own_rate(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    storage = storage_at(url)
    first, second = (new_key(storage, name, ["read"])[1] for name in ("one", "two"))
    storage.close()
    with (
        serving(url, rate=0.1, burst=3) as server,
        server.client.with_key(first) as one,
        server.client.with_key(second) as two,
    ):
        assert [one.get("/v1/tournaments").status for _ in range(4)] == [200, 200, 200, 429]
        limited = one.get("/v1/tournaments")
        assert limited.problem == "too-many-requests"
        assert int(limited.headers["retry-after"]) > 1
        assert two.get("/v1/tournaments").status == 200


def test_what_is_stored_is_a_hash(url: str, keys: dict[str, str]) -> None:
    storage = storage_at(url, own=False)
    rows = storage.keys()
    storage.close()
    stored = Path(url.removeprefix("sqlite:///")).read_bytes()
    for key in keys.values():
        assert key.split("_", 2)[2].encode() not in stored
    api_keys = ApiKeys(rows)
    found = api_keys.verify(keys["ask"])
    assert found is not None
    assert found.scopes == ("ask",)


@pytest.mark.slow
def test_when_all_keys_are_revoked_nobody_comes_in(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    storage = storage_at(url)
    row, key = new_key(storage, "only", ["admin"])
    storage.revoke_key(row.id, 1.0)
    storage.close()
    with serving(url) as server, server.client as client:
        assert client.get("/v1/tournaments").status == 401
        with client.with_key(key) as known:
            assert known.get("/v1/tournaments").status == 401


@pytest.mark.parametrize(("name", "scopes"), [("", ["ask"]), ("a\n", ["ask"]), ("a", []), ("a", ["all"])])
def test_bad_keys_are_not_made(tmp_path: Path, name: str, scopes: list[str]) -> None:
    storage = storage_at(f"sqlite:///{tmp_path}/duels.db")
    with pytest.raises(ValueError, match=r"key|scope"):
        new_key(storage, name, scopes)
    assert storage.keys() == []
    storage.close()


# Without keys


@pytest.mark.slow
def test_another_address_needs_a_key(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    server = Server(url, host="0.0.0.0")
    assert server.wait() != 0
    assert not server.port
    assert "there is no API key" in "".join(server.lines)
    storage = storage_at(url)
    key = new_key(storage, "one", ["read"])[1]
    storage.close()
    with serving(url, host="0.0.0.0", hosts=["127.0.0.1"]) as open_one, open_one.client as client:
        assert client.get("/v1/tournaments").status == 401
        with client.with_key(key) as known:
            assert known.get("/v1/tournaments").status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"X-Forwarded-For": "10.0.0.1"}, 401),
        ({"Forwarded": "for=10.0.0.1"}, 401),
    ],
    ids=str,
)
def test_without_keys_only_this_machine_and_no_page_of_another_site(
    tmp_path_factory: pytest.TempPathFactory, headers: dict[str, str], status: int, keyless: Server
) -> None:
    with keyless.client as client:
        answer = client.send("POST", "/v1/tournaments", {"name": "x", "rankers": ["a", "b"]}, headers)
        assert answer.status == (201 if status == 200 else status)
        assert "access-control-allow-origin" not in answer.headers


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('keyless')}/duels.db", keys_every=0.1) as server:
        yield server


@pytest.mark.slow
def test_the_first_key_shuts_the_door(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with serving(url, keys_every=0.1) as server, server.client as client:
        assert client.get("/v1/tournaments").status == 200
        storage = storage_at(url, own=False)
        new_key(storage, "first", ["ask"])
        storage.close()
        assert wait_for(client, 401)
