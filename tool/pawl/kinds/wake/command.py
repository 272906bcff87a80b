# SPDX-License-Identifier: MIT
"""The options of `pawl bench wake`, and the plan that they make."""

import click

from pawl.core import options, ranges
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.wake.plan import BASELINE, DELAYS, Request, expected_seconds, plan

HELP = """How long does a sleeping thread take to run again?

Thread A sleeps for the delay, notes the time and signals; thread B, which has slept for that
long, notes the time when it runs. The rows are ways to sleep, measured in turn; futex_again
is the row futex once more, and where these two differ, it is noise. The CPU time is what B
burns from the beginning of a wait to its end.
"""
EXAMPLES = [
    ("pawl bench wake", "All ways to wait, in a minute."),
    (
        "pawl bench wake --candidates pawl,futex,pthread_cond --delays 50 --budget 120",
        "Some rows only, and more wakes of each.",
    ),
    ("pawl bench wake --hog no --json wake.json --html wake.html", "Saved, and as a page."),
]
OPTIONS = (
    click.option("--delays", default=options.listed(DELAYS), show_default=True, metavar="MS,...",
                 help="Milliseconds that the waiter sleeps before the signal."),
    click.option("--hog", type=options.HOG, default="both", show_default=True,
                 metavar="no|yes|both",
                 help="Whether a thread that computes without end has the waiter's CPU as well."),
    options.rounds(Request.rounds),
    click.option("--wakes", type=click.IntRange(1, 100000), metavar="N",
                 help="Wakes in a sample; instead of --budget."),
    click.option("--budget", type=options.BUDGET, metavar="SECONDS",
                 help="All samples together take about this long: short delays get more wakes, "
                 f"and a short budget fewer rounds.  [default: {Request.budget}]"),
    click.option("--pin", default=Request.pin, show_default=True, metavar="auto|none|CPUS",
                 help="The signaller on the first CPU of the list, the waiter on the last; auto: "
                 "of all allowed ones."),
    options.rows(),
)  # fmt: skip


def _plan(o: Call) -> Plan:
    options.one_length(o.options, "wakes", "budget")
    request = Request(
        delays=ranges.numbers(o["delays"], "--delays", 0.1, 10000, "1,10,50"),
        hogs=options.HOGS[o["hog"]],
        pin=options.pin(o["pin"]),
        **o.given("rounds", "wakes", "budget"),
    )
    choice = o.choose(BASELINE)
    cells = plan(request, choice.names)
    return Plan(cells, choice.missing, expected_seconds(cells))


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"budget": 8.0})
