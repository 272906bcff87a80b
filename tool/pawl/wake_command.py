# SPDX-License-Identifier: MIT
"""The command line of `pawl bench wake`."""

from __future__ import annotations

import click

from pawl import candidates, command, driver, ranges, results, wake
from pawl.errors import BadInput

HOGS = {"no": [False], "yes": [True], "both": [False, True]}
HOG = click.Choice(list(HOGS))


def say_how_long(cells: list, seconds: float, quiet: bool) -> None:
    """Before the first sample: who has no time for that can still say --budget."""
    if not quiet:
        samples = sum(c.sample_count for c in cells)
        time = (f"{max(seconds, 1):.0f} s" if seconds < 100 else f"{seconds / 60:.1f} minutes")
        click.echo(f"{len(cells)} cell{'s' if len(cells) != 1 else ''}, {samples:,} samples, "
                   f"about {time}", err=True)


@click.command("wake", cls=command.ExampleCommand, examples=[
    ("pawl bench wake", "All ways to wait, in a minute."),
    ("pawl bench wake --candidates pawl,futex,pthread_cond --delays 50 --budget 120",
     "Some rows only, and more wakes of each."),
    ("pawl bench wake --hog no --json wake.json --html wake.html", "Saved, and as a page.")])
@click.option("--delays", default="1,10,50", show_default=True, metavar="MS,...",
              help="Milliseconds that the waiter sleeps before the signal.")
@click.option("--hog", type=HOG, default="both", show_default=True, metavar="no|yes|both",
              help="Whether a thread that computes without end has the waiter's CPU as well.")
@click.option("--rounds", type=click.IntRange(1, 10000), default=9, show_default=True,
              metavar="N", help="Samples of each row; an interval needs at least 6.")
@click.option("--wakes", type=click.IntRange(1, 100000), metavar="N",
              help="Wakes in a sample; instead of --budget.")
@click.option("--budget", type=command.Finite(0.1, 1e6), metavar="SECONDS",
              help="All samples together take about this long: short delays get more wakes, and "
              "a short budget fewer rounds.  [default: 60]")
@click.option("--pin", default="auto", show_default=True, metavar="auto|none|CPUS",
              help="The signaller on the first CPU of the list, the waiter on the last; auto: of "
              "all allowed ones.")
@click.option("--candidates", "names", default="all", show_default=True, metavar="NAME,...",
              help="Names or patterns, see --list; pawl: the library's own.")
@command.with_options(command.BENCH_OPTIONS)
def wake_command(**o) -> None:
    """How long does a sleeping thread take to run again?

    Thread A sleeps for the delay, notes the time and signals; thread B, which has slept for that
    long, notes the time when it runs. The rows are ways to sleep, measured in turn; futex_again
    is the row futex once more, and where these two differ, it is noise. The CPU time is what B
    burns from the beginning of a wait to its end.
    """
    outputs = command.Outputs(o["json"], o["html"], o["png"], o["svg"])
    path = driver.find(driver.WAKE, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    if o["wakes"] and o["budget"]:
        raise BadInput("--wakes and --budget each fix the length; give one of them.")
    request = wake.Request(
        delays=ranges.numbers(o["delays"], "--delays", 0.1, 10000, "1,10,50"),
        hogs=HOGS[o["hog"]], rounds=o["rounds"], wakes=o["wakes"], budget=o["budget"] or 60,
        pin=pin(o["pin"]))
    offered = driver.candidates(path)
    choice = candidates.with_baseline(candidates.choose(o["names"], offered), wake.BASELINE,
                                      offered)
    outputs.check()
    cells = wake.plan(request, choice.names)
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new("wake", o["title"], plan, wake.BASELINE, choice.missing)
    result = command.start(outputs, o["fresh"], False, fresh)
    say_how_long(cells, wake.expected_seconds(cells), o["quiet"])
    command.measure_and_show(path, cells, result, outputs, o["quiet"])


def pin(text: str) -> str:
    if text in ("auto", "none"):
        return text
    return ",".join(map(str, ranges.cpu_list(text)))
