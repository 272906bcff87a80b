# SPDX-License-Identifier: MIT
"""The command line of `pawl bench rcu`."""

from __future__ import annotations

import click

from pawl import candidates, command, driver, ranges, rcu, results
from pawl.errors import BadInput
from pawl.wake_command import say_how_long

GROUP_LIST = ",".join(rcu.GROUPS)


def _groups(text: str) -> tuple[str, ...]:
    chosen = [part.strip() for part in text.split(",")]
    for name in chosen:
        if name not in rcu.GROUPS:
            raise BadInput(f"--groups: there is no group '{name}'; choose among {GROUP_LIST}.")
    return tuple(chosen)


def _pin(text: str) -> str:
    if text == "none":
        raise BadInput("--pin none: rows at two threads mean nothing unless each has a CPU of its "
                       "own; name CPUs, or say auto.")
    return text if text == "auto" else ",".join(map(str, ranges.cpu_list(text)))


@click.command("rcu", cls=command.ExampleCommand, examples=[
    ("pawl bench rcu --quick", "All groups, fewer callbacks: about half a minute."),
    ("pawl bench rcu --groups read,nested,deref --rounds 25 --json readers.json",
     "Readers only, more rounds, saved."),
    ("pawl bench rcu --groups delay,flood --html callbacks.html",
     "When do callbacks run, and what do they hold until then? As a page."),
    ("pawl bench rcu --candidates 'sync/*@1'", "Waiting for a grace period while nobody reads.")])
@click.option("--groups", default=GROUP_LIST, show_default=True, metavar="NAME,...",
              help="read, nested, deref: readers; quiet: quiescent states; sync: waiting for a "
              "grace period; call: callbacks a second; delay: how long they wait; flood: what an "
              "endless stream of them holds.")
@click.option("--quick", is_flag=True, help="6 rounds, 100,000 callbacks, 0.3 s of delays, a flood "
              "of a million; what is given besides still counts.")
@click.option("--seconds", type=command.Finite(0.001, 3600), metavar="SECONDS",
              help="Length of one sample of readers, quiescent states and grace periods.  "
              "[default: 0.02]")
@click.option("--rounds", type=click.IntRange(1, 10000), metavar="N",
              help="Samples of each row; an interval needs at least 6. Of call at most 6, of delay "
              "3, of flood 1.  [default: 12]")
@click.option("--warmup", type=command.Finite(0, 60), metavar="SECONDS",
              help="Seconds each sample runs before it counts.  [default: 0.003]")
@click.option("--callbacks", type=click.IntRange(1, 10**9), metavar="N",
              help="Callbacks in a sample of call.  [default: 1000000]")
@click.option("--period", "period_us", type=command.Finite(1, 1e6), metavar="US",
              help="Microseconds from call to call in delay.  [default: 200]")
@click.option("--delays", "delay_seconds", type=command.Finite(0.01, 3600), metavar="SECONDS",
              help="Length of one sample of delay.  [default: 1]")
@click.option("--flood", type=click.IntRange(1, 10**9), metavar="N",
              help="Callbacks in a flood.  [default: 10000000]")
@click.option("--bound", type=click.IntRange(1, 1 << 20), metavar="MIB",
              help="What ours may hold in a flood, in MiB.  [default: 64]")
@click.option("--most", type=click.IntRange(1, 1 << 20), default=2048, show_default=True,
              metavar="MIB", help="Where a flood of an unbounded queue is stopped; never more than "
              "a quarter of the memory.")
@click.option("--pin", default="auto", show_default=True, metavar="auto|CPUS",
              help="Thread i on the i-th CPU of the list; auto: of all allowed ones.")
@click.option("--candidates", "names", default="all", show_default=True, metavar="NAME,...",
              help="Names or patterns, see --list; pawl: the library's own.")
@command.with_options(command.BENCH_OPTIONS)
def rcu_command(**o) -> None:
    """What do readers, grace periods and callbacks cost under read-copy-update?

    The read side alone, nested and along a chain of pointers; waiting for a grace period while
    nobody reads and beside readers; callbacks a second, how long each waits, and how much memory
    they hold when they come faster than they can run. Ours, liburcu's flavours and ck_epoch, beside
    floors. A row's name ends in the number of threads that do it at once, and in what is beside.
    """
    outputs = command.Outputs(o["json"], o["html"], o["png"], o["svg"])
    path = driver.find(rcu.DRIVER, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    request = _request(o)
    offered = [c for c in driver.candidates(path) if rcu.group_of(c["name"]) in request.groups]
    choice = candidates.choose(o["names"], offered)
    cells = rcu.plan(request, rcu.with_baselines(choice, offered))
    outputs.check()
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new("rcu", o["title"], plan, rcu.BASELINE, choice.missing)
    result = command.start(outputs, o["fresh"], False, fresh)
    say_how_long(cells, rcu.expected_seconds(cells), o["quiet"])
    command.measure_and_show(path, cells, result, outputs, o["quiet"])


def _request(o: dict) -> rcu.Request:
    named = ("seconds", "rounds", "warmup", "callbacks", "period_us", "delay_seconds", "flood")
    given = {name: o[name] for name in named if o[name] is not None}
    if o["bound"] is not None:
        given["bound"] = o["bound"] * rcu.MIB
    given |= {"groups": _groups(o["groups"]), "pin": _pin(o["pin"]),
              "most": rcu.most_bytes(o["most"])}
    return rcu.Request(**((rcu.QUICK if o["quick"] else {}) | given))
