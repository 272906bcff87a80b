# SPDX-License-Identifier: MIT
"""The options of `pawl bench tree`, and the plan that they make."""

import click

from pawl.core import grid, options
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.tree.plan import BASELINE, LOOKUPS, PARTS, QUICK, Request, plan, setup

HELP = """What is a seek state worth when searching takes long and linking does not?

An ordered tree of a million nodes under one lock: lookups, and insertions that search the place
first. Rows r+s>w search under S beside all readers and take W only to link and rebalance; rows
r+w search under W. The pieces are timed without a lock as well, and a table shows what the
published formula predicts from them for more cores, beside what was measured here.
"""
EXAMPLES = [
    ("pawl bench tree", "A million nodes, hot and cold lookups, in about a minute."),
    ("pawl bench tree --quick --candidates 'r+s>w/*,pthread'", "A look at some rows."),
    (
        "pawl bench tree --inserts 10 --lookups cold --json tree.json --html tree.html",
        "More insertions, lookups anywhere; saved, and as a page.",
    ),
]
OPTIONS = (
    grid.THREADS,
    click.option(
        "--nodes",
        type=click.IntRange(1, 1 << 27),
        metavar="N",
        help=f"Nodes of the tree.  [default: {Request.nodes}]",
    ),
    click.option(
        "--inserts",
        type=options.Finite(0, 100),
        metavar="P",
        help=f"Percent of the operations that insert.  [default: {Request.inserts:g}]",
    ),
    click.option(
        "--lookups",
        metavar="hot,cold",
        help=f"hot: a few keys over and over; cold: any.  [default: {','.join(LOOKUPS)}]",
    ),
    *grid.effort_options(Request, "100,000 nodes, 10 s"),
)


def _plan(o: Call) -> Plan:
    own = o.given("nodes", "inserts")
    if o["lookups"]:
        own["lookups"] = options.words(o["lookups"], "--lookups", LOOKUPS)
    request = grid.from_call(o, Request, QUICK, own)
    choice = o.choose(BASELINE, PARTS)
    return grid.planned(plan(request, choice.names), choice.missing, setup)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
