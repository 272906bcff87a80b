# SPDX-License-Identifier: MIT
"""Plots of `pawl costs`: the table as bars, the CPUs as a heat map, sections as curves."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from pawl.core import plot
from pawl.kinds.costs.derive import derive
from pawl.kinds.costs.table import MODES, count, time

HUES = (
    "#0b6e99",
    "#2fa4c9",
    "#3b8f5c",
    "#7b61a8",
    "#c4561a",
    "#d69c2f",
    "#a8323e",
    "#b5739d",
    "#8aa63a",
    "#9aa3ad",
    "#5b646e",
    "#1b1f24",
    "#61a087",
    "#c98fb5",
)
# Numbers are written into the fields of a heat map up to so many CPUs.
LABELLED_CPUS = 24
LENGTHS = np.logspace(0, 5, 200)


def _figure(result: dict, width: float, height: float, text: str) -> Figure:
    return plot.framed(Figure(figsize=(width, height)), result, text)


def _tick(ns: float, _place: int) -> str:
    """Powers of ten, whole: 10 ns, 1 us."""
    units = {"ms": 1e6, "us": 1e3, "ns": 1}
    unit = next((name for name, scale in units.items() if ns > 0.999 * scale), "ns")
    return f"{ns / units[unit]:g} {unit}"


def bars(result: dict, found: dict) -> Figure | None:
    """Every operation on one scale, which has to be logarithmic; published values as marks."""
    rows = [r for r in reversed(found["rows"]) if r["available"] and r["id"] != "tsc_tick"]
    if not rows:
        return None
    height = 0.24 * len(rows) + 1.5
    figure = _figure(result, 11, height, "nanoseconds an operation (median, quartiles)")
    axes = figure.add_axes((0.27, 0.8 / height, 0.69, 1 - 1.4 / height))
    low = min(r["q1"] for r in rows) / 2
    places = np.arange(len(rows))
    axes.barh(
        places,
        [r["median"] - low for r in rows],
        left=low,
        height=0.64,
        color=plot.OURS,
        alpha=0.85,
    )
    axes.hlines(places, [r["q1"] for r in rows], [r["q3"] for r in rows], color=plot.INK, lw=1.2)
    for place, row in zip(places, rows, strict=True):
        axes.annotate(
            time(row["median"]),
            (row["q3"], place),
            xytext=(5, 0),
            fontsize=8,
            textcoords="offset points",
            va="center",
        )
        if row["source_ns"]:
            axes.plot([row["source_ns"]], [place], "D", color=plot.PTHREAD, markersize=4)
    axes.set_xscale("log")
    axes.set_xlim(low, max(r["q3"] for r in rows) * 4)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(places, [r["label"] for r in rows], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    axes.grid(axis="x", color=plot.FAINT, linewidth=0.6)
    axes.set_xlabel("logarithmic; diamonds: published 2005 (700 MHz Pentium III)", fontsize=8)
    return figure


def heat_map(result: dict, found: dict) -> Figure | None:
    matrix = found["matrix"]
    if not matrix or not matrix["pairs"]:
        return None
    cpus = matrix["cpus"]
    values = np.array([[np.nan if ns is None else ns for ns in line] for line in matrix["ns"]])
    side = min(9.0, max(3.0, 0.42 * len(cpus)))
    figure = _figure(
        result, max(side + 2.6, 8), side + 1.5, "nanoseconds for a line from CPU to CPU"
    )
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0.9 / width, 0.75 / height, side / width, side / height))
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    image = axes.imshow(
        values, cmap="YlGnBu", vmin=min(least, most * 0.5), vmax=most, aspect="equal"
    )
    step = max(1, len(cpus) // LABELLED_CPUS)
    ticks = range(0, len(cpus), step)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(list(ticks), [str(cpus[n]) for n in ticks], fontsize=8)
    if len(cpus) <= LABELLED_CPUS:
        _numbers(axes, values, most)
    axes.set_xlabel("CPU")
    axes.set_ylabel("CPU")
    bar = figure.add_axes(((1.2 + side) / width, 0.75 / height, 0.2 / width, side / height))
    figure.colorbar(image, cax=bar).outline.set_visible(False)
    return figure


def _numbers(axes: Axes, values: np.ndarray, most: float) -> None:
    size = 8 if len(values) <= 12 else 5.5
    for (row, column), ns in np.ndenumerate(values):
        if not np.isnan(ns):
            dark = ns > 0.7 * most
            axes.annotate(
                count(ns),
                (column, row),
                ha="center",
                va="center",
                fontsize=size,
                color="white" if dark else plot.INK,
            )


def _chosen(found: dict) -> list[dict]:
    """The 32-bit one stands for our widths, which cost the same; readers and writers only."""
    same = ("pawl_spin16", "pawl_spin64", "pawl_lock64")
    return [
        x for x in found["locks"] if x["available"] and x["mode"] in "rw" and x["lock"] not in same
    ]


def _curves(axes: Axes, locks: list[dict], where: str, names: list[str]) -> None:
    for lock in locks:
        cost = lock[where]
        if not cost:
            continue
        hue = HUES[names.index(lock["lock"]) % len(HUES)]
        axes.plot(
            LENGTHS,
            LENGTHS / (LENGTHS + cost["median"]),
            color=hue,
            linewidth=1.2,
            label=lock["lock"],
        )
        if where == "local":
            axes.plot(
                [s["tc"] for s in lock["sections"]],
                [s["efficiency"] for s in lock["sections"]],
                "o",
                color=hue,
                markersize=3,
            )
    axes.set_xscale("log")
    axes.set_xlim(LENGTHS[0], LENGTHS[-1])
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    axes.grid(color=plot.FAINT, linewidth=0.6)


def efficiency(result: dict, found: dict) -> Figure | None:
    """Tc / (Tc + Ta + Tr) over Tc. Dots are sections that were measured with their lock, in a loop:
    they lie above the curve where the processor overlaps one with the other."""
    locks = _chosen(found)
    if not locks:
        return None
    names = list(dict.fromkeys(x["lock"] for x in locks))
    wheres = ["local", "moved"] if any(x["moved"] for x in locks) else ["local"]
    figure = _figure(
        result,
        11,
        3.3 * len(wheres) + 1.6,
        "efficiency of critical sections: lines Tc / (Tc + Ta + Tr), dots measured",
    )
    height = figure.get_size_inches()[1]
    high = (height - 1.5 - 0.75 * (len(wheres) - 1)) / len(wheres)
    for row, where in enumerate(wheres):
        bottom = 0.8 + (len(wheres) - 1 - row) * (high + 0.75)
        for column, mode in enumerate("rw"):
            axes = figure.add_axes((0.05 + 0.405 * column, bottom / height, 0.365, high / height))
            _curves(axes, [x for x in locks if x["mode"] == mode], where, names)
            last = "last held here" if where == "local" else "last held on another core"
            axes.set_title(f"{MODES[mode]}, {last}")
            axes.set_xlabel("Tc, the section without its lock" if where == wheres[-1] else "")
    for n, name in enumerate(names):
        figure.text(
            0.845,
            1 - (0.75 + 0.2 * n) / height,
            f"\u25a0 {name}",
            color=HUES[n % len(HUES)],
            fontsize=8.5,
            va="top",
        )
    return figure


def figures(result: dict) -> list[tuple[str, Figure]]:
    found = derive(result)
    drawn = [
        ("what single operations cost", bars(result, found)),
        ("a line between any two CPUs", heat_map(result, found)),
        ("efficiency of critical sections", efficiency(result, found)),
    ]
    return [(name, figure) for name, figure in drawn if figure is not None]
