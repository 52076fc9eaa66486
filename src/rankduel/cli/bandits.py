"""`rankduel bandits`: list the bandits with their parameters."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from rankduel.bandits import MULTI_REGISTRY, REGISTRY, Bandit, MultiBandit
from rankduel.cli.shared.listing import entry

__all__ = ["declare"]


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command, which has no options."""
    parser = add_parser(
        "bandits",
        help="list the bandits with their parameters and defaults",
        description="List the bandits with their parameters and defaults, as you write them for --bandit. The "
        "last ones show more than two rankers per page and work with `rankduel duel` only.",
    )
    parser.set_defaults(run=_list)


def _list(_options: Namespace) -> int:
    bandits: dict[str, type[Bandit | MultiBandit]] = {**REGISTRY, **MULTI_REGISTRY}
    for name, bandit in bandits.items():
        print(entry(name, bandit.__doc__, bandit(1, seed=0).parameters))
    return 0
