# SPDX-License-Identifier: MIT
"""The kind "counters"."""

from pawl.core import groups
from pawl.core.kind import NUMBER, Kind
from pawl.kinds.counters import plan, table
from pawl.kinds.counters.command import COMMAND

KIND = Kind.of(
    table,
    name="counters",
    title="Counters and light locks",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=groups.figures(plan.GROUPS),
    cell_keys=groups.CELL_KEYS,
    sample_optional={"reads_per_second": NUMBER},
    nulls=plan.NULLS,
    explained=tuple(plan.GROUPS.items()),
    what="what",
    ranks_from=100,
    belongs=groups.belongs,
)
