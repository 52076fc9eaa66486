"""The service from afar: `Client` for applications that have users waiting."""

from rankduel.client.client import Client
from rankduel.client.counters import Counters

__all__ = ["Client", "Counters"]
