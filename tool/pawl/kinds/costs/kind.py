# SPDX-License-Identifier: MIT
"""The kind "costs"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.costs import plan, table
from pawl.kinds.costs.command import COMMAND
from pawl.kinds.costs.derive import derive, losses, summarise

KIND = Kind.of(
    table,
    name="costs",
    title="What things cost on this machine",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("costs.plot.figures"),
    cell_keys={"part": str, "cpus": list, "first": int, "quick": bool},
    sample_optional={"bytes": NUMBER, "take_seconds": NUMBER, "drop_seconds": NUMBER},
    summarise=summarise,
    losses=losses,
    derive=derive,
    views=table.no_views,
)
