# SPDX-License-Identifier: MIT
"""The kind "readers"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.readers import plan, table
from pawl.kinds.readers.command import COMMAND


def figures(result: dict):
    from pawl.kinds.readers import plot

    return plot.figures(result)


def _sound_cell(cell: dict) -> bool:
    return cell["scene"] in plan.SCENES


def comparisons(result: dict):
    from pawl.kinds.readers import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="readers",
    title="Locks that are mostly read",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={
        "scene": str,
        "section": NUMBER,
        "writes": NUMBER,
        "locks": int,
        "registered": int,
        "seconds": NUMBER,
    },
    sample_keys={"threads": int, "writes": NUMBER, "wait_ns": dict, "cpu_seconds": NUMBER},
    sample_optional={"ctx_voluntary": NUMBER, "ctx_involuntary": NUMBER},
    nested_keys=table.NESTED_KEYS,
    sound_cell=_sound_cell,
    summarise=table.summarise,
    floor=plan.FLOOR,
    comparisons=comparisons,
    nulls=((plan.MAIN, plan.NULL),),
    explained=plan.ROWS,
    what="lock",
    ranks_from=120,
    columns=table.columns,
    belongs=table.belongs,
)
