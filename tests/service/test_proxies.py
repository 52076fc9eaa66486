"""Trusted proxies: whose word counts about the address of a client and about TLS."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankduel.live import storage_at
from rankduel.service import new_key
from rankduel.service.app import make_app
from rankduel.service.http.connection_limits import Connections
from rankduel.service.http.gateway import Gateway
from rankduel.service.proxies import TrustedProxies
from rankduel.service.settings import ServiceSettings
from service.asgi import request

PROXIES = TrustedProxies(["127.0.0.1", "::1", "10.0.0.0/8", "2001:db8:5::/48"])


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ([], "127.0.0.1"),
        (["203.0.113.7"], "203.0.113.7"),
        (["192.0.2.1, 203.0.113.7"], "203.0.113.7"),  # the left part is what the client claims
        (["203.0.113.7, 10.1.2.3"], "203.0.113.7"),  # two hops
        (["203.0.113.7", "10.1.2.3"], "203.0.113.7"),  # each proxy added a header of its own
        (["10.0.0.9, 203.0.113.7,10.1.2.3,2001:db8:5::1"], "203.0.113.7"),
        (["127.0.0.1, 203.0.113.7"], "203.0.113.7"),  # a client that claims to be a proxy
        (["10.0.0.9"], "10.0.0.9"),  # a client on the network of the proxies
        (["203.0.113.7:4711"], "203.0.113.7"),
        (["[2001:db8::7]:443"], "2001:db8::7"),
        (["2001:db8::7"], "2001:db8::7"),
        (["::ffff:203.0.113.7"], "203.0.113.7"),
        (["203.0.113.7, unknown"], "127.0.0.1"),  # the last proxy said nothing useful
        (["203.0.113.7, unknown, 10.1.2.3"], "10.1.2.3"),
        ([""], "127.0.0.1"),
        ([","], "127.0.0.1"),
        (["x" * 30_000], "127.0.0.1"),
    ],
)
def test_the_client_is_the_right_most_untrusted_address(forwarded: list[str], client: str) -> None:
    headers = [(b"host", b"x"), *((b"x-forwarded-for", value.encode()) for value in forwarded)]
    assert PROXIES.client("127.0.0.1", headers) == (client, False)


@pytest.mark.parametrize("peer", ["203.0.113.9", "11.0.0.1", "2001:db8:6::1", "", "localhost", "testclient"])
def test_others_are_not_believed(peer: str) -> None:
    headers = [(b"x-forwarded-for", b"192.0.2.1"), (b"x-forwarded-proto", b"https")]
    assert PROXIES.client(peer, headers) == (peer, False)


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "10.255.0.1", "::ffff:10.0.0.1", "2001:db8:5::9"])
def test_proxies_are_believed(peer: str) -> None:
    assert PROXIES.client(peer, [(b"x-forwarded-for", b"192.0.2.1")]) == ("192.0.2.1", False)


@pytest.mark.parametrize(
    ("schemes", "secure"),
    [(["https"], True), (["HTTPS"], True), (["http"], False), (["https, http"], True), (["ftp"], False), ([""], False)],
)
def test_tls_as_the_proxy_says(schemes: list[str], secure: bool) -> None:
    assert PROXIES.client("::1", [(b"x-forwarded-proto", value.encode()) for value in schemes]) == ("::1", secure)


@pytest.mark.parametrize("proxy", ["proxy.example", "10.0.0.0/33", "10.0.0.1/8", "", "127.0.0.1:80"])
def test_a_setting_that_is_no_network(proxy: str) -> None:
    with pytest.raises(ValueError, match="trusted_proxies must be a list of addresses or networks such as"):
        ServiceSettings(trusted_proxies=(proxy,))


# In the service


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def key(tmp_path: Path) -> str:
    storage = storage_at(f"sqlite:///{tmp_path}/duels.db")
    key = new_key(storage, "dashboard", ["read"])[1]
    storage.close()
    return key


@pytest.fixture
def app(tmp_path: Path, runner: asyncio.Runner, key: str) -> Iterator[Gateway]:
    settings = ServiceSettings(wrong_keys=0.001, wrong_keys_burst=2, trusted_proxies=("127.0.0.1", "10.0.0.0/8"))
    app = make_app(f"sqlite:///{tmp_path}/duels.db", settings)
    runner.run(app.service.start())
    yield app
    runner.run(app.service.stop())


def test_wrong_keys_are_counted_by_the_client_behind_the_proxy(app: Gateway, runner: asyncio.Runner) -> None:
    def status(address: str, forwarded: str) -> int:
        headers = {"authorization": "Bearer rd_x_y", "x-forwarded-for": forwarded}
        return runner.run(request(app, "GET", "/v1/tournaments", headers=headers, address=address)).status

    assert [status("127.0.0.1", "203.0.113.7") for _ in range(3)] == [401, 401, 429]
    assert status("10.0.0.3", "192.0.2.9, 203.0.113.7") == 429  # also through another proxy
    assert status("127.0.0.1", "203.0.113.8") == 401  # another client of the same proxy
    # Whoever is no proxy cannot claim to be others.
    assert [status("198.51.100.5", f"203.0.113.{n}") for n in (20, 21, 22)] == [401, 401, 429]


@pytest.mark.parametrize(("address", "secure"), [("127.0.0.1", True), ("10.9.9.9", True), ("198.51.100.5", False)])
def test_cookies_are_secure_behind_tls(
    app: Gateway, runner: asyncio.Runner, key: str, address: str, secure: bool
) -> None:
    headers = {"authorization": f"Bearer {key}", "x-forwarded-proto": "https"}
    for method in ("POST", "DELETE"):
        answer = runner.run(request(app, method, "/v1/session", headers=headers, address=address))
        assert answer.status == 200
        assert answer.headers["set-cookie"].endswith("; Secure") == secure
    plain = runner.run(request(app, "POST", "/v1/session", headers=headers | {"x-forwarded-proto": "http"}))
    assert not plain.headers["set-cookie"].endswith("; Secure")


def test_proxies_have_no_limit_of_connections_per_address() -> None:
    connections = Connections(limit=5, limit_per_address=1, proxies=PROXIES)
    assert [connections.add("10.0.0.1") for _ in range(3)] == [True, True, True]
    assert [connections.add("203.0.113.7") for _ in range(2)] == [True, False]
    assert connections.add("10.0.0.1") is False  # the limit of all connections holds
