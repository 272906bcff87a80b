# SPDX-License-Identifier: MIT
"""Plots of `pawl bench functions`: a figure for each group, a row for each function."""

from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.functions.table import workload


def figures(result: dict) -> list[tuple[str, Figure]]:
    return [
        (workload(c), plot.of_groups(result, c["summary"], workload(c))) for c in result["cells"]
    ]
