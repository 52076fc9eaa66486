"""`rankduel demo`: `command`, the `service_process` it starts, its `simulated_users`, and the `scoreboard` it shows."""

from rankduel.cli.demo.command import declare

__all__ = ["declare"]
