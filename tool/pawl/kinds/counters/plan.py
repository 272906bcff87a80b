# SPDX-License-Identifier: MIT
"""Plans `pawl bench counters`: counting, and the light locks beside it."""

from pawl.core.groups import group_of, threads_of

DRIVER = "pawl-bench-counters"
GROUPS = {
    "add": "adding to a counter",
    "read": "reading a counter",
    "seq": "reading 64 bytes that belong together",
    "ref": "getting and dropping a reference",
    "br": "taking and dropping a lock for reading",
}
BASELINES = {
    "add": "add/atomic_shared",
    "read": "read/membarrier",
    "seq": "seq/relaxed_copy",
    "ref": "ref/atomic_pair",
    "br": "br/pthread_rwlock",
}
# In these groups the baseline is what one would use otherwise; in the others it is a floor.
RIVALS = ("add", "ref", "br")
# Other operations than the group's, which its baseline cannot be compared with.
ALONE = ("_write", "_kill_to_release")
# What a result names as its baseline, although each group has its own.
BASELINE = BASELINES["add"] + "@1"

NULLS = (("add/thread_local@1", "add/thread_local_again@1"),)
# The row of each group that a verdict is about.
MAIN = {
    "add": ("pawl_counter",),
    "read": ("pawl_counter", "pawl_exact_fold"),
    "seq": ("pawl_seq",),
    "ref": ("pawl_bigref",),
    "br": ("pawl_brlock",),
}


def baseline_of(name: str) -> str | None:
    """Of the same group, at as many threads, and beside the same if that is part of the thing."""
    what, where = name.split("@")
    if what.endswith(ALONE):
        return None
    base = BASELINES[group_of(name)]
    return f"{base}@{where if group_of(name) == 'read' else threads_of(name)}"
