"""Command line of rankduel: one module per command (`demo` is a package), and `shared` for what they have in common."""

import io
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NoReturn

import rankduel
from rankduel.cli import (
    bandits,
    bench,
    demo,
    doctor,
    duel,
    init,
    keys,
    matrix,
    plan,
    problems,
    reproduce,
    serve,
    simulate,
    storage,
    tournaments,
)
from rankduel.errors import RankduelError
from rankduel.lab import CodeMismatch, EngineUnavailable

__all__ = ["COMMANDS", "main"]

COMMANDS = (
    *(simulate, plan, reproduce, bench, matrix, duel, demo, bandits, problems),
    *(init, serve, doctor, tournaments, keys, storage),
)

_ERROR, _INTERRUPTED, _BROKEN_PIPE = 2, 130, 141  # exit codes, as shells use them


class _Parser(ArgumentParser):
    """Print an error as one line, without the usage text that would hide it."""

    def error(self, message: str) -> NoReturn:
        self.exit(_ERROR, f"{self.prog}: error: {' '.join(message.split())} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where "±" cannot be written, it is a "?"
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # where a bandit of one's own is: last, so that it hides nothing
    try:
        options = _parse(sys.argv[1:] if arguments is None else arguments)
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader had enough, as in `rankduel bandits | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except (OSError, RankduelError, EngineUnavailable, CodeMismatch) as error:
        print(f"rankduel: error: {_error_text(error)}", file=sys.stderr)
        return _ERROR
    return code


def _parse(arguments: Sequence[str]) -> Namespace:
    """Parse the command line: `run` is the function of the command."""
    parser = _Parser(
        prog="rankduel",
        description="Find the best of hundreds of rankers from duels, with as little harm to users as possible.",
        epilog="rankduel COMMAND --help says more, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"rankduel {rankduel.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.declare(commands.add_parser)
    return parser.parse_args(arguments, Namespace(arguments=arguments))


def _error_text(error: Exception) -> str:
    """The message of an error, without the system's error number.

    >>> _error_text(FileNotFoundError(2, "No such file or directory", "duels.toml"))
    "No such file or directory: 'duels.toml'"
    """
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror if error.filename is None else f"{error.strerror}: {error.filename!r}"
    return str(error)
