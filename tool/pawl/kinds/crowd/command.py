# SPDX-License-Identifier: MIT
"""The options of `pawl bench crowd`, and the plan that they make; with --flood or --busy of
another kind."""

import click

from pawl.core import options, ranges
from pawl.core.errors import BadInput
from pawl.core.kind import Call, Command, Plan
from pawl.core.options import listed
from pawl.kinds.busy import plan as busy
from pawl.kinds.busy.kind import KIND as BUSY
from pawl.kinds.crowd import plan as crowd
from pawl.kinds.flood import plan as flood
from pawl.kinds.flood.kind import KIND as FLOOD

HELP = """What is a lock worth when threads outnumber CPUs?

Each thread computes for a while outside, takes the lock to read or to write, computes for a
while inside. Shown are throughput, waits, CPU time, context switches, and Jain's index of
fairness (1: all threads did alike). The row floor/none is the same threads without any
lock: its waits are the pauses that the scheduler alone makes, a part of all others.
"""
EXAMPLES = [
    ("pawl bench crowd --quick", "A look at the middle of the grid, in half a minute."),
    ("pawl bench crowd --json crowd.json --html crowd.html",
     "The whole grid in four minutes; after an interrupt the same command goes on."),
    ("pawl bench crowd --threads 2,32 --sections 1 --writes 10 --hog no --seconds 1 --rounds 6",
     "Some cells, measured for longer: Jain's index over a second needs such samples."),
    ("pawl bench crowd --flood", "How long does a writer wait among readers that never pause?"),
    ("pawl bench crowd --busy --machines idle,busy-2",
     "And beside two other processes on each CPU? All waits and overrun deadlines, too."),
]  # fmt: skip
OPTIONS = (
    click.option("--threads", metavar="RANGE", help="Thread counts: 4, 1,2,8 or first:last:step; "
                 f"with --flood: readers.  [default: {listed(crowd.THREADS)}; with --flood "
                 f"{listed(flood.THREADS)}]"),
    click.option("--sections", metavar="US,...", help="Microseconds of computing under the lock.  "
                 f"[default: {listed(crowd.SECTIONS)}; with --flood {listed(flood.SECTIONS)}]"),
    click.option("--writes", metavar="P,...",
                 help=f"Percent of the sections that write.  [default: {listed(crowd.WRITES)}]"),
    click.option("--outside", type=options.Finite(0, 1e5), metavar="US",
                 help="Microseconds of computing between two sections.  [default: as long as the "
                 "section, 1 at most]"),
    click.option("--hog", type=options.HOG, metavar="no|yes|both",
                 help="Whether a thread of another kind computes without end beside the others.  "
                 "[default: both; no with --flood or --quick]"),
    click.option("--quick", is_flag=True, help="2, 8 and 32 threads, sections of 1 and 10 us, "
                 "10 % writes, no hog, half a minute; what is given besides still counts."),
    click.option("--flood", "is_flood", is_flag=True, help="All threads only read, without a "
                 "pause; one more writes now and then, and its waits are shown."),
    click.option("--busy", "is_busy", is_flag=True, help="Also on one CPU, and beside processes "
                 "that compute without end; besides, a probe beside a holder, a writer among "
                 "readers, and deadlines."),
    click.option("--machines", metavar="NAME,...", help="With --busy: idle, or busy-N for N "
                 "processes on each CPU, or one-cpu, or one-cpu-busy.  "
                 f"[default: {','.join(busy.MACHINES)}]"),
    click.option(
        "--period",
        type=options.Finite(10, 1e6),
        metavar="US",
        help=f"With --flood: microseconds from write to write.  [default: {flood.Request.period}]",
    ),
    click.option("--seconds", type=options.SECONDS, metavar="SECONDS",
                 help="Length of one sample; instead of --budget."),
    click.option("--budget", type=options.BUDGET, metavar="SECONDS",
                 help="Choose --seconds so that all samples together take about this long.  "
                 f"[default: {crowd.Request.budget}; {flood.Request.budget} with --flood, "
                 f"{crowd.QUICK['budget']} with --quick]"),
    options.rounds(crowd.Request.rounds, of="candidate"),
    options.warmup(crowd.Request.warmup),
    click.option("--pin", "pinned", default=crowd.Request.pin, show_default=True,
                 metavar="none|auto|CPUS",
                 help="none: the scheduler places the threads, as it does in most programs; auto: "
                 "thread i on the i-th allowed CPU; or a list such as 0,2,4-7."),
    options.number("--seed", "N", click.IntRange(0, 2**62), crowd.Request.seed,
                   "Seed of the choice between reading and writing."),
    options.rows(
        "strategy/lock names, lock names, patterns, or the groups all, pthread, peers, pawl."
    ),
)  # fmt: skip


