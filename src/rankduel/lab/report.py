"""Report: write curves, figures, tables and claims of studies, and one HTML page with all of them."""

import html
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import rankduel
from rankduel.bandits import REGISTRY
from rankduel.lab.certified_tables import guarantee_table, regret_table
from rankduel.lab.claims import judge, theorem
from rankduel.lab.judging import Claim, Verdict, figure
from rankduel.lab.measurements import Measured, Series
from rankduel.lab.plots import Curve, Panel, PlotUnavailable, save_plot
from rankduel.lab.store import write_whole
from rankduel.lab.study import Study
from rankduel.lab.tables import Table

__all__ = ["Report", "claims_table", "data_table", "panel_tables", "write_report"]

FORMATS = ("png", "svg", "pdf")
_SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Report:
    """A written report: the page, the verdicts and the warnings."""

    page: Path
    claims: Mapping[Claim, Verdict]
    warnings: Sequence[str]  # figures that could not be drawn, with the reason


def write_report(studies: Sequence[Study], out: Path) -> Report:
    """Write curves, figures, tables and `report.html` into a folder. Files of the same names are replaced."""
    claims = judge({study.spec.name: study.measured for study in studies})
    sections, warnings = [], []
    for study in studies:
        for name, measured in study.measured.items():
            measured.save(out / "curves" / f"{_file(study.spec.name, name)}.npz")
        tables = list(panel_tables(study))
        for number, table in enumerate(tables, 1):
            table.save(out / "tables" / _file(study.spec.name, str(number), table.title))
        try:
            drawn = [_draw(out / "figures", study, *each) for each in _figures(study)]
        except PlotUnavailable as error:
            drawn, warnings = [], [str(error)]
        mine = {claim: verdict for claim, verdict in claims.items() if claim.question == study.spec.name}
        sections.append(_section(study, tables, drawn, mine))
    if claims:
        claims_table(claims).save(out / "claims")
        write_whole(out / "claims.json", json.dumps(_claims_json(claims), indent=2).encode())
    page = out / "report.html"
    write_whole(page, _page(studies, claims, sections, warnings).encode())
    return Report(page, claims, warnings)


def claims_table(claims: Mapping[Claim, Verdict]) -> Table:
    """A table of the claims, the measurements and the verdicts."""
    rows = [(claim.id, claim.text, claim.where, verdict.summary, verdict.state) for claim, verdict in claims.items()]
    return Table("The paper's claims", ("claim", "the paper says", "where", "measured here", "verdict"), rows)


def _claims_json(claims: Mapping[Claim, Verdict]) -> list[dict[str, str]]:
    return [
        {"id": c.id, "text": c.text, "where": c.where, "verdict": v.state, "measured": v.measured, "why": v.why}
        for c, v in claims.items()
    ]


def _file(*words: str) -> str:
    return re.sub(r"[^\w.]+", "-", "-".join(words)).strip("-")[:80]


# Tables


def panel_tables(study: Study) -> Iterator[Table]:
    """The special table of the spec, if it has one, and a table for each panel."""
    if study.spec.table.get("kind") == "promise":
        yield guarantee_table(study.spec.title, list(study.measured.values()))
        return
    if study.spec.table.get("kind") == "days":
        yield _days(study)
    if study.spec.table.get("kind") == "bound":
        yield _bounds(study)
    for panel in dict.fromkeys(measured.panel for measured in study.measured.values()):
        parts = [measured for measured in study.measured.values() if measured.panel == panel]
        yield regret_table(panel, parts) if study.spec.table.get("kind") == "oracle" else _rows(panel, parts)


