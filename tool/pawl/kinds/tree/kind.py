# SPDX-License-Identifier: MIT
"""The kind "tree"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.tree import plan, table
from pawl.kinds.tree.command import COMMAND


def figures(result: dict):
    from pawl.kinds.tree import plot

    return plot.figures(result)


KIND = Kind(
    name="tree",
    title="A large ordered tree under each lock",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    competes=True,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={"nodes": int, "inserts": NUMBER, "lookups": str, "seconds": NUMBER},
    sample_optional={
        "cpu_seconds": NUMBER,
        "ctx_voluntary": NUMBER,
        "ctx_involuntary": NUMBER,
        **dict.fromkeys(table.PUBLISHED, NUMBER),
    },
    sound=table.sound,
    summarise=table.summarise,
    what="strategy/lock",
    ranks_from=125,
    columns=table.columns,
    more=table.more,
)
