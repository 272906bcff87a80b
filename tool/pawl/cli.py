# SPDX-License-Identifier: MIT
"""The entry point of the command: gives the hosts the kinds, the sets and what is beside them."""

from __future__ import annotations

from pawl.advise.command import advise_command
from pawl.choose.command import choose_command
from pawl.core.cli import build, run
from pawl.diff import command as diff
from pawl.kinds.registry import KINDS
from pawl.replay.command import replay_command
from pawl.run.command import run_command
from pawl.sets.registry import SETS
from pawl.sim.command import sim_group
from pawl.trace.command import trace_command
from pawl.watchdog import watchdog_group

cli = build(
    KINDS,
    SETS,
    [
        advise_command,
        choose_command,
        diff.command(KINDS),
        replay_command,
        run_command,
        sim_group,
        trace_command,
        watchdog_group,
    ],
    examples=[
        ("pawl bench lru", "Which lock serves a cache best on this machine?"),
        ("pawl bench pairs", "What does each lock cost one thread alone?"),
        ("pawl report run.json --html run.html", "Draw a report from saved results."),
    ],
    bench_examples=[
        ("pawl bench lru --hit 99 --threads 1:4", "The published cache at 99 % hits."),
        ("pawl bench pairs", "Take and drop, one thread."),
    ],
)


def main(arguments: list[str] | None = None) -> int:
    return run(cli, arguments)
