"""Clients of the HTTP service: `Client` for applications with waiting users, `RemoteTournament` for scripts."""

from rankduel.client.client import Client
from rankduel.client.counters import Counters
from rankduel.client.problems import ClientProblem
from rankduel.client.remote import RemoteTournament, names_at
from rankduel.live import Tournament

__all__ = ["Client", "ClientProblem", "Counters", "RemoteTournament", "Tournament", "names_at"]
