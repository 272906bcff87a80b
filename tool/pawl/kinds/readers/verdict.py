# SPDX-License-Identifier: MIT
"""What a page of `pawl bench readers` begins with: each scene, at each number of threads."""

from pawl.core import grid, stats
from pawl.core.compare import RATE, Comparison, of_cells
from pawl.kinds.readers.plan import BRLOCK, EVIDENCE, MAIN, OFF, ON, SCENES, XADD

PTHREAD = "r+w/pthread_rwlock"
# The lock beside the usual one; its readers that scale beside itself; the lock for readers.
ASKED = ((MAIN, PTHREAD), (ON, OFF), (EVIDENCE, OFF), (BRLOCK, MAIN))
# Where only these were measured: what a reader of the word cannot do without.
LEAST = ((MAIN, XADD),)
WAIT = "the 99.9th percentile of the writer's waits"


def _waits(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> p99.9 of the writer's waits; a round without a writer says nothing."""
    found: dict[str, dict[int, float]] = {}
    for sample in samples:
        if sample["writes"]:
            found.setdefault(sample["candidate"], {})[sample["round"]] = sample["wait_ns"]["p99.9"]
    return found


def _work(scene: str, threads: int) -> str:
    if scene == "mix":
        return f"{SCENES[scene]}, {grid.threads({'threads': threads})}"
    return SCENES[scene]


def comparisons(result: dict) -> list[Comparison]:
    measured = {name for cell in result["cells"] for name in cell["candidates"]}
    asked = ASKED if any({*pair} <= measured for pair in ASKED) else LEAST
    found = []
    for scene in SCENES:
        of_scene = [c for c in result["cells"] if c["scene"] == scene]
        for threads in sorted({c["threads"] for c in of_scene}):
            cells = [c for c in of_scene if c["threads"] == threads]
            what, table = (WAIT, _waits) if scene == "flood" else (RATE, stats.rates)
            found += [
                of_cells(_work(scene, threads), ours, theirs, cells, what, table)
                for ours, theirs in asked
            ]
    return found