def _given(o: Call) -> dict:
    """What was given on the command line, parsed; the request has defaults for the rest."""
    options.one_length(o.options, "seconds", "budget")
    given = o.given("outside", "period", "seconds", "budget", "rounds", "warmup", "seed")
    if o["threads"]:
        given["threads"] = ranges.threads(o["threads"])
    if o["sections"]:
        given["sections"] = ranges.numbers(o["sections"], "--sections", 0, 1e5, "0.1,1,10")
    if o["writes"]:
        given["writes"] = ranges.numbers(o["writes"], "--writes", 0, 100, "1,10,50")
    if o["hog"]:
        given["hogs"] = options.HOGS[o["hog"]]
    return given | {"pin": options.pin(o["pinned"])}


def _without(o: Call, why: str, *names: str) -> None:
    for name in names:
        if o[name] is not None:
            raise BadInput(f"--{name}{why}; leave it out.")


def _crowd(o: Call) -> Plan:
    given = _given(o)
    _without(o, " is for --busy", "machines")
    if o["period"] is not None:
        raise BadInput("--period is for the writer of --flood; leave it out.")
    request = crowd.Request(**(crowd.QUICK if o["quick"] else {}) | given)
    choice = o.choose(crowd.BASELINE, crowd.FLOOR)
    cells = crowd.plan(request, choice.names)
    return Plan(cells, choice.missing, crowd.expected_seconds(cells), keeps_complete=True)


def _flood(o: Call) -> Plan:
    given = _given(o)
    _without(o, " is for --busy", "machines")
    _without(o, ": in a flood readers never pause and one thread writes", "writes", "outside")
    request = flood.Request(**(flood.QUICK if o["quick"] else {}) | given)
    choice = o.choose(flood.BASELINE, flood.FLOOR)
    cells = flood.plan(request, choice.names)
    return Plan(
        cells, choice.missing, flood.expected_seconds(cells), keeps_complete=True, kind=FLOOD
    )


def _busy(o: Call) -> Plan:
    given = _given(o)
    _without(o, " is not for --busy", "hog", "period")
    if o["is_flood"] or given.pop("pin") != "none":
        raise BadInput("--busy has its own floods and its own CPUs; leave --flood and --pin out.")
    if o["machines"]:
        given["machines"] = [m.strip() for m in o["machines"].split(",")]
        for name in given["machines"]:
            if name not in busy.MACHINES:
                raise BadInput(
                    f"--machines: there is no '{name}'; choose from {', '.join(busy.MACHINES)}."
                )
    request = busy.Request(**(busy.QUICK if o["quick"] else {}) | given)
    choice = o.choose(busy.BASELINE, busy.MUTEX, busy.MAIN)
    cells = busy.plan(request, choice.names)
    return Plan(cells, choice.missing, busy.expected_seconds(cells), keeps_complete=True, kind=BUSY)


def _plan(o: Call) -> Plan:
    if o["is_busy"]:
        return _busy(o)
    return _flood(o) if o["is_flood"] else _crowd(o)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
