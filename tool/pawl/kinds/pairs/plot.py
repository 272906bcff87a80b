# SPDX-License-Identifier: MIT
"""The plot of `pawl bench pairs`: one bar a lock and mode."""

from matplotlib import pyplot
from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.pairs.table import as_cost, workload

LABEL = "ns a take and drop: median, quartiles; x: times two locked additions"


def _figure(result: dict, cell: dict) -> Figure:
    height = max(3.4, 0.2 * len(cell["summary"]) + 1.75)
    bottom, top = 0.78 / height, 1 - 0.75 / height
    figure = pyplot.figure(figsize=(11, height))
    plot.bars(
        figure.add_axes((0.17, bottom, 0.815, top - bottom)),
        [as_cost(row) for row in cell["summary"]],
        result["baseline"],
        "1 thread",
        LABEL,
    )
    plot.framed(figure, result, workload(cell))
    plot.sides(figure, height)
    return figure


def figures(result: dict) -> list[tuple[str, Figure]]:
    return [(workload(cell), _figure(result, cell)) for cell in result["cells"]]
