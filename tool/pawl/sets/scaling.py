# SPDX-License-Identifier: MIT
"""The set "scaling": what readers that scale do to a cache and to crowds.

Three runs take about ten minutes.
"""

from collections.abc import Iterable

from pawl.core.record import Set
from pawl.core.targets import Judging, Runs
from pawl.kinds.crowd import record as crowd
from pawl.kinds.lru import record as lru


def _judging() -> Judging:
    from pawl.kinds.crowd import targets as crowds
    from pawl.kinds.lru import targets as cache

    def notes(runs: Runs) -> Iterable[str]:
        yield from (f"{path.name}: {cache.scaling_note(run)}" for path, run in runs)

    return Judging([*cache.scaling(), *crowds.scaling()], notes)


SET = Set(
    name="scaling",
    what="readers that scale, in a cache and in crowds",
    help="Each run of the set scaling measures the lock with PAWL_BIAS on, off and evidence, in "
    "the 18 published cells of the cache at two threads and in the grid of pawl bench crowd.",
    example="Readers that scale in a cache and in crowds, about ten minutes.",
    parts=(lru.SCALING, crowd.SCALING),
    judging=_judging,
)
