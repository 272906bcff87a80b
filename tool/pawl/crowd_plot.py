# SPDX-License-Identifier: MIT
"""Plots of `pawl bench crowd`: throughput over threads, and how the waits are distributed."""

from __future__ import annotations

import math

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pawl import crowd, plot

COLOURS = {
    crowd.MAIN: ("#0b6e99", "-", 2.0), "r+w/pawl_lock32": ("#2fa4c9", "-", 1.2),
    crowd.SPIN: ("#7b61a8", "-", 1.2), "r+w/pthread_rwlock": ("#c4561a", "-", 1.2),
    "r+w/std_shared_mutex": ("#d69c2f", "--", 1.2), "r+w/absl_mutex": ("#3b8f5c", "-", 1.2),
    "r+w/nsync_mu": ("#8aa63a", "-", 1.2), "r+w/tbb_rw_mutex": ("#a8323e", "-", 1.2),
    "w/pthread_mutex": ("#b5739d", "--", 1.2), crowd.FLOOR: ("#9aa3ad", ":", 1.2),
}
# The distribution of waits is drawn for this many threads, or the most below it.
CROWDED = 32
SHARES = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}


def look(name: str, colours: dict = COLOURS) -> dict:
    hue, dash, width = colours.get(name, (plot.THEIRS, "-", 1.0))
    return {"color": hue, "linestyle": dash, "linewidth": width}


def _throughput(axes: Axes, cells: list[dict]) -> None:
    cells = sorted(cells, key=lambda c: c["threads"])
    for name in COLOURS:
        points = [(c["threads"], r) for c in cells for r in c["summary"]
                  if r["candidate"] == name]
        if points:
            axes.plot([math.log2(t) for t, _ in points], [r["median"] / 1e6 for _, r in points],
                      marker="o", markersize=2.5, **look(name))
    counts = [c["threads"] for c in cells]
    axes.set_xticks([math.log2(t) for t in counts], [str(t) for t in counts])
    axes.set_ylim(0, None)
    axes.grid(axis="y", color=plot.FAINT, linewidth=0.6)


def nines(share: float) -> float:
    """0.9 -> 1, 0.99 -> 2: the tail gets the room."""
    return -math.log10(1 - share)


def distribution(axes: Axes, rows: list[dict], shares: dict[str, float], top: float) -> None:
    """One line a lock: which share of the waits was no longer than this; its end is the longest."""
    for name in COLOURS:
        row = next((r for r in rows if r["candidate"] == name), None)
        if row is None:
            continue
        points = [(row["wait_ns"][q], nines(p)) for q, p in shares.items() if q in row["wait_ns"]]
        points.append((row["wait_ns"]["max"], top))
        axes.plot([max(x, 10) for x, _ in points], [y for _, y in points], marker="o",
                  markersize=2.5, **look(name))
    axes.set_xscale("log")
    named = {nines(p): q for q, p in shares.items()} | {top: "max"}
    axes.set_yticks(list(named), list(named.values()), fontsize=7)
    axes.grid(color=plot.FAINT, linewidth=0.6)


def _waits(axes: Axes, cells: list[dict]) -> None:
    distribution(axes, cells[0]["summary"], SHARES, 5)


def legend(figure: Figure, names: set[str], colours: dict = COLOURS) -> None:
    shown = [n for n in colours if n in names]
    figure.legend([Line2D([], [], **look(n, colours)) for n in shown], shown, loc="center right",
                  fontsize=7.5, frameon=False)


def panels(result: dict, grid: dict[tuple, list[dict]], draw, titles, caption: str,
           label: str, colours: dict = COLOURS) -> Figure:
    """A panel for each (row, column) of the grid, the legend at the right."""
    rows, columns = sorted({k[0] for k in grid}), sorted({k[1] for k in grid})
    # The line at the foot needs some width, however few panels there are.
    width, height = max(2.5 * len(columns) + 2.4, 9.5), 2.1 * len(rows) + 1.3
    figure, axes = plot.pyplot.subplots(len(rows), len(columns), squeeze=False,
                                        figsize=(width, height))
    figure.subplots_adjust(left=0.55 / width, right=1 - 1.8 / width, top=1 - 0.8 / height,
                           bottom=0.72 / height, wspace=0.28, hspace=0.42)
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
    legend(figure, {r["candidate"] for cells in grid.values() for c in cells
                    for r in c["summary"]}, colours)
    plot.headline(figure, result, caption)
    plot.footer(figure, result)
    return figure


def _title(writes: float, section: float) -> str:
    return f"{section:g} us, {writes:g} % writes"


def _grid(cells: list[dict]) -> dict[tuple, list[dict]]:
    grid: dict[tuple, list[dict]] = {}
    for cell in cells:
        grid.setdefault((cell["writes"], cell["section_us"]), []).append(cell)
    return grid


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = []
    with rc_context(plot.STYLE):
        for hog in (False, True):
            cells = [c for c in result["cells"] if c["hog"] == hog and c["summary"]]
            if not cells:
                continue
            beside = ", beside a CPU hog" if hog else ""
            caption = f"million sections a second over threads{beside}"
            drawn.append((caption, panels(result, _grid(cells), _throughput, _title, caption,
                                          "threads")))
            counts = {c["threads"] for c in cells}
            most = max((t for t in counts if t <= CROWDED), default=min(counts))
            caption = f"waits for the lock, {most} threads{beside}"
            drawn.append((caption, panels(
                result, _grid([c for c in cells if c["threads"] == most]), _waits, _title, caption,
                "ns, log scale")))
    return drawn
