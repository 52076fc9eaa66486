"""Command line of rankduel: one module per command (`demo` is a package), and `shared` for their common parts.

To add a command, write a module with a function `declare(add_parser)` that sets `run` to the function of the command,
as keys.py does. List the module in `COMMANDS` and in the import contract "cli" of pyproject.toml. Then run `make docs`.
"""

import io
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, NoReturn

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
    webhooks,
)
from rankduel.cli.shared.option_names import name_options
from rankduel.errors import RankduelError
from rankduel.lab import CodeMismatch, EngineUnavailable

__all__ = ["COMMANDS", "main"]

COMMANDS = (
    *(simulate, plan, reproduce, bench, matrix, duel, demo, bandits, problems),
    *(init, serve, doctor, tournaments, keys, storage, webhooks),
)

_ERROR, _INTERRUPTED, _BROKEN_PIPE = 2, 130, 141  # exit codes, by shell convention


class _Parser(ArgumentParser):
    """Print an error as one line that names options, without the usage text that would hide it."""

    _given = Namespace()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and remember the options: those of the innermost command have its parser as `parser`."""
        self._given, rest = super().parse_known_args(args, namespace)
        self._given.parser = getattr(self._given, "parser", self)
        return self._given, rest

    def error(self, message: str) -> NoReturn:
        self.exit(_ERROR, f"{self.prog}: error: {self.name_options(message)} (see {self.prog} --help)\n")

    def name_options(self, message: str) -> str:
        """An error message in one line, with options instead of Python arguments."""
        return name_options(" ".join(message.split()), self, self._given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # print "?" where the encoding lacks a character such as "±"
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # to import your own bandits: last, so that it shadows no module
    try:
        options = _parse(sys.argv[1:] if arguments is None else arguments)
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe, as in `rankduel bandits | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except (OSError, RankduelError, EngineUnavailable, CodeMismatch) as error:
        print(f"rankduel: error: {options.parser.name_options(_error_text(error))}", file=sys.stderr)
        return _ERROR
    return code


def _parse(arguments: Sequence[str]) -> Namespace:
    """Parse the command line: `run` is the function of the command."""
    parser = _Parser(
        prog="rankduel",
        description="Find the best of hundreds of rankers from live clicks, with as little harm to users as possible.",
        epilog="Run rankduel COMMAND --help for details and examples.",
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
