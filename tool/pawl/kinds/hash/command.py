# SPDX-License-Identifier: MIT
"""The options of `pawl bench hash`, and the plan that they make."""

import click

from pawl.core import grid, options, ranges
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.hash.plan import (
    BASELINE,
    ELEMENTS,
    MOST_ELEMENTS,
    QUICK,
    UPDATES,
    Request,
    plan,
    setup,
)

HELP = """Which design serves a hash table best?

A dense array of buckets with one element a chain: searches, and deletions that are followed by
reinserting, in random runs. The same table is guarded by one lock of each kind, by a lock in
each bucket, by reference counts, and by read-copy-update, ours and others'. The row ideal
synchronises nothing: each thread keeps to its own part of the table when it changes it.
"""
EXAMPLES = [
    ("pawl bench hash --quick", "A table in cache, three mixes, in less than half a minute."),
    ("pawl bench hash --json hash.json --html hash.html",
     "All mixes, in cache and far beyond it; after an interrupt the same command goes on."),
    ("pawl bench hash --elements 100000 --updates 0,2 --candidates 'pawl_rcu*,urcu_*,ck_epoch'",
     "Only what defers its frees, at a size and mix of one's own."),
    ("pawl bench hash --updates 0 --threads 1:8 --candidates pawl,ideal,pthread_rwlock",
     "Which designs scale when nobody writes?"),
]  # fmt: skip
OPTIONS = (
    grid.THREADS,
    click.option(
        "--elements",
        metavar="N,...",
        help="Elements, one a chain; 80 bytes each with "
        f"its bucket.  [default: {options.listed(ELEMENTS)}]",
    ),
    click.option(
        "--updates",
        metavar="P,...",
        help="Percent of the operations that delete an "
        "element and insert it again; the others search.  "
        f"[default: {options.listed(UPDATES)}]",
    ),
    *grid.effort_options(Request, "1,024 elements; 0, 10 and 100 % updates; 20 s"),
)


def _plan(o: Call) -> Plan:
    own = {}
    if o["elements"]:
        own["elements"] = ranges.integers(
            o["elements"], "--elements", 1, MOST_ELEMENTS, "1024,1000000"
        )
    if o["updates"]:
        own["updates"] = ranges.numbers(o["updates"], "--updates", 0, 100, "0,10,100")
    request = grid.from_call(o, Request, QUICK, own)
    choice = o.choose(BASELINE)
    return grid.planned(plan(request, choice.names), choice.missing, setup)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
