"""`rankduel demo`: the command, the service that it starts, and its simulated users."""

from rankduel.cli.demo.command import declare

__all__ = ["declare"]
