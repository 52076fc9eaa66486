"""`rankduel tournaments create`."""

import getpass
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path

from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.storage_option import is_service
from rankduel.cli.tournaments.read import facts, open_read_only, print_json
from rankduel.cli.tournaments.setting_options import declare_settings, given_settings
from rankduel.client import Tournament
from rankduel.live.defaults import DAY, DEFAULT, DEFAULT_DELTA, DEFAULT_INTERLEAVING

__all__ = ["create", "declare_create"]


def declare_create(parser: ArgumentParser) -> None:
    """Add the options of `create`."""
    option = parser.add_argument
    option("name", metavar="NAME", help="name of the tournament")
    option("--ranker", action="append", default=[], metavar="NAME", help="name of a ranker; may be repeated")
    option("--rankers", type=Path, metavar="FILE", help="file with one ranker name per line")
    option("--draft", action="store_true", help="issue no duels until you start it; users see the baseline")
    option("--bandit", metavar="SPEC", help=f"bandit that chooses the duels (default: {DEFAULT})")
    option(
        "--delta",
        type=float,
        metavar="P",
        help=f"maximum probability of eliminating the best ranker (default: {DEFAULT_DELTA})",
    )
    option(
        "--tolerance",
        type=float,
        metavar="D",
        help="distance from 1/2 within which the last rankers end as tied (default: never)",
    )
    declare_settings(parser, new=True)
    option(
        "--interleaving",
        default=DEFAULT_INTERLEAVING,
        metavar="METHOD",
        help=f"interleaving method (default: {DEFAULT_INTERLEAVING})",
    )
    option(
        "--expires-after",
        type=float,
        default=DAY,
        metavar="SECONDS",
        help=f"time until a duel without an outcome expires (default: {DAY:.0f}, one day)",
    )
    option("--seed", type=whole(0), metavar="S", help="random seed of the bandit and the pages (default: a new one)")
    option("--exist-ok", action="store_true", help="succeed if the tournament exists with the same settings")
    option("--json", action="store_true", help="print JSON")


def create(url: str, options: Namespace) -> int:
    """Create a tournament."""
    rankers = list(options.ranker)
    if options.rankers is not None:
        rankers += [line.strip() for line in options.rankers.read_text().splitlines() if line.strip()]
    if not rankers:
        raise ValueError("no rankers given; repeat --ranker NAME, or pass --rankers FILE")
    if options.bandit is not None and (options.delta is not None or options.tolerance is not None):
        raise ValueError(
            f"--delta and --tolerance are for the default bandit; pass them as options of --bandit {options.bandit!r}"
        )
    with Tournament.create(
        options.name,
        rankers=rankers,
        storage=url,
        bandit=options.bandit,
        delta=options.delta,
        tolerance=options.tolerance,
        interleaving=options.interleaving,
        expires_after=options.expires_after,
        seed=options.seed,
        draft=options.draft,
        exist_ok=options.exist_ok,
        by="" if is_service(url) else getpass.getuser(),  # a service records the name of the key
        **given_settings(options),
    ):
        pass
    with closing(open_read_only(url, options.name)) as tournament:
        if options.json:
            print_json(facts(tournament))
        else:
            print(f"{options.name}: {len(rankers)} rankers, {tournament.settings.bandit}\n{tournament.users_see}")
    return 0
