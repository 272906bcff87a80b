# SPDX-License-Identifier: MIT
"""The command line of `pawl bench sem`."""

from __future__ import annotations

import click

from pawl import command, grid_command, ranges, sem


@click.command("sem", cls=command.ExampleCommand, examples=[
    ("pawl bench sem --quick", "Each thread its own semaphores, in five seconds."),
    ("pawl bench sem --json sem.json --html sem.html", "All three patterns, saved, and as a page."),
    ("pawl bench sem --choose disjoint --semaphores 16,65536 --candidates 'idtable/*,global/*'",
     "Few semaphores and many.")])
@grid_command.THREADS
@click.option("--semaphores", metavar="N,...", help="Semaphores in the table.  [default: 1024]")
@click.option("--choose", metavar="NAME,...", help="disjoint: each thread uses its own; same: all "
              "use one; random: any uses any.  [default: disjoint,same,random]")
@command.with_options(grid_command.options(20, "Only --choose disjoint, 5 s"))
def sem_command(**o) -> None:
    """What does it bring to find an object without a lock and lock only that?

    An operation finds a semaphore by its ID, locks it, adds or subtracts, and unlocks it. Rows
    idtable look the ID up under read-copy-update and lock the semaphore alone; rows shared look it
    up under a reader-writer lock of the table; rows global do all of it under one lock.
    """
    own = {}
    if o["semaphores"]:
        own["semaphores"] = ranges.integers(o["semaphores"], "--semaphores", 1,
                                            sem.MOST_SEMAPHORES, "16,1024")
    if o["choose"]:
        own["choose"] = grid_command.words(o["choose"], "--choose", sem.CHOICES)
    grid_command.run(sem, "sem", o, own, (sem.BASELINE,))
