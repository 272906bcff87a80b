# SPDX-License-Identifier: MIT
"""The kind "lru"."""

from __future__ import annotations

from pawl.core import candidates
from pawl.core.kind import NUMBER, Kind
from pawl.kinds.lru import first, plan, table
from pawl.kinds.lru.command import COMMAND


def figures(result: dict):
    from pawl.kinds.lru import plot

    return plot.figures(result)


KIND = Kind(
    name="lru",
    title="Cache lookups under each lock",
    driver=plan.DRIVER,
    baseline=candidates.RWLOCK,
    command=COMMAND,
    figures=figures,
    first=first.of,
    competes=True,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={"size": int, "keyspace": int, "hit_nominal": NUMBER, "miss_cost": int, "dist": str},
    cell_optional={"chains": (int, type(None)), "latency": bool},
    sample_optional={"hits": NUMBER, "misses": NUMBER, "cpu_seconds": NUMBER, "latency_ns": dict},
    sound_cell=table.sound_cell,
    sound=table.sound,
    summarise=table.summarise,
    names_losses=True,
    main=candidates.MAIN,
    floor=candidates.NULL,
    nulls=(("r+s>w/pawl_lock64_off", "r+s>w/pawl_lock64"),),
    explained=table.STRATEGIES,
    what="strategy/lock",
    ranks_from=100,
    columns=table.columns,
    headline=table.headline,
)
