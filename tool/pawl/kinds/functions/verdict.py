# SPDX-License-Identifier: MIT
"""What a page of `pawl bench functions` begins with: pairs of functions to choose between."""

from pawl.core import groups, stats
from pawl.core.compare import Comparison

# (what both do, the one, what one would call otherwise), all of one thread.
PAIRS = (
    ("taking R that any thread may drop", "lock/pawl_lock64_take_read_counted",
     "lock/pawl_lock64_take_read"),
    ("taking W with a deadline", "lock/pawl_lock64_take_write_until",
     "lock/pawl_lock64_take_write"),
    ("taking R of a big-reader lock that any thread may drop", "brlock/pawl_brlock_take_read_any",
     "brlock/pawl_brlock_take_read"),
    ("adding to a counter", "counter/pawl_counter_add", "counter/pawl_atomic_counter_add"),
    ("a callback from anywhere", "rcu_call/pawl_rcu_try_call", "rcu_call/pawl_rcu_call"),
    ("a wake that finds nobody, in one process", "wait/pawl_wake_one",
     "wait/pawl_wake_one_shared"),
)  # fmt: skip


def comparisons(result: dict) -> list[Comparison]:
    found = []
    for cell in result["cells"]:
        times = groups.times(cell["samples"])
        for work, one, other in PAIRS:
            values = stats.paired(times, f"{one}@1", f"{other}@1")
            if values:
                found.append(Comparison(work, one, other, [values]))
    return found
