# SPDX-License-Identifier: MIT
"""The rows of programs that know nothing of Pawl."""

from pawl.core import grid, table
from pawl.core.table import Column
from pawl.kinds.shim.plan import SCENES


def workload(cell: dict) -> str:
    """Of a scene, or of a job of a case, which brings its words."""
    return cell["words"] if "words" in cell else SCENES[cell["scene"]].words


def label(cell: dict) -> str:
    return f"{workload(cell)}, {grid.threads(cell)}"


def columns(_cell: dict, baseline: str) -> list[Column]:
    return [
        Column("\n/s", lambda row: f"{row['median']:,.0f}"),
        *table.ratio(baseline.split("/")[-1]),
    ]
