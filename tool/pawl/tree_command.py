# SPDX-License-Identifier: MIT
"""The command line of `pawl bench tree`."""

from __future__ import annotations

import click

from pawl import command, grid_command, tree


@click.command("tree", cls=command.ExampleCommand, examples=[
    ("pawl bench tree", "A million nodes, hot and cold lookups, in about a minute."),
    ("pawl bench tree --quick --candidates 'r+s>w/*,pthread'", "A look at some rows."),
    ("pawl bench tree --inserts 10 --lookups cold --json tree.json --html tree.html",
     "More insertions, lookups anywhere; saved, and as a page.")])
@grid_command.THREADS
@click.option("--nodes", type=click.IntRange(1, 1 << 27), metavar="N",
              help="Nodes of the tree.  [default: 1000000]")
@click.option("--inserts", type=command.Finite(0, 100), metavar="P",
              help="Percent of the operations that insert.  [default: 1]")
@click.option("--lookups", metavar="hot,cold", help="hot: a few keys over and over; cold: any.  "
              "[default: hot,cold]")
@command.with_options(grid_command.options(60, "100,000 nodes, 10 s"))
def tree_command(**o) -> None:
    """What is a seek state worth when searching takes long and linking does not?

    An ordered tree of a million nodes under one lock: lookups, and insertions that search the place
    first. Rows r+s>w search under S beside all readers and take W only to link and rebalance; rows
    r+w search under W. The pieces are timed without a lock as well, and a table shows what the
    published formula predicts from them for more cores, beside what was measured here.
    """
    own = {name: o[name] for name in ("nodes", "inserts") if o[name] is not None}
    if o["lookups"]:
        own["lookups"] = grid_command.words(o["lookups"], "--lookups", tree.LOOKUPS)
    grid_command.run(tree, "tree", o, own, (tree.BASELINE, tree.PARTS))
