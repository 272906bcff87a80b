# SPDX-License-Identifier: MIT
"""Plots of `pawl bench latency`: how the times are distributed, and what pairs cost."""

from __future__ import annotations

import math

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pawl import latency, latency_samples, plot
from pawl.latency_samples import QUANTILES

LOOKS = {
    "pawl_sift": ("#0b6e99", "-", 2.0), "pthread_rwlock": ("#c4561a", "-", 1.2),
    "pthread_rwlock_writer": ("#d69c2f", "--", 1.2),
    "pthread_rwlock_nonrecursive": ("#a8323e", "-", 1.2), "pawl_lock64": ("#2fa4c9", "-", 1.2),
    "absl_mutex": ("#3b8f5c", "-", 1.2), "nsync_mu": ("#8aa63a", "-", 1.2),
    "none": ("#9aa3ad", ":", 1.2),
}
OTHER = (plot.THEIRS, "-", 1.0)
# The place of the maximum above p99.99.
TOP = 5.0
# What is drawn of a scenario: heading, measure, whose rows; None: blocked signals of all threads.
PANELS = (("signals blocked", None, ""), ("a writer's wait", "lock", "writer/"),
          ("a handler's wait", "lock", "interrupt/"))


def _look(name: str) -> dict:
    hue, dash, width = LOOKS.get(name, OTHER)
    return {"color": hue, "linestyle": dash, "linewidth": width}


def nines(share: float) -> float:
    """0.9 -> 1, 0.99 -> 2: the tail gets the room."""
    return -math.log10(1 - share)


def _series(samples: list[dict], measure: str | None, who: str) -> dict | None:
    if measure is None:
        return latency_samples.blocked(samples)
    return latency_samples.together([row[measure] for s in samples for row in s["rows"]
                                     if row["who"].startswith(who)])


def _found(cell: dict, measure: str | None, who: str) -> dict[str, dict]:
    """lock -> series, in nanoseconds."""
    found = {}
    for name in cell["candidates"]:
        samples = [s for s in cell["samples"] if s["candidate"] == name]
        if samples and (series := _series(samples, measure, who)):
            per_ns = latency_samples.per_ns(samples)
            found[name] = {k: series[k] / per_ns for k in (*QUANTILES, "max")}
    return found


def _distribution(axes: Axes, found: dict[str, dict], title: str) -> None:
    """A line a lock: which share of the times was no longer than this; its end is the longest."""
    for name, series in found.items():
        points = [(series[q], nines(share)) for q, share in QUANTILES.items()]
        points.append((series["max"], TOP))
        axes.plot([max(x, 1) for x, _ in points], [y for _, y in points], marker="o",
                  markersize=2.5, **_look(name))
    axes.set_xscale("log")
    named = {nines(share): q for q, share in QUANTILES.items()} | {TOP: "max"}
    axes.set_yticks(list(named), list(named.values()), fontsize=7)
    axes.grid(color=plot.FAINT, linewidth=0.6)
    axes.set_title(title, fontsize=9)
    axes.set_xlabel("ns, log scale", fontsize=8)


def _scenario(result: dict, cell: dict) -> Figure | None:
    panels = [(title, found) for title, measure, who in PANELS
              if (found := _found(cell, measure, who))]
    if not panels:
        return None
    width = 3.3 * len(panels) + 2.4
    figure, axes = plot.pyplot.subplots(1, len(panels), squeeze=False, figsize=(width, 3.5))
    figure.subplots_adjust(left=0.55 / width, right=1 - 2.15 / width, top=0.8, bottom=0.2,
                           wspace=0.25)
    for place, (title, found) in zip(axes[0], panels, strict=True):
        _distribution(place, found, title)
    names = [n for n in cell["candidates"] if any(n in found for _, found in panels)]
    figure.legend([Line2D([], [], **_look(n)) for n in names], names, loc="center right",
                  fontsize=7.5, frameon=False)
    plot.headline(figure, result, latency.workload(cell))
    plot.footer(figure, result)
    return figure


def _pairs(result: dict, cell: dict) -> Figure:
    rows = cell["summary"]
    height = 0.24 * len(rows) + 1.5
    figure = plot.pyplot.figure(figsize=(9.5, height))
    axes = figure.add_axes((0.27, 0.75 / height, 0.66, 1 - 1.3 / height))
    for place, row in enumerate(rows):
        hue = plot.colour(row["candidate"])
        axes.hlines(place, row["q1"], row["q3"], color=hue, linewidth=3.5, alpha=0.5)
        axes.plot([row["median"]], [place], "o", color=hue, markersize=5)
        axes.annotate(f"{row['median']:.1f} ns", (1.01, place),
                      xycoords=("axes fraction", "data"), fontsize=7, color=plot.MUTED,
                      va="center", annotation_clip=False)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [r["candidate"] for r in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=plot.FAINT, linewidth=0.6)
    axes.set_xlabel("ns of a pair, log scale: median, quartiles", fontsize=8)
    plot.headline(figure, result, latency.workload(cell))
    plot.footer(figure, result)
    return figure


def figures(result: dict) -> list[tuple[str, Figure]]:
    with rc_context(plot.STYLE):
        drawn = [(latency.workload(c),
                  (_pairs if c["scenario"] == latency.PAIRS else _scenario)(result, c))
                 for c in result["cells"] if c["summary"]]
    return [(name, figure) for name, figure in drawn if figure is not None]
