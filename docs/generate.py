"""The pages that are made from the program: docs/bandits/ from the bandits' docstrings, and the references.

`python docs/generate.py` writes them; `--check` writes nothing and fails when a page is stale, when a docstring lacks
a section, or when it does not name exactly the parameters that the constructor takes, and when a command, an option, a
call or anything else that has a name says nothing of itself. `--check` also fails when a page, generated or written by
hand, lists an option twice within one command.
"""

import argparse
import difflib
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import declared
import rankduel as rd

PAGES = Path(__file__).resolve().parent / "bandits"
SECTIONS = ("Idea", "Parameters", "Cost", "Guarantee", "References", "Deviations", "Examples")
NOTICE = "<!-- Made by docs/generate.py from the docstring. Change that, then run: make docs -->"


AnyBandit = type[rd.Bandit | rd.MultiBandit]


class DocstringError(ValueError):
    """A docstring without the sections that docs/internals.md asks for: what is wrong, in one line."""


def parse(docstring: str) -> tuple[str, dict[str, list[str]]]:
    r"""The summary, and the lines of each section.

    >>> parse("Play.\n\nIdea\n    None.\n\nCost\n    Little.")
    ('Play.', {'Idea': ['None.'], 'Cost': ['Little.']})
    """
    summary: list[str] = []
    sections: dict[str, list[str]] = {}
    lines = summary
    for line in inspect.cleandoc(docstring).splitlines():
        if line in SECTIONS:
            lines = sections.setdefault(line, [])
        else:
            lines.append(line.removeprefix("    ") if sections else line)
    return _paragraph(summary), {name: _trimmed(lines) for name, lines in sections.items()}


def parameters(lines: Sequence[str]) -> dict[str, str]:
    """What is said of each parameter. A line that is indented goes on with the one before.

    >>> parameters(["n_arms: K, at least 1.", "f: f(K), > 0. None is", "    0.3 K."])
    {'n_arms': 'K, at least 1.', 'f': 'f(K), > 0. None is 0.3 K.'}
    """
    told: dict[str, list[str]] = {}
    for line in lines:
        name, colon, text = line.partition(": ")
        if colon and name.isidentifier():
            told[name] = [text]
        elif told:
            told[list(told)[-1]].append(line.strip())
    return {name: " ".join(texts) for name, texts in told.items()}


def references(lines: Sequence[str]) -> list[str]:
    """One entry per work: it begins with its authors and a colon.

    >>> references(["Li, de Rijke: MergeDTS.", "ACM TOIS 38(4), 2020.", "Wu, Liu: DTS. 2016."])
    ['Li, de Rijke: MergeDTS. ACM TOIS 38(4), 2020.', 'Wu, Liu: DTS. 2016.']
    """
    works: list[list[str]] = []
    for line in lines:
        if re.match(r"[A-Z][^.:\d]*: ", line) or not works:
            works.append([line])
        else:
            works[-1].append(line)
    return [" ".join(work) for work in works]


def check(cls: AnyBandit) -> None:
    """Raise if the docstring lacks a section or does not name exactly the constructor's parameters."""
    summary, sections = parse(cls.__doc__ or "")
    missing = [name for name in SECTIONS if not sections.get(name)]
    if not summary or missing:
        raise DocstringError(f"{cls.__name__}: no {', '.join(missing) or 'summary'} in the docstring")
    if list(sections) != list(SECTIONS):
        raise DocstringError(f"{cls.__name__}: sections are {', '.join(sections)}, expected {', '.join(SECTIONS)}")
    told, taken = set(parameters(sections["Parameters"])), {"n_arms", "seed", *cls(2, seed=0).parameters}
    for name in sorted(taken - told):
        raise DocstringError(f"{cls.__name__}: parameter {name} is not documented")
    for name in sorted(told - taken):
        raise DocstringError(f"{cls.__name__}: documents {name}, which is no parameter of it")


def page(cls: AnyBandit) -> str:
    """The Markdown of one bandit."""
    check(cls)
    summary, sections = parse(cls.__doc__ or "")
    parts = [f"# {cls.__name__}", NOTICE, _text(summary), f"On the command line: `{spec(cls)}`."]
    for name, lines in sections.items():
        parts += [f"## {name}", "\n".join(_section(name, lines))]
    parts += ["## Members", _members(cls), "[All bandits](README.md)"]
    return "\n\n".join(parts) + "\n"


def index(pairs: Sequence[AnyBandit], sets: Sequence[AnyBandit]) -> str:
    """The tables of all bandits: of those that let two arms meet, and of those that let many."""
    return "\n".join(
        [
            "# The bandits",
            "",
            NOTICE,
            "",
            "One page each: the idea, the parameters with the paper's symbols and values, what a duel costs, what is",
            "guaranteed, and where the code differs from the pseudo-code. What all of them share (`ask`, `tell`,",
            "`champion`, `snapshot`, ...) is told in the [tutorial](../tutorial.md).",
            "",
            *_table(pairs),
            "",
            "These choose more than two arms at once, which share a page by [multileaving](../multileaving.md). `ask`",
            "names a set of arms, and `tell` takes the preferences between them.",
            "",
            *_table(sets),
            "",
        ]
    )


def _table(bandits: Sequence[AnyBandit]) -> list[str]:
    rows = [
        f"| [{cls.__name__}]({file_name(cls)}) | {_text(parse(cls.__doc__ or '')[0])} | `{spec(cls)}` |"
        for cls in bandits
    ]
    return ["| bandit | what it does | with its default parameters |", "|---|---|---|", *rows]


