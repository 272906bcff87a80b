# SPDX-License-Identifier: MIT
"""What the plots of all kinds share: colours, head and foot, panels, curves, and how to write them.

Axes of linear scale start at zero, each line is named, and its colour only repeats its name.
"""

import io
import math
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend must be chosen first)
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import LogFormatter  # noqa: E402

from pawl.core.kind import Kind  # noqa: E402
from pawl.core.table import nanoseconds  # noqa: E402

INK, MUTED, FAINT = "#1b1f24", "#6a737d", "#d9dde2"
OURS, THEIRS, PTHREAD = "#0b6e99", "#9aa3ad", "#c4561a"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": MUTED,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "svg.hashsalt": "pawl",
    "figure.facecolor": "white",
    "axes.axisbelow": True,
}
# name of a row -> colour, dashes, width of its line
Looks = dict[str, tuple[str, str, float]]
# Inches that a line of a legend takes.
LEGEND_LINE = 0.17
OTHER = (THEIRS, "-", 1.0)


def colour(name: str) -> str:
    if "pawl" in name:
        return OURS
    return PTHREAD if "pthread" in name else THEIRS


def look(name: str, looks: Looks) -> dict:
    hue, dash, width = looks.get(name, OTHER)
    return {"color": hue, "linestyle": dash, "linewidth": width}


# ---- The frame of a figure ----------------------------------------------------------------------


def headline(figure: Figure, result: dict, text: str) -> None:
    title = f"{result['title']}: " if result["title"] else ""
    figure.suptitle(
        title + text, x=0.012, y=0.985, ha="left", va="top", fontsize=11, fontweight="bold"
    )


def footer(figure: Figure, result: dict) -> None:
    machine = result["machine"]
    commit = (result.get("commit") or "unknown")[:10] + ("+changes" if result.get("dirty") else "")
    text = (
        f"{machine.get('cpu')}, {machine.get('cpus_allowed')} CPUs; {result.get('kernel')}; "
        f"{result.get('compiler')} {result.get('flags')}; commit {commit}; "
        f"{(result.get('finished') or '')[:10]}"
    )
    figure.text(0.012, 0.008, text, fontsize=6.5, color=MUTED, ha="left", va="bottom")


def framed(figure: Figure, result: dict, text: str) -> Figure:
    """With what was measured above, and the machine below."""
    headline(figure, result, text)
    footer(figure, result)
    return figure


def legend(figure: Figure, names: set[str], looks: Looks) -> None:
    shown = [n for n in looks if n in names]
    figure.legend(
        [Line2D([], [], **look(n, looks)) for n in shown],
        shown,
        loc="center right",
        fontsize=7.5,
        frameon=False,
    )


def sides(figure: Figure, height: float) -> None:
    """Whose each colour is, at the right of the headline."""
    right = 0.988
    for text, hue in (("others", THEIRS), ("pthread", PTHREAD), ("Pawl", OURS)):
        figure.text(
            right, 1 - 0.3 / height, f"\u25a0 {text}", color=hue, ha="right", va="top", fontsize=9
        )
        right -= 0.012 + 0.0078 * len(text)


# ---- Panels of curves ---------------------------------------------------------------------------


def by(
    cells: list[dict], row: Callable[[dict], object], column: Callable[[dict], object]
) -> dict[tuple, list[dict]]:
    grid: dict[tuple, list[dict]] = {}
    for cell in cells:
        grid.setdefault((row(cell), column(cell)), []).append(cell)
    return grid


def panels(
    result: dict,
    grid: dict[tuple, list[dict]],
    draw: Callable[[Axes, list[dict]], None],
    titles: Callable,
    caption: str,
    label: str,
    looks: Looks,
) -> tuple[str, Figure]:
    """A panel for each (row, column) of the grid, the legend at the right; and its caption."""
    rows, columns = sorted({k[0] for k in grid}), sorted({k[1] for k in grid})
    names = {r["candidate"] for cells in grid.values() for c in cells for r in c["summary"]}
    # The line at the foot needs some width, however few panels there are; the legend some height.
    width = max(2.5 * len(columns) + 2.4, 9.5)
    height = max(2.1 * len(rows) + 1.3, LEGEND_LINE * len(names & looks.keys()) + 0.4)
    figure, axes = pyplot.subplots(len(rows), len(columns), squeeze=False, figsize=(width, height))
    figure.subplots_adjust(
        left=0.55 / width,
        right=1 - 1.8 / width,
        top=1 - 0.8 / height,
        bottom=0.72 / height,
        wspace=0.28,
        hspace=0.42,
    )
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            here = axes[y][x]
            here.tick_params(labelsize=7)
            if (row, column) in grid:
                draw(here, grid[row, column])
                here.set_title(titles(row, column), fontsize=8)
            else:
                here.set_axis_off()
            if y == len(rows) - 1:
                here.set_xlabel(label, fontsize=7)
    legend(figure, names, looks)
    return caption, framed(figure, result, caption)


