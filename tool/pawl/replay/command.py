# SPDX-License-Identifier: MIT
"""The command line of `pawl replay`."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pawl.advise.facts import Facts
from pawl.core import driver, machine, options, output, table
from pawl.core.errors import BadInput, Interrupted
from pawl.replay import rows, schema, show, steps
from pawl.replay.window import Window, largest
from pawl.trace import store

DRIVER = "pawl-bench-replay"
ALONE = ("exclusive/pthread_mutex", "exclusive/pawl_spin32", "r+w/pawl_lock32")
SHARED = (*ALONE, "r+w/pawl_spin32", "r+w/pawl_brlock", "r+w/pawl_sift")
UPGRADES = ("upgrade/pawl_lock32", "upgrade/pawl_spin32")
SCALING = ("r+w/pawl_lock32", "upgrade/pawl_lock32")


def _weight(window: Window, lock: int) -> tuple[int, int]:
    own = [e for e in window.holds if e.lock == lock]
    return sum(e.wait for e in own), sum(e.hold for e in own)


def replaced(window: Window, facts: Facts, patterns: tuple[str, ...]) -> set[int]:
    """Those of these names; else the lock that is waited for most."""
    present = {e.lock for e in window.holds}
    if not patterns:
        return {max(present, key=lambda lock: _weight(window, lock))}
    names = {lock: facts.locks[lock].name for lock in present}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names.values()):
            raise BadInput(
                f"--lock {pattern}: the window has no lock of that name; it has "
                f"{', '.join(sorted(set(names.values()))[:8])}."
            )
    return {lock for lock, name in names.items() if any(fnmatchcase(name, p) for p in patterns)}


def known(facts: Facts) -> set[tuple]:
    return {(r["lock"], r["read"], r["write"]) for r in facts.db.execute("SELECT * FROM upgrade")}


def _candidates(plan: steps.Plan, facts: Facts) -> tuple[list[str], list[str]]:
    """Those of the first run, and those with scaling readers."""
    shared = any(facts.locks[lock].kind == "rwlock" for lock in plan.replaced)
    names = [rows.BASELINE, *(SHARED if shared else ALONE), *(UPGRADES if plan.pairs else ())]
    scaling = [name for name in SCALING if shared and name in names]
    return names, [rows.BASELINE, *scaling] if scaling else []


@contextlib.contextmanager
def _bias(value: str) -> Iterator[None]:
    before = os.environ.get("PAWL_BIAS")
    os.environ["PAWL_BIAS"] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ["PAWL_BIAS"]
        else:
            os.environ["PAWL_BIAS"] = before


class _Runs:
    """Two processes, as PAWL_BIAS is chosen for a whole process."""

    def __init__(self, path: Path, words: list[str], rounds: int, quiet: bool):
        self.path, self.words, self.rounds = path, words, rounds
        self.console = Console(stderr=True, quiet=quiet)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal or quiet,
        )

    def all(self, runs: list[tuple[str, list[str]]]) -> tuple[list[list[dict]], bool]:
        found = []
        task = self.bar.add_task("", total=self.rounds * sum(len(names) for _, names in runs))
        with driver.stop_on_signals() as stop, self.bar:
            for number, (bias, names) in enumerate(runs, 1):
                text = f"{number}/{len(runs)} readers that scale: {bias}"
                self.bar.update(task, description=text)
                if not self.console.is_terminal:
                    self.console.print(text, highlight=False)
                with _bias(bias):
                    outcome = driver.run(
                        self.path,
                        [*self.words, "--candidates", ",".join(names)],
                        stop,
                        lambda _: self.bar.advance(task),
                    )
                found.append(outcome.samples)
                if outcome.interrupted:
                    return found, True
        return found, False


def _result(
    trace: Path, facts: Facts, plan: steps.Plan, samples: list[list[dict]], interrupted: bool
) -> dict:
    made = [
        r
        for own, suffix in zip(samples, ("", rows.BIAS), strict=False)
        for r in rows.of_run(own, suffix)
    ]
    w = plan.window
    return {
        "schema": schema.VERSION,
        "kind": "replay",
        "trace": str(trace),
        "command": facts.command,
        "machine": machine.describe(),
        "fidelity": rows.fidelity(samples[0], plan),
        "window": {
            "program": w.program,
            "number": w.number,
            "length_ns": w.length,
            "threads": len(w.lanes),
            "locks": len(plan.locks),
            "taken": len(w.holds),
            "pairs": plan.pairs,
            "left_out": dict(plan.left_out),
        },
        "replaced": sorted(facts.locks[lock].name for lock in plan.replaced),
        "rows": rows.ranked(made),
        "assumptions": [*show.ASSUMPTIONS, *([show.OF_PAIRS] if plan.pairs else [])],
        "interrupted": interrupted,
    }


@click.command(
    "replay",
    cls=options.ExampleCommand,
    examples=[
        (
            "pawl replay",
            "What would other locks give? The lock that is waited for most is replaced.",
        ),
        (
            "pawl replay server.trace --lock 'cache.*' --json replay.json",
            "Other locks for these only; the answer for programs.",
        ),
        ("pawl advise server.trace --replay replay.json", "Then: advice with the measured gain."),
    ],
)
@options.trace()
@click.option(
    "--lock",
    "patterns",
    multiple=True,
    metavar="NAME",
    help="Replace locks of this name or pattern; may be given several times.  "
    "[default: the one that is waited for most]",
)
@options.seconds(0.25)
@options.rounds(9, "candidate")
@options.warmup(0.05)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the answer; replay.schema.json describes it.",
)
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@click.option(
    "--driver",
    "given",
    metavar="PATH",
    help=f"The program {DRIVER} or its folder; else $PAWL_BENCH_DIR, then "
    "build/release/bench, then beside the command.",
)
def replay_command(
    trace: Path,
    patterns: tuple[str, ...],
    seconds: float,
    rounds: int,
    warmup: float,
    json_path: Path | None,
    quiet: bool,
    given: str | None,
) -> None:
    """Do again what a traced program did, with its locks and with others.

    Each thread of the trace's largest window thinks, takes its locks, and holds them for as long as
    it did: on this machine, with the locks that it had, and with each candidate. Where a thread
    read and then wrote, candidates named `upgrade` do so in one section, by R > S > W.

    The first line says how near the original locks come to the recording. Then come throughput,
    waits and processor time of each candidate, and what the answer assumes.
    """
    if json_path:
        output.check("--json", json_path)
    facts = Facts(store.open_trace(trace))
    window = largest(facts.db)
    path = driver.find(DRIVER, given)
    plan = steps.plan(
        window,
        {n: lock.kind for n, lock in facts.locks.items()},
        replaced(window, facts, patterns),
        known(facts),
    )
    first, second = _candidates(plan, facts)
    with tempfile.TemporaryDirectory(prefix="pawl-replay-") as folder:
        file = Path(folder, "steps")
        file.write_bytes(plan.file())
        words = [
            "--steps",
            str(file),
            "--seconds",
            str(seconds),
            "--rounds",
            str(rounds),
            "--warmup",
            str(warmup),
        ]
        runs = [("off", first), *([("on", second)] if second else [])]
        samples, interrupted = _Runs(path, words, rounds, quiet).all(runs)
    result = _result(trace, facts, plan, samples, interrupted)
    show.show(result, table.console())
    if json_path:
        output.write(json_path, (json.dumps(result, indent=1) + "\n").encode())
        click.echo(f"written: {json_path}", err=True)
    if interrupted:
        raise Interrupted("interrupted; the rows above are of the samples taken until then.")
