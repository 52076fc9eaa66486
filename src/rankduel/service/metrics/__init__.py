"""Prometheus metrics of the service, on prometheus_client. `docs/metrics.md` explains all of them.

catalog.py says how to add a metric.
"""

from rankduel.service.metrics.collector import ServiceState, make_registry
from rankduel.service.metrics.request_counters import RequestCounters

__all__ = ["RequestCounters", "ServiceState", "make_registry"]
