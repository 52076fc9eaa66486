"""Prometheus metrics of the service, on prometheus_client. `docs/metrics.md` explains all of them.

To add a metric: declare it in `catalog.py`, yield its samples in `collector.py`, and add its row to docs/metrics.md. If
it counts requests, count them in `request_counters.py` where they happen, such as in routes/traffic.py.
"""

from rankduel.service.metrics.collector import ServiceState, make_registry
from rankduel.service.metrics.request_counters import RequestCounters

__all__ = ["RequestCounters", "ServiceState", "make_registry"]
