# SPDX-License-Identifier: MIT
"""The kind "shim"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.shim import plan, table


def _sound_cell(cell: dict) -> bool:
    return cell["scene"] in plan.SCENES


def figures(result: dict):
    from pawl.kinds.shim import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.shim import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="shim",
    title="Other people's programs",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    figures=figures,
    workload=table.workload,
    label=table.label,
    above_zero=True,
    cell_keys={"scene": str, "seconds": NUMBER},
    sound_cell=_sound_cell,
    comparisons=comparisons,
    explained=plan.ROWS,
    what="locks",
    ranks_from=100,
    columns=table.columns,
)