def _rows(panel: str, parts: Sequence[Measured]) -> Table:
    """One row per bandit of a panel."""
    several = len({measured.facts["problem"] for measured in parts}) > 1
    swept = several or any(measured.facts["setting"] for measured in parts)
    measures = list(next(iter(parts[0].series.values())).measures)
    knows = all(measured.knows_regret for measured in parts)
    head = ["bandit", *(["problem"] if swept else []), "runs", "duels", *measures]
    head += [_regret_name(parts[0]), "winner found", "winner eliminated"] if knows else []
    head += ["converged at (median)", "CPU us per duel"]
    rows = []
    for measured in parts:
        setting = ", ".join(f"{name}={value}" for name, value in measured.facts["setting"].items())
        problem = setting or measured.facts["problem"]
        for series in measured.series.values():
            row = [series.label, *([problem] if swept else []), str(series.runs), f"{series.horizon:,}"]
            row += [_mean(series.mean_of(name)) for name in measures]
            if knows:
                found = int(((series.left == 1) & (series.best_left == 1)).sum())
                row += [_mean(series.regret[:, -1]), f"{found}/{series.runs}", f"{measured.lost(series)}/{series.runs}"]
            ends = np.where(series.converged_at < 0, np.inf, series.converged_at)
            rows.append([*row, figure(float(np.median(ends))), _mean(1e6 * series.seconds_per_duel)])
    return Table(panel, head, rows)


def _regret_name(measured: Measured) -> str:
    kind = str(measured.facts["regret"])
    return f"{kind.capitalize() if kind == 'copeland' else kind} regret"


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    error = f" ± {figure(float(values.std(ddof=1) / math.sqrt(len(values))))}" if len(values) > 1 else ""
    return f"{figure(float(values.mean()))}{error}"


def _days(study: Study) -> Table:
    """A table of CPU days, compared with the paper."""
    table = study.spec.table
    rows = []
    for bandit, theirs in table["paper"].items():
        row = [bandit]
        for panel, days in zip(table["columns"], theirs, strict=True):
            found = [m.series[bandit] for m in study.measured.values() if m.panel == panel and bandit in m.series]
            if not found:
                row += ["-", f"{days:g}", "-"]
                continue
            ours = found[0].seconds_to(table["horizon"]).mean() / _SECONDS_PER_DAY
            whole = found[0].horizon >= table["horizon"] or (found[0].converged_at >= 0).all()
            row += [f"{ours:.2g}{'' if whole else ' *'}", f"{days:g}", f"{days / ours:,.0f}"]
        rows.append(row)
    head = ["bandit"]
    for panel in table["columns"]:
        head += [f"{panel}, here", "paper", "paper / here"]
    title = f"{table['title']} (* extrapolated from a shorter run)"
    return Table(title, head, rows)


def _bounds(study: Study) -> Table:
    rows = []
    for measured in study.measured.values():
        for series in measured.series.values():
            bound = theorem(measured, series) if "theoretical" in series.label else None
            if bound is not None:
                worst, gap = float(series.regret[:, -1].max()), measured.facts["smallest_difference"]
                row = [measured.facts["problem"], str(measured.n_arms), f"{gap:.2g}", f"{series.horizon:,}"]
                rows.append([*row, _mean(series.regret[:, -1]), figure(worst), f"{bound:.3g}", f"{bound / worst:.2g}"])
    head = ("problem", "K", "smallest gap", "duels", "mean regret", "largest regret", "bound", "bound / largest")
    return Table(study.spec.table["title"], head, rows)


# Figures


def _figures(study: Study) -> Iterator[tuple[str, str, list[Panel]]]:
    """Yield name, title and panels of each figure."""
    for wanted in study.spec.figures:
        parts = [measured for measured in study.measured.values() if measured.facts["part"] == wanted.part]
        yield wanted.name, wanted.title, [_growth(parts, wanted.quantity, wanted.across)]
    drawn = {wanted.part for wanted in study.spec.figures}
    if not study.spec.curves:
        return
    for panel in dict.fromkeys(measured.panel for measured in study.measured.values()):
        parts = [m for m in study.measured.values() if m.panel == panel and m.facts["part"] not in drawn]
        if not parts:
            continue
        series = [each for measured in parts for each in measured.series.values()]
        runs = sorted({each.runs for each in series})
        counts = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        panels = [
            Panel(f"{name}, running mean", [each.curve(name) for each in series], from_zero=False)
            for name in series[0].measures
        ]
        if all(measured.knows_regret for measured in parts):
            quantity = f"cumulative {_regret_name(parts[0])}"
            panels.append(Panel(quantity, _coloured(series)))
        stand_in = " (stand-in data)" if parts[0].facts["origin"] == "stand-in" else ""
        yield panel, f"{panel}{stand_in}: mean of {counts} runs ± standard error", panels


