# SPDX-License-Identifier: MIT
"""Plans `pawl bench crate`: the locks of the Rust crate beside those that Rust programs use."""

from pawl.core.groups import group_of, threads_of

DRIVER = "pawl-bench-crate"
GROUPS = {
    "read": "taking and dropping R",
    "write": "taking and dropping W",
    "upgrade": "an upgradable read, upgraded to W and dropped",
    "mix": "reads, and an upgrade for one in a hundred",
    "mutex": "locking and unlocking a mutex",
}
OURS, PEER = "pawl", "parking_lot"
# What a result names as its baseline, although each group has its own.
BASELINE = f"read/{PEER}@1"

NULLS = tuple((f"read/{OURS}@{n}", f"read/{OURS}_again@{n}") for n in (1, 2))


def baseline_of(name: str) -> str:
    """parking_lot's lock in the same group, at as many threads."""
    return f"{group_of(name)}/{PEER}@{threads_of(name)}"
