# SPDX-License-Identifier: MIT
"""The command line of `pawl bench counters`."""

from __future__ import annotations

import click

from pawl import candidates, command, counters, driver, ranges, results
from pawl.errors import BadInput

GROUP_LIST = ",".join(counters.GROUPS)


def _groups(text: str) -> list[str]:
    chosen = [part.strip() for part in text.split(",")]
    for name in chosen:
        if name not in counters.GROUPS:
            raise BadInput(f"--groups: there is no group '{name}'; choose among {GROUP_LIST}.")
    return chosen


def _pin(text: str) -> str:
    if text == "none":
        raise BadInput("--pin none: rows at two threads mean nothing unless each has a CPU of its "
                       "own; name CPUs, or say auto.")
    return text if text == "auto" else ",".join(map(str, ranges.cpu_list(text)))


@click.command("counters", cls=command.ExampleCommand, examples=[
    ("pawl bench counters", "All groups: about half a minute."),
    ("pawl bench counters --groups add,read --rounds 25 --json counters.json",
     "Counters only, more rounds, saved."),
    ("pawl bench counters --groups br --html brlock.html", "Big-reader locks, as a page."),
    ("pawl bench counters --candidates 'add/*@2'", "Adding, two threads at once.")])
@click.option("--groups", default=GROUP_LIST, show_default=True, metavar="NAME,...",
              help="add: adding; read: reading, alone and beside a thread that adds; seq: 64 bytes "
              "under a sequence lock; ref: reference counts; br: big-reader locks.")
@click.option("--seconds", type=command.Finite(0.001, 3600), default=0.02, show_default=True,
              metavar="SECONDS", help="Length of one sample.")
@click.option("--rounds", type=click.IntRange(1, 10000), default=12, show_default=True,
              metavar="N", help="Samples of each row; an interval needs at least 6.")
@click.option("--warmup", type=command.Finite(0, 60), default=0.003, show_default=True,
              metavar="SECONDS", help="Seconds each sample runs before it counts.")
@click.option("--pin", default="auto", show_default=True, metavar="auto|CPUS",
              help="Thread i on the i-th CPU of the list; auto: of all allowed ones.")
@click.option("--candidates", "names", default="all", show_default=True, metavar="NAME,...",
              help="Names or patterns, see --list; pawl: the library's own.")
@command.with_options(command.BENCH_OPTIONS)
def counters_command(**o) -> None:
    """What does counting cost, and what do light locks cost?

    Counters, sequence locks, reference counts and big-reader locks, each beside what it replaces,
    at one thread and at two. A row's name ends in the number of threads that do it at once, and in
    what one more thread does meanwhile. The row thread_local_again is thread_local once more: where
    these two differ, it is noise.
    """
    outputs = command.Outputs(o["json"], o["html"], o["png"], o["svg"])
    path = driver.find(counters.DRIVER, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    groups = _groups(o["groups"])
    request = counters.Request(o["seconds"], o["rounds"], o["warmup"], _pin(o["pin"]))
    offered = [c for c in driver.candidates(path) if counters.group_of(c["name"]) in groups]
    choice = candidates.choose(o["names"], offered)
    cells = counters.plan(request, counters.with_baselines(choice, offered))
    outputs.check()
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new("counters", o["title"], plan, counters.BASELINE, choice.missing)
    result = command.start(outputs, o["fresh"], False, fresh)
    command.measure_and_show(path, cells, result, outputs, o["quiet"])
