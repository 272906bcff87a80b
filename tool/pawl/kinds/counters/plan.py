# SPDX-License-Identifier: MIT
"""Plans `pawl bench counters`: counting, and the light locks beside it."""

from __future__ import annotations

from dataclasses import dataclass

from pawl.core.groups import group_of, refuse_unknown, threads_of
from pawl.core.kind import Cell

DRIVER = "pawl-bench-counters"
GROUPS = {"add": "adding to a counter", "read": "reading a counter",
          "seq": "reading 64 bytes that belong together",
          "ref": "getting and dropping a reference",
          "br": "taking and dropping a lock for reading"}
BASELINES = {"add": "add/atomic_shared", "read": "read/membarrier", "seq": "seq/relaxed_copy",
             "ref": "ref/atomic_pair", "br": "br/pthread_rwlock"}
# In these groups the baseline is what one would use otherwise; in the others it is a floor.
RIVALS = ("add", "ref", "br")
# Other operations than the group's, which its baseline cannot be compared with.
ALONE = ("_write", "_kill_to_release")
# What a result names as its baseline, although each group has its own.
BASELINE = BASELINES["add"] + "@1"
# What a sample costs beside its length: threads that are told to begin and waited for.
OVERHEAD, START = 0.0006, 0.05


@dataclass
class Request:
    """The options of the command."""

    seconds: float = 0.02
    rounds: int = 12
    warmup: float = 0.003
    pin: str = "auto"


def baseline_of(name: str) -> str | None:
    """Of the same group, at as many threads, and beside the same if that is part of the thing."""
    what, where = name.split("@")
    if what.endswith(ALONE):
        return None
    base = BASELINES[group_of(name)]
    return f"{base}@{where if group_of(name) == 'read' else threads_of(name)}"


def plan(request: Request, names: list[str]) -> list[Cell]:
    refuse_unknown(names, GROUPS)
    cells = []
    for group in GROUPS:
        own = [n for n in names if group_of(n) == group]
        if not own:
            continue
        parameters = {"bench": "counters", "group": group, "threads": max(map(threads_of, own)),
                      **vars(request), "candidates": own}
        told = [text for key, value in vars(request).items() for text in (f"--{key}", str(value))]
        cells.append(Cell(parameters, [*told, "--candidates", ",".join(own)]))
    return cells


def expected_seconds(cells: list[Cell]) -> float:
    return sum(START + c.sample_count
               * (c.parameters["seconds"] + c.parameters["warmup"] + OVERHEAD) for c in cells)
