# SPDX-License-Identifier: MIT
"""The options of `pawl bench counters`, and the plan that they make."""

from pawl.core import groups
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.counters.plan import GROUPS, baseline_of

HELP = """What does counting cost, and what do light locks cost?

Counters, sequence locks, reference counts and big-reader locks, each beside what it replaces,
at one thread and at two. A row's name ends in the number of threads that do it at once, and in
what one more thread does meanwhile. The row thread_local_again is thread_local once more: where
these two differ, it is noise.
"""
EXAMPLES = [
    ("pawl bench counters", "All groups: about half a minute."),
    (
        "pawl bench counters --groups add,read --rounds 25 --json counters.json",
        "Counters only, more rounds, saved.",
    ),
    ("pawl bench counters --groups br --html brlock.html", "Big-reader locks, as a page."),
    ("pawl bench counters --candidates 'add/*@2'", "Adding, two threads at once."),
]
OPTIONS = (
    groups.option(
        GROUPS,
        "add: adding; read: reading, alone and beside a thread that adds; seq: "
        "64 bytes under a sequence lock; ref: reference counts; br: big-reader locks.",
    ),
    *groups.TIMED,
)


def _plan(o: Call) -> Plan:
    return groups.planned(o, "counters", GROUPS, baseline_of)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"seconds": 0.005, "rounds": 6})
