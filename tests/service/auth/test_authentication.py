"""Authentication, without a server: keys in headers, cookies and URLs, scopes, and loopback without keys."""

from collections.abc import Mapping

import pytest

from rankduel.service.auth.authentication import Authentication, WrongKey
from rankduel.service.auth.keys import LOOPBACK, ApiKeys, Key
from rankduel.service.auth.sessions import Sessions
from rankduel.service.problems import Problem
from service.offline import key_row

KEYS = ApiKeys(
    [
        key_row("site", "ask", "tell"),
        key_row("web", "ingest"),
        key_row("ops", "admin"),
        key_row("eyes", "read"),
        key_row("old", "admin", revoked=1.0),
    ]
)
SESSIONS = Sessions(b"secret", 60)


def bearer(key: str) -> dict[bytes, bytes]:
    return {b"authorization": f"Bearer {key}".encode()}


def authenticate(
    scope: str,
    headers: Mapping[bytes, bytes],
    *,
    method: str = "GET",
    address: str = "203.0.113.7",
    keys: ApiKeys = KEYS,
    key_in_url: str | None = None,
) -> Key:
    return Authentication(keys, SESSIONS).authenticate(scope, method, address, headers, key_in_url=key_in_url)


def problem(scope: str, headers: Mapping[bytes, bytes], **more: str) -> str:
    with pytest.raises(Problem) as caught:
        authenticate(scope, headers, **more)  # type: ignore[arg-type]
    return caught.value.kind.name


@pytest.mark.parametrize("scope", ["ask", "tell", "ingest", "read", "admin"])
@pytest.mark.parametrize(
    ("id", "scopes"), [("site", ("ask", "tell")), ("web", ("ingest",)), ("eyes", ("read",)), ("ops", None)]
)
def test_a_key_has_its_scopes_and_admin_has_all(id: str, scopes: tuple[str, ...] | None, scope: str) -> None:
    headers = bearer(f"rd_{id}_secret")
    if scopes is None or scope in scopes:
        assert authenticate(scope, headers).id == id
    else:
        assert problem(scope, headers) == "wrong-scope"


@pytest.mark.parametrize(
    "authorization",
    [b"", b"Bearer", b"Bearer ", b"Basic cmQ6c2VjcmV0", b"rd_ops_secret", b"Token rd_ops_secret"],
)
def test_no_key(authorization: bytes) -> None:
    with pytest.raises(Problem) as caught:
        authenticate("ask", {b"authorization": authorization})
    assert caught.value.kind.name == "no-key"
    assert dict(caught.value.headers) == {b"www-authenticate": b'Bearer realm="rankduel"'}


@pytest.mark.parametrize("scheme", [b"Bearer", b"bearer", b"BEARER"])
@pytest.mark.parametrize("space", [b" ", b"   "])
def test_the_scheme_has_any_case(scheme: bytes, space: bytes) -> None:
    assert authenticate("ask", {b"authorization": scheme + space + b"rd_ops_secret"}).id == "ops"


@pytest.mark.parametrize(
    "key", ["rd_ops_", "rd_ops_wrong", "rd_none_secret", "rd_old_secret", "xx_ops_secret", "ops_secret", "secret", "é"]
)
def test_wrong_keys(key: str) -> None:
    with pytest.raises(WrongKey):
        authenticate("ask", {b"authorization": f"Bearer {key}".encode("latin-1")})


def test_only_a_public_key_may_come_in_a_url() -> None:
    assert authenticate("ingest", {}, key_in_url="rd_web_secret").id == "web"
    assert problem("ingest", {}, key_in_url="rd_ops_secret") == "wrong-scope"
    assert problem("ingest", {}, key_in_url="rd_web_wrong") == "wrong-key"
    assert problem("ingest", {}, key_in_url="") == "no-key"
    # The key in the URL counts, whatever else is sent.
    assert problem("read", bearer("rd_ops_secret"), key_in_url="rd_web_secret") == "wrong-scope"


# Login sessions