def _coloured(series: Sequence[Series]) -> list[Curve]:
    """Curves of regret. If no bandit appears twice, each bandit has the same colour in all figures."""
    names, known = [each.spec.partition("(")[0] for each in series], list(REGISTRY)
    same = len(set(names)) == len(names) and set(names) <= set(known)
    return [
        replace(each.curve(), colour=known.index(name) if same else None)
        for each, name in zip(series, names, strict=True)
    ]


def _growth(parts: Sequence[Measured], quantity: str, across: str) -> Panel:
    """Plot a quantity at the horizon against a swept option."""
    found: dict[str, list[tuple[float, Series]]] = {}
    for measured in parts:
        for series in measured.series.values():
            setting = {**measured.facts["setting"], **series.setting}
            others = [f"{name}={value}" for name, value in series.setting.items() if name != across]
            name = ", ".join([series.spec.partition("(")[0], *others])
            found.setdefault(name, []).append((float(setting[across]), series))
    curves = []
    for name, points in found.items():
        values = [1e6 * each.seconds_per_duel if quantity == "cpu" else each.regret[:, -1] for _, each in points]
        errors = [each.std(ddof=1) / math.sqrt(len(each)) if len(each) > 1 else 0.0 for each in values]
        where = np.array([place for place, _ in points]).astype(np.int64)
        curves.append(Curve(name, where, np.array([each.mean() for each in values]), np.array(errors)))
    told = "CPU microseconds per duel" if quantity == "cpu" else "cumulative regret at the horizon"
    return Panel(told, curves, across=across, log=True, points=True)


def _draw(folder: Path, study: Study, name: str, title: str, panels: Sequence[Panel]) -> tuple[str, Path]:
    paths = save_plot(folder / _file(study.spec.name, name), panels, title=title, formats=FORMATS)
    return title, paths[FORMATS.index("svg")]


# The page

_STYLE = """
:root { color-scheme: light dark; --fg: #1b1f24; --bg: #fff; --soft: #f3f5f7; --line: #d5dae0;
  --holds: #00694a; --fails: #a83a00; --open: #775500; --grey: #59626c; }
@media (prefers-color-scheme: dark) { :root { --fg: #e4e8ec; --bg: #14181c; --soft: #1f252b; --line: #3a434c;
  --holds: #4fd1a5; --fails: #ff9a66; --open: #e8c24a; --grey: #a3adb7; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; font: 16px/1.5 system-ui, sans-serif; color: var(--fg);
  background: var(--bg); }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
a { color: inherit; } p.where, .grey { color: var(--grey); }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
thead th { background: var(--soft); } td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
.state { font-weight: 600; white-space: nowrap; }
.holds { color: var(--holds); } .fails { color: var(--fails); } .open { color: var(--open); }
.none { color: var(--grey); }
figure { margin: 1rem 0; background: #fff; border: 1px solid var(--line); border-radius: .4rem; padding: .5rem; }
figure svg { width: 100%; height: auto; display: block; max-width: 60rem; margin: auto; }
summary { cursor: pointer; } code { font-size: .85em; overflow-wrap: anywhere; }
@media (max-width: 45rem) {
  table.claims thead { display: none; }
  table.claims tr { display: block; border: 1px solid var(--line); border-radius: .4rem; margin: .6rem 0; }
  table.claims td { display: block; border: 0; white-space: normal; }
}
"""
_CLASSES = {"holds": "holds", "does not hold": "fails", "not decided here": "open", "not testable here": "none"}
_SIGNS = {"holds": "✓", "does not hold": "✗", "not decided here": "?", "not testable here": "–"}


