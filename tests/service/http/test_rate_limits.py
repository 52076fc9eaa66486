"""Rate limits: token buckets, debts, and who is counted as one client."""

from collections.abc import Callable

import pytest

from rankduel.service.auth.keys import LOOPBACK, Key
from rankduel.service.http import rate_limits
from rankduel.service.http.rate_limits import RateLimits, TokenBuckets, client_of
from rankduel.service.problems import Problem


def test_a_bucket_fills_up_to_its_burst() -> None:
    buckets = TokenBuckets(rate=2, burst=4)
    assert [buckets.take("a", at=0.0) for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert buckets.take("a", 3, at=1.0) == 0.5
    assert buckets.take("a", 4, at=100.0) == 0
    assert buckets.take("a", at=100.0) == 0.5


def test_a_cost_above_the_burst_takes_all() -> None:
    buckets = TokenBuckets(rate=1, burst=4)
    assert buckets.take("a", 1000, at=0.0) == 0
    assert buckets.take("a", 1000, at=0.0) == 4


def test_a_client_owes_what_it_cannot_pay() -> None:
    buckets = TokenBuckets(rate=1, burst=10)
    assert buckets.charge("a", 8, at=0.0) == 0
    assert buckets.charge("a", 8, at=0.0) == 6 + 8  # when the same could be paid, if sent again
    assert buckets.take("a", at=6.5) == 0.5
    assert buckets.take("a", at=7.0) == 0


def test_the_number_of_buckets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_MAX_BUCKETS", 10)
    buckets = TokenBuckets(rate=1, burst=1)
    for number in range(100):
        buckets.take(f"{number}", at=0.0)
    assert list(buckets._levels) == [f"{number}" for number in range(90, 100)]


@pytest.mark.parametrize(
    ("key", "address", "client"),
    [
        (Key("k", "site", ("ask", "ingest"), ""), "203.0.113.7", "k"),
        (Key("k", "browsers", ("ingest",), ""), "203.0.113.7", "k 203.0.113.7"),
        (Key("k", "browsers", ("ingest",), ""), "2001:db8::1", "k 2001:db8::/64"),
        (Key("k", "operator", ("admin",), ""), "203.0.113.7", "k"),
        (LOOPBACK, "127.0.0.1", "127.0.0.1"),
    ],
)
def test_who_is_counted(key: Key, address: str, client: str) -> None:
    assert client_of(key, address) == client


def test_problems_say_when_to_try_again() -> None:
    limits = RateLimits(TokenBuckets(rate=0.1, burst=1), TokenBuckets(rate=0.1, burst=1))
    limits.count_request("a")
    limits.count_wrong_key("2001:db8::1")
    exceeding: list[tuple[Callable[[], None], str]] = [
        (lambda: limits.count_request("a"), "too-many-requests"),
        (lambda: limits.charge("a", 2), "too-many-requests"),
        (lambda: limits.count_wrong_key("2001:db8::2"), "too-many-wrong-keys"),
    ]
    for exceed, name in exceeding:
        with pytest.raises(Problem, match="try again in") as caught:
            exceed()
        assert caught.value.kind.name == name
        assert int(dict(caught.value.headers)[b"retry-after"]) >= 10
