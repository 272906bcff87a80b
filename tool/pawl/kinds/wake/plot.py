# SPDX-License-Identifier: MIT
"""Plots of `pawl bench wake`: a row for each way to wait, a panel for each delay."""

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl.core import plot, table

TITLE = "How long sleeping threads take to wake"


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
    notes = [table.duration(rows[n]["cpu_us"] * 1000) if n in rows else "" for n in names]
    plot.rows(
        axes,
        names if labels else [""] * len(names),
        notes,
        "ns from the signal, log scale; at the right: CPU time a wait",
    )
    axes.set_title(f"asleep for {cell['delay_ms']:g} ms")


def _figure(result: dict, cells: list[dict], caption: str) -> Figure:
    names = [r["candidate"] for r in cells[0]["summary"]]
    width, height = 3.6 * len(cells) + 2, max(3.2, 0.24 * len(names) + 1.6)
    figure, grid = pyplot.subplots(
        1, len(cells), squeeze=False, sharex=True, figsize=(width, height)
    )
    figure.subplots_adjust(
        left=1.5 / width, right=0.93, top=1 - 0.8 / height, bottom=0.78 / height, wspace=0.22
    )
    for number, (axes, cell) in enumerate(zip(grid[0], cells, strict=True)):
        _panel(axes, cell, names, labels=number == 0)
    return plot.framed(figure, result, caption)


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = []
    for hog, caption in ((False, TITLE), (True, f"{TITLE}, their CPU busy")):
        cells = sorted((c for c in result["cells"] if c["hog"] == hog), key=lambda c: c["delay_ms"])
        if cells:
            drawn.append((caption, _figure(result, cells, caption)))
    return drawn
