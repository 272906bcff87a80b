# SPDX-License-Identifier: MIT
"""The kind "tree"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.tree import plan, table
from pawl.kinds.tree.command import COMMAND

KIND = Kind.of(
    table,
    name="tree",
    title="A large ordered tree under each lock",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("tree.plot.figures"),
    competes=True,
    cell_keys={"nodes": int, "inserts": NUMBER, "lookups": str, "seconds": NUMBER},
    cell_optional={"removes": NUMBER, "timing": int},
    sample_optional={
        "latency_ns": dict,
        "cpu_seconds": NUMBER,
        "ctx_voluntary": NUMBER,
        "ctx_involuntary": NUMBER,
        **dict.fromkeys(table.PUBLISHED, NUMBER),
    },
    what="strategy/lock",
    ranks_from=125,
)
