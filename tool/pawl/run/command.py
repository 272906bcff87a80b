# SPDX-License-Identifier: MIT
"""The command line of `pawl run`: looks at the program, then becomes it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from pawl.core import driver, options
from pawl.core.errors import BadInput, Failure
from pawl.run import program

RWLOCK, SPIN = "libpawl-preload.so", "libpawl-preload-spin.so"
RWLOCKS = ("pawl", "pawl,shared-word", "pawl,prefer-readers", "pawl,scale-readers", "libc")
SPINS = ("libc", "pawl")
MACHINES = {64: ("EM_X86_64", "EM_AARCH64"), 32: ("EM_386",)}
LIBDIRS = {
    64: ("lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64"),
    32: ("lib32", "lib/i386-linux-gnu", "lib"),
}


def _folders(bits: int) -> Iterator[Path]:
    """$PAWL_PRELOAD_DIR, the checkout's builds, then where `cmake --install` puts them."""
    if given := os.environ.get("PAWL_PRELOAD_DIR"):
        yield Path(given)
        return
    if root := driver.checkout():
        for build in ("release", "dev") if bits == 64 else ("m32",):
            yield root / "build" / build / "shim"
    if driver.INSTALLED_PRELOAD:
        yield driver.INSTALLED_PRELOAD
    for prefix in dict.fromkeys((sys.prefix, "/usr/local", "/usr")):
        for libdir in LIBDIRS[bits]:
            yield Path(prefix) / libdir / "pawl"


def _bits(path: Path) -> int:
    with path.open("rb") as file:
        return {b"\1": 32, b"\2": 64}.get(file.read(5)[4:], 0)


def library(name: str, bits: int) -> Path:
    for folder in _folders(bits):
        path = (folder / name).resolve()
        if path.is_file() and _bits(path) == bits:
            return path
    if bits == 32:
        raise BadInput(
            f"the program is a 32-bit one, and there is no 32-bit {name}; build one "
            "(cmake --preset m32), and name its folder in PAWL_PRELOAD_DIR."
        )
    raise BadInput(
        f"{name} is not there; in Pawl's source run `make build` or `make install`, or "
        "name its folder in PAWL_PRELOAD_DIR."
    )


def _preload(found: program.Program, rwlock: str, spin: str) -> list[str]:
    names = [RWLOCK] * (rwlock != "libc") + [SPIN] * (spin != "libc")
    if names and found.machine not in MACHINES[found.bits]:
        raise BadInput(
            f"{found.path} is for another processor ({found.machine}); there are locks "
            "for x86-64, 32-bit x86 and aarch64."
        )
    paths = [str(library(name, found.bits)) for name in names]
    for path in paths:
        if any(c in path for c in " :"):  # LD_PRELOAD separates by both
            raise BadInput(
                f"{path}: the loader takes no path with a blank or a colon; copy the "
                "library elsewhere and name that folder in PAWL_PRELOAD_DIR."
            )
    return ([found.preload_first] if paths and found.preload_first else []) + paths


def environment(found: program.Program, rwlock: str, spin: str, stats: bool) -> dict[str, str]:
    made = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_PRELOAD_")}
    preload = _preload(found, rwlock, spin)
    if preload:
        before = [made["LD_PRELOAD"]] if made.get("LD_PRELOAD") else []
        made["LD_PRELOAD"] = ":".join(preload + before)
    if "," in rwlock:
        made["PAWL_PRELOAD_RWLOCK"] = rwlock.split(",")[1]
    if stats and rwlock != "libc":
        made["PAWL_PRELOAD_STATS"] = "1"
    return made


@click.command(
    "run",
    cls=options.ExampleCommand,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    examples=[
        ("pawl run -- unbound -d", "A server on Pawl's read-write locks."),
        ("pawl run --stats -- slapd -d 0", "Counts at exit: locks made, granted, waited for."),
        (
            "pawl run --rwlock=pawl,prefer-readers -- mariadbd",
            "Readers pass waiting writers, as with the C library's default kind.",
        ),
        (
            "pawl run --rwlock=pawl,shared-word -- named -g",
            "All readers of a lock write its word, also where it is mostly read.",
        ),
        (
            "pawl run --spin=pawl -- sh -c 'make check'",
            "Spinlocks too, in all programs of a script.",
        ),
    ],
)
@click.option(
    "--rwlock",
    type=click.Choice(RWLOCKS),
    default=RWLOCKS[0],
    show_default=True,
    metavar="|".join(RWLOCKS),
    help="Whose locks serve pthread_rwlock_*.",
)
@click.option(
    "--spin",
    type=click.Choice(SPINS),
    default=SPINS[0],
    show_default=True,
    metavar="|".join(SPINS),
    help="Whose locks serve pthread_spin_*.",
)
@click.option(
    "--stats",
    is_flag=True,
    help="Say on standard error what was put where; the program adds its counts when it exits.",
)
@click.argument(
    "command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENTS]..."
)
def run_command(rwlock: str, spin: str, stats: bool, command: tuple[str, ...]) -> None:
    """Run a program on Pawl's locks, without a change to it.

    The read-write locks of the C library, and those of C++ that are made of them, become Pawl's, in
    the program's own memory. Readers of locks that are mostly read use lines of their own. Child
    processes have the locks too. The command becomes the program: its
    process number, signals and exit code are the program's.

    Plug-ins that the program loads with RTLD_DEEPBIND are loaded without that flag, or they would
    find the C library's locks; standard error says so.

    Programs that are static, setuid, written in Go or Rust, or built for musl have no locks that
    can be replaced; the command says so and ends with code 2.
    """
    found = program.examine(command[0])
    made = environment(found, rwlock, spin, stats)
    if stats:
        click.echo(
            f"pawl run: {found.path}: rwlocks {rwlock}, spinlocks {spin}; "
            f"LD_PRELOAD={made.get('LD_PRELOAD', '')}",
            err=True,
        )
    for stream in filter(None, (sys.stdout, sys.stderr)):  # either may be closed
        stream.flush()
    try:
        os.execvpe(command[0], list(command), made)
    except OSError as error:
        raise Failure(f"{command[0]}: cannot be started ({error.strerror}).") from error
