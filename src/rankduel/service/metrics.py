"""What the server has done, as Prometheus reads it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate

__all__ = ["Metrics", "sample"]

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0)  # seconds


class Metrics:
    """A few counters and one histogram, kept by hand: a request adds to two of them."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()  # by method, path as declared, and status
        self.times: dict[tuple[str, str], list[int]] = {}  # requests by the bound they kept
        self.seconds: Counter[tuple[str, str]] = Counter()
        self.told: Counter[str] = Counter()  # by status
        self.asked: Counter[str] = Counter()  # by what was served
        self.events: Counter[str] = Counter()  # by status
        self.in_flight = 0  # requests

    def seen(self, method: str, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self.requests[method, path, status] += 1
        key = method, path
        bounds = self.times.get(key)
        if bounds is None:
            bounds = self.times[key] = [0] * (len(_BOUNDS) + 1)
        bounds[bisect_left(_BOUNDS, seconds)] += 1
        self.seconds[key] += seconds  # type: ignore[assignment]

    def lines(self) -> Iterator[str]:
        """All of it as text, but for what the tournaments know themselves."""
        yield from _counter(
            "rankduel_requests_total",
            "Requests that were answered.",
            (
                ({"method": method, "path": path, "status": str(status)}, count)
                for (method, path, status), count in sorted(self.requests.items())
            ),
        )
        name = "rankduel_request_seconds"
        yield from _head(name, "histogram", "Seconds from the first byte of a request to its answer.")
        for (method, path), counts in sorted(self.times.items()):
            labels = {"method": method, "path": path}
            for bound, count in zip([*map(str, _BOUNDS), "+Inf"], accumulate(counts), strict=True):
                yield sample(f"{name}_bucket", labels | {"le": bound}, count)
            yield sample(f"{name}_sum", labels, self.seconds[method, path])
            yield sample(f"{name}_count", labels, sum(counts))
        for what, by, counter, text in (
            ("asks", "serve", self.asked, "Asks, by what was served."),
            ("tells", "status", self.told, "Outcomes that were told, by what became of them."),
            ("events", "status", self.events, "UBI events, by what became of them."),
        ):
            labelled = (({by: label}, count) for label, count in sorted(counter.items()))
            yield from _counter(f"rankduel_{what}_total", text, labelled)
        yield from _head("rankduel_requests_in_flight", "gauge", "Requests that are not answered yet.")
        yield sample("rankduel_requests_in_flight", {}, self.in_flight)


def _counter(name: str, text: str, samples: Iterable[tuple[dict[str, str], float]]) -> Iterator[str]:
    yield from _head(name, "counter", text)
    for labels, value in samples:
        yield sample(name, labels, value)


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, labels: dict[str, str], value: float) -> str:
    r"""One line; whatever is in a label stays in it.

    >>> sample("duels", {"tournament": 'a"b\n'}, 3)
    'duels{tournament="a\\"b\\n"} 3'
    """
    if not labels:
        return f"{name} {value}"
    escape = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    inside = ",".join(f'{label}="{text.translate(escape)}"' for label, text in labels.items())
    return f"{name}{{{inside}}} {value}"
