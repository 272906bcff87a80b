# SPDX-License-Identifier: MIT
"""The set "spin": the locks that spin, and their peers. Three runs take about ten minutes."""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.lru import record as lru
from pawl.kinds.pairs import record as pairs


def _judging() -> Judging:
    from pawl.kinds.lru import targets as cache
    from pawl.kinds.pairs import targets as alone

    return Judging([*alone.spinning(), *cache.targets()], cache.notes)


SET = Set(
    name="spin",
    what="the locks that spin and their peers",
    help="Each run of the set spin measures the one-thread pairs, and the cell of 99 % hits and "
    "miss cost 100 at one and two threads. Then the 18 published cells at two threads, and the "
    "first of these again with shorter chains in the hash table.",
    example="Three runs, about ten minutes.",
    parts=(pairs.ALL, lru.FOCUS, lru.GRID, lru.SHORTER_CHAINS),
    judging=_judging,
)
