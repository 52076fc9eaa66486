"""Draw the pictures of docs/concepts.md: `python docs/draw.py` writes docs/pictures/*.svg.

The plots show seeded simulations that run here. The interleaved page is real output of TeamDraftInterleaving. Plain SVG
is small, scales, and follows the reader's light or dark mode. Another build may give other numbers from the same
distribution.
"""

import io
import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

import rankduel as rd

PICTURES = Path(__file__).resolve().parent / "pictures"
STYLE = """\
text { font: 15px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; fill: #1d2733 }
.small { font-size: 13px; fill: #4a5866 } .strong { font-weight: 600 } .paper { fill: #fff; stroke: #d5dce3 }
.box { fill: #f1f5f9; stroke: #7b8b9a } .line { fill: none; stroke: #4a5866; stroke-width: 1.5 } .tip { fill: #4a5866 }
.grid { stroke: #dde3e9 } .bound { stroke: #1d2733; stroke-width: 1.5; stroke-dasharray: 6 4 }
.a { stroke: #0b5cad } .b { stroke: #b3460b } .c { stroke: #6a4c9c } .d { stroke: #5b6b7a }
.curve { fill: none; stroke-width: 2.5 }
.fa { fill: #d6e6f7; stroke: #0b5cad } .fb { fill: #fbe3d3; stroke: #b3460b }
.ta { fill: #0b5cad } .tb { fill: #b3460b } .tc { fill: #6a4c9c } .td { fill: #4a5866 }
@media (prefers-color-scheme: dark) {
text { fill: #e6ebf0 } .small { fill: #b3bfca } .paper { fill: #16191d; stroke: #3a434c }
.box { fill: #232a31; stroke: #8796a5 } .line { stroke: #b3bfca } .tip { fill: #b3bfca }
.grid { stroke: #333c45 } .bound { stroke: #e6ebf0 }
.a { stroke: #7ab7ff } .b { stroke: #ffa66b } .c { stroke: #c5a8ff } .d { stroke: #a0aebb }
.fa { fill: #16324f; stroke: #7ab7ff } .fb { fill: #4b2a15; stroke: #ffa66b }
.ta { fill: #7ab7ff } .tb { fill: #ffa66b } .tc { fill: #c5a8ff } .td { fill: #b3bfca } }
"""
DELTA = 0.05
SEED = 553  # a run in which the best ranker has bad luck at first
RANKERS = rd.PreferenceMatrix.from_array(
    [
        [0.50, 0.56, 0.60, 0.64, 0.70],
        [0.44, 0.50, 0.55, 0.60, 0.66],
        [0.40, 0.45, 0.50, 0.55, 0.62],
        [0.36, 0.40, 0.45, 0.50, 0.57],
        [0.30, 0.34, 0.38, 0.43, 0.50],
    ]
)


