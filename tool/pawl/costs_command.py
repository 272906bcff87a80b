# SPDX-License-Identifier: MIT
"""The command line of `pawl costs`."""

from __future__ import annotations

from pathlib import Path

import click

from pawl import command, costs, driver, ranges, results, topology
from pawl.errors import BadInput


def _offered(path: Path, about: dict) -> dict[str, list[dict]]:
    """part -> what the driver can measure of it here, and why not the rest."""
    options = costs.machine_options(about)
    parts = [p for p in costs.PARTS if p != "matrix" or len(about["cpus"]) > 1]
    return {part: driver.candidates(path, [*options, "--part", part]) for part in parts}


def _list(offered: dict[str, list[dict]]) -> None:
    for part, rows in offered.items():
        for row in rows:
            note = "" if row["available"] else f"  (not measured: {row['why']})"
            click.echo(f"{part}: {row['name']}{note}")


def _missing(offered: dict[str, list[dict]]) -> list[dict]:
    return [{"candidate": row["name"], "why": row["why"]}
            for rows in offered.values() for row in rows if not row["available"]]


@click.command("costs", cls=command.ExampleCommand, examples=[
    ("pawl costs", "The whole table, in less than a minute."),
    ("pawl costs --quick", "The same in some seconds, with fewer rounds."),
    ("pawl costs --json costs.json --html costs.html",
     "Saved for other commands, and as a page with heat map and curves."),
    ("pawl costs --cpus 0-3,8", "Between these CPUs only; rows of one thread use the first.")])
@click.option("--cpus", "cpus", default="auto", show_default=True, metavar="auto|CPUS",
              help="CPUs to measure on and between, as 0,2,4-7; auto: all this process may use.")
@click.option("--quick", is_flag=True, help="Fewer and shorter samples.")
@command.with_options(command.BENCH_OPTIONS)
def costs_command(**o) -> None:
    """What do single operations cost on this machine?

    An instruction, a cycle, each cache, atomic operations, lines that another core had last,
    fences, the kernel's part: each row with its median, its quartiles, the same in cycles and in
    instructions, what was published for a machine of 2005, and a sentence that says how it was
    measured. Then a line between any two CPUs, and for each lock of this build what taking and
    dropping it leaves of critical sections of different lengths. What cannot be measured here is a
    row that says why.
    """
    outputs = command.Outputs(o["json"], o["html"], o["png"], o["svg"])
    path = driver.find(driver.COSTS, o["driver"])
    chosen = ranges.allowed_cpus() if o["cpus"] == "auto" else _cpus(o["cpus"])
    about = topology.read(chosen)
    offered = _offered(path, about)
    if o["list_only"]:
        _list(offered)
        return
    outputs.check()
    names = {part: [r["name"] for r in rows if r["available"]] for part, rows in offered.items()}
    cells = costs.plan(about, names, o["quick"])
    if not cells:
        raise BadInput("nothing can be measured here; see --list.")
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new("costs", o["title"], plan, costs.BASELINE, _missing(offered))
    fresh["topology"] = about
    result = command.start(outputs, o["fresh"], False, fresh)
    command.measure_and_show(path, cells, result, outputs, o["quiet"])


def _cpus(text: str) -> list[int]:
    return list(dict.fromkeys(ranges.cpu_list(text, "--cpus", "auto")))
