"""`rankduel problems`: list the named problems with their options."""

import inspect
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from rankduel.cli.shared.listing import entry
from rankduel.preferences.problems import PROBLEMS

__all__ = ["declare"]


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command, which has no options."""
    parser = add_parser(
        "problems",
        help="list the named problems with their options and defaults",
        description="List the named problems with their options and defaults. A matrix file is a problem, too.",
    )
    parser.set_defaults(run=_list)


def _list(_options: Namespace) -> int:
    for name, problem in PROBLEMS.items():
        parameters = inspect.signature(problem).parameters.values()
        print(entry(name, problem.__doc__, {each.name: each.default for each in parameters}))
    return 0
