# SPDX-License-Identifier: MIT
"""The options of `pawl bench tree`, and the plan that they make."""

import click

from pawl.core import grid, options, ranges
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.tree.plan import BASELINE, LOOKUPS, PARTS, QUICK, Request, plan, setup

HELP = """What is a seek state worth when searching takes long and linking does not?

An ordered tree of a million nodes under one lock: lookups, and insertions that search the place
first. Rows r+s>w search under S beside all readers and take W only to link and rebalance; rows
r+w search under W. The pieces are timed without a lock as well, and a table shows what the
published formula predicts from them for more cores, beside what was measured here.
Rows map/... are whole maps, ours and others', and another library's tree under some locks.
"""
EXAMPLES = [
    ("pawl bench tree", "A million nodes, hot and cold lookups, in about a minute."),
    ("pawl bench tree --quick --candidates 'r+s>w/*,pthread'", "A look at some rows."),
    (
        "pawl bench tree --inserts 10 --lookups cold --json tree.json --html tree.html",
        "More insertions, lookups anywhere; saved, and as a page.",
    ),
    (
        "pawl bench tree --candidates 'map,r+s>w/pawl_lock64' --lookups cold --nodes 1024,1000000 "
        "--inserts 0,5,20,50 --removes 50 --timing 16",
        "Maps, of which half of the changes remove; and how long lookups take beside them.",
    ),
]
OPTIONS = (
    grid.THREADS,
    click.option("--nodes", metavar="N,...", help="Nodes of the tree.  [default: 1000000]"),
    click.option(
        "--inserts", metavar="P,...", help="Percent of the operations that insert.  [default: 1]"
    ),
    click.option(
        "--removes",
        type=options.Finite(0, 90),
        metavar="P",
        help="Percent of these that remove instead what was inserted.  [default: 0]",
    ),
    click.option(
        "--timing",
        type=click.IntRange(0, 1_000_000),
        metavar="N",
        help="Time one lookup in N, and show the slowest; 0: none.  [default: 0]",
    ),
    click.option(
        "--lookups",
        metavar="hot,cold",
        help=f"hot: a few keys over and over; cold: any.  [default: {','.join(LOOKUPS)}]",
    ),
    *grid.effort_options(Request, "100,000 nodes, 10 s"),
)


def _plan(o: Call) -> Plan:
    own = o.given("removes", "timing")
    if o["nodes"]:
        own["nodes"] = ranges.integers(o["nodes"], "--nodes", 1, 1 << 27, "1024,1000000")
    if o["inserts"]:
        own["inserts"] = ranges.numbers(o["inserts"], "--inserts", 0, 100, "0,5,20,50")
    if o["lookups"]:
        own["lookups"] = options.words(o["lookups"], "--lookups", LOOKUPS)
    request = grid.from_call(o, Request, QUICK, own)
    choice = o.choose(BASELINE, PARTS)
    return grid.planned(plan(request, choice.names), choice.missing, setup)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
