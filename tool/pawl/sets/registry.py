# SPDX-License-Identifier: MIT
"""All sets; the first is what `pawl bench record` measures unless told."""

from pawl.core.record import Sets
from pawl.sets.collapse import SET as COLLAPSE
from pawl.sets.containers import SET as CONTAINERS
from pawl.sets.plain import ANCESTOR, BUSY, COUNTERS, CRATE, FUNCTIONS, LATENCY, SHIM
from pawl.sets.rcu import SET as RCU
from pawl.sets.readers import SET as READERS
from pawl.sets.scaling import SET as SCALING
from pawl.sets.spin import SET as SPIN
from pawl.sets.wait import SET as WAIT

SETS: Sets = {
    one.name: one
    for one in (
        SPIN,
        WAIT,
        BUSY,
        COLLAPSE,
        COUNTERS,
        RCU,
        CONTAINERS,
        LATENCY,
        READERS,
        SCALING,
        ANCESTOR,
        SHIM,
        CRATE,
        FUNCTIONS,
    )
}
