# SPDX-License-Identifier: MIT
"""The options of `pawl bench readers`, and the plan that they make."""

import click

from pawl.core import grid, options, ranges
from pawl.core.errors import BadInput
from pawl.core.kind import Call, Command, Plan
from pawl.core.options import listed
from pawl.kinds.readers.plan import (
    BASELINE,
    FLOOD_READERS,
    LOCKS,
    MOST_LOCKS,
    MOST_REGISTERED,
    NULL,
    QUICK,
    REGISTERED,
    SCENES,
    SECTIONS,
    WRITES,
    Request,
    plan,
    setup,
)

HELP = """Which lock lets readers scale, and what do its writers pay?

Threads take a lock, mostly to read, compute for a while under it and drop it, without a pause
between. The rows floor/none (no lock) and floor/pawl_rcu (readers that no writer stops) are
floors; pawl_lock64_again is the lock pawl_lock64 once more, so its ratio is noise. The rows
_on and _off are pawl_lock64 with its scaling readers always on, and off.
"""
EXAMPLES = [
    ("pawl bench readers --quick", "Read only and 1 % writes, in less than a minute."),
    ("pawl bench readers --json readers.json --html readers.html",
     "The whole grid in four minutes; after an interrupt the same command goes on."),
    ("pawl bench readers --sections 0 --writes 0 --locks 1 --candidates 'pawl_*,pthread_rwlock'",
     "The reader's pair alone: one thread and two."),
    ("pawl bench readers --scenes write,seek,flood",
     "A writer that no reader disturbs, a seeker beside a reader, a writer among readers."),
]  # fmt: skip
OPTIONS = (
    grid.THREADS,
    click.option(
        "--scenes",
        metavar="NAME,...",
        help="mix: each thread reads and writes; write: "
        "one thread writes, others have read once and sleep; seek: one thread takes S "
        "beside a looping reader; flood: one thread writes each millisecond among "
        "looping readers.  [default: mix]",
    ),
    click.option(
        "--sections",
        metavar="US,...",
        help="Microseconds of computing under the lock, "
        f"of mix and seek.  [default: {listed(SECTIONS)}]",
    ),
    click.option(
        "--writes",
        metavar="P,...",
        help=f"Percent of the sections that write, of mix.  [default: {listed(WRITES)}]",
    ),
    click.option(
        "--locks",
        metavar="N,...",
        help="How many locks, of which each section takes "
        f"one at random, of mix.  [default: {listed(LOCKS)}]",
    ),
    click.option(
        "--registered",
        metavar="N,...",
        help=f"Threads that sleep, of write.  [default: {listed(REGISTERED)}]",
    ),
    click.option(
        "--readers",
        metavar="N,...",
        help=f"Threads that read, of flood.  [default: {listed(FLOOD_READERS)}]",
    ),
    *grid.effort_options(Request, "Sections of 0 and 0.1 us, 0 and 1 % writes, one lock, 40 s"),
)
# Which scenes an option is for.
OF = {
    "threads": ("mix",),
    "sections": ("mix", "seek"),
    "writes": ("mix",),
    "locks": ("mix",),
    "registered": ("write",),
    "readers": ("flood",),
}


def _own(o: Call) -> dict:
    own = {}
    if o["scenes"]:
        own["scenes"] = options.words(o["scenes"], "--scenes", SCENES)
    for name, scenes in OF.items():
        if o[name] and not set(scenes) & set(own.get("scenes", ["mix"])):
            raise BadInput(
                f"--{name} is of the scene {' and '.join(scenes)}; name it with "
                "--scenes, or leave the option out."
            )
    if o["sections"]:
        own["sections"] = ranges.numbers(o["sections"], "--sections", 0, 1e5, "0,0.02,1")
    if o["writes"]:
        own["writes"] = ranges.numbers(o["writes"], "--writes", 0, 100, "0,0.1,10")
    for name, most, example in (
        ("locks", MOST_LOCKS, "1,16"),
        ("registered", MOST_REGISTERED, "2,100"),
        ("readers", 1024, "2,8"),
    ):
        if o[name]:
            least = 0 if name == "registered" else 1
            own[name] = ranges.integers(o[name], f"--{name}", least, most, example)
    return own


def _plan(o: Call) -> Plan:
    request = grid.from_call(o, Request, QUICK, _own(o))
    choice = o.choose(BASELINE, NULL)
    return grid.planned(plan(request, choice.names), choice.missing, setup)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
