# SPDX-License-Identifier: MIT
"""The sets that are one part each, judged by the targets of its kind."""

import importlib

from pawl.core.record import Part, Set
from pawl.core.targets import Judging
from pawl.kinds.busy import record as busy
from pawl.kinds.counters import record as counters
from pawl.kinds.crate import record as crate
from pawl.kinds.functions import record as functions
from pawl.kinds.latency import record as latency
from pawl.kinds.lru import record as lru
from pawl.kinds.shim import record as shim


def _set(name: str, part: Part, what: str, of_run: str, example: str, runs: int = 3) -> Set:
    def judging() -> Judging:
        targets = importlib.import_module(f"pawl.kinds.{name}.targets")
        return Judging(targets.targets(), targets.notes)

    return Set(name, what, f"Each run of the set {name} {of_run}", example, (part,), judging, runs)


def _ancestor_judging() -> Judging:
    from pawl.kinds.lru import targets

    return Judging(targets.ancestor(), targets.ancestor_notes)


ANCESTOR = Set(
    name="ancestor",
    what="the published progressive lock, in its own benchmark",
    help="Each run of the set ancestor measures plock under each of its strategies and our locks "
    "under R+S>W, in the 18 published cells of the cache at two threads.",
    example="Beside the published progressive lock, about five minutes.",
    parts=(lru.ANCESTOR,),
    judging=_ancestor_judging,
)
BUSY = _set(
    "busy",
    busy.PART,
    "the lock that sleeps, on a busy machine",
    "measures the sleeping locks of pawl bench crowd --busy: alone, "
    "on one CPU, and beside one and two busy processes on each CPU.",
    "The sleeping lock on a busy machine, about seventeen minutes.",
)
COUNTERS = _set(
    "counters",
    counters.PART,
    "counters and light locks",
    "measures all rows of pawl bench counters.",
    "Counters and light locks, about three minutes.",
)
CRATE = _set(
    "crate",
    crate.PART,
    "the locks of the Rust crate",
    "measures all rows of pawl bench crate.",
    "The locks of the Rust crate, about a minute.",
)
FUNCTIONS = _set(
    "functions",
    functions.PART,
    "what one call of each function costs",
    "measures all rows of pawl bench functions.",
    "One call of each function, about two minutes.",
)
LATENCY = _set(
    "latency",
    latency.PART,
    "the lock that handlers read",
    "measures all scenarios of pawl bench latency; without the "
    "right to real-time scheduling its targets cannot be judged.",
    "The lock that handlers read, five runs in less than eight minutes; as root.",
    runs=5,
)
SHIM = _set(
    "shim",
    shim.PART,
    "other people's programs on the preload library",
    "starts programs on the C library's read-write locks and on "
    "Pawl's in alternation: pairs, readers, crowds, and five servers and tools.",
    "Other people's programs, about twelve minutes.",
)
