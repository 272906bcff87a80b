# SPDX-License-Identifier: MIT
"""The set "wait": what the sleeping lock and the waiting below it have to reach.

Three runs take less than a quarter of an hour on two CPUs, so each part measures the rows that its
targets need and no others.
"""

from collections.abc import Iterable

from pawl.core.record import Set
from pawl.core.targets import Judging, Runs
from pawl.kinds.crowd import record as crowd
from pawl.kinds.flood import record as flood
from pawl.kinds.lru import record as lru
from pawl.kinds.pairs import record as pairs
from pawl.kinds.wake import record as wake


def _judging() -> Judging:
    from pawl.core.table import duration
    from pawl.kinds.crowd import targets as crowds
    from pawl.kinds.flood import targets as floods
    from pawl.kinds.lru import targets as cache
    from pawl.kinds.pairs import targets as alone
    from pawl.kinds.wake import targets as wakes

    def notes(runs: Runs) -> Iterable[str]:
        yield (
            "floors: the longest pause of bare threads, and how late they are woken (information):"
        )
        for path, run in runs:
            yield (
                f"          {path.name}: {duration(crowds.longest_pause(run))} in the crowd "
                f"grid, {duration(floods.latest_alarm(run))} in the flood"
            )
        yield "wakes (information; the null row shows the noise):"
        for path, run in runs:
            yield from (f"          {path.name}: {line}" for line in wakes.lines(run))

    return Judging(
        [
            *alone.beside_spin(),
            *cache.beside_spin(),
            *crowds.targets(),
            *floods.targets(),
            *wakes.targets(),
        ],
        notes,
    )


SET = Set(
    name="wait",
    what="the lock that sleeps",
    help="Each run of the set wait measures the sleeping lock. It has its pairs and the 18 cells "
    "beside those of the spinning one, the grid of pawl bench crowd, the writer in a flood, and "
    "the wakes.",
    example="The sleeping lock, about a quarter of an hour.",
    parts=(pairs.BESIDE_SPIN, lru.BESIDE_SPIN, crowd.GRID, crowd.FAIR, flood.PART, wake.PART),
    judging=_judging,
)
