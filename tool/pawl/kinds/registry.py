# SPDX-License-Identifier: MIT
"""All kinds, in the order in which help and manual pages list them."""

from pawl.core.kind import Kinds
from pawl.kinds.busy.kind import KIND as BUSY
from pawl.kinds.cache.kind import KIND as CACHE
from pawl.kinds.case.kind import KIND as CASE
from pawl.kinds.costs.kind import KIND as COSTS
from pawl.kinds.counters.kind import KIND as COUNTERS
from pawl.kinds.crate.kind import KIND as CRATE
from pawl.kinds.crowd.kind import KIND as CROWD
from pawl.kinds.flood.kind import KIND as FLOOD
from pawl.kinds.functions.kind import KIND as FUNCTIONS
from pawl.kinds.hash.kind import KIND as HASH
from pawl.kinds.latency.kind import KIND as LATENCY
from pawl.kinds.lru.kind import KIND as LRU
from pawl.kinds.pairs.kind import KIND as PAIRS
from pawl.kinds.rcu.kind import KIND as RCU
from pawl.kinds.readers.kind import KIND as READERS
from pawl.kinds.sem.kind import KIND as SEM
from pawl.kinds.shim.kind import KIND as SHIM
from pawl.kinds.tree.kind import KIND as TREE
from pawl.kinds.wake.kind import KIND as WAKE

KINDS: Kinds = {kind.name: kind for kind in (
    LRU, CACHE, PAIRS, COUNTERS, CROWD, BUSY, FLOOD, HASH, LATENCY, RCU, READERS, SEM, SHIM, TREE,
    CASE, WAKE, CRATE, FUNCTIONS, COSTS)}  # fmt: skip
