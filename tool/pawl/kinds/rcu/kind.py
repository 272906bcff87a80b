# SPDX-License-Identifier: MIT
"""The kind "rcu"."""

from pawl.core import groups
from pawl.core.kind import Kind, later
from pawl.kinds.rcu import plan, table
from pawl.kinds.rcu.command import COMMAND

KIND = Kind.of(
    table,
    name="rcu",
    title="Read-copy-update: readers, grace periods, callbacks",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("rcu.plot.figures"),
    cell_keys=groups.CELL_KEYS | {"flood": int, "bound": int},
    sample_optional=table.SAMPLE_KEYS,
    comparisons=later("rcu.verdict.comparisons"),
    explained=tuple(plan.GROUPS.items()),
    what="what",
    ranks_from=125,
    belongs=groups.belongs,
)
