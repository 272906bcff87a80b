# SPDX-License-Identifier: MIT
"""Plots of `pawl bench crowd --flood`: how the writer's waits are distributed."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl import crowd_plot, flood, plot


def _waits(axes: Axes, cells: list[dict]) -> None:
    crowd_plot.distribution(axes, cells[0]["summary"], flood.QUANTILES, 4)


def _title(section: float, readers: int) -> str:
    return f"{readers} reader{'s' if readers != 1 else ''}, {section:g} us"


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = []
    with rc_context(plot.STYLE):
        for hog in (False, True):
            cells = [c for c in result["cells"] if c["hog"] == hog and c["summary"]]
            if cells:
                caption = "waits of a writer among readers that never pause" + (
                    ", beside a CPU hog" if hog else "")
                grid = {(c["section_us"], c["threads"]): [c] for c in cells}
                drawn.append((caption, crowd_plot.panels(result, grid, _waits, _title, caption,
                                                         "ns, log scale")))
    return drawn