def _page(
    studies: Sequence[Study], claims: Mapping[Claim, Verdict], sections: Sequence[str], warnings: Sequence[str]
) -> str:
    facts = next(iter(studies[0].measured.values())).facts
    names = ", ".join(study.spec.name for study in studies)
    counts = ", ".join(
        f"{state}: {number}" for state in _CLASSES if (number := sum(v.state == state for v in claims.values()))
    )
    summary = (
        f"<p>{len(claims)} claims of the paper ({counts}). A difference counts if it exceeds two standard errors.</p>"
        if claims
        else ""
    )
    told = "".join(f"<p>{html.escape(warning)}</p>" for warning in warnings)
    machine = "{system}, {processor}, Python {python}, NumPy {numpy}".format(**facts["machine"])
    made = (
        f"rankduel {rankduel.__version__}, commit {facts['commit'] or 'unknown'}; seed {facts['seed']}; scale "
        f"{studies[0].scale}; {machine}; computed in {facts['seconds']:,} s with {facts['jobs']} jobs, not counting "
        "reused runs"
    )
    title = f"Results of {names}"
    return (
        f'<!doctype html>\n<html lang=en><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{html.escape(title)}</h1>\n{summary}{_claims_html(claims)}"
        f"<h2>Data</h2>\n{data_table(studies).html}{told}{''.join(sections)}"
        f"<h2>Provenance</h2><p>{html.escape(made)}. The files <code>curves/*.npz</code> hold the specs, the seeds and "
        "the fingerprint of the problem, so that you can compute any run again.</p></body></html>\n"
    )


def _claims_html(claims: Mapping[Claim, Verdict]) -> str:
    if not claims:
        return ""
    rows = "".join(
        f"<tr id='{claim.id}'><td class='state {_CLASSES[verdict.state]}'>{_SIGNS[verdict.state]} {verdict.state}</td>"
        f"<td>{html.escape(claim.text)} <span class=grey>({html.escape(claim.where)})</span></td>"
        f"<td>{_measured_html(verdict)}</td><td><a href='#{claim.question}'><code>{claim.id}</code></a></td></tr>\n"
        for claim, verdict in claims.items()
    )
    head = "".join(f"<th scope=col>{name}</th>" for name in ("verdict", "the paper says", "measured here", "claim"))
    return (
        f"<div class=scroll><table class=claims><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
    )


def _measured_html(verdict: Verdict) -> str:
    measured, why = html.escape(verdict.measured), html.escape(verdict.why)
    if not why:
        return measured
    return f"{measured} <span class=grey>({why})</span>" if measured else f"<span class=grey>{why}</span>"


def data_table(studies: Sequence[Study]) -> Table:
    """A table of the problems and the origin of their data."""
    rows: dict[tuple[str, ...], None] = {}
    for study in studies:
        for measured in study.measured.values():
            facts = measured.facts
            origin = facts["told"] if facts["told"] != facts["problem"] else "named problem"
            rows[(facts["problem"], origin, f"{measured.n_arms:,}", facts["fingerprint"][:12])] = None
    return Table("Problems", ("problem", "origin", "rankers", "fingerprint"), list(rows))


def _section(
    study: Study, tables: Sequence[Table], drawn: Sequence[tuple[str, Path]], claims: Mapping[Claim, Verdict]
) -> str:
    spec = study.spec
    links = ", ".join(f"<a href='#{claim.id}'>{claim.id}</a>" for claim in claims)
    figures = "".join(
        f"<figure role=img aria-label='{html.escape(title, quote=True)}'>{_inline(path)}</figure>\n"
        for title, path in drawn
    )
    where = f"<p class=where>{html.escape(spec.where)}{f'. Claims: {links}' if links else ''}</p>"
    return (
        f"<h2 id='{html.escape(spec.name)}'>{html.escape(spec.name)}: {html.escape(spec.title)}</h2>\n"
        f"<p>{html.escape(spec.question)}</p>{where}\n{figures}{''.join(table.html for table in tables)}"
    )


def _inline(path: Path) -> str:
    """The svg element alone. Its ids get the name of the file as a prefix, because ids must be unique on the page."""
    text = path.read_text(encoding="utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    stem = re.sub(r"\W", "_", path.stem)
    text = re.sub(r'\bid="', f'id="{stem}-', text)
    text = re.sub(r'(xlink:href|href)="#', rf'\1="#{stem}-', text)
    return re.sub(r"url\(#", f"url(#{stem}-", text)