def cookie(key: Key, sessions: Sessions = SESSIONS) -> dict[bytes, bytes]:
    return {b"cookie": sessions.new_cookie(key, secure=False).partition(b";")[0]}


def test_a_session_stands_for_its_key() -> None:
    eyes = KEYS.by_id("eyes")
    assert eyes is not None
    assert authenticate("read", cookie(eyes)) == eyes
    assert problem("admin", cookie(eyes)) == "wrong-scope"


def test_a_change_in_a_session_needs_the_token() -> None:
    ops = KEYS.by_id("ops")
    assert ops is not None
    assert problem("admin", cookie(ops), method="POST") == "cross-site"
    assert problem("admin", cookie(ops) | {b"x-rankduel-token": b"x"}, method="POST") == "cross-site"
    token = {b"x-rankduel-token": SESSIONS.csrf_token(ops).encode()}
    assert authenticate("admin", cookie(ops) | token, method="POST") == ops


def test_sessions_that_are_over_or_forged() -> None:
    eyes = KEYS.by_id("eyes")
    assert eyes is not None
    assert problem("read", cookie(eyes, Sessions(b"secret", -1))) == "session-over"
    assert problem("read", cookie(eyes, Sessions(b"other", 60))) == "session-over"
    assert problem("read", cookie(Key("old", "", ("admin",), ""))) == "session-over"
    assert problem("read", {b"cookie": b"rankduel_session="}) == "session-over"


def test_a_key_in_the_header_goes_before_a_session() -> None:
    eyes = KEYS.by_id("eyes")
    assert eyes is not None
    assert authenticate("read", cookie(eyes) | bearer("rd_ops_secret")).id == "ops"
    assert problem("read", cookie(eyes) | bearer("rd_ops_wrong")) == "wrong-key"


def test_cookies_of_others_are_no_session() -> None:
    assert problem("read", {b"cookie": b"theme=dark"}) == "no-key"


# Without keys

NONE = ApiKeys(())
LOCAL = {b"host": b"localhost:8080"}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1"])
def test_without_keys_this_machine_may_do_everything(address: str) -> None:
    assert authenticate("admin", LOCAL, address=address, keys=NONE) is LOOPBACK


@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8::1", "0.0.0.0", "", "localhost.evil.example"])
def test_without_keys_no_other_machine_may_do_anything(address: str) -> None:
    with pytest.raises(Problem, match="until a key is created") as caught:
        authenticate("read", LOCAL, address=address, keys=NONE)
    assert caught.value.kind.name == "no-key"


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({b"origin": b"http://localhost:8080"}, False),
        ({b"sec-fetch-site": b"same-origin"}, False),
        ({b"sec-fetch-site": b"none"}, False),
        ({b"origin": b"http://evil.example"}, True),
        ({b"origin": b"http://localhost:9999"}, True),
        ({b"origin": b"null"}, True),
        ({b"sec-fetch-site": b"cross-site"}, True),
        ({b"sec-fetch-site": b"same-site"}, True),
    ],
)
def test_without_keys_pages_of_other_sites_are_refused(headers: dict[bytes, bytes], refused: bool) -> None:
    if refused:
        with pytest.raises(Problem, match="rankduel keys create"):
            authenticate("read", LOCAL | headers, address="127.0.0.1", keys=NONE)
    else:
        assert authenticate("read", LOCAL | headers, address="127.0.0.1", keys=NONE) is LOOPBACK


@pytest.mark.parametrize("name", [b"via", b"forwarded", b"x-real-ip", b"x-forwarded-for", b"cf-ray"])
def test_without_keys_nothing_comes_through_a_proxy(name: bytes) -> None:
    with pytest.raises(Problem, match="only direct requests"):
        authenticate("read", LOCAL | {name: b"x"}, address="127.0.0.1", keys=NONE)


def test_when_all_keys_are_revoked_nobody_is_let_in() -> None:
    revoked = ApiKeys([key_row("old", "admin", revoked=1.0)])
    with pytest.raises(Problem) as caught:
        authenticate("read", LOCAL, address="127.0.0.1", keys=revoked)
    assert caught.value.kind.name == "no-key"
