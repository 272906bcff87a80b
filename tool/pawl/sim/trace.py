# SPDX-License-Identifier: MIT
"""`pawl sim trace`: the threads of a traced program on simulated cores."""

import tempfile
from pathlib import Path

import click
from click.core import ParameterSource

from pawl.advise.facts import Facts
from pawl.core import options
from pawl.core.errors import BadInput
from pawl.replay import command as replay
from pawl.replay import steps
from pawl.replay.window import Window, largest
from pawl.sim import grid, machine
from pawl.trace import store

LOCKS = {
    "original": "models of the locks that it had",
    "low_level_lock": "model of glibc's internal mutex",
    "rwlock": "model of glibc's rwlock of today",
    "spin32": "pawl_spin32",
    "lock32": "pawl_lock32",
    "lock32_scaling": "pawl_lock32, readers scale",
    "lock32_evidence": "pawl_lock32, by evidence",
    "brlock": "pawl_brlock",
    "spin32_upgrade": "pawl_spin32, upgrades",
    "lock32_upgrade": "pawl_lock32, upgrades",
}
ALONE = ["original", "low_level_lock", "spin32", "lock32"]
SHARED = ["original", "rwlock", "spin32", "lock32", "lock32_scaling", "lock32_evidence", "brlock"]
UPGRADES = ["spin32_upgrade", "lock32_upgrade"]


def _usual(plan: steps.Plan, facts: Facts) -> list[str]:
    shared = any(facts.locks[lock].kind == "rwlock" for lock in plan.replaced)
    return [*(SHARED if shared else ALONE), *(UPGRADES if plan.pairs else [])]


def _replaced(window: Window, facts: Facts, patterns: tuple[str, ...]) -> set[int]:
    """Those of these names; else all of the kind of the lock that is waited for most."""
    found = replay.replaced(window, facts, patterns)
    kinds = {facts.locks[lock].kind for lock in found}
    return (
        found if patterns else {e.lock for e in window.holds if facts.locks[e.lock].kind in kinds}
    )


def _cores(o: dict, threads: int) -> str:
    """No more than the threads: the others would idle."""
    numbers = grid.cores(o["cores"], machine.cores(machine.load(o["name"])), o["name"])
    chosen = click.get_current_context().get_parameter_source("cores")
    if chosen is not ParameterSource.DEFAULT and numbers[-1] > threads:
        raise BadInput(
            f"--cores: {numbers[-1]} cores for {threads} threads; --copies says how many threads "
            "each recorded one becomes."
        )
    return ",".join(str(n) for n in numbers if n <= threads)


def _trace(trace: Path, patterns: tuple[str, ...], copies: int, **o) -> None:
    """Do again what a traced program did, on simulated cores: locks taken a second.

    Each thread of the trace's largest window works, takes its locks, and holds them for as long as
    it did. `original` has models of the locks that the program had; other rows replace all of
    the kind of the lock that is waited for most, or those that --lock names. `pawl replay` does so
    on this machine, for one lock.
    """
    facts = Facts(store.open_trace(trace))
    window = largest(facts.db)
    plan = steps.plan(
        window,
        {n: lock.kind for n, lock in facts.locks.items()},
        _replaced(window, facts, patterns),
        replay.known(facts),
    )
    threads = copies * len(plan.original)
    heading = f"{window.program}, {threads} threads, recorded {plan.rate / 1e6:.3f} million/s"
    with tempfile.TemporaryDirectory(prefix="pawl-sim-") as folder:
        file = Path(folder, "steps")
        file.write_bytes(plan.file())
        job = grid.Job(
            "replay", "A traced program", "locks/s", "operations_per_s", "write_wait_max"
        )
        grid.run(
            o | {"keep": None, "scheduler": None, "cores": _cores(o, threads)},
            job,
            LOCKS,
            _usual(plan, facts),
            [
                grid.Group(
                    heading,
                    {"steps": file, "count": o["count"], "warm": 20},
                    {"threads": threads, "recorded_per_s": plan.rate},
                )
            ],
            threads=threads,
        )


def add_to(group: click.Group) -> None:
    """The command. Its runs read a file of this machine, so none goes to another one, and none is
    kept."""
    extra = (
        options.trace(),
        click.option("--lock", "patterns", multiple=True, metavar="NAME",
                     help="Replace locks of this name or pattern; may be given several times.  "
                     "[default: all of the kind of the one that is waited for most]"),
        click.option(
            "--copies",
            type=click.IntRange(1, 256),
            default=1,
            show_default=True,
            metavar="N",
            help="So many threads for each recorded one, begun at other places of its steps.",
        ),
        click.option("--count", type=click.IntRange(10, 10**8), default=4000, show_default=True,
                     metavar="N", help="Locks taken in a run."),
    )  # fmt: skip
    own = tuple(x for x in grid.OPTIONS if x not in (grid.STORE, grid.SCHEDULER))
    group.command(
        "trace",
        cls=options.ExampleCommand,
        examples=[
            ("pawl sim trace pawl.trace", "What would it do under other locks?"),
            (
                "pawl sim trace server.trace --machine milan --copies 16 --cores 16:128 --html "
                "sim.html",
                "Sixteen times as many threads on a large machine, as a page.",
            ),
        ],
    )(options.with_options((*extra, *own))(_trace))
