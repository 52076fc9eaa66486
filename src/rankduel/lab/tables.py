"""`Table`: one table as Markdown, CSV, LaTeX, HTML and plain text."""

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rankduel.lab.store import write_whole

__all__ = ["Table"]

_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of strings.

    >>> print(Table("Regret", ("bandit", "regret"), [("MergeDTS", "16,349")]).markdown)
    | bandit | regret |
    |---|---|
    | MergeDTS | 16,349 |
    <BLANKLINE>
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def markdown(self) -> str:
        """The table as Markdown. A | in a cell is escaped."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        text = [" | ".join(cell.replace("|", r"\|") for cell in line) for line in lines]
        text[1] = text[1].replace(" ", "")
        return "".join(f"| {line} |\n" if number != 1 else f"|{line}|\n" for number, line in enumerate(text))

    @property
    def text(self) -> str:
        """The table as aligned plain text, for terminals."""
        widths = [max(map(len, column)) for column in zip(*self.lines, strict=True)]
        return "".join("  ".join(map(str.ljust, line, widths)).rstrip() + "\n" for line in self.lines)

    @property
    def csv(self) -> str:
        """The table as CSV."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.head, *self.rows])
        return text.getvalue()

    @property
    def latex(self) -> str:
        """The table as LaTeX, for the package booktabs."""
        columns = "l" + "r" * (len(self.head) - 1)
        lines = [" & ".join("".join(_LATEX.get(char, char) for char in cell) for cell in line) for line in self.lines]
        head, *rows = (f"{line} \\\\\n" for line in lines)
        body = f"\\toprule\n{head}\\midrule\n{''.join(rows)}\\bottomrule\n"
        return f"\\begin{{tabular}}{{{columns}}}\n{body}\\end{{tabular}}\n"

    @property
    def html(self) -> str:
        """The table as HTML. It scrolls horizontally on narrow screens."""
        head = "".join(f"<th scope=col>{html.escape(cell)}</th>" for cell in self.head)
        rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in self.rows)
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return (
            f"<div class=scroll><table>{caption}<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
        )

    @property
    def lines(self) -> list[Sequence[str]]:
        """The heading and the rows."""
        return [self.head, *self.rows]

    def save(self, stem: Path) -> None:
        """Write `stem`.md, .csv and .tex."""
        for suffix, text in ((".md", self.markdown), (".csv", self.csv), (".tex", self.latex)):
            write_whole(stem.with_name(stem.name + suffix), text.encode())


def _cell(text: str) -> str:
    numeric = text[:1].isdigit() or text[:1] == "-"
    return f"<td{' class=n' if numeric else ''}>{html.escape(text)}</td>"
