# SPDX-License-Identifier: MIT
"""The options of `pawl bench functions`, and the plan that they make."""

import click

from pawl.core import groups, options
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.functions.plan import GROUPS, ROUNDS, SECONDS, WARMUP, baseline_of

HELP = """What does one call of each function cost?

Each public function of the library, called by one thread while nobody else uses the object. A
call is timed alone: 64 objects are first brought to where it begins, then it is made on all of
them, then they are brought back. The manual pages have these figures of a recorded machine.
"""
EXAMPLES = [
    ("pawl bench functions", "All of them: less than a minute."),
    ("pawl bench functions --groups lock,wait", "Those of lock.h and wait.h."),
    (
        "pawl bench functions --candidates 'lock/pawl_lock64_*' --rounds 31",
        "One type, more rounds.",
    ),
    ("pawl bench functions --json calls.json --html calls.html", "Saved, and as a page."),
]
OPTIONS = (
    click.option(
        "--groups",
        default=",".join(GROUPS),
        metavar="NAME,...",
        help="Headers without .h; list: rcu_list.h; floor: a loop and an addition. All by default.",
    ),
    options.seconds(SECONDS),
    options.rounds(ROUNDS),
    options.warmup(WARMUP),
    groups.PIN,
    options.rows(),
)


def _plan(o: Call) -> Plan:
    return groups.planned(o, "functions", GROUPS, baseline_of)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"seconds": 0.001, "rounds": 6})
