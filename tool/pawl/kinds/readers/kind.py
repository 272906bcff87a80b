# SPDX-License-Identifier: MIT
"""The kind "readers"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.readers import plan, table
from pawl.kinds.readers.command import COMMAND


def _sound_cell(cell: dict) -> bool:
    return cell["scene"] in plan.SCENES


KIND = Kind.of(
    table,
    name="readers",
    title="Locks that are mostly read",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("readers.plot.figures"),
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
    floor=plan.FLOOR,
    comparisons=later("readers.verdict.comparisons"),
    nulls=((plan.MAIN, plan.NULL),),
    explained=plan.ROWS,
    what="lock",
    ranks_from=120,
)
