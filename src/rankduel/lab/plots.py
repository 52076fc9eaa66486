"""Plot curves against duels, or against a swept option, as PNG, SVG and PDF."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankduel.lab.store import write_whole

__all__ = ["Curve", "Panel", "PlotUnavailable", "save_plot"]

# Okabe and Ito's colours, safe for colour-blind readers. Without yellow, which is too pale for a line on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_STYLES = ("-", "--", ":")  # when the colours are used up: dashed, then dotted lines
_SHOWN_RANGE = 10_000  # the x axis shows the last four powers of ten
_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}


class PlotUnavailable(RuntimeError):  # noqa: N818 - named like KeyError
    """matplotlib is not installed."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A line of a plot, with an error band if `error` is given."""

    label: str
    duels: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    error: npt.NDArray[np.float64] | None = None
    colour: int | None = None  # number of the colour; None: in the order of the curves


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes: the label of the y axis, and the curves."""

    quantity: str
    curves: Sequence[Curve]
    from_zero: bool = True
    across: str = "duels"  # label of the x axis
    log: bool = False  # logarithmic y axis
    points: bool = False  # mark each value, if there are few


def save_plot(
    stem: Path, panels: Sequence[Panel], *, title: str, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Plot the panels side by side, with a logarithmic x axis, and return the paths of the files, such as `stem`.png.

    The same curves give the same bytes, because the files contain no date. PDF files may differ in the order of parts.
    """
    try:
        from matplotlib import rc_context  # noqa: PLC0415 - optional dependency
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional dependency
        from matplotlib.ticker import StrMethodFormatter  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise PlotUnavailable("plots need matplotlib: pip install 'rankduel[lab]'") from error
    figure = Figure(figsize=(8 if len(panels) == 1 else 6.5 * len(panels), 5), layout="constrained")
    for panel, axes in zip(panels, np.ravel(figure.subplots(1, len(panels))), strict=True):
        last = max(curve.duels[-1] for curve in panel.curves)
        for nth, curve in enumerate(panel.curves):
            number = nth if curve.colour is None else curve.colour
            seen = curve.duels >= last / _SHOWN_RANGE
            colour = _COLOURS[number % len(_COLOURS)]
            style = _STYLES[number // len(_COLOURS) % len(_STYLES)]
            marked = {"marker": "o"} if panel.points else {}
            axes.plot(
                curve.duels[seen], curve.values[seen], style, color=colour, label=curve.label, linewidth=1.8, **marked
            )
            if curve.error is not None:
                low, high = curve.values - curve.error, curve.values + curve.error
                axes.fill_between(curve.duels[seen], low[seen], high[seen], color=colour, alpha=0.25, linewidth=0)
        axes.set(xlabel=panel.across, ylabel=panel.quantity, xscale="log", yscale="log" if panel.log else "linear")
        if panel.from_zero and not panel.log:
            axes.set_ylim(0, None)
        axes.set_xlim(max(1, last / _SHOWN_RANGE), max(2, last) * 1.1)
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="best", frameon=False, fontsize=min(10, 180 / len(panel.curves))).set_in_layout(False)
    if len(panels) == 1:
        axes.set_title(title, wrap=True)
    else:
        figure.suptitle(title, wrap=True)
    paths = []
    with rc_context({"svg.hashsalt": "rankduel"}):
        for form in formats:
            file = io.BytesIO()
            figure.savefig(file, format=form, **_UNDATED.get(form, {"dpi": 150}))
            paths.append(stem.with_name(f"{stem.name}.{form}"))
            write_whole(paths[-1], file.getvalue())
    return paths
