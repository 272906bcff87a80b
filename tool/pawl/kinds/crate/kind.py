# SPDX-License-Identifier: MIT
"""The kind "crate"."""

from pawl.core import groups
from pawl.core.kind import Kind
from pawl.kinds.crate import plan, table
from pawl.kinds.crate.command import COMMAND

KIND = Kind.of(
    table,
    name="crate",
    title="The locks of the Rust crate",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=groups.figures(plan.GROUPS),
    cell_keys=groups.CELL_KEYS,
    sample_keys={"threads": int},
    nulls=plan.NULLS,
    explained=tuple(plan.GROUPS.items()),
    what="what",
    ranks_from=100,
    belongs=groups.belongs,
)
