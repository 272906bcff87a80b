# SPDX-License-Identifier: MIT
"""What the commands `pawl bench hash|tree|sem` share: options of a grid, and the way through it."""

from __future__ import annotations

from types import ModuleType

import click

from pawl import candidates, command, driver, ranges, results
from pawl.errors import BadInput
from pawl.wake_command import pin, say_how_long

THREADS = click.option(
    "--threads", metavar="RANGE", help="Thread counts: 4, 1,2,8 or first:last:step.  "
    "[default: 1,2,4 and so on up to all CPUs]")


def options(budget: float, quick: str) -> tuple:
    return (
        click.option("--quick", is_flag=True,
                     help=f"{quick}; what is given besides still counts."),
        click.option("--seconds", type=command.Finite(0.001, 3600), metavar="SECONDS",
                     help="Length of one sample; instead of --budget."),
        click.option("--budget", type=command.Finite(0.1, 1e6), metavar="SECONDS",
                     help="Choose --seconds so that all samples together take about this long.  "
                     f"[default: {budget:g}]"),
        click.option("--rounds", type=click.IntRange(1, 10000), default=9, show_default=True,
                     metavar="N", help="Samples of each row; an interval needs at least 6."),
        click.option("--warmup", type=command.Finite(0, 60), metavar="SECONDS",
                     help="Seconds each sample runs before it counts."),
        click.option("--pin", default="auto", show_default=True, metavar="auto|none|CPUS",
                     help="auto: thread i on the i-th allowed CPU; or a list such as 0,2,4-7."),
        click.option("--seed", type=click.IntRange(0, 2**62), default=1, show_default=True,
                     metavar="N", help="Seed of what is done to what."),
        click.option("--candidates", "names", default="all", show_default=True,
                     metavar="NAME,...", help="Names or patterns, see --list; pawl: the library's "
                     "own."),
        *command.BENCH_OPTIONS,
    )


def given(o: dict) -> dict:
    """What was given on the command line, parsed; what was not is left to the request."""
    if o["seconds"] and o["budget"]:
        raise BadInput("--seconds and --budget each fix the length; give one of them.")
    found = {name: o[name] for name in ("seconds", "budget", "warmup") if o[name] is not None}
    counts = (ranges.threads(o["threads"]) if o["threads"]
              else ranges.doubling(len(ranges.allowed_cpus())))
    return found | {"threads": counts, "rounds": o["rounds"], "pin": pin(o["pin"]),
                    "seed": o["seed"]}


def words(text: str, option: str, known: tuple[str, ...] | dict[str, str]) -> list[str]:
    chosen = [part.strip() for part in text.split(",")]
    for name in chosen:
        if name not in known:
            raise BadInput(f"{option}: there is no '{name}'; choose among {', '.join(known)}.")
    return list(dict.fromkeys(chosen))


def run(kind: ModuleType, name: str, o: dict, own: dict, always: tuple[str, ...]) -> None:
    """From parsed options to tables; the rows in `always` are measured whatever was chosen."""
    outputs = command.Outputs(o["json"], o["html"], o["png"], o["svg"])
    path = driver.find(kind.DRIVER, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    request = kind.Request(**((kind.QUICK if o["quick"] else {}) | own | given(o)))
    offered = driver.candidates(path)
    choice = candidates.choose(o["names"], offered)
    for row in always:
        choice = candidates.with_baseline(choice, row, offered)
    outputs.check()
    cells = kind.plan(request, choice.names)
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new(name, o["title"], plan, kind.BASELINE, choice.missing)
    result = command.start(outputs, o["fresh"], True, fresh)
    say_how_long(cells, kind.expected_seconds(cells), o["quiet"])
    command.measure_and_show(path, cells, result, outputs, o["quiet"])
