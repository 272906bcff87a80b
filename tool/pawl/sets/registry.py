# SPDX-License-Identifier: MIT
"""All sets; the first is what `pawl bench record` measures unless told."""

from pawl.core.record import Sets
from pawl.sets.ancestor import SET as ANCESTOR
from pawl.sets.busy import SET as BUSY
from pawl.sets.counters import SET as COUNTERS
from pawl.sets.crate import SET as CRATE
from pawl.sets.functions import SET as FUNCTIONS
from pawl.sets.latency import SET as LATENCY
from pawl.sets.rcu import SET as RCU
from pawl.sets.readers import SET as READERS
from pawl.sets.scaling import SET as SCALING
from pawl.sets.shim import SET as SHIM
from pawl.sets.spin import SET as SPIN
from pawl.sets.wait import SET as WAIT

SETS: Sets = {
    one.name: one
    for one in (
        SPIN,
        WAIT,
        BUSY,
        COUNTERS,
        RCU,
        LATENCY,
        READERS,
        SCALING,
        ANCESTOR,
        SHIM,
        CRATE,
        FUNCTIONS,
    )
}
