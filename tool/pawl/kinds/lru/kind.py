# SPDX-License-Identifier: MIT
"""The kind "lru"."""

from pawl.core import candidates
from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.lru import first, plan, table
from pawl.kinds.lru.command import COMMAND

KIND = Kind.of(
    table,
    name="lru",
    title="Cache lookups under each lock",
    driver=plan.DRIVER,
    baseline=candidates.RWLOCK,
    command=COMMAND,
    figures=later("lru.plot.figures"),
    first=first.of,
    competes=True,
    cell_keys={"size": int, "keyspace": int, "hit_nominal": NUMBER, "miss_cost": int, "dist": str},
    cell_optional={"chains": (int, type(None)), "latency": bool},
    sample_optional={"hits": NUMBER, "misses": NUMBER, "cpu_seconds": NUMBER, "latency_ns": dict},
    names_losses=True,
    main=candidates.MAIN,
    floor=candidates.NULL,
    nulls=(("r+s>w/pawl_lock64_off", "r+s>w/pawl_lock64"),),
    explained=table.STRATEGIES,
    what="strategy/lock",
    ranks_from=100,
)
