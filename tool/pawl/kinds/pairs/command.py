# SPDX-License-Identifier: MIT
"""The options of `pawl bench pairs`, and the plan that they make."""

import click

from pawl.core import options, ranges
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.pairs.plan import FLOOR, Request, plan

HELP = """What does each lock cost one thread alone?

Takes and drops each lock in every mode while no other thread uses it. The floor is two locked
additions on a cache line of their own: no lock of this kind can do with less.
"""
EXAMPLES = [
    ("pawl bench pairs", "Nanoseconds of every take and drop beside their floors."),
    (
        "pawl bench pairs --candidates '*spin32*' --rounds 21 --json pairs.json",
        "One lock, more rounds, saved.",
    ),
]
OPTIONS = (
    options.seconds(Request.seconds),
    options.rounds(Request.rounds, of="candidate"),
    options.warmup(Request.warmup),
    click.option("--pin", default=Request.pin, show_default=True, metavar="auto|none|CPU",
                 help="The CPU to measure on."),
    options.rows("Names or patterns, see --list."),
)  # fmt: skip


def _plan(o: Call) -> Plan:
    pin = o["pin"] if o["pin"] in ("auto", "none") else str(ranges.cpu_list(o["pin"])[0])
    choice = o.choose(FLOOR)
    request = Request(o["seconds"], o["rounds"], o["warmup"], pin)
    return Plan(plan(request, choice.names), choice.missing)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"seconds": 0.01, "rounds": 6})
