# SPDX-License-Identifier: MIT
"""What a page of `pawl bench crowd --flood` begins with: how long the writer waits."""

from pawl.core.compare import Comparison, of_cells
from pawl.kinds.crowd.plan import MAIN, SPIN
from pawl.kinds.flood.plan import BASELINE, FLOOR
from pawl.kinds.flood.table import waits

WAIT = "the 99.9th percentile of the writer's waits"


def _waits(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> p99.9 of the writer's waits."""
    found: dict[str, dict[int, float]] = {}
    for sample in samples:
        if sample["waits"]:
            found.setdefault(sample["candidate"], {})[sample["round"]] = waits([sample])["p99.9"]
    return found


def comparisons(result: dict) -> list[Comparison]:
    """Beside the usual lock, and beside what an alarm without any lock is late."""
    found = []
    for hog, beside in ((False, ""), (True, ", beside a CPU hog")):
        cells = [c for c in result["cells"] if c["hog"] == hog]
        work = f"a writer among readers that never pause{beside}"
        found += [
            of_cells(work, ours, theirs, cells, WAIT, _waits)
            for ours in (MAIN, SPIN)
            for theirs in (BASELINE, FLOOR)
        ]
    return found