def spec(cls: AnyBandit) -> str:
    """The bandit with its defaults, as `--bandit` and `rd.bandit_from` read it.

    >>> spec(rd.MergeRUCB)
    'MergeRUCB(alpha=0.262144, batch_size=8, c=400000)'
    """
    defaults = cls(2, seed=0).parameters
    options = ", ".join(f"{name}={_value(value)}" for name, value in defaults.items() if value is not None)
    return f"{cls.__name__}({options})" if options else cls.__name__


def file_name(cls: AnyBandit) -> str:
    """The name of its page: of the class, in snake_case.

    >>> [file_name(cls) for cls in (rd.MergeDTS, rd.RMED1, rd.SparringUCB1)]
    ['merge_dts.md', 'rmed1.md', 'sparring_ucb1.md']
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower() + ".md"


def pages() -> dict[Path, str]:
    """Every page as it should be."""
    pairs: list[AnyBandit] = list(rd.REGISTRY.values())
    sets: list[AnyBandit] = list(rd.MULTI_REGISTRY.values())
    made = {PAGES / file_name(cls): page(cls) for cls in pairs + sets}
    made[PAGES / "README.md"] = index(pairs, sets)
    for name in ("commands", "http", "names"):
        made[PAGES.parent / f"{name}.md"] = getattr(declared, name)()
    return made


def differences(made: dict[Path, str]) -> Iterator[str]:
    """What is not as it should be, with the first lines of each difference."""
    for path, text in made.items():
        name = path.relative_to(PAGES.parent.parent)
        if not path.exists():
            yield f"{name} is missing"
        elif (old := path.read_text()) != text:
            diff = difflib.unified_diff(old.splitlines(), text.splitlines(), "now", "should be", lineterm="", n=0)
            yield "\n    ".join([f"{name} is stale:", *list(diff)[2:12]])
    yield from (f"{path.relative_to(PAGES.parent.parent)} is of no bandit" for path in _strangers(made))


def repeated_options(text: str) -> list[str]:
    r"""Options that one section of a page lists twice in its tables.

    >>> repeated_options("## plan\n| `--runs N` | how many |\n| `--seed S`, `--runs N` | |\n## duel\n| `--runs N` | |")
    ['plan: --runs is listed twice']
    """
    found: list[str] = []
    section, seen = "", set[str]()
    for line in text.splitlines():
        if heading := re.match(r"#+ (.*)", line):
            section, seen = heading[1], set()
        elif line.startswith("|"):
            for option in re.findall(r"`(--?[a-z][\w-]*)", re.split(r"(?<!\\)\|", line)[1]):
                if option in seen:
                    found.append(f"{section}: {option} is listed twice")
                seen.add(option)
    return found


def write(made: dict[Path, str]) -> None:
    """Make the folder hold these pages and no others."""
    PAGES.mkdir(exist_ok=True)
    for path, text in made.items():
        path.write_text(text)
    for path in _strangers(made):
        path.unlink()


def _strangers(made: dict[Path, str]) -> list[Path]:
    return sorted(set(PAGES.glob("*.md")) - set(made))


def _section(name: str, lines: Sequence[str]) -> list[str]:
    if name == "Parameters":
        return [f"- `{parameter}`: {_text(text)}" for parameter, text in parameters(lines).items()]
    if name == "References":
        return [f"- {_text(work)}" for work in references(lines)]
    if name == "Examples":
        return ["```pycon", *lines, "```"]
    return [_text(_paragraph(lines))]


def _members(cls: AnyBandit) -> str:
    """What a user can call beyond the contract, and what its champion is."""
    contract = set(dir(rd.MultiBandit if issubclass(cls, rd.MultiBandit) else rd.Bandit))
    names = sorted({name for name in dir(cls) if not name.startswith("_")} - contract | {"champion"})
    return "\n".join(
        f"- `{name}`: {_text(_paragraph((inspect.getdoc(getattr(cls, name)) or '').splitlines()))}" for name in names
    )


def _value(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else repr(value)


def _trimmed(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").splitlines()


def _paragraph(lines: Sequence[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())


def _text(text: str) -> str:
    """Plain text as Markdown: outside of `code`, a star or an angle bracket is only itself."""
    return "`".join(
        re.sub(r"([*<|])", r"\\\1", part) if outside % 2 == 0 else part for outside, part in enumerate(text.split("`"))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or check them."""
    options = argparse.ArgumentParser(description="Make the pages of bandits, commands, calls and names.")
    options.add_argument("--check", action="store_true", help="write nothing; fail if something is stale or missing")
    asked = options.parse_args(arguments)
    try:
        made = pages()
    except (DocstringError, declared.UndocumentedError) as error:
        print(error, file=sys.stderr)
        return 1
    if not asked.check:
        write(made)
        return 0
    stale = list(differences(made))
    if stale:
        print("\n".join([*stale, "run: make docs"]), file=sys.stderr)
    repeated = [
        f"{path.relative_to(PAGES.parent.parent)}: {slip}"
        for path in sorted(PAGES.parent.rglob("*.md"))
        for slip in repeated_options(path.read_text())
    ]
    if repeated:
        print("\n".join(repeated), file=sys.stderr)
    return 1 if stale or repeated else 0


if __name__ == "__main__":
    sys.exit(main())
