# SPDX-License-Identifier: MIT
"""The way through every bench: from a kind's command to its tables, pages and result file."""

from collections.abc import Callable
from pathlib import Path

import click

from pawl.core import cluster, driver, measure, options, results, table
from pawl.core.errors import BadInput, Interrupted
from pawl.core.kind import Call, Kind, Kinds, Plan


def _candidates(call: Call) -> list[str]:
    return [
        c["name"] + ("" if c["available"] else f"  (not built: {c['why']})")
        for c in driver.candidates(call.driver)
    ]


def command(kind: Kind, kinds: Kinds) -> click.Command:
    """The command of a kind: its own options, and those that all benches have."""
    form = kind.command

    def run(**chosen) -> None:
        if form.quick and chosen.pop("quick"):
            chosen |= {n: v for n, v in form.quick.items() if _is_default(n)}
        _run(kind, kinds, chosen)

    run.__doc__ = form.help
    made = click.command(kind.name, cls=options.ExampleCommand, examples=form.examples)
    # What is no bench describes the machine that it runs on.
    fleet = () if form.top else options.FLEET_OPTIONS
    quick = (_quick_option(form.quick),) if form.quick else ()
    return made(options.with_options((*form.options, *quick, *options.BENCH_OPTIONS, *fleet))(run))


def _quick_option(quick: dict[str, float]) -> Callable:
    told = " and ".join(f"--{name} {value:g}" for name, value in quick.items())
    return click.option("--quick", is_flag=True, help=f"A look: {told}, unless given.")


def _is_default(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option).name == "DEFAULT"


def _run(kind: Kind, kinds: Kinds, chosen: dict) -> None:
    outputs = options.Outputs.of(chosen)
    call = Call(chosen, driver.find(kind.driver, chosen["driver"]))
    if chosen["list_only"]:
        for line in (kind.command.rows or _candidates)(call):
            click.echo(line)
        return
    outputs.check()
    with call.held:
        plan = kind.command.plan(call)
        measured = plan.kind or kind
        fresh = result_of(measured, chosen["title"], call.driver, plan) | _fleet(call, plan)
        result = _start(outputs, chosen["fresh"], plan, fresh, kinds)
        _say_how_long(plan, chosen["quiet"])
        _measure_and_show(measured, call, plan, result, outputs)


def _fleet(call: Call, plan: Plan) -> dict:
    """What a result says of the fleet's machines in place of this one; {} without a fleet."""
    address = call.options.get("scheduler")
    if address is None:
        return {}
    if plan.here_only:
        raise BadInput(
            f"--scheduler: the files of {plan.here_only} are on this machine; leave "
            "one of the two options out."
        )
    call.fleet = call.held.enter_context(cluster.connect(address))
    return cluster.fleet(call.fleet)


def result_of(kind: Kind, title: str, path: Path, plan: Plan, baseline: str | None = None) -> dict:
    """An empty result of the plan."""
    told = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in plan.cells]}
    return results.new(kind, title, told, plan.missing, baseline) | plan.extra


def _start(outputs: options.Outputs, fresh: bool, plan: Plan, result: dict, kinds: Kinds) -> dict:
    """The result to fill: a new one, or the unfinished one in the file."""
    if outputs.json is None or fresh:
        return result
    return results.continue_from(outputs.json, result, kinds, plan.keeps_complete)


def _say_how_long(plan: Plan, quiet: bool) -> None:
    """Said before the first sample, while it is early enough to choose another --budget."""
    if quiet or plan.seconds is None:
        return
    samples = sum(c.sample_count for c in plan.cells)
    time = (
        f"{max(plan.seconds, 1):.0f} s"
        if plan.seconds < 100
        else f"{plan.seconds / 60:.1f} minutes"
    )
    click.echo(
        f"{table.counted(len(plan.cells), 'cell')}, {samples:,} samples, about {time}", err=True
    )


def _measure_and_show(
    kind: Kind, call: Call, plan: Plan, result: dict, outputs: options.Outputs
) -> None:
    def save(current: dict) -> None:
        if outputs.json:
            results.save(outputs.json, current)

    if len(result["cells"]) == len(plan.cells) and results.complete(result):
        click.echo(f"{outputs.json} is complete already; --fresh measures anew.", err=True)
    else:
        measure.run(kind, call.driver, plan.cells, result, save, call["quiet"], call.fleet)
    kind.show(kind, result, table.console())
    if result["cells"]:
        outputs.draw([(kind, result)])
        for name in outputs.written():
            click.echo(f"written: {name}", err=True)
    if kind.command and kind.command.finish and not result["interrupted"]:
        kind.command.finish(call, result)
    if result["interrupted"]:
        done = sum(1 for c in result["cells"] if c["complete"])
        hint = (
            f"; the same command goes on from {outputs.json}"
            if outputs.json
            else "; with --json FILE the same command could have gone on"
        )
        raise Interrupted(f"interrupted after {done} of {len(plan.cells)} cells{hint}.")
