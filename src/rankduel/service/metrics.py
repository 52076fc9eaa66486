"""Prometheus metrics of the server and of each tournament, in the text format of `/metrics`.

To add a metric of the server: a field of `Metrics`, its lines in `server_metrics`, and the code that counts it
(routes/traffic.py, http/gateway.py). To add a metric of each tournament: only its lines in `tournament_metrics`. List
the metric in docs/service.md, section Monitoring.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from rankduel.live import LocalTournament

__all__ = ["Metrics", "server_metrics", "tournament_metrics"]

_BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0)
_Samples = Iterable[tuple[dict[str, str], float]]  # labels and value


class Metrics:
    """Counters of the server and a histogram of request times. Plain dictionaries, so that updates are cheap."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()  # by method, route path and status
        self.buckets: dict[tuple[str, str], list[int]] = {}  # requests in each bucket of `_BUCKET_SECONDS`
        self.seconds: Counter[tuple[str, str]] = Counter()
        self.asks: Counter[str] = Counter()  # by `serve`
        self.tells: Counter[str] = Counter()  # by status
        self.events: Counter[str] = Counter()  # by status
        self.in_flight = 0  # requests

    def count_request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.requests[method, path, status] += 1
        key = method, path
        buckets = self.buckets.get(key)
        if buckets is None:
            buckets = self.buckets[key] = [0] * (len(_BUCKET_SECONDS) + 1)
        buckets[bisect_left(_BUCKET_SECONDS, seconds)] += 1
        self.seconds[key] += seconds  # type: ignore[assignment]


def server_metrics(metrics: Metrics) -> Iterator[str]:
    """Return the lines of `/metrics` about the server."""
    yield from _metric(
        "rankduel_requests_total",
        "counter",
        "Answered requests.",
        (
            ({"method": method, "path": path, "status": str(status)}, count)
            for (method, path, status), count in sorted(metrics.requests.items())
        ),
    )
    yield from _request_seconds(metrics)
    for name, label, counter, text in (
        ("rankduel_asks_total", "serve", metrics.asks, "Asks by answer: duel, baseline or winner."),
        ("rankduel_tells_total", "status", metrics.tells, "Tells by status."),
        ("rankduel_events_total", "status", metrics.events, "UBI events by status."),
    ):
        yield from _metric(name, "counter", text, (({label: key}, count) for key, count in sorted(counter.items())))
    text = "Requests without a response yet."
    yield from _metric("rankduel_requests_in_flight", "gauge", text, [({}, metrics.in_flight)])


def _request_seconds(metrics: Metrics) -> Iterator[str]:
    name = "rankduel_request_seconds"
    yield from _metric(name, "histogram", "Seconds from the headers of a request to its response.", ())
    for (method, path), counts in sorted(metrics.buckets.items()):
        labels = {"method": method, "path": path}
        for bound, count in zip([*map(str, _BUCKET_SECONDS), "+Inf"], accumulate(counts), strict=True):
            yield _sample(f"{name}_bucket", labels | {"le": bound}, count)
        yield _sample(f"{name}_sum", labels, metrics.seconds[method, path])
        yield _sample(f"{name}_count", labels, sum(counts))


def tournament_metrics(tournaments: Mapping[str, LocalTournament], broken: Iterable[str]) -> Iterator[str]:
    """Return the lines of `/metrics` about tournaments. `broken` has the names of tournaments that cannot be opened."""
    opened = [({"tournament": name}, tournaments[name]) for name in sorted(tournaments)]
    yield from _metric(
        "rankduel_duels_total",
        "counter",
        "Duels of a tournament by status.",
        (
            ({**label, "status": status}, getattr(counts, status))
            for label, t in opened
            for counts in (t.durable_counts,)
            for status in type(counts).__slots__
        ),
    )
    yield from _metric(
        "rankduel_maintenance_failing",
        "gauge",
        "1 if maintenance fails: duels are not resolved or do not expire, or guardrails are not checked.",
        ((label, int(t.maintenance_failure is not None)) for label, t in opened),
    )
    yield from _metric(
        "rankduel_tournament_broken",
        "gauge",
        "1 for a tournament that cannot be opened.",
        (({"tournament": name}, 1) for name in sorted(broken)),
    )
    yield from _metric(
        "rankduel_rankers_left",
        "gauge",
        "Rankers left in a tournament.",
        ((label, len(t.decision().left)) for label, t in opened),
    )


def _metric(name: str, kind: str, text: str, samples: _Samples) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _sample(name: str, labels: dict[str, str], value: float) -> str:
    r"""Return one line, with labels escaped.

    >>> _sample("duels", {"tournament": 'a"b\n'}, 3)
    'duels{tournament="a\\"b\\n"} 3'
    """
    if not labels:
        return f"{name} {value}"
    escape = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    inside = ",".join(f'{label}="{text.translate(escape)}"' for label, text in labels.items())
    return f"{name}{{{inside}}} {value}"
