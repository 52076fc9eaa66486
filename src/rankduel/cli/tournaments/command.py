"""`rankduel tournaments`: its description, and the parser of each action."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial

from rankduel.cli.shared.storage_option import add_storage_options, storage_url
from rankduel.cli.tournaments import create, operate, read

__all__ = ["declare"]

_DESCRIPTION = """\
Create, show, operate and export the tournaments of a storage or a service.

For a service, pass its address, --storage http://HOST:PORT, and set the environment variable RANKDUEL_KEY to an API
key. While a service uses a SQLite storage, you can read the file directly, but to change a tournament you must pass the
address of the service. Use --json for output that programs read.
"""
_EXAMPLES = """\
examples:
  rankduel tournaments create home-search --ranker bm25 --ranker ltr --ranker neural --baseline bm25
  rankduel tournaments list --storage http://127.0.0.1:8080
  rankduel tournaments show home-search --json
  rankduel tournaments pause home-search --reason "a new release is tested"
  rankduel tournaments configure home-search --share 0.2 --guardrail error=0.02
  rankduel tournaments roll-out home-search --share 0.5 --reason "no problems at 5 %"
  rankduel tournaments export home-search --what battles --format csv --out battles.csv
"""

Act = Callable[[str, Namespace], int]


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "tournaments",
        help="create, show, operate and export tournaments",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    runs: list[tuple[ArgumentParser, Act]] = []
    for name, about, declare_options, act in (
        ("create", "create a tournament", create.declare_create, create.create),
        ("list", "list all tournaments", read.declare_list, read.list_tournaments),
        ("show", "show the decision and the leaderboard of a tournament", read.declare_show, read.show),
    ):
        action = actions.add_parser(name, help=about)
        declare_options(action)
        runs.append((action, act))
    runs += operate.declare_operations(actions.add_parser)
    export = actions.add_parser("export", help="export the data of a tournament")
    read.declare_export(export)
    runs.append((export, read.export))
    for action, run in runs:
        add_storage_options(action)
        action.set_defaults(run=partial(_run, action, run))


def _run(parser: ArgumentParser, act: Act, options: Namespace) -> int:
    try:
        return act(storage_url(parser, options), options)
    except (ValueError, TypeError, ImportError) as error:  # ImportError: a missing extra
        parser.error(str(error))
