# SPDX-License-Identifier: MIT
"""Plots of `pawl bench wake`: a row for each way to wait, a panel for each delay."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl import plot, table, wake


def _panel(axes: Axes, cell: dict, names: list[str], labels: bool) -> None:
    """Median as a point, quartiles thick, thin up to p99, a stroke at the maximum; log scale."""
    rows = {r["candidate"]: r for r in cell["summary"]}
    for place, name in enumerate(names):
        row = rows.get(name)
        if row is None:
            continue
        hue = plot.colour(name)
        axes.hlines(place, max(row["q1"], 1), row["p99"], color=hue, linewidth=0.8)
        axes.hlines(place, max(row["q1"], 1), row["q3"], color=hue, linewidth=3.5, alpha=0.5)
        axes.plot([row["median"]], [place], "o", color=hue, markersize=5)
        axes.plot([row["max"]], [place], "|", color=hue, markersize=8)
        axes.annotate(table.duration(row["cpu_us"] * 1000), (1.01, place),
                      xycoords=("axes fraction", "data"), fontsize=7, color=plot.MUTED,
                      va="center", annotation_clip=False)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names if labels else [""] * len(names), fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=plot.FAINT, linewidth=0.6)
    axes.set_title(f"asleep for {cell['delay_ms']:g} ms")
    axes.set_xlabel("ns from the signal, log scale; at the right: CPU time a wait", fontsize=8)


def _figure(result: dict, cells: list[dict], caption: str) -> Figure:
    names = [r["candidate"] for r in cells[0]["summary"]]
    height = max(3.2, 0.24 * len(names) + 1.6)
    figure, grid = plot.pyplot.subplots(1, len(cells), squeeze=False, sharex=True,
                                        figsize=(3.6 * len(cells) + 2, height))
    figure.subplots_adjust(left=1.5 / (3.6 * len(cells) + 2), right=0.93, top=1 - 0.8 / height,
                           bottom=0.78 / height, wspace=0.22)
    for number, (axes, cell) in enumerate(zip(grid[0], cells, strict=True)):
        _panel(axes, cell, names, labels=number == 0)
    plot.headline(figure, result, caption)
    plot.footer(figure, result)
    return figure


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = []
    with rc_context(plot.STYLE):
        for hog in (False, True):
            cells = sorted((c for c in result["cells"] if c["hog"] == hog and c["summary"]),
                           key=lambda c: c["delay_ms"])
            if cells:
                caption = wake.TITLE + (", their CPU busy" if hog else "")
                drawn.append((caption, _figure(result, cells, caption)))
    return drawn
