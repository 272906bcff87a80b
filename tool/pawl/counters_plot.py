# SPDX-License-Identifier: MIT
"""Plots of `pawl bench counters`: a figure for each group, a row for each candidate."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl import counters, plot


def rows_of(axes: Axes, rows: list[dict]) -> None:
    """Median as a point, quartiles thick; log scale, for a read may cost 10,000 additions."""
    for place, row in enumerate(rows):
        hue = plot.colour(row["candidate"])
        axes.hlines(place, row["q1"], row["q3"], color=hue, linewidth=3.5, alpha=0.5)
        axes.plot([row["median"]], [place], "o" if row["threads"] == 1 else "D", color=hue,
                  markersize=5)
        axes.annotate(counters.nanoseconds(row["median"]), (1.01, place),
                      xycoords=("axes fraction", "data"), fontsize=7, color=plot.MUTED,
                      va="center", annotation_clip=False)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [r["candidate"].split("/", 1)[1] for r in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=plot.FAINT, linewidth=0.6)
    axes.set_xlabel("ns that one thread spends on an operation, log scale; diamonds: two threads "
                    "at once", fontsize=8)


def _figure(result: dict, cell: dict) -> Figure:
    rows = cell["summary"]
    height = max(2.4, 0.24 * len(rows) + 1.6)
    figure = plot.pyplot.figure(figsize=(9.5, height))
    rows_of(figure.add_axes((0.31, 0.85 / height, 0.6, 1 - 1.45 / height)), rows)
    plot.headline(figure, result, counters.workload(cell))
    plot.footer(figure, result)
    return figure


def figures(result: dict) -> list[tuple[str, Figure]]:
    with rc_context(plot.STYLE):
        return [(counters.workload(c), _figure(result, c))
                for c in result["cells"] if c["summary"]]
