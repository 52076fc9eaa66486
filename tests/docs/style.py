"""Count how the documentation reads: "you", semicolons, who/what/whose, long sentences and retired words.

    python tests/docs/style.py                 # totals, and each page
    python tests/docs/style.py docs/live.md    # one page, with its long sentences

Code blocks, tables and HTML comments are left out of the counts. Retired words are searched in every text that a person
reads: pages, source files, examples and benchmarks. `test_style.py` fails if the figures miss the limits below.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIN_YOU_PER_1000 = 5.0
MAX_SEMICOLONS_PER_1000 = 1.5
MAX_WHO_PER_1000 = 3.0
MAX_WORDS_PER_SENTENCE = 40

# Phrases that the style guide retired, with a better wording. Each is matched as whole words, in any case.
RETIRED = {
    "allows to": "lets you",
    "of which": "a relative clause, or a new sentence",
    "that of": "name the thing again",
    "as is": "unchanged",
    "so many": "a number",
    "for ever": "forever, or how long",
    "each other one": "all others",
    "another one than": "any other than",
    "at whatever time": "whenever",
    "taken here": "supported, valid",
    "nothing is taken": "the whole batch is rejected",
    "nobody knows": "unknown",
    "beside": "next to, compared with",
    "whoever": "the process that, the user who",
    "is not one that": "invalid, unsupported",
    "of such a": "name the thing again",
    "nobody else": "no other process, no other user",
    "what is due": "the name of the work",
    "what it says": "a noun",
    "the plumbing": "the connection; for shadow mode, a dry run",
    "is tossed": "a coin flip decides",
    "by a hair": "narrowly",
    "in law": "in distribution",
    "made of chance": "random",
    "the more the better": "a comparison of two things",
    "the other way round": "reversed",
    "stands twice": "occurs twice",
    "for want of": "because there is no",
    "time and again": "many times",
    "under way": "running, in progress",
    "without a look": "without reading",
    "whereof": "a relative clause",
    "thereof": "a relative clause",
    "upkeep": "maintenance",
    "crew": "the name of the part",
    "desk": "the name of the part",
    "door": "the name of the part",
    "hall": "the name of the part",
    "house": "the name of the part",
    "tray": "the name of the part",
}


@dataclass(frozen=True)
class Counts:
    """The counts of one page, or of several."""

    words: int
    you: int
    semicolons: int
    who: int
    long_sentences: tuple[str, ...]

    def per_1000(self, count: int) -> float:
        """Scale a count to 1,000 words."""
        return 1000 * count / max(self.words, 1)


def pages() -> list[Path]:
    """Every page of the documentation, generated ones included."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("examples/**/*.md"))]


def sources() -> list[Path]:
    """Every file with text that a person reads: pages, code, stubs, dashboard, examples and benchmarks."""
    found = [
        *pages(),
        *ROOT.glob("docs/*.py"),
        *ROOT.glob("docs/**/*.html"),
        ROOT / "Makefile",
        ROOT / "pyproject.toml",
    ]
    for folder in ("src/rankduel", "examples", "benchmarks"):
        for suffix in ("py", "pyx", "pxd", "pyi", "js", "css", "html", "toml"):
            found += ROOT.glob(f"{folder}/**/*.{suffix}")
    return sorted(set(found))


