# SPDX-License-Identifier: MIT
"""Plots of other people's programs: a figure a scene, a bar for each library of locks."""

from matplotlib import pyplot
from matplotlib.figure import Figure

from pawl.core import grid, plot
from pawl.kinds.shim.table import label, workload

LABEL = "operations a second: median, quartiles; x: times the C library's locks"


def _figure(result: dict, cell: dict) -> Figure:
    height = max(2.4, 0.2 * len(cell["summary"]) + 1.75)
    bottom, top = 0.78 / height, 1 - 0.75 / height
    figure = pyplot.figure(figsize=(11, height))
    rows = [
        {
            "candidate": r["candidate"],
            "value": r["median"],
            "low": r["q1"],
            "high": r["q3"],
            "ratio": r["ratio_to_baseline"],
        }
        for r in cell["summary"]
    ]
    plot.bars(
        figure.add_axes((0.17, bottom, 0.815, top - bottom)),
        rows,
        result["baseline"],
        grid.threads(cell),
        LABEL,
    )
    plot.framed(figure, result, workload(cell))
    plot.sides(figure, height)
    return figure


def figures(result: dict) -> list[tuple[str, Figure]]:
    return [(label(cell), _figure(result, cell)) for cell in result["cells"]]
