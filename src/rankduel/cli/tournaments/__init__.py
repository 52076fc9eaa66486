"""`rankduel tournaments`: the command, its actions that read, create and operate, and options for settings."""

from rankduel.cli.tournaments.command import declare

__all__ = ["declare"]
