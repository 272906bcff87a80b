# SPDX-License-Identifier: MIT
"""The command line of `pawl trace`."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from pawl.core import options, output
from pawl.core.errors import BadInput, PawlError
from pawl.run import program
from pawl.run.command import library
from pawl.trace import collect, store
from pawl.trace.session import Session, end_as, make_folder

RECORDER = "libpawl-trace.so"
WAITS = "libpawl-trace-waits.so"  # of programs with our shared library
BLOCKS = "libpawl-trace-blocks.so"  # where memory was allocated
MACHINES = ("EM_X86_64", "EM_AARCH64")


def environment(found: program.Program, allocations: bool) -> dict[str, str]:
    if found.bits != 64 or found.machine not in MACHINES:
        raise BadInput(
            f"{found.path} is a {found.bits}-bit program ({found.machine}); the "
            "recorder is there for x86-64 and aarch64. Build it for one of them."
        )
    names = [RECORDER, WAITS, *([BLOCKS] if allocations else [])]
    paths = [str(library(name, found.bits)) for name in names]
    path = paths[0]
    if any(c in path for c in " :"):  # LD_PRELOAD separates by both
        raise BadInput(
            f"{path}: the loader takes no path with a blank or a colon; copy the "
            "library elsewhere and name that folder in PAWL_PRELOAD_DIR."
        )
    before = [os.environ["LD_PRELOAD"]] if os.environ.get("LD_PRELOAD") else []
    first = [found.preload_first] if found.preload_first else []
    return {**os.environ, "LD_PRELOAD": ":".join([*first, *paths, *before])}


def say(text: str) -> None:
    click.echo(f"pawl trace: {text}", err=True)


def _summary(trace: Path) -> None:
    with store.open_trace(trace) as db:
        row = db.execute(
            "SELECT count(*) AS processes, total(threads) AS threads, "
            "total(pairs) AS pairs FROM process"
        ).fetchone()
        losses = db.execute(
            "SELECT meaning, sum(count) AS count FROM loss GROUP BY meaning"
        ).fetchall()
    if not row["processes"]:
        say(f"{trace}: the program took no lock that can be recorded.")
        return
    say(
        f"{trace}: processes {row['processes']}, threads {row['threads']:,.0f}, pairs of lock and "
        f"unlock {row['pairs']:,.0f}. Next: pawl advise {trace}"
    )
    for loss in losses:
        say(f"not recorded: {loss['count']:,} times {loss['meaning']}.")


def _write(trace: Path, folder: Path, command: tuple[str, ...]) -> None:
    """Whatever goes wrong here is a sentence, and no other exit code."""
    try:
        with store.create(trace) as db:
            said = collect.collect(folder, db, {"command": shlex.join(command)})
        for text in said:
            say(text)
        _summary(trace)
    except PawlError as error:
        say(str(error))


@click.command(
    "trace",
    cls=options.ExampleCommand,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    examples=[
        ("pawl trace -- pigz -k big.tar", "Which locks of a program are waited for?"),
        (
            "pawl trace -o server.trace -d 60 -- memcached -t 4",
            "The first minute of a server; it goes on without being recorded.",
        ),
        ("pawl advise", "Then: what would be better?"),
    ],
)
@click.option(
    "-o",
    "--output",
    "trace",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=options.TRACE,
    show_default=str(options.TRACE),
    help="The trace: an SQLite database.",
)
@click.option(
    "-d",
    "--duration",
    "seconds",
    type=options.Finite(0.01, 1e7),
    metavar="SECONDS",
    help="Record for so long, then write the trace; the program goes on.",
)
@click.option(
    "--stopped",
    is_flag=True,
    help="Record nothing until the signal USR2 arrives here. USR1 stops the recording again.",
)
@click.option(
    "--allocations/--no-allocations",
    default=True,
    show_default=True,
    help="Name locks in allocated memory by the place that allocated it. Without, no "
    "library stands in front of malloc.",
)
@click.option(
    "--stacks/--no-stacks",
    "stacks",
    default=True,
    show_default=True,
    help="Note the stack of each call that waits.",
)
@click.option(
    "--one-in",
    type=click.IntRange(1, 2**32 - 1),
    metavar="N",
    help="Note the stacks of one in N calls of each thread that need not wait, too.",
)
@click.argument(
    "command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENTS]..."
)
def trace_command(
    trace: Path,
    seconds: float | None,
    stopped: bool,
    allocations: bool,
    stacks: bool,
    one_in: int | None,
    command: tuple[str, ...],
) -> int:
    """Record which locks a program takes, holds and waits for.

    The program is not changed: a library in front of the C library counts the calls of
    pthread_mutex, rwlock, spin, cond and barrier, and of semaphores. Of Pawl's own locks it sees
    the waits, and all operations in programs that define PAWL_TRACED. Child processes are recorded,
    too.

    The command ends as the program ends, with its exit code or its signal, also where nothing could
    be recorded. Signals TERM and HUP reach the program.
    """
    if one_in and not stacks:
        raise BadInput("--one-in asks for stacks, and --no-stacks for none; leave one of them out.")
    found = program.examine(command[0])
    made = environment(found, allocations) | {
        "PAWL_TRACE_STACKS": "no" if not stacks else str(one_in or 0)
    }
    output.check("--output", trace)
    folder = make_folder()
    try:
        session = Session(command, made, folder)
        written = []

        def write() -> None:
            _write(trace, folder, command)
            written.append(trace)

        if stopped:
            session.stop()
        if seconds is not None:
            session.after(seconds, write)
        sys.stdout.flush()
        code = session.run()
        if not written:
            write()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return end_as(code)
