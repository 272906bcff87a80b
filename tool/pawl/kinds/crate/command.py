# SPDX-License-Identifier: MIT
"""The options of `pawl bench crate`, and the plan that they make."""

from pawl.core import groups
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.crate.plan import GROUPS, baseline_of

HELP = """What do the locks of the Rust crate cost, beside parking_lot's?

The crate's RwLock and Mutex, parking_lot's and the standard library's, called from Rust, at one
thread and at two on one lock. A row's name ends in the number of threads. The row pawl_again is
pawl once more: where these two differ, it is noise. The program is built where cargo is.
"""
EXAMPLES = [
    ("pawl bench crate", "All groups: about ten seconds."),
    (
        "pawl bench crate --groups read,upgrade --rounds 25 --html crate.html",
        "Two groups, more rounds, as a page.",
    ),
    ("pawl bench crate --candidates '*@2'", "Two threads at once."),
]
OPTIONS = (
    groups.option(
        GROUPS,
        "read, write: a pair; upgrade: an upgradable read and its upgrade; mix: "
        "one upgrade among 99 reads; mutex: a pair of the mutex.",
    ),
    *groups.TIMED,
)


def _plan(o: Call) -> Plan:
    return groups.planned(o, "crate", GROUPS, baseline_of)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"seconds": 0.005, "rounds": 6})
