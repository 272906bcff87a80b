# SPDX-License-Identifier: MIT
"""What a page of `pawl bench crowd --busy` begins with: each machine, throughput and waits."""

from pawl.core.compare import RATE, Comparison, of_cells
from pawl.kinds.busy.plan import BASELINE, MAIN, MUTEX
from pawl.kinds.busy.table import SAID, against_best, by_machine, waits

WAIT = "the 99.9th percentile of the waits"


def _waits(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> p99.9 of the waits."""
    found: dict[str, dict[int, float]] = {}
    for sample in samples:
        found.setdefault(sample["candidate"], {})[sample["round"]] = waits([sample])["p99.9"]
    return found


def comparisons(result: dict) -> list[Comparison]:
    found = []
    for machine, every in by_machine(result["cells"]).items():
        work = f"crowds {SAID[machine]}"
        cells = [c for c in every if c["scene"] == "crowd"]
        best = [[factor] for _, factor in against_best(cells)]
        found += [
            of_cells(work, MAIN, BASELINE, cells),
            Comparison(work, MAIN, "the fastest peer of each workload", best, RATE),
            of_cells(work, MAIN, MUTEX, cells, WAIT, _waits),
        ]
    return found
