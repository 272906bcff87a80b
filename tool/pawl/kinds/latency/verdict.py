# SPDX-License-Identifier: MIT
"""What a page of `pawl bench latency` begins with: pairs, and how long signals are blocked."""

from pawl.core.compare import TIME, Comparison, of_cells
from pawl.core.stats import of_candidate
from pawl.kinds.latency import samples
from pawl.kinds.latency.plan import BASELINE, OURS, PAIRS, PTHREAD, SCENARIOS

ASKED = (
    ("taking and dropping for reading", f"r/{OURS}", f"r/{BASELINE}"),
    ("taking and dropping for writing, no handlers", f"w/{OURS}_threads", f"w/{BASELINE}"),
    ("taking and dropping for writing, with handlers", f"w/{OURS}", f"w/{BASELINE}"),
)
BLOCKED = "the 99.99th percentile of the time with signals blocked"
# Where writers block signals that others wait for.
MIXES = ("contention", "placed", "handlers")


def _blocked(cell: dict) -> dict[str, float]:
    """lock -> nanoseconds, of those locks under which somebody blocked signals."""
    found = {}
    for name in (OURS, *PTHREAD):
        own = of_candidate(cell["samples"], name)
        series = samples.blocked(own) if own else None
        if series:
            found[name] = series["p99.99"] / samples.per_ns(own)
    return found


def _mix(cell: dict) -> list[Comparison]:
    """Beside that kind of the pthread lock which blocks them for the shortest time."""
    found = _blocked(cell)
    peers = [name for name in PTHREAD if name in found]
    if OURS not in found or not peers:
        return []
    best = min(peers, key=found.__getitem__)
    values = [found[OURS] / max(found[best], 1.0)]
    return [Comparison(SCENARIOS[cell["scenario"]].says, OURS, best, [values], BLOCKED)]


def comparisons(result: dict) -> list[Comparison]:
    pairs = [c for c in result["cells"] if c["scenario"] == PAIRS]
    found = [
        of_cells(work, ours, theirs, pairs, TIME, samples.nanoseconds)
        for work, ours, theirs in ASKED
    ]
    return found + [c for cell in result["cells"] if cell["scenario"] in MIXES for c in _mix(cell)]
