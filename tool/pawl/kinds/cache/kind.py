# SPDX-License-Identifier: MIT
"""The kind "cache"."""

from pawl.core import candidates
from pawl.core.kind import Kind, later
from pawl.kinds.cache import plan
from pawl.kinds.cache.command import COMMAND
from pawl.kinds.cache.table import more
from pawl.kinds.lru import table
from pawl.kinds.lru.kind import KIND as LRU

KIND = Kind.of(
    table,
    name="cache",
    title="Whole caches, and the published one under each lock",
    driver=LRU.driver,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("lru.plot.figures"),
    competes=True,
    cell_keys=LRU.cell_keys,
    cell_optional=LRU.cell_optional,
    sample_optional=LRU.sample_optional,
    main=candidates.CACHE,
    more=more,
    explained=(
        ("cache", "a whole cache, which chooses its own index, eviction and locks"),
        *table.STRATEGIES,
    ),  # fmt: skip
    what="strategy/lock",
    ranks_from=100,
)
