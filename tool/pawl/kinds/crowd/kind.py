# SPDX-License-Identifier: MIT
"""The kind "crowd"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.crowd import plan, table
from pawl.kinds.crowd.command import COMMAND

KIND = Kind.of(
    table,
    name="crowd",
    title="Locks under a crowd of threads",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("crowd.plot.figures"),
    competes=True,
    cell_keys={
        "section_us": NUMBER,
        "outside_us": NUMBER,
        "writes": NUMBER,
        "hog": bool,
        "seconds": NUMBER,
    },
    sample_keys={
        "wait_ns": dict,
        "jain": dict,
        "cpu_seconds": NUMBER,
        "ctx_voluntary": NUMBER,
        "ctx_involuntary": NUMBER,
    },
    nested_keys=table.NESTED_KEYS,
    names_losses=True,
    nulls=((plan.OFF, plan.MAIN),),
    explained=plan.ROWS,
    what="strategy/lock",
    ranks_from=135,
)
