# SPDX-License-Identifier: MIT
"""The kind "costs"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.costs import plan, table
from pawl.kinds.costs.command import COMMAND
from pawl.kinds.costs.derive import derive, losses, summarise


def figures(result: dict):
    from pawl.kinds.costs import plot

    return plot.figures(result)


KIND = Kind(
    name="costs",
    title="What things cost on this machine",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    workload=table.workload,
    cell_keys={"part": str, "cpus": list, "first": int, "quick": bool},
    sample_optional={"bytes": NUMBER, "take_seconds": NUMBER, "drop_seconds": NUMBER},
    summarise=summarise,
    losses=losses,
    derive=derive,
    show=table.show,
    views=table.no_views,
    body=table.body,
)
