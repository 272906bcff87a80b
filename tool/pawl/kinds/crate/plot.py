# SPDX-License-Identifier: MIT
"""Plots of `pawl bench crate`: a figure for each group, a row for each candidate."""

from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.crate.table import workload


def figures(result: dict) -> list[tuple[str, Figure]]:
    return [
        (workload(c), plot.of_groups(result, c["summary"], workload(c))) for c in result["cells"]
    ]
