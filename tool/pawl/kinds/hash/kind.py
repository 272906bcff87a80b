# SPDX-License-Identifier: MIT
"""The kind "hash"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.hash import plan, table
from pawl.kinds.hash.command import COMMAND


def figures(result: dict):
    from pawl.kinds.hash import plot

    return plot.figures(result)


KIND = Kind(
    name="hash",
    title="A hash table under each design",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    competes=True,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={"updates": NUMBER, "elements": int, "seconds": NUMBER},
    sample_keys={"cpu_seconds": NUMBER, "drain_seconds": NUMBER},
    sample_optional={"updates": int},
    summarise=table.summarise,
    losses=table.losses,
    what="design",
    ranks_from=125,
    columns=table.columns,
    more=table.more,
)
