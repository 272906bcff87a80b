# SPDX-License-Identifier: MIT
"""The set "readers": what locks that are mostly read have to reach.

Three runs take about twenty-five minutes.
"""

from collections.abc import Iterable

from pawl.core.record import Set
from pawl.core.targets import Judging, Runs
from pawl.kinds.readers import record


def _judging() -> Judging:
    from pawl.kinds.readers import targets

    def notes(runs: Runs) -> Iterable[str]:
        yield from (f"{path.name}: {targets.notes(run)}" for path, run in runs)

    return Judging(targets.targets(), notes)


SET = Set(
    name="readers",
    what="locks that are mostly read",
    help="Each run of the set readers measures the reader's pair at one thread and two, the grid "
    "of pawl bench readers, and its writers and seekers beside readers.",
    example="Locks that are mostly read, about twenty-five minutes.",
    parts=(record.PAIR, record.GRID, record.SCENES),
    judging=_judging,
)
