"""The command line: `rankduel simulate`, `plan`, `reproduce`, ..., and `rankduel serve` with all that goes with it."""

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

_ERROR, _INTERRUPTED, _BROKEN_PIPE = 2, 130, 141  # as shells have them


class _Parser(ArgumentParser):
    """An error is one line: a page of usage would hide it."""

    def error(self, message: str) -> NoReturn:
        self.exit(_ERROR, f"{self.prog}: error: {' '.join(message.split())} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where "±" cannot be written, it is a "?"
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # where a bandit of one's own is: last, so that it hides nothing
    try:
        options = _parsed(sys.argv[1:] if arguments is None else arguments)
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader had enough, as in `rankduel bandits | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except (OSError, RankduelError, EngineUnavailable, CodeMismatch) as error:
        print(f"rankduel: error: {_words(error)}", file=sys.stderr)
        return _ERROR
    return code


def _parsed(arguments: Sequence[str]) -> Namespace:
    """What was typed."""
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


def _words(error: Exception) -> str:
    """An error without the number that the system has for it.

    >>> _words(FileNotFoundError(2, "No such file or directory", "duels.toml"))
    "No such file or directory: 'duels.toml'"
    """
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror if error.filename is None else f"{error.strerror}: {error.filename!r}"
    return str(error)
