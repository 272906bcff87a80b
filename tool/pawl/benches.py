# SPDX-License-Identifier: MIT
"""The commands that need all kinds and sets: bench, costs, diff and report."""

from pawl.core import bench as each
from pawl.core import hosts
from pawl.diff import command as differing
from pawl.kinds.registry import KINDS
from pawl.sets.registry import SETS

bench = hosts.benches(
    KINDS,
    SETS,
    examples=[
        ("pawl bench lru --hit 99 --threads 1:4", "The published cache at 99 % hits."),
        ("pawl bench pairs", "Take and drop, one thread."),
    ],
)
costs = each.command(KINDS["costs"], KINDS)
diff = differing.command(KINDS)
report = hosts.report_command(KINDS)