def prose(text: str) -> Iterator[str]:
    r"""Yield the paragraphs, headings and list items of a Markdown page, without code, tables and link targets.

    >>> list(prose("# Run it\n\nCall `f(x)`,\nthen [stop](a.md).\n\n| a |\n```sh\nmake; make\n```\n- Now"))
    ['Run it', 'Call CODE, then stop.', 'Now']
    """
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^ *(```+|~~~+).*?^ *\1`* *$", "", text, flags=re.S | re.M)
    text = re.sub(r"``[^`]+``|`[^`]+`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    paragraph: list[str] = []
    for line in [*text.splitlines(), ""]:
        starts = re.match(r" *(#+|[-*+]|\d+\.|>) +", line)
        if not line.strip() or starts or line.lstrip().startswith("|"):
            if paragraph:
                yield " ".join(paragraph)
            paragraph = []
        if line.strip() and not line.lstrip().startswith("|"):
            paragraph.append((line[starts.end() :] if starts else line).strip())


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph after full stops, question marks and exclamation marks.

    >>> sentences("Run it. It costs 0.5 us, i.e. little.")
    ['Run it.', 'It costs 0.5 us, i.e. little.']
    """
    return re.split(r"(?<=[.!?])[\"')*_]* +(?=[\"'(*_]*[A-Z0-9])", paragraph)


def count(texts: list[str]) -> Counts:
    """Count words, "you", semicolons, who/what/whose and long sentences."""
    paragraphs = [paragraph for text in texts for paragraph in prose(text)]
    joined = "\n".join(paragraphs)
    long_sentences = [
        sentence
        for paragraph in paragraphs
        for sentence in sentences(paragraph)
        if len(_words(sentence)) > MAX_WORDS_PER_SENTENCE
    ]
    return Counts(
        words=len(_words(joined)),
        you=len(re.findall(r"\b(?:you|your|yours|yourself)\b", joined, re.I)),
        semicolons=joined.count(";"),
        who=len(re.findall(r"\b(?:who|what|whose)\b", joined, re.I)),
        long_sentences=tuple(long_sentences),
    )


def complaints(texts: list[str]) -> list[str]:
    """List the limits that the texts together miss, and their long sentences.

    >>> complaints(["You run it; you stop it."])
    ['166.7 semicolons per 1,000 words, expected at most 1.5']
    """
    counts = count(texts)
    you, semicolons, who = (counts.per_1000(number) for number in (counts.you, counts.semicolons, counts.who))
    found = []
    if you < MIN_YOU_PER_1000:
        found.append(f"{you:.1f} you/your per 1,000 words, expected at least {MIN_YOU_PER_1000:g}")
    if semicolons > MAX_SEMICOLONS_PER_1000:
        found.append(f"{semicolons:.1f} semicolons per 1,000 words, expected at most {MAX_SEMICOLONS_PER_1000:g}")
    if who > MAX_WHO_PER_1000:
        found.append(f"{who:.1f} who/what/whose per 1,000 words, expected at most {MAX_WHO_PER_1000:g}")
    return found + [f"over {MAX_WORDS_PER_SENTENCE} words: {sentence}" for sentence in counts.long_sentences]


def retired(text: str) -> list[tuple[int, str, str]]:
    r"""Find retired words: the line, the words, and a better wording.

    >>> retired("One.\nThis allows to\nstop.")
    [(2, 'allows to', 'lets you')]
    """
    found = []
    for phrase, better in RETIRED.items():
        pattern = r"\b" + phrase.replace(" ", r"[\s#*]+") + r"\b"
        starts = [match.start() for match in re.finditer(pattern, text, re.I)]
        found += [(text.count("\n", 0, start) + 1, phrase, better) for start in starts]
    return sorted(found)


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9][\w'.,%/-]*", text)


def _row(name: str, c: Counts) -> str:
    rates = (c.per_1000(c.you), c.per_1000(c.semicolons), c.per_1000(c.who))
    return f"{name:42} {c.words:6} {rates[0]:6.1f} {rates[1]:6.1f} {rates[2]:6.1f} {len(c.long_sentences):6}"


def main(names: list[str]) -> None:
    """Print the counts of the named pages, or of all; for named ones their long sentences too."""
    chosen = [Path(name).resolve() for name in names] or pages()
    print(f"{'per 1,000 words':42} {'words':>6} {'you':>6} {';':>6} {'who':>6} {'long':>6}")
    for page in chosen:
        counts = count([page.read_text()])
        print(_row(str(page.relative_to(ROOT)), counts))
        if names:
            print(*(f"    {sentence}" for sentence in counts.long_sentences), sep="\n")
    print(_row("all", count([page.read_text() for page in chosen])))
    for path in [Path(name).resolve() for name in names] or sources():
        for line, phrase, better in retired(path.read_text()):
            print(f"{path.relative_to(ROOT)}:{line}: {phrase!r}; write: {better}")


if __name__ == "__main__":
    main(sys.argv[1:])
