"""`rankduel bench`: run the experiment of a TOML spec."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rankduel.cli.shared.run_specs import OUTPUT_HELP, add_spec_options, run_specs
from rankduel.lab import certified_specs, load_spec
from rankduel.lab.report import panel_tables

__all__ = ["declare"]

_DESCRIPTION = f"""\
Run your own experiment from a TOML file: any bandits, on any problems, with any parameters.

The shortest SPEC has four lines: problems = ["cycle2"], bandits = ["MergeDTS", "RMED1"], horizon = 1e6 and runs = 10.
docs/reproduction.md explains all keys. The experiments of docs/certified.md are built in: --list prints their names.

{OUTPUT_HELP}"""
_EXAMPLES = """\
examples:
  rankduel bench my_spec.toml
  rankduel bench my_spec.toml --jobs 2 --seed 1 --out results/mine
  rankduel bench --list
  rankduel bench certified-regret --data FOLDER
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "bench",
        help="run your own experiment from a TOML file",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "spec", metavar="SPEC", nargs="?", help="TOML file, or the name of a built-in experiment (see --list)"
    )
    parser.add_argument("--list", action="store_true", help="list the built-in experiments")
    parser.add_argument("--scale", metavar="NAME", help="scale of the spec (default: its own horizon and runs)")
    add_spec_options(parser, out=Path("results/bench"))
    parser.set_defaults(run=partial(_bench, parser))


def _bench(parser: ArgumentParser, options: Namespace) -> int:
    named = certified_specs()
    if options.list:
        for spec in named.values():
            print(f"{spec.name:20}{spec.title}\n{'':20}{spec.question}")
        return 0
    if options.spec is None:
        parser.error(f"no experiment given; pass a TOML file, or one of {', '.join(named)}")
    try:
        spec = named.get(options.spec) or load_spec(options.spec)
    except ValueError as error:
        parser.error(str(error))
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # lets a spec name a bandit of your own, module:Class
    (study,), _ = run_specs(parser, options, [spec], options.scale)
    for table in panel_tables(study):
        print(f"{table.title}\n\n{table.markdown}")
    return 0
