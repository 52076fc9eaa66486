"""`rankduel tournaments start`, `roll-out`, `configure`, `delete` and all other actions that change a tournament."""

import getpass
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rankduel.cli.shared.storage_option import is_service
from rankduel.cli.tournaments.setting_options import declare_settings, given_settings
from rankduel.client import Tournament
from rankduel.live.defaults import DEFAULT_ROLLOUT_SHARE

__all__ = ["declare_operations"]

Act = Callable[[str, Namespace], int]


def declare_operations(add_parser: Callable[..., ArgumentParser]) -> Iterator[tuple[ArgumentParser, Act]]:
    """Add the actions. Yield the parser and the function of each."""
    for action, about in (
        ("start", "start a draft, or resume a paused tournament"),
        ("pause", "show users the baseline, and issue no duels until you start it again"),
        ("stop", "end a tournament for good, and show users the baseline, also after a decision"),
        ("roll-back", "end a roll-out, and show users the baseline"),
        ("archive", "end a tournament for good, and hide it from lists"),
    ):
        yield _parser(add_parser, action, about), partial(_operate, action.replace("-", "_"))
    roll_out = _parser(
        add_parser, "roll-out", "show the winner to a share of all traffic; repeat it to change the share"
    )
    roll_out.add_argument(
        "--share",
        type=float,
        default=DEFAULT_ROLLOUT_SHARE,
        metavar="S",
        help=f"share of all traffic that sees the ranker (default: {DEFAULT_ROLLOUT_SHARE})",
    )
    roll_out.add_argument(
        "--ranker", metavar="NAME", help="ranker to show, one that is left (default: the winner, or the one before)"
    )
    yield roll_out, _roll_out
    configure = _parser(add_parser, "configure", "change settings; settings without an option stay as they are")
    declare_settings(configure, new=False)
    yield configure, _configure
    add = _parser(add_parser, "add-rankers", "add rankers to a tournament")
    add.add_argument("rankers", nargs="+", metavar="RANKER", help="name of a new ranker")
    yield add, _add_rankers
    for action, method, about in (
        ("retire", "retire", "remove a ranker for good"),
        ("pause-ranker", "pause_ranker", "issue no duels with a ranker until you start it again"),
        ("start-ranker", "start_ranker", "resume duels with a paused ranker"),
    ):
        parser = _parser(add_parser, action, about)
        parser.add_argument("ranker", metavar="RANKER", help="name of the ranker")
        yield parser, partial(_operate_ranker, method)
    delete = add_parser("delete", help="delete a draft, or a stopped or archived tournament, with all its data")
    delete.add_argument("name", metavar="NAME", help="name of the tournament")
    delete.add_argument("--confirm", required=True, metavar="NAME", help="the name again, because this is final")
    yield delete, _delete


def _parser(add_parser: Callable[..., ArgumentParser], action: str, about: str) -> ArgumentParser:
    parser = add_parser(action, help=about)
    parser.add_argument("name", metavar="NAME", help="name of the tournament")
    parser.add_argument("--reason", default="", metavar="TEXT", help="reason, recorded in the journal")
    return parser


def _operate(method: str, url: str, options: Namespace, *values: Any, **more: Any) -> int:
    """Call a method of the tournament, and print what users see now."""
    by = "" if is_service(url) else getpass.getuser()  # a service records the name of the key
    with Tournament.open(options.name, storage=url) as tournament:
        getattr(tournament, method)(*values, reason=options.reason, by=by, **more)
        print(f"{options.name}: {tournament.status.replace('_', ' ')}\n{tournament.users_see}")
    return 0


def _roll_out(url: str, options: Namespace) -> int:
    return _operate("roll_out", url, options, options.share, options.ranker)


def _configure(url: str, options: Namespace) -> int:
    settings = given_settings(options)
    if not settings:
        raise ValueError("nothing to change; pass at least one setting, such as --share 0.1")
    return _operate("configure", url, options, **settings)


def _add_rankers(url: str, options: Namespace) -> int:
    return _operate("add_rankers", url, options, options.rankers)


def _operate_ranker(method: str, url: str, options: Namespace) -> int:
    return _operate(method, url, options, options.ranker)


def _delete(url: str, options: Namespace) -> int:
    Tournament.delete(options.name, storage=url, confirm=options.confirm)
    print(f"{options.name}: deleted")
    return 0
