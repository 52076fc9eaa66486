"""Answers of a service for property tests: JSON with one unexpected value, and HTTP in which anything may be wrong."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from client.servers import DUEL, Behaviour

HUGE = b"1" + b"0" * 400  # more than a float can hold
TOKENS = [  # as they stand in the text: most of these could not be written by json.dumps
    *[HUGE, b"-" + HUGE, b"7" * 5000, b"-1", b"1.5", b"1e999", b"-1e999", b"2e300", b"18446744073709551616"],
    *[b"NaN", b"Infinity", b"-Infinity", b"true", b"null", b"{}", b"[]", b"[[]]", b'{"a":1,"a":[]}', b"\xff", b""],
    *[b"[" * 300 + b"]" * 300, b"[" * 50_000, b'{"a":' * 400 + b"1" + b"}" * 400],
    *[b'""', b'"\\ud800"', b'"\\u0000"', b'"\\n"', b'"' + b"x" * 5000 + b'"', b'"1-1"', b'"duel"', b'"accepted"'],
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_MARK = "the value that nobody expects"


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """The way to each value inside of a JSON value."""
    yield ()
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        for place in places(each):
            yield (key, *place)


def damage(value: Any, place: tuple[Any, ...], token: bytes | None) -> bytes:
    """JSON with another value at one place; None: without what is there."""
    if not place:
        return token or b""
    value = json.loads(json.dumps(value))
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    if token is None:
        del holder[place[-1]]
    else:
        holder[place[-1]] = _MARK
    return json.dumps(value).encode().replace(json.dumps(_MARK).encode(), token or b"")


def damaged(value: Any) -> st.SearchStrategy[bytes]:
    """JSON that is sound but for one place."""
    tokens = st.none() | st.sampled_from(TOKENS) | VALUES.map(lambda value: json.dumps(value).encode())
    return st.builds(damage, st.just(value), st.sampled_from(list(places(value))), tokens)


BODIES = (
    damaged(DUEL)
    | damaged({"receipts": [{"status": "accepted", "outcome": "first"}]})
    | st.binary(max_size=60)
    | st.sampled_from([gzip.compress(json.dumps(DUEL).encode()), gzip.compress(json.dumps(DUEL).encode())[:30]])
    | st.just(json.dumps(DUEL).encode())
)
FIELDS = st.sampled_from(
    ["Content-Length", "Transfer-Encoding", "Retry-After", "Content-Type", "Content-Encoding", "Location", "Connection"]
)
CONTENTS = (
    st.sampled_from(
        ["", "0", "-1", "9" * 400, "1e9", "nan", "chunked", "gzip", "identity, chunked", "close", "http://["]
    )
    | st.just("multipart/mixed; boundary=" + ";" * 3000)
    | st.text(st.characters(max_codepoint=255), max_size=20)
)
STATUSES = st.integers(-1, 1100).map(str) | st.sampled_from(["200", "200", "200", "429", "503", "", "abc", "9" * 5000])


@st.composite
def responses(draw: st.DrawFn) -> bytes:
    """An answer of HTTP that may be sound, or wrong anywhere."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    body = draw(BODIES)
    head = draw(st.sampled_from(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/9", "ICY"])) + f" {draw(STATUSES)} Words\r\n"
    if draw(st.booleans()):
        head += f"Content-Length: {len(body)}\r\n"
    for name, content in draw(st.lists(st.tuples(FIELDS, CONTENTS), max_size=3)):
        head += f"{name}: {content}\r\n"
    return head.encode("latin-1") + b"\r\n" + body


def json_text(text: bytes, status: int = 200, headers: str = "") -> Behaviour:
    """Always that text, as the body of a sound answer."""
    head = f"HTTP/1.1 {status} Words\r\nContent-Length: {len(text)}\r\n{headers}\r\n".encode()
    return lambda server, connection, line, body: connection.sendall(head + text)
