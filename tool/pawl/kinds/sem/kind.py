# SPDX-License-Identifier: MIT
"""The kind "sem"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.sem import plan, table
from pawl.kinds.sem.command import COMMAND


def figures(result: dict):
    from pawl.kinds.sem import plot

    return plot.figures(result)


KIND = Kind(
    name="sem",
    title="Operations on many semaphores",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    competes=True,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={"semaphores": int, "choose": str, "seconds": NUMBER},
    sample_keys={"refused": NUMBER, "cpu_seconds": NUMBER},
    sample_optional={"ctx_voluntary": NUMBER, "ctx_involuntary": NUMBER},
    summarise=table.summarise,
    what="lookup/lock",
    ranks_from=125,
    columns=table.columns,
)
