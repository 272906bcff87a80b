# SPDX-License-Identifier: MIT
"""The options of `pawl bench rcu`, and the plan that they make."""

import click

from pawl.core import groups, options
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.rcu.plan import (
    GROUPS,
    MIB,
    QUICK,
    Request,
    baseline_of,
    expected_seconds,
    most_bytes,
    plan,
)

HELP = """What do readers, grace periods and callbacks cost under read-copy-update?

The read side alone, nested and along a chain of pointers. Waiting for a grace period while
nobody reads and beside readers. Callbacks a second, how long each waits, and how much memory
they hold when they come faster than they can run. Ours, liburcu's flavours and ck_epoch, beside
floors. A row's name ends in the number of threads that do it at once, and in what is beside.
"""
EXAMPLES = [
    ("pawl bench rcu --quick", "All groups, fewer callbacks: about half a minute."),
    (
        "pawl bench rcu --groups read,nested,deref --rounds 25 --json readers.json",
        "Readers only, more rounds, saved.",
    ),
    (
        "pawl bench rcu --groups delay,flood --html callbacks.html",
        "When do callbacks run, and what do they hold until then? As a page.",
    ),
    ("pawl bench rcu --candidates 'sync/*@1'", "Waiting for a grace period while nobody reads."),
]
MOST_MIB = Request.most // MIB
OPTIONS = (
    groups.option(
        GROUPS,
        "read, nested, deref: readers; quiet: quiescent states; sync: waiting "
        "for a grace period; busy: the same while other processes want the CPUs; "
        "call: callbacks a second; delay: how long they wait; "
        "flood: what an endless stream of them holds.",
    ),
    click.option(
        "--quick",
        is_flag=True,
        help="6 rounds, 100,000 callbacks, 0.3 s of delays, a "
        "flood of a million; what is given besides still counts.",
    ),
    click.option(
        "--seconds",
        type=options.SECONDS,
        metavar="SECONDS",
        help="Length of one sample of readers, quiescent states and grace periods; "
        "of busy ten times as long.  "
        f"[default: {Request.seconds}]",
    ),
    click.option(
        "--rounds",
        type=options.ROUNDS,
        metavar="N",
        help="Samples of each row; an interval needs at least 6. Of call at most 6, of "
        f"delay 3, of flood 1.  [default: {Request.rounds}]",
    ),
    click.option(
        "--warmup",
        type=options.WARMUP,
        metavar="SECONDS",
        help=f"Seconds each sample runs before it counts.  [default: {Request.warmup}]",
    ),
    click.option(
        "--callbacks",
        type=click.IntRange(1, 10**9),
        metavar="N",
        help=f"Callbacks in a sample of call.  [default: {Request.callbacks}]",
    ),
    click.option(
        "--period",
        "period_us",
        type=options.Finite(1, 1e6),
        metavar="US",
        help=f"Microseconds from call to call in delay.  [default: {Request.period_us}]",
    ),
    click.option(
        "--delays",
        "delay_seconds",
        type=options.Finite(0.01, 3600),
        metavar="SECONDS",
        help=f"Length of one sample of delay.  [default: {Request.delay_seconds:g}]",
    ),
    click.option(
        "--flood",
        type=click.IntRange(1, 10**9),
        metavar="N",
        help=f"Callbacks in a flood.  [default: {Request.flood}]",
    ),
    click.option(
        "--bound",
        type=click.IntRange(1, 1 << 20),
        metavar="MIB",
        help=f"The most that ours may hold in a flood, in MiB.  [default: {Request.bound // MIB}]",
    ),
    click.option(
        "--most",
        type=click.IntRange(1, 1 << 20),
        default=MOST_MIB,
        show_default=True,
        metavar="MIB",
        help="Where a flood of an unbounded queue is stopped; never more "
        "than a quarter of the memory.",
    ),
    groups.PIN,
    options.rows(),
)


def _request(o: Call) -> Request:
    given = o.given(
        "seconds", "rounds", "warmup", "callbacks", "period_us", "delay_seconds", "flood"
    )
    if o["bound"] is not None:
        given["bound"] = o["bound"] * MIB
    given |= {
        "groups": tuple(options.words(o["groups"], "--groups", GROUPS, "group ")),
        "pin": groups.pin(o["pin"]),
        "most": most_bytes(o["most"]),
    }
    return Request(**(QUICK if o["quick"] else {}) | given)


def _plan(o: Call) -> Plan:
    request = _request(o)
    names, missing = groups.chosen(o, request.groups, baseline_of)
    cells = plan(request, names)
    return Plan(cells, missing, expected_seconds(cells))


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
