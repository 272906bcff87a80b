# SPDX-License-Identifier: MIT
"""Plots of `pawl bench crowd --flood`: how the writer's waits are distributed."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl.core import plot
from pawl.core.table import counted
from pawl.kinds.crowd.plot import COLOURS, distribution
from pawl.kinds.flood.table import QUANTILES


def _waits(axes: Axes, cells: list[dict]) -> None:
    distribution(axes, cells[0]["summary"], QUANTILES, 4)


def _title(section: float, readers: int) -> str:
    return f"{counted(readers, 'reader')}, {section:g} us"


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = []
    for hog, beside in ((False, ""), (True, ", beside a CPU hog")):
        cells = [c for c in result["cells"] if c["hog"] == hog]
        if cells:
            grid = {(c["section_us"], c["threads"]): [c] for c in cells}
            drawn.append(
                plot.panels(
                    result,
                    grid,
                    _waits,
                    _title,
                    f"waits of a writer among readers that never pause{beside}",
                    "ns, log scale",
                    COLOURS,
                )
            )
    return drawn
