"""`rankduel demo`: the command, a service process, simulated users, and a scoreboard."""

from rankduel.cli.demo.command import declare

__all__ = ["declare"]
