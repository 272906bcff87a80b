# SPDX-License-Identifier: MIT
"""The command line of `pawl bench crowd`."""

from __future__ import annotations

import click

from pawl import candidates, command, crowd, driver, flood, ranges, results
from pawl.errors import BadInput
from pawl.wake_command import HOG, HOGS, pin, say_how_long


@click.command("crowd", cls=command.ExampleCommand, examples=[
    ("pawl bench crowd --quick", "A look at the middle of the grid, in half a minute."),
    ("pawl bench crowd --json crowd.json --html crowd.html",
     "The whole grid in four minutes; after an interrupt the same command goes on."),
    ("pawl bench crowd --threads 2,32 --sections 1 --writes 10 --hog no --seconds 1 --rounds 6",
     "Some cells, measured for longer: Jain's index over a second needs such samples."),
    ("pawl bench crowd --flood", "How long does a writer wait among readers that never pause?")])
@click.option("--threads", metavar="RANGE", help="Thread counts: 4, 1,2,8 or first:last:step; "
              "with --flood: readers.  [default: 2,4,8,16,32,64; with --flood 1,2,8,32]")
@click.option("--sections", metavar="US,...", help="Microseconds of computing under the lock.  "
              "[default: 0.1,1,10,100; with --flood 1,10]")
@click.option("--writes", metavar="P,...", help="Percent of the sections that write.  "
              "[default: 1,10,50]")
@click.option("--outside", type=command.Finite(0, 1e5), metavar="US",
              help="Microseconds of computing between two sections.  [default: as long as the "
              "section, 1 at most]")
@click.option("--hog", type=HOG, metavar="no|yes|both",
              help="Whether a thread of another kind computes without end beside the others.  "
              "[default: both; no with --flood or --quick]")
@click.option("--quick", is_flag=True, help="2, 8 and 32 threads, sections of 1 and 10 us, 10 % "
              "writes, no hog, half a minute; what is given besides still counts.")
@click.option("--flood", "is_flood", is_flag=True, help="All threads only read, without a pause; "
              "one more writes now and then, and its waits are shown.")
@click.option("--period", type=command.Finite(10, 1e6), metavar="US",
              help="With --flood: microseconds from write to write.  [default: 1000]")
@click.option("--seconds", type=command.Finite(0.001, 3600), metavar="SECONDS",
              help="Length of one sample; instead of --budget.")
@click.option("--budget", type=command.Finite(0.1, 1e6), metavar="SECONDS",
              help="Choose --seconds so that all samples together take about this long.  "
              "[default: 240; 120 with --flood, 30 with --quick]")
@click.option("--rounds", type=click.IntRange(1, 10000), default=3, show_default=True,
              metavar="N", help="Samples of each candidate; an interval needs at least 6.")
@click.option("--warmup", type=command.Finite(0, 60), default=0.005, show_default=True,
              metavar="SECONDS", help="Seconds each sample runs before it counts.")
@click.option("--pin", "pinned", default="none", show_default=True, metavar="none|auto|CPUS",
              help="none: the scheduler places the threads, as it does in most programs; auto: "
              "thread i on the i-th allowed CPU; or a list such as 0,2,4-7.")
@click.option("--seed", type=click.IntRange(0, 2**62), default=1, show_default=True, metavar="N",
              help="Seed of the choice between reading and writing.")
@click.option("--candidates", "names", default="all", show_default=True, metavar="NAME,...",
              help="strategy/lock names, lock names, patterns, or the groups all, pthread, peers, "
              "pawl.")
@command.with_options(command.BENCH_OPTIONS)
def crowd_command(**o) -> None:
    """What is a lock worth when threads outnumber CPUs?

    Each thread computes for a while outside, takes the lock to read or to write, computes for a
    while inside. Shown are throughput, waits, CPU time, context switches, and Jain's index of
    fairness (1: all threads did alike). The row floor/none is the same threads without any
    lock: its waits are the pauses that the scheduler alone makes, a part of all others.
    """
    outputs = command.Outputs(o["json"], o["html"], o["png"], o["svg"])
    path = driver.find(driver.CROWD, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    kind = flood if o["is_flood"] else crowd
    request = _request(o)
    offered = driver.candidates(path)
    choice = candidates.choose(o["names"], offered)
    for name in (kind.BASELINE, kind.FLOOR):
        choice = candidates.with_baseline(choice, name, offered)
    outputs.check()
    cells = kind.plan(request, choice.names)
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new("flood" if o["is_flood"] else "crowd", o["title"], plan, kind.BASELINE,
                        choice.missing)
    result = command.start(outputs, o["fresh"], True, fresh)
    say_how_long(cells, kind.expected_seconds(cells), o["quiet"])
    command.measure_and_show(path, cells, result, outputs, o["quiet"])


def _lists(o: dict) -> dict:
    """What was given on the command line, parsed; what was not is left to the request."""
    given = {}
    if o["threads"]:
        given["threads"] = ranges.threads(o["threads"])
    if o["sections"]:
        given["sections"] = ranges.numbers(o["sections"], "--sections", 0, 1e5, "0.1,1,10")
    if o["writes"]:
        given["writes"] = ranges.numbers(o["writes"], "--writes", 0, 100, "1,10,50")
    if o["hog"]:
        given["hogs"] = HOGS[o["hog"]]
    for name in ("outside", "period", "seconds", "budget"):
        if o[name] is not None:
            given[name] = o[name]
    return given | {"rounds": o["rounds"], "warmup": o["warmup"], "pin": pin(o["pinned"]),
                    "seed": o["seed"]}


def _request(o: dict) -> crowd.Request | flood.Request:
    if o["seconds"] and o["budget"]:
        raise BadInput("--seconds and --budget each fix the length; give one of them.")
    given = _lists(o)
    if not o["is_flood"]:
        if o["period"] is not None:
            raise BadInput("--period is for the writer of --flood; leave it out.")
        return crowd.Request(**((crowd.QUICK if o["quick"] else {}) | given))
    for option in ("writes", "outside"):
        if o[option] is not None:
            raise BadInput(f"--{option}: in a flood readers never pause and one thread writes; "
                           "leave it out.")
    return flood.Request(**((flood.QUICK if o["quick"] else {}) | given))