def over(key: str, looks: Looks) -> Callable[[Axes, list[dict]], None]:
    """Draws medians over a parameter of the cells; its values lie side by side, evenly."""

    def draw(axes: Axes, cells: list[dict]) -> None:
        cells = sorted(cells, key=lambda c: c[key])
        for name in looks:
            points = [
                (place, r)
                for place, c in enumerate(cells)
                for r in c["summary"]
                if r["candidate"] == name
            ]
            if points:
                xs, ys = [x for x, _ in points], [r["median"] / 1e6 for _, r in points]
                style = look(name, looks)
                axes.plot(xs, ys, marker="o", markersize=2.5, **style)
                axes.vlines(
                    xs,
                    [r["q1"] / 1e6 for _, r in points],
                    [r["q3"] / 1e6 for _, r in points],
                    color=style["color"],
                    alpha=0.35,
                    linewidth=1,
                )
        axes.set_xticks(range(len(cells)), [f"{c[key]:g}" for c in cells])
        axes.set_ylim(0, None)
        axes.grid(axis="y", color=FAINT, linewidth=0.6)

    return draw


# ---- Distributions ------------------------------------------------------------------------------


def nines(share: float) -> float:
    """0.9 -> 1, 0.99 -> 2: the tail gets the room."""
    return -math.log10(1 - share)


def distribution(
    axes: Axes,
    found: dict[str, dict],
    shares: dict[str, float],
    top: float,
    looks: Looks,
    least: float,
) -> None:
    """One line a row: which share of the times was no longer than this; its end is the longest."""
    for name, times in found.items():
        points = [(times[q], nines(p)) for q, p in shares.items() if q in times]
        points.append((times["max"], top))
        axes.plot(
            [max(x, least) for x, _ in points],
            [y for _, y in points],
            marker="o",
            markersize=2.5,
            **look(name, looks),
        )
    axes.set_xscale("log")
    named = {nines(p): q for q, p in shares.items()} | {top: "max"}
    axes.set_yticks(list(named), list(named.values()), fontsize=7)
    axes.grid(color=FAINT, linewidth=0.6)


# ---- Rows of times ------------------------------------------------------------------------------


def rows(axes: Axes, names: list[str], notes: list[str], label: str) -> None:
    """Logarithmic axes for a line a row, from the top; notes stand at its end."""
    for place, text in enumerate(notes):
        axes.annotate(
            text,
            (1.01, place),
            xycoords=("axes fraction", "data"),
            fontsize=7,
            color=MUTED,
            va="center",
            annotation_clip=False,
        )
    axes.set_xscale("log")
    least, most = axes.get_xlim()
    if most < 100 * least:  # few powers of ten: 6 and 20 are read sooner than products of them
        for axis in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
            axis(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_xlabel(label, fontsize=8)


def dots(axes: Axes, found: list[dict], marker: Callable[[dict], str] = lambda _: "o") -> None:
    """Median as a point, quartiles thick."""
    for place, row in enumerate(found):
        hue = colour(row["candidate"])
        axes.hlines(place, row["q1"], row["q3"], color=hue, linewidth=3.5, alpha=0.5)
        axes.plot([row["median"]], [place], marker(row), color=hue, markersize=5)


def bars(axes: Axes, found: list[dict], baseline: str, title: str, label: str) -> None:
    """One bar a row from zero, quartiles as a line, its ratio to the baseline at the end."""
    found = list(reversed(found))
    places = range(len(found))
    axes.barh(
        places,
        [r["value"] for r in found],
        height=0.66,
        color=[r.get("hue") or colour(r["candidate"]) for r in found],
        alpha=0.85,
    )
    axes.hlines(
        places, [r["low"] for r in found], [r["high"] for r in found], color=INK, linewidth=1.2
    )
    for place, row in zip(places, found, strict=True):
        text = "" if row["ratio"] is None else f"{row['ratio']:.2f}x"
        axes.annotate(
            text,
            (row["high"], place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            fontweight="bold" if row["candidate"] == baseline else "normal",
        )
    axes.set_yticks(list(places), [r["candidate"] for r in found], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, max(r["high"] for r in found) * 1.16 or 1)
    axes.set_ylim(-0.6, len(found) - 0.4)
    axes.set_title(title, loc="left")
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_xlabel(label + ";\nordered by the median", fontsize=8)


def of_groups(result: dict, found: list[dict], caption: str) -> Figure:
    """Rows of groups.py; log scale, since one of them may cost 10,000 times another."""
    height = max(2.4, 0.24 * len(found) + 1.6)
    figure = pyplot.figure(figsize=(9.5, height))
    axes = figure.add_axes((0.31, 0.85 / height, 0.6, 1 - 1.45 / height))
    dots(axes, found, lambda row: "o" if row["threads"] == 1 else "D")
    rows(
        axes,
        [r["candidate"].split("/", 1)[1] for r in found],
        [nanoseconds(r["median"]) for r in found],
        "ns that one thread spends on an operation, log scale; diamonds: two threads at once",
    )
    return framed(figure, result, caption)


# ---- Drawing and writing ------------------------------------------------------------------------


def draw(kind: Kind, result: dict) -> list[tuple[str, Figure]]:
    """Every figure of a result with its caption."""
    cells = [c for c in result["cells"] if c["summary"]]
    with matplotlib.rc_context(STYLE):
        return kind.figures(result | {"cells": cells}) if cells else []


def render(figure: Figure, form: str, source: str) -> bytes:
    """The picture as bytes; it names the data it was drawn from, and no date of its own."""
    out = io.BytesIO()
    described = {"Description": f"pawl-source {source}"}
    extra = {"Date": None} if form == "svg" else {}
    with matplotlib.rc_context({**STYLE, "svg.fonttype": "path"}):
        figure.savefig(out, format=form, dpi=150, metadata={**described, **extra})
    return out.getvalue()


def close(drawn: list[tuple[str, Figure]]) -> None:
    for _, figure in drawn:
        pyplot.close(figure)