class Picture:
    """An SVG picture. Screen readers read its title and description."""

    def __init__(self, title: str, about: str, width: int = 720, height: int = 330) -> None:
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img" aria-labelledby="title about">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="about">{escape(about)}</desc>',
            f"<style>\n{STYLE}</style>",
            f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        ]

    def text(self, x: float, y: float, text: str, looks: str = "", anchor: str = "middle") -> None:
        """Write text with its baseline at y."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{looks}">{escape(text)}</text>')

    def box(self, corner: tuple[float, float], size: tuple[float, float], lines: Sequence[str], looks: str) -> None:
        """Draw a box with centred lines of text. With several lines, the first is bold."""
        (x, y), (width, height) = corner, size
        self.parts.append(f'<rect class="{looks}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        top = y + height / 2 + 5 - 10 * (len(lines) - 1)
        for number, line in enumerate(lines):
            strong = "strong" if number == 0 and len(lines) > 1 else "small" if number else ""
            self.text(x + width / 2, top + 20 * number, line, strong)

    def arrow(self, *points: tuple[float, float]) -> None:
        """Draw a line through the points with an arrowhead at the last one."""
        (x0, y0), (x, y) = points[-2:]
        length = math.hypot(x - x0, y - y0)
        dx, dy = (x - x0) / length, (y - y0) / length
        path = " ".join(f"{px},{py}" for px, py in [*points[:-1], (x - 8 * dx, y - 8 * dy)])
        tip = [(x, y), (x - 10 * dx + 5 * dy, y - 10 * dy - 5 * dx), (x - 10 * dx - 5 * dy, y - 10 * dy + 5 * dx)]
        corners = " ".join(f"{px:.1f},{py:.1f}" for px, py in tip)
        self.parts += [f'<polyline class="line" points="{path}"/>', f'<polygon class="tip" points="{corners}"/>']

    def save(self, name: str) -> None:
        """Write the picture to docs/pictures."""
        (PICTURES / f"{name}.svg").write_text("\n".join([*self.parts, "</svg>", ""]))


class Chart(Picture):
    """A line chart over a linear or logarithmic axis of duels."""

    def __init__(
        self,
        title: str,
        about: str,
        *,
        x: tuple[float, float],
        y: tuple[float, float],
        log: str = "",
        label: str,
        right: int = 190,
    ) -> None:
        super().__init__(title, about)
        self.left, self.top, self.bottom = 84, 44, self.height - 52
        self.right = self.width - right
        self.at_x = _scale(*x, self.left, self.right, "x" in log)
        self.at_y = _scale(*y, self.bottom, self.top, "y" in log)
        self.text(self.left, 26, label, "strong", "start")
        self.text((self.left + self.right) / 2, self.height - 14, "duels", "strong")
        for value in _ticks(*x, "x" in log):
            self.text(self.at_x(value), self.bottom + 20, _short(value), "small")
        for value in _ticks(*y, "y" in log):
            here = self.at_y(value)
            self.parts.append(
                f'<line class="grid" x1="{self.left}" x2="{self.right}" y1="{here:.1f}" y2="{here:.1f}"/>'
            )
            self.text(self.left - 8, here + 4, _short(value), "small", "end")

    def curve(self, values: Iterable[tuple[float, float]], looks: str, name: str, shift: tuple[float, float]) -> None:
        """Draw a curve and its name, shifted from the end of the curve."""
        points = [(self.at_x(x), self.at_y(y)) for x, y in values]
        neighbours = zip(points, points[1:], points[2:], strict=False)
        points[1:-1] = [here for before, here, after in neighbours if not before[1] == here[1] == after[1]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline class="curve {looks}" points="{path}"/>')
        self.text(points[-1][0] + shift[0], points[-1][1] + shift[1], name, f"t{looks} small strong", "start")

    def bound(self, y: float, name: str) -> None:
        """Draw a labelled horizontal line."""
        here = self.at_y(y)
        self.parts.append(f'<line class="bound" x1="{self.left}" x2="{self.right}" y1="{here:.1f}" y2="{here:.1f}"/>')
        self.text(self.right + 8, here + 5, name, "small", "start")


def _scale(low: float, high: float, begin: float, end: float, log: bool) -> Callable[[float], float]:
    def place(value: float) -> float:
        if log:
            return begin + (end - begin) * math.log(max(value, low) / low) / math.log(high / low)
        return begin + (end - begin) * (value - low) / (high - low)

    return place


def _ticks(low: float, high: float, log: bool) -> list[float]:
    if log:
        return [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    step = 10 ** math.floor(math.log10(high - low))
    step = step / 2 if (high - low) / step < 3 else step
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _short(value: float) -> str:
    """Format a number for an axis.

    >>> [_short(value) for value in (0, 0.5, 20, 1000, 1e6)]
    ['0', '0.5', '20', '1,000', '1 million']
    """
    return f"{value / 1e6:g} million" if value >= 1e6 else f"{value:,.0f}" if value >= 10 else f"{value:g}"


def duel() -> None:
    """Draw the loop of a dueling bandit."""
    sheet = Picture(
        "A dueling bandit",
        "A loop of five steps: the bandit picks two rankers, both rank the query, their lists are interleaved into "
        "one page, the user clicks, and the outcome of the duel goes back to the bandit.",
    )
    sheet.box((30, 120), (150, 90), ["bandit", "counts wins", "of each pair"], "box")
    sheet.box((260, 30), (180, 60), ["ranker A", "a, b, c, d"], "fa")
    sheet.box((260, 125), (180, 60), ["ranker B", "b, d, e, a"], "fb")
    sheet.box((530, 70), (160, 80), ["one page", "of both lists"], "box")
    sheet.box((530, 230), (160, 70), ["user", "searches and clicks"], "box")
    sheet.arrow((105, 120), (105, 60), (260, 60))
    sheet.arrow((180, 155), (260, 155))
    sheet.text(100, 44, "ask: which two?", "small strong")
    sheet.arrow((440, 60), (485, 60), (485, 100), (530, 100))
    sheet.arrow((440, 155), (485, 155), (485, 120), (530, 120))
    sheet.arrow((610, 150), (610, 230))
    sheet.text(600, 195, "shown", "small", "end")
    sheet.arrow((530, 265), (105, 265), (105, 210))
    sheet.text(318, 255, "tell: A's results were clicked more, or B's, or a tie", "small strong")
    sheet.text(318, 287, "losing rankers are shown less, then eliminated", "small")
    sheet.save("duel")


def interleaving() -> None:
    """Draw a page that TeamDraftInterleaving built."""
    lists = (["apple", "berry", "cherry", "date"], ["berry", "date", "elder", "apple"])
    method = rd.interleaving.TeamDraftInterleaving()
    page = method.interleave(*lists, k=4, seed=5)
    documents, teams = [str(document) for document in page.documents], page.credit_data or ()
    clicked = documents[teams.index("second")]
    outcome = method.outcome(page, clicks=[clicked])
    assert outcome is rd.Outcome.SECOND
    sheet = Picture(
        "Team Draft interleaving",
        f"Ranker A returns {', '.join(lists[0])}; ranker B returns {', '.join(lists[1])}. The page shows "
        f"{', '.join(documents)}, each document counted for the ranker that picked it. The user clicks {clicked}, "
        "which B had picked, so B wins the duel.",
    )
    for left, name, ranked, looks in ((30, "ranker A", lists[0], "fa"), (190, "ranker B", lists[1], "fb")):
        sheet.text(left + 65, 34, name, "strong")
        for place, document in enumerate(ranked):
            sheet.box((left, 50 + 56 * place), (130, 44), [f"{place + 1}  {document}"], looks)
    sheet.arrow((335, 155), (390, 155))
    sheet.text(485, 34, "the page that is shown", "strong")
    for place, (document, team) in enumerate(zip(documents, teams, strict=True)):
        ours = team == "first"
        sheet.box((400, 50 + 56 * place), (170, 44), [f"{place + 1}  {document}"], "fa" if ours else "fb")
        sheet.text(
            582, 77 + 56 * place, "picked by A" if ours else "picked by B", "small ta" if ours else "small tb", "start"
        )
        if document == clicked:
            sheet.text(582, 59 + 56 * place, "clicked", "strong", "start")
    how = "The rankers pick in turns, and coin flips decide which one is first."
    sheet.text(360, 308, f"{how} B picked {clicked}, so B wins the duel.", "small")
    sheet.save("interleaving")


def regret() -> None:
    """Plot the cumulative regret of three bandits, as a mean of ten runs."""
    problem, horizon, runs = rd.problems.web_search(), 1_000_000, 10
    chart = Chart(
        "Regret of three ways to choose duels",
        f"Cumulative regret over duels, on logarithmic axes, for {problem.n_arms} synthetic web search rankers, "
        f"mean of {runs} runs. The regret of Uniform grows linearly. MergeDTS and CertifiedSparring become flat.",
        x=(1e3, 1e6),
        y=(10, 2e5),
        log="xy",
        label=f"cumulative regret of users, {problem.n_arms} rankers, mean of {runs} runs",
    )
    for looks, spec in zip("dba", ("Uniform", "MergeDTS", "CertifiedSparring"), strict=True):
        played = rd.simulate_runs(spec, problem, horizon=horizon, runs=runs, jobs=2, seed=1)
        mean = np.mean([run.regret for run in played], axis=0)
        late = played[0].checkpoints >= 1e3
        chart.curve(
            zip(played[0].checkpoints[late], mean[late], strict=True),
            looks,
            f"{spec} {_short(round(mean[-1], -2))}",
            (8, 5),
        )
    chart.save("regret")


def left() -> None:
    """Plot the number of rankers left, in one run of each of two bandits."""
    problem = rd.problems.web_search()
    chart = Chart(
        "Rankers left",
        "Number of rankers left over duels, on a logarithmic axis, one run each: both bandits begin with 136 "
        "rankers, eliminate most of the bad ones early, and end with one.",
        x=(1e3, 1e6),
        y=(0, 140),
        log="x",
        label="rankers left, of 136, in one run",
    )
    for looks, bandit, name in (
        ("b", rd.MergeDTS(problem.n_arms, seed=1), "MergeDTS"),
        ("a", rd.CertifiedSparring(problem.n_arms, delta=DELTA, seed=1), "CertifiedSparring"),
    ):
        random, chances = np.random.default_rng(2), problem.probabilities
        steps = [(1e3, float(problem.n_arms))]
        while bandit.winner is None and bandit.told < 1_000_000:
            duel = bandit.ask()
            won = random.random() < chances[duel.first, duel.second]
            bandit.tell(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
            if bandit.n_alive != steps[-1][1]:
                steps += [(float(bandit.told), steps[-1][1]), (float(bandit.told), float(bandit.n_alive))]
        print(f"{name}: winner {bandit.winner} (best {problem.condorcet_winner}) after {bandit.told:,}")
        chart.curve(steps, looks, name, (-4, -150) if looks == "a" else (8, -2))
    chart.save("left")


def certificate() -> None:
    """Plot the evidence against each of five rankers in one run, until one ranker is left."""
    bandit, random, chances = (
        rd.CertifiedSparring(5, delta=DELTA, seed=SEED),
        np.random.default_rng(SEED),
        RANKERS.probabilities,
    )
    evidence: list[list[float]] = []
    while bandit.winner is None:
        duel = bandit.ask()
        won = random.random() < chances[duel.first, duel.second]
        bandit.tell(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
        with np.load(io.BytesIO(bandit.snapshot())) as arrays:
            evidence.append([math.log(stake.mean()) for stake in arrays["evidence"]])
    assert bandit.winner == RANKERS.condorcet_winner
    told, out = bandit.told, {gone.arm: gone.told for gone in bandit.decision().eliminated}
    enough = math.log(1 / DELTA)
    chart = Chart(
        "Evidence against each ranker",
        f"Evidence against five rankers over {told:,} duels. For four of them it reaches the threshold, "
        f"log(1 / {DELTA}) = {enough:.2f}, and they are eliminated. For the best ranker it stays below.",
        x=(0, told),
        y=(-1.5, 4),
        label=f"evidence against each of five rankers, in one run, delta = {DELTA}",
    )
    chart.bound(enough, f"eliminated at {enough:.1f}")
    for arm, looks in zip(reversed(range(5)), "dcbda", strict=True):
        until = out.get(arm, told)
        name = "the best" if arm == RANKERS.condorcet_winner else f"ranker {arm + 1}"
        shift = (
            (-40 - 12 * arm, -12 - 16 * (arm % 2))
            if until < told
            else (8, 5)
            if arm == RANKERS.condorcet_winner
            else (8, -14)
        )
        chart.curve(((told, row[arm]) for told, row in enumerate(evidence[:until], 1)), looks, name, shift)
    chart.save("certificate")
    print(f"certificate: {told} duels, out {out}, best at most {max(row[0] for row in evidence):.2f}")


def main() -> None:
    """Draw all pictures."""
    PICTURES.mkdir(exist_ok=True)
    for draw in (duel, interleaving, regret, left, certificate):
        draw()


if __name__ == "__main__":
    main()
