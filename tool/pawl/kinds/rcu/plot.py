# SPDX-License-Identifier: MIT
"""Plots of `pawl bench rcu`: rows of times, histograms of delays, memory in a flood over time."""

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from pawl.core import plot, stats, table
from pawl.kinds.rcu.plan import MIB
from pawl.kinds.rcu.table import workload

HUES = {
    "pawl_rcu": "#0b6e99",
    "pawl_rcu_domain": "#7b61a8",
    "pawl_rcu_qs": "#2fa4c9",
    "pawl_rcu_wait": "#61a087",
    "pawl_rcu_expedited": "#61a087",
    "pawl_rcu_qs_expedited": "#8fc4ae",
    "urcu_memb": "#c4561a",
    "urcu_qsbr": "#d69c2f",
    "urcu_bp": "#a8323e",
    "ck_epoch": "#3b8f5c",
}
# Bins of a histogram, eight to a factor of ten.
BINS = np.logspace(2, 11, 73)


def _hue(name: str) -> str:
    return HUES.get(name.split("/")[1].split("@")[0], plot.THEIRS)


def _look(name: str) -> dict:
    dash = "--" if "+" in name else "-." if "@2" in name else "-"
    return {
        "color": _hue(name),
        "linestyle": dash,
        "linewidth": 1.4,
        "label": name.split("/", 1)[1],
    }


def _delays(axes: Axes, cell: dict) -> None:
    """The share of the callbacks that waited so long; a dot at the 99th of a hundred."""
    for row in cell["summary"]:
        own = stats.of_candidate(cell["samples"], row["candidate"])
        pairs = [p for s in own for p in s["delays_ns"]]
        waits, counts = (np.array(x, dtype=float) for x in zip(*pairs, strict=True))
        shares, _ = np.histogram(np.clip(waits, BINS[0], BINS[-1]), BINS, weights=counts)
        axes.stairs(shares / counts.sum() * 100, BINS, baseline=None, **_look(row["candidate"]))
        axes.plot(
            [row["delay_ns"]["p99"]],
            [0],
            "o",
            color=_hue(row["candidate"]),
            markersize=5,
            clip_on=False,
        )
    axes.set_xscale("log")
    axes.set_xlim(1e3, 1e9)
    axes.set_ylim(0, None)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ns, _place: table.duration(ns)))
    axes.set_xlabel("from the call until the callback runs, log scale; dots: p99", fontsize=8)
    axes.set_ylabel("% of the callbacks", fontsize=8)


def _flood(axes: Axes, cell: dict) -> None:
    for row in cell["summary"]:
        for sample in stats.of_candidate(cell["samples"], row["candidate"])[:1]:
            points = sample["held"]
            axes.plot(
                [t for t, _ in points],
                [max(b, 1) / MIB for _, b in points],
                **_look(row["candidate"]),
            )
            if sample["stopped"] and points:
                axes.plot(
                    [points[-1][0]],
                    [points[-1][1] / MIB],
                    "x",
                    markersize=7,
                    color=_hue(row["candidate"]),
                )
    axes.axhline(
        cell["bound"] / MIB, color=plot.INK, linewidth=0.8, linestyle=":", label="our bound"
    )
    axes.set_yscale("log")
    axes.set_ylim(0.05, None)
    axes.set_xlabel("seconds since the first call; x: stopped by the bench", fontsize=8)
    axes.set_ylabel("MiB queued, log scale", fontsize=8)


def _curves(result: dict, cell: dict, draw) -> Figure:
    figure = pyplot.figure(figsize=(9.5, 3.9))
    axes = figure.add_axes((0.075, 0.2, 0.7, 0.62))
    draw(axes, cell)
    axes.grid(color=plot.FAINT, linewidth=0.6)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
    return plot.framed(figure, result, workload(cell))


def _figure(result: dict, cell: dict) -> Figure:
    own = {"delay": _delays, "flood": _flood}.get(cell["group"])
    return (
        _curves(result, cell, own)
        if own
        else plot.of_groups(result, cell["summary"], workload(cell))
    )


def figures(result: dict) -> list[tuple[str, Figure]]:
    return [(workload(c), _figure(result, c)) for c in result["cells"]]
