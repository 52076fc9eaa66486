"""`rankduel reproduce`: run the experiments of the MergeDTS paper and judge its claims."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from rankduel.cli.shared.run_specs import OUTPUT_HELP, add_spec_options, run_specs
from rankduel.lab import Claim, Verdict, paper_specs
from rankduel.lab.specs import SCALES

__all__ = ["declare"]

_DESCRIPTION = f"""\
Repeat the experiments of the MergeDTS paper (Li et al., 2020) and judge its claims by the results.

QUESTION is rq1 to rq7, theory, or all. Scale smoke takes seconds and only checks that everything runs. Scale small
takes up to 15 minutes on two cores and judges the claims that need no longer runs. Scale paper uses the horizons and
runs of the paper and takes hours. The claims with their verdicts go to stdout. Without the data set of a claim in
FOLDER, its experiment runs on a synthetic stand-in of the same size and structure, and the claim is not judged.

{OUTPUT_HELP}"""
_EXAMPLES = """\
examples:
  rankduel reproduce --list
  rankduel reproduce rq4 --scale small
  rankduel reproduce all --scale paper --data ~/matrices --out results/paper
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "reproduce",
        help="repeat the experiments of the paper and judge its claims",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("questions", metavar="QUESTION", nargs="*", help="rq1 ... rq7, theory, or all")
    option("--list", action="store_true", help="list the questions")
    option("--scale", choices=SCALES, default="small", help="horizon and number of runs (default: small)")
    add_spec_options(parser, out=Path("results/reproduce"))
    parser.set_defaults(run=partial(_reproduce, parser))


def _reproduce(parser: ArgumentParser, options: Namespace) -> int:
    specs = paper_specs()
    if options.list:
        for spec in specs.values():
            print(f"{spec.name:8}{spec.title} ({spec.where})\n{'':8}{spec.question}")
        return 0
    if not options.questions:
        parser.error(f"no question given; pass {', '.join(specs)}, or all")
    for question in options.questions:
        if question not in (*specs, "all"):
            parser.error(f"unknown question {question!r}; expected {', '.join(specs)}, or all")
    wanted = list(specs) if "all" in options.questions else list(dict.fromkeys(options.questions))
    _, report = run_specs(parser, options, [specs[name] for name in wanted], options.scale)
    print(_verdicts(report.claims), end="", flush=True)
    return 0


def _verdicts(claims: Mapping[Claim, Verdict]) -> str:
    lines = []
    for claim, verdict in claims.items():
        lines.append(f"{verdict.state:18}{claim.id} ({claim.where})\n")
        lines.append(f"{'':18}paper:    {claim.text}\n{'':18}measured: {verdict.summary}\n")
    counts = Counter(verdict.state for verdict in claims.values())
    lines.append(f"{len(claims)} claims ({', '.join(f'{state}: {number}' for state, number in counts.items())})\n")
    return "".join(lines)
