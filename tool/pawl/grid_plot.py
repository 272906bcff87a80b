# SPDX-License-Identifier: MIT
"""Curves of `pawl bench hash|tree|sem`: million operations a second over something."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes

from pawl import crowd_plot, plot


def over(key: str, colours: dict) -> Callable[[Axes, list[dict]], None]:
    """Draws medians over a parameter of the cells; its values lie side by side, evenly."""
    def draw(axes: Axes, cells: list[dict]) -> None:
        cells = sorted(cells, key=lambda c: c[key])
        for name in colours:
            points = [(place, r) for place, c in enumerate(cells) for r in c["summary"]
                      if r["candidate"] == name]
            if points:
                xs, ys = [x for x, _ in points], [r["median"] / 1e6 for _, r in points]
                look = crowd_plot.look(name, colours)
                axes.plot(xs, ys, marker="o", markersize=2.5, **look)
                axes.vlines(xs, [r["q1"] / 1e6 for _, r in points],
                            [r["q3"] / 1e6 for _, r in points], color=look["color"], alpha=0.35,
                            linewidth=1)
        axes.set_xticks(range(len(cells)), [f"{c[key]:g}" for c in cells])
        axes.set_ylim(0, None)
        axes.grid(axis="y", color=plot.FAINT, linewidth=0.6)
    return draw


def by(cells: list[dict], row: Callable[[dict], object],
       column: Callable[[dict], object]) -> dict[tuple, list[dict]]:
    grid: dict[tuple, list[dict]] = {}
    for cell in cells:
        grid.setdefault((row(cell), column(cell)), []).append(cell)
    return grid
