# SPDX-License-Identifier: MIT
"""The command line of `pawl trace`."""

import contextlib
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click

from pawl.core import machine, options, output
from pawl.core.errors import DAMAGE, BadInput, PawlError
from pawl.run import program
from pawl.run.command import library
from pawl.trace import collect, store, words
from pawl.trace.session import Session, end_as, recording_folder

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
    click.echo(f"pawl trace: {output.shown(text)}", err=True)


def _summary(trace: Path) -> None:
    with store.open_trace(trace) as db:
        row = db.execute(
            "SELECT count(*) AS processes, total(threads) AS threads, "
            "total(pairs) AS pairs FROM process"
        ).fetchone()
        losses = db.execute(
            "SELECT name, meaning, sum(count) AS count FROM loss GROUP BY name"
        ).fetchall()
        missed, java = store.missed(db), store.is_java(db)
    if not row["processes"]:
        say(f"{trace}: the program took no lock that can be recorded.")
        return
    most = f"most calls are missing ({100 * missed:.0f} %); " if missed else ""
    say(
        f"{trace}: {most}processes {row['processes']}, threads {row['threads']:,.0f}, "
        f"pairs of lock and unlock {row['pairs']:,.0f}. Next: pawl advise {trace}"
    )
    for loss in losses:
        say(f"not recorded: {loss['count']:,} times {loss['meaning']}.")
    if java:
        say(f"{words.JAVA}.")


class _Writing:
    """The trace, written while the program runs: of processes that have ended, and of the others at
    the end. Whatever goes wrong here is a sentence, and no other exit code."""

    def __init__(self, trace: Path, session: Session, command: str):
        self.trace, self.session, self.command = trace, session, command
        self.file = contextlib.ExitStack()
        self.gathering: collect.Gathering | None = None
        self.done = False

    def _do(self, what: Callable[[collect.Gathering], None]) -> None:
        try:
            with contextlib.ExitStack() as failing:
                failing.push(self.file)  # what goes wrong here takes the half of a trace away
                if self.gathering is None:
                    db = self.file.enter_context(store.create(self.trace))
                    self.gathering = collect.Gathering(db, self.session.owners)
                what(self.gathering)
                failing.pop_all()
        except (OSError, PawlError, *DAMAGE) as error:
            self.done = True
            say(str(error))

    def add(self, path: Path) -> None:
        if not self.done:
            self._do(lambda gathering: gathering.add(path))

    def finish(self) -> None:
        if self.done:
            return
        left = self.session.left()
        for path in collect.in_order(self.session.folder):
            self.add(path)
        said: list[str] = []
        here = machine.describe()
        about = f"{here['cpu']}, {here['cpus']} processors"
        meta = {
            "command": self.command,
            "machine": output.shown(about),
            "processors": str(here["cpus_allowed"]),
        }
        if not self.done:
            self._do(lambda gathering: said.extend(gathering.finish(meta, len(left))))
        if not self.done:
            self._do(lambda _: self.file.close())
        if not self.done:
            self.done = True
            for text in said:
                say(text)
            _summary(self.trace)


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
@click.option(
    "--arguments/--no-arguments",
    default=False,
    show_default=True,
    help="Note the arguments of the program, too, which may have passwords.",
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
    arguments: bool,
    command: tuple[str, ...],
) -> int:
    """Record which locks a program takes, holds and waits for.

    The program is not changed: a library in front of the C library counts the calls of
    pthread_mutex, rwlock, spin, cond and barrier, of semaphores, and of C11's mtx and cnd. Of
    Pawl's own locks it sees the waits, and all operations in programs that define PAWL_TRACED.
    Child processes are recorded, too.

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
    with recording_folder(trace) as folder:
        session = Session(command, made, folder)
        noted = shlex.join(command) if arguments or len(command) == 1 else f"{command[0]} ..."
        writing = _Writing(trace, session, output.shown(noted))
        if stopped:
            session.stop()
        if seconds is not None:
            session.after(seconds, writing.finish)
        sys.stdout.flush()
        code = session.run(writing.add)
        writing.finish()
    return end_as(code)
