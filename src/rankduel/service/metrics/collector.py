"""Collect the metrics of a service at a scrape. Nothing here reads the storage, so a scrape works while it hangs."""

import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from rankduel.live import LocalTournament
from rankduel.service.metrics import catalog
from rankduel.service.metrics.labels import MAX_TOURNAMENT_LABELS, OTHER, TournamentLabels, reason
from rankduel.service.metrics.request_counters import RequestCounters
from rankduel.service.webhooks.delivery import DeliveryStatus

__all__ = ["ServiceState", "make_registry"]

_FINISHED = ("resolved", "no_signal", "expired", "void", "failed")  # each finished duel has one of these states


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of a service at a scrape."""

    tournaments: Collection[LocalTournament]
    broken: Collection[str]  # names of tournaments that cannot be opened
    storage_failing: bool
    clock_jumped: bool
    webhooks: Collection[DeliveryStatus]


def make_registry(counters: RequestCounters, state: Callable[[], ServiceState]) -> CollectorRegistry:
    """Return the registry of a service: its own metrics, and those of the process (CPU, memory, files)."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_ServiceCollector(counters, state))
    return registry


class _ServiceCollector(Collector):
    """The metrics of `catalog.py`. Tournaments that share the label `other` are added up."""

    def __init__(self, counters: RequestCounters, state: Callable[[], ServiceState]) -> None:
        self._counters = counters
        self._state = state

    def collect(self) -> Iterator[Family]:
        """Yield all metrics with their samples."""
        state = self._state()
        labels = TournamentLabels(state.tournaments)
        versions = version("rankduel"), platform.python_version()
        yield catalog.BUILD_INFO.family([(versions, 1)])
        yield from self._requests(labels)
        yield catalog.STORAGE_FAILING.family([((), state.storage_failing)])
        yield catalog.CLOCK_JUMPED.family([((), state.clock_jumped)])
        yield from _webhooks(state.webhooks)
        broken = sorted(state.broken)
        named = [name if place < MAX_TOURNAMENT_LABELS else OTHER for place, name in enumerate(broken)]
        yield catalog.TOURNAMENT_BROKEN.family(_totals(((name,), 1) for name in named))
        yield from _tournaments([(str(labels.get(t.name)), t) for t in state.tournaments])

    def _requests(self, labels: TournamentLabels) -> Iterator[Family]:
        counted = self._counters
        requests = counted.requests.copy()
        yield catalog.REQUESTS.family(
            ((method, path, str(status)), count) for (method, path, status), count in sorted(requests.items())
        )
        yield catalog.REQUEST_SECONDS.histogram(counted.durations())
        yield catalog.REQUESTS_IN_FLIGHT.family([((), counted.in_flight)])
        yield catalog.ASKS.family(
            _totals(
                ((label, serve, reason(why)), count)
                for (name, serve, why), count in counted.asks.copy().items()
                if (label := labels.get(name)) is not None
            )
        )
        yield catalog.TELLS.family(
            _totals(
                ((label, str(status)), count)
                for (name, status), count in counted.tells.copy().items()
                if (label := labels.get(name)) is not None
            )
        )
        yield catalog.EVENTS.family(((str(status),), count) for status, count in sorted(counted.events.copy().items()))


def _webhooks(statuses: Collection[DeliveryStatus]) -> Iterator[Family]:
    yield catalog.WEBHOOK_MESSAGES.family(
        ((status.name, result), getattr(status, result)) for status in statuses for result in ("delivered", "given_up")
    )
    yield catalog.WEBHOOK_FAILURES.family(((status.name,), status.failed) for status in statuses)
    yield catalog.WEBHOOK_PENDING.family(((status.name,), status.pending) for status in statuses)


def _tournaments(labelled: list[tuple[str, LocalTournament]]) -> Iterator[Family]:
    """Yield the metrics of tournaments, each given with its label."""
    counts = [(label, t.durable_counts) for label, t in labelled]
    yield catalog.DUELS_ISSUED.family(_totals(((label,), each.issued) for label, each in counts))
    yield catalog.DUELS_SHOWN.family(_totals(((label,), each.shown) for label, each in counts))
    yield catalog.DUELS_FINISHED.family(
        _totals(((label, state), getattr(each, state)) for label, each in counts for state in _FINISHED)
    )
    yield catalog.DUELS_LATE.family(_totals(((label,), each.late) for label, each in counts))
    yield catalog.DUELS_IN_FLIGHT.family(_totals(((label,), max(0, each.in_flight)) for label, each in counts))
    yield catalog.RANKERS_LEFT.family(_totals(((label,), t.n_left) for label, t in labelled))
    yield catalog.TOURNAMENT_STATUS.family(_totals(((label, t.status), 1) for label, t in labelled))
    yield catalog.MAINTENANCE_FAILING.family(
        _totals(((label,), t.maintenance_failure is not None) for label, t in labelled)
    )


def _totals(samples: Iterable[tuple[tuple[str, ...], int]]) -> list[tuple[tuple[str, ...], int]]:
    """Add up the samples with the same labels."""
    totals: Counter[tuple[str, ...]] = Counter()
    for labels, value in samples:
        totals[labels] += value
    return sorted(totals.items())
