"""All metrics of the service: name, type, labels, meaning, and how to combine the values of several processes.

To add a metric, define it here, list it in `__all__`, yield its samples in `_ServiceCollector.collect` (collector.py),
and add its row to docs/metrics.md. If it counts requests, add an attribute to `RequestCounters` (request_counters.py)
and count where they happen, such as in routes/traffic.py. Other state is a field of `ServiceState` (collector.py),
which `Service._state` (service.py) fills.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family

__all__ = [
    "ASKS",
    "BUILD_INFO",
    "CLOCK_JUMPED",
    "DUELS_FINISHED",
    "DUELS_IN_FLIGHT",
    "DUELS_ISSUED",
    "DUELS_LATE",
    "DUELS_SHOWN",
    "EVENTS",
    "MAINTENANCE_FAILING",
    "METRICS",
    "RANKERS_LEFT",
    "REQUESTS",
    "REQUESTS_IN_FLIGHT",
    "REQUEST_SECONDS",
    "STORAGE_FAILING",
    "TELLS",
    "TOURNAMENT_BROKEN",
    "TOURNAMENT_STATUS",
    "WEBHOOK_FAILURES",
    "WEBHOOK_MESSAGES",
    "WEBHOOK_PENDING",
    "Metric",
    "Samples",
]

_COUNTED_HERE = "sum", "Of this process: add up all processes."
_SEEN_HERE = "max", "Of this process: take the maximum of all processes."
_STORED = "max", "The same in every process: take the maximum, never the sum."

Samples = Iterable[tuple[Sequence[str], float]]  # values of the labels, and the value
Durations = Iterable[tuple[Sequence[str], Sequence[tuple[float, int]], float]]  # labels, cumulative buckets, seconds


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. `combined` is the PromQL aggregation over processes, `advice` says it in the HELP text."""

    name: str
    kind: str
    labels: tuple[str, ...]
    text: str
    combined: str
    advice: str

    @property
    def help(self) -> str:
        """The HELP text."""
        return f"{self.text} {self.advice}"

    def family(self, samples: Samples) -> Family:
        """Return the samples of a counter or a gauge."""
        cls = CounterMetricFamily if self.kind == "counter" else GaugeMetricFamily
        family = cls(self.name, self.help, labels=self.labels)
        for labels, value in samples:
            family.add_metric(labels, value)
        return family

    def histogram(self, samples: Durations) -> Family:
        """Return the samples of a histogram."""
        family = HistogramMetricFamily(self.name, self.help, labels=self.labels)
        for labels, buckets, seconds in samples:
            family.add_metric(
                labels, [("+Inf" if bound == inf else str(bound), count) for bound, count in buckets], seconds
            )
        return family


def _metric(name: str, kind: str, labels: str, text: str, combined: tuple[str, str]) -> Metric:
    return Metric(f"rankduel_{name}", kind, tuple(labels.split()), text, *combined)


REQUESTS = _metric("requests_total", "counter", "method path status", "Answered requests.", _COUNTED_HERE)
REQUEST_SECONDS = _metric(
    "request_seconds", "histogram", "method path", "Seconds from the head of a request to its response.", _COUNTED_HERE
)
REQUESTS_IN_FLIGHT = _metric("requests_in_flight", "gauge", "", "Requests without a response yet.", _COUNTED_HERE)
ASKS = _metric(
    "asks_total",
    "counter",
    "tournament serve why",
    "Asks by answer, and by the reason if it is no duel.",
    _COUNTED_HERE,
)
TELLS = _metric("tells_total", "counter", "tournament status", "Tells by status.", _COUNTED_HERE)
EVENTS = _metric("events_total", "counter", "status", "UBI events by status.", _COUNTED_HERE)
WEBHOOK_MESSAGES = _metric(
    "webhook_messages_total",
    "counter",
    "webhook result",
    "Messages to a webhook by result: delivered, or given_up after three days.",
    _COUNTED_HERE,
)
WEBHOOK_FAILURES = _metric(
    "webhook_failures_total", "counter", "webhook", "Attempts that a webhook did not accept.", _COUNTED_HERE
)
WEBHOOK_PENDING = _metric(
    "webhook_pending", "gauge", "webhook", "Messages to a webhook that wait for their next attempt.", _COUNTED_HERE
)

STORAGE_FAILING = _metric(
    "storage_failing", "gauge", "", "1 if the storage cannot be read or written, or does not keep up.", _SEEN_HERE
)
CLOCK_JUMPED = _metric("clock_jumped", "gauge", "", "1 if the clock of the machine jumped.", _SEEN_HERE)
MAINTENANCE_FAILING = _metric(
    "maintenance_failing",
    "gauge",
    "tournament",
    "1 if maintenance fails: duels are not resolved or do not expire, or guardrails are not checked.",
    _SEEN_HERE,
)
TOURNAMENT_BROKEN = _metric(
    "tournament_broken", "gauge", "tournament", "1 for a tournament that cannot be opened.", _SEEN_HERE
)
BUILD_INFO = _metric("build_info", "gauge", "version python", "1, with the versions in the labels.", _SEEN_HERE)

DUELS_ISSUED = _metric("duels_issued_total", "counter", "tournament", "Issued duels.", _STORED)
DUELS_SHOWN = _metric("duels_shown_total", "counter", "tournament", "Duels whose page was reported as shown.", _STORED)
DUELS_FINISHED = _metric(
    "duels_finished_total",
    "counter",
    "tournament state",
    "Finished duels. Each has one state: resolved, no_signal, expired, void or failed.",
    _STORED,
)
DUELS_LATE = _metric("duels_late_total", "counter", "tournament", "Expired duels whose outcome arrived later.", _STORED)
DUELS_IN_FLIGHT = _metric("duels_in_flight", "gauge", "tournament", "Issued duels that are not finished.", _STORED)
RANKERS_LEFT = _metric("rankers_left", "gauge", "tournament", "Rankers that are not eliminated or retired.", _STORED)
TOURNAMENT_STATUS = _metric(
    "tournament_status", "gauge", "tournament status", "1 for the current status of a tournament.", _STORED
)

METRICS = tuple(metric for metric in globals().copy().values() if isinstance(metric, Metric))
