# SPDX-License-Identifier: MIT
"""The kind "functions"."""

from pawl.core import groups
from pawl.core.kind import Kind, later
from pawl.kinds.functions import plan, table
from pawl.kinds.functions.command import COMMAND

KIND = Kind.of(
    table,
    name="functions",
    title="What one call of each function costs",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=groups.figures(plan.GROUPS),
    cell_keys=groups.CELL_KEYS,
    comparisons=later("functions.verdict.comparisons"),
    explained=tuple(plan.GROUPS.items()),
    what="function",
    belongs=groups.belongs,
)
