# SPDX-License-Identifier: MIT
"""The options of `pawl bench latency`, and the plan that they make."""

import click

from pawl.core import candidates, driver, options
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.latency import plan
from pawl.kinds.latency.plan import SCENARIOS, Request

SCENARIO_LIST = ",".join(SCENARIOS)
MICROSECONDS, MILLISECONDS = options.Finite(0, 1e5), options.Finite(0, 60000)

HELP = """How long does a lock that handlers read keep signals blocked?

Writers of a lock that signal handlers read must block those signals, and for how long is the
latency that they add to the program. Shown are those times, the times at a raised priority, and
what each kind of thread waits for the lock: minimum, mean, maximum and quantiles, in cycles of
the processor's counter. Locks that know no handlers are used as one would use them there, with
signals blocked round the write lock. The row none has no lock: what the machine alone does.
"""
EXAMPLES = [
    ("pawl bench latency", "All scenarios and locks, in about two minutes."),
    ("pawl bench latency --scenarios placed --json placed.json --html placed.html",
     "How long signals stay blocked where the scheduler does not blur it; each thread's table."),
    ("pawl bench latency --scenarios contention,placed --slow-section 500 --seconds 20",
     "Other readers, and longer samples: the tail needs them."),
    ("pawl bench latency --scenarios pairs --candidates 'pawl_sift,pthread*'",
     "The cost of a lock that nobody disturbs, with its system calls apart."),
]  # fmt: skip


def _default(name: str) -> str:
    usual, there = getattr(plan.Scenario, name), getattr(SCENARIOS["handlers"], name)
    return f"[default: {usual}; in handlers {there}]"


OPTIONS = (
    click.option("--scenarios", default=SCENARIO_LIST, show_default="all", metavar="NAME,...",
                 help="pairs: one thread alone, floors and system calls; writer, trylock_writer, "
                 "reader, realtime_reader, readers: without contention; contention: two writers, "
                 "one that tries, two readers, two real-time ones, one that tries, handlers on "
                 "every CPU; placed: the same with one writer and one CPU for each side; "
                 "handlers: how long a handler waits."),
    click.option("--seconds", type=options.Finite(0.05, 600), default=Request.seconds,
                 show_default=True, metavar="SECONDS",
                 help="Length of a sample of the scenario placed; those of the others are "
                 "shorter in proportion."),
    click.option("--rounds", type=click.IntRange(1, 1000), default=Request.rounds,
                 show_default=True, metavar="N",
                 help="Samples of each lock in a scenario; of pairs 15 times as many."),
    options.warmup(Request.warmup),
    click.option("--slow-section", "slow_section_us", type=MICROSECONDS,
                 default=Request.slow_section_us, show_default=True, metavar="US",
                 help="Microseconds of a reader's slow section."),
    click.option(
        "--slow-every",
        "slow_every_ms",
        type=MILLISECONDS,
        default=Request.slow_every_ms,
        show_default=True,
        metavar="MS",
        help="Milliseconds from one slow section of a reader to its next; 0: all are quick.",
    ),
    click.option("--read-section", "read_section_us", type=MICROSECONDS,
                 default=Request.read_section_us, show_default=True, metavar="US",
                 help="Microseconds of all other sections of readers."),
    click.option("--write-section", "write_section_us", type=MICROSECONDS, metavar="US",
                 help=f"Microseconds of a write section.  {_default('write_section_us')}"),
    click.option("--writer-delay", "writer_delay_us", type=options.Finite(0, 1e6), metavar="US",
                 help=f"Microseconds between two writes.  {_default('writer_delay_us')}"),
    click.option("--trylock-delay", "trylock_delay_us", type=options.Finite(1, 1e6),
                 default=Request.trylock_delay_us, show_default=True, metavar="US",
                 help="Microseconds between two series of tries."),
    click.option("--tries", type=click.IntRange(1, 10**6), default=Request.tries, show_default=True,
                 metavar="N", help="Tries of a series."),
    click.option("--handler-period", "handler_period_ms", type=options.Finite(0.1, 60000),
                 metavar="MS",
                 help=f"Milliseconds from signal to signal.  {_default('handler_period_ms')}"),
    click.option("--realtime-share", type=options.Finite(1, 45), default=Request.realtime_share,
                 show_default=True, metavar="P",
                 help="Percent of the time that a real-time reader is busy: the "
                 "system holds up real-time threads that never sleep."),
    click.option("--realtime", type=click.Choice(["auto", "yes", "no"]), default=Request.realtime,
                 show_default=True, metavar="auto|yes|no",
                 help="Whether there are real-time threads; auto: if this process may have them."),
    click.option("--pin", default=Request.pin, show_default=True, metavar="auto|CPUS",
                 help="Writers on the first CPU of the list, readers on the last; auto: of all "
                 "allowed ones."),
    options.rows(),
)  # fmt: skip


def _request(o: Call) -> Request:
    names = ("seconds", "rounds", "warmup", "realtime", *plan.GIVEN)
    return Request(
        scenarios=options.words(o["scenarios"], "--scenarios", SCENARIOS, "scenario "),
        pin=options.pinned(
            o["pin"],
            "handlers read on every CPU, and writers have one of their own",
            otherwise="auto",
        ),
        **{name: o[name] for name in names},
    )


def _pair_rows(
    o: Call, request: Request, offered: list[dict], choice: candidates.Choice
) -> list[str]:
    """The rows of pairs are other ones: the driver is asked for them. What may be wanting there
    beside locks that were not built is the right to real-time scheduling."""
    if plan.PAIRS not in request.scenarios:
        return []
    pairs = driver.candidates(o.driver, plan.pair_options(request))
    known = [c["name"] for c in offered]
    choice.missing += [
        {"candidate": c["name"], "why": c["why"]}
        for c in pairs
        if not c["available"] and plan.lock_of(c["name"], known) is None
    ]
    return plan.rows_of_pairs(pairs, known, choice.names)


def _plan(o: Call) -> Plan:
    request = _request(o)
    offered = driver.candidates(o.driver)
    choice = o.choose(plan.BASELINE, plan.FLOOR)
    cells = plan.plan(request, choice.names, _pair_rows(o, request, offered, choice))
    return Plan(cells, choice.missing, plan.expected_seconds(cells))


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"seconds": 0.5})
