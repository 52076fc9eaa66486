"""Clients of a service: `Client` for applications with users waiting, `RemoteTournament` for scripts and operators."""

from rankduel.client.client import Client
from rankduel.client.counters import Counters
from rankduel.client.remote import RemoteTournament, names_at
from rankduel.live import Tournament

__all__ = ["Client", "Counters", "RemoteTournament", "Tournament", "names_at"]
