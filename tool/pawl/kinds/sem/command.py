# SPDX-License-Identifier: MIT
"""The options of `pawl bench sem`, and the plan that they make."""

import click

from pawl.core import grid, options, ranges
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.sem.plan import (
    BASELINE,
    CHOICES,
    MOST_SEMAPHORES,
    QUICK,
    SEMAPHORES,
    Request,
    plan,
    setup,
)

HELP = """What does it bring to find an object without a lock and lock only that?

An operation finds a semaphore by its ID, locks it, adds or subtracts, and unlocks it. Rows
idtable look the ID up under read-copy-update and lock the semaphore alone; rows shared look it
up under a reader-writer lock of the table; rows global do all of it under one lock.
"""
EXAMPLES = [
    ("pawl bench sem --quick", "Each thread its own semaphores, in five seconds."),
    ("pawl bench sem --json sem.json --html sem.html", "All three patterns, saved, and as a page."),
    (
        "pawl bench sem --choose disjoint --semaphores 16,65536 --candidates 'idtable/*,global/*'",
        "Few semaphores and many.",
    ),
]
OPTIONS = (
    grid.THREADS,
    click.option(
        "--semaphores",
        metavar="N,...",
        help=f"Semaphores in the table.  [default: {options.listed(SEMAPHORES)}]",
    ),
    click.option(
        "--choose",
        metavar="NAME,...",
        help="disjoint: each thread uses its own; same: "
        f"all use one; random: any uses any.  [default: {','.join(CHOICES)}]",
    ),
    *grid.effort_options(Request, "Only --choose disjoint, 5 s"),
)


def _plan(o: Call) -> Plan:
    own = {}
    if o["semaphores"]:
        own["semaphores"] = ranges.integers(
            o["semaphores"], "--semaphores", 1, MOST_SEMAPHORES, "16,1024"
        )
    if o["choose"]:
        own["choose"] = options.words(o["choose"], "--choose", CHOICES)
    request = grid.from_call(o, Request, QUICK, own)
    choice = o.choose(BASELINE)
    return grid.planned(plan(request, choice.names), choice.missing, setup)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
