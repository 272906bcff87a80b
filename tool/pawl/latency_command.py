# SPDX-License-Identifier: MIT
"""The command line of `pawl bench latency`."""

from __future__ import annotations

import click

from pawl import candidates, command, driver, latency, ranges, results
from pawl.errors import BadInput
from pawl.wake_command import say_how_long

SCENARIO_LIST = ",".join(latency.SCENARIOS)
MICROSECONDS, MILLISECONDS = command.Finite(0, 1e5), command.Finite(0, 60000)


def _scenarios(text: str) -> list[str]:
    chosen = [part.strip() for part in text.split(",")]
    for name in chosen:
        if name not in latency.SCENARIOS:
            raise BadInput(f"--scenarios: there is no scenario '{name}'; choose among "
                           f"{SCENARIO_LIST}.")
    return list(dict.fromkeys(chosen))


def _pin(text: str) -> str:
    if text == "none":
        raise BadInput("--pin none: handlers read on every CPU, and writers have one of their "
                       "own; name CPUs, or say auto.")
    return text if text == "auto" else ",".join(map(str, ranges.cpu_list(text, otherwise="auto")))


@click.command("latency", cls=command.ExampleCommand, examples=[
    ("pawl bench latency", "All scenarios and locks, in about two minutes."),
    ("pawl bench latency --scenarios placed --json placed.json --html placed.html",
     "How long signals stay blocked where the scheduler does not blur it; each thread's table."),
    ("pawl bench latency --scenarios contention,placed --slow-section 500 --seconds 20",
     "Other readers, and longer samples: the tail needs them."),
    ("pawl bench latency --scenarios pairs --candidates 'pawl_sift,pthread*'",
     "What a lock costs when nobody disturbs, and the system calls in it apart.")])
@click.option("--scenarios", default=SCENARIO_LIST, show_default="all", metavar="NAME,...",
              help="pairs: one thread alone, floors and system calls; writer, trylock_writer, "
              "reader, realtime_reader, readers: without contention; contention: two writers, one "
              "that tries, two readers, two real-time ones, one that tries, handlers on every CPU; "
              "placed: the same with one writer and one CPU for each side; handlers: how long a "
              "handler waits.")
@click.option("--seconds", type=command.Finite(0.05, 600), default=4, show_default=True,
              metavar="SECONDS", help="Length of a sample of the scenario placed; those of the "
              "others are shorter in proportion.")
@click.option("--rounds", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N",
              help="Samples of each lock in a scenario; of pairs 15 times as many.")
@click.option("--warmup", type=command.Finite(0, 60), default=0.05, show_default=True,
              metavar="SECONDS", help="Seconds each sample runs before it counts.")
@click.option("--slow-section", "slow_section_us", type=MICROSECONDS, default=3000,
              show_default=True, metavar="US", help="Microseconds of a reader's slow section.")
@click.option("--slow-every", "slow_every_ms", type=MILLISECONDS, default=50, show_default=True,
              metavar="MS", help="Milliseconds from one slow section of a reader to its next; 0: "
              "all are quick.")
@click.option("--read-section", "read_section_us", type=MICROSECONDS, default=1, show_default=True,
              metavar="US", help="Microseconds of all other sections of readers.")
@click.option("--write-section", "write_section_us", type=MICROSECONDS, metavar="US",
              help="Microseconds of a write section.  [default: 1; in handlers 20]")
@click.option("--writer-delay", "writer_delay_us", type=command.Finite(0, 1e6), metavar="US",
              help="Microseconds between two writes.  [default: 100; in handlers 20]")
@click.option("--trylock-delay", "trylock_delay_us", type=command.Finite(1, 1e6), default=1000,
              show_default=True, metavar="US", help="Microseconds between two series of tries.")
@click.option("--tries", type=click.IntRange(1, 10**6), default=100, show_default=True,
              metavar="N", help="Tries of a series.")
@click.option("--handler-period", "handler_period_ms", type=command.Finite(0.1, 60000),
              metavar="MS", help="Milliseconds from signal to signal.  [default: 100; in "
              "handlers 1]")
@click.option("--realtime-share", type=command.Finite(1, 45), default=20, show_default=True,
              metavar="P", help="Percent of the time that a real-time reader is busy: the system "
              "holds up real-time threads that never sleep.")
@click.option("--realtime", type=click.Choice(["auto", "yes", "no"]), default="auto",
              show_default=True, metavar="auto|yes|no",
              help="Whether there are real-time threads; auto: if this process may have them.")
@click.option("--pin", default="auto", show_default=True, metavar="auto|CPUS",
              help="Writers on the first CPU of the list, readers on the last; auto: of all "
              "allowed ones.")
@click.option("--candidates", "names", default="all", show_default=True, metavar="NAME,...",
              help="Names or patterns, see --list; pawl: the library's own.")
@command.with_options(command.BENCH_OPTIONS)
def latency_command(**o) -> None:
    """How long does a lock that handlers read keep signals blocked?

    Writers of a lock that signal handlers read must block those signals, and for how long is the
    latency that they add to the program. Shown are those times, the times at a raised priority, and
    what each kind of thread waits for the lock: minimum, mean, maximum and quantiles, in cycles of
    the processor's counter. Locks that know no handlers are used as one would use them there, with
    signals blocked round the write lock. The row none has no lock: what the machine alone does.
    """
    outputs = command.Outputs(o["json"], o["html"], o["png"], o["svg"])
    path = driver.find(latency.DRIVER, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    request = _request(o)
    offered = driver.candidates(path)
    choice = candidates.choose(o["names"], offered)
    for name in (latency.BASELINE, latency.FLOOR):
        choice = candidates.with_baseline(choice, name, offered)
    cells = latency.plan(request, choice.names, _pair_rows(path, request, offered, choice))
    outputs.check()
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new("latency", o["title"], plan, latency.BASELINE, choice.missing)
    result = command.start(outputs, o["fresh"], False, fresh)
    say_how_long(cells, latency.expected_seconds(cells), o["quiet"])
    command.measure_and_show(path, cells, result, outputs, o["quiet"])


def _request(o: dict) -> latency.Request:
    names = ("seconds", "rounds", "warmup", "realtime", *latency.GIVEN)
    return latency.Request(scenarios=_scenarios(o["scenarios"]), pin=_pin(o["pin"]),
                           **{name: o[name] for name in names})


def _pair_rows(path, request: latency.Request, offered: list[dict],
               choice: candidates.Choice) -> list[str]:
    """The rows of pairs are other ones: the driver is asked for them. What may be wanting there
    beside locks that were not built is the right to real-time scheduling."""
    if latency.PAIRS not in request.scenarios:
        return []
    pairs = driver.candidates(path, latency.pair_options(request))
    known = [c["name"] for c in offered]
    choice.missing += [{"candidate": c["name"], "why": c["why"]} for c in pairs
                       if not c["available"] and latency.lock_of(c["name"], known) is None]
    return latency.rows_of_pairs(pairs, known, choice.names)
