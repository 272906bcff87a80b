# SPDX-License-Identifier: MIT
"""The kind "pairs"."""

from pawl.core.kind import Kind, later
from pawl.kinds.pairs import plan, table
from pawl.kinds.pairs.command import COMMAND

KIND = Kind.of(
    table,
    name="pairs",
    title="One thread alone",
    driver=plan.DRIVER,
    baseline=plan.FLOOR,
    command=COMMAND,
    figures=later("pairs.plot.figures"),
    above_zero=True,
    comparisons=later("pairs.verdict.comparisons"),
    explained=table.MODES,
    what="mode/lock",
    ranks_from=88,
)
