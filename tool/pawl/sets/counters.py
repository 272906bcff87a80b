# SPDX-License-Identifier: MIT
"""The set "counters": counting and light locks. Three runs take about three minutes."""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.counters import record


def _judging() -> Judging:
    from pawl.kinds.counters import targets

    return Judging(targets.targets(), targets.notes)


SET = Set(
    name="counters",
    what="counters and light locks",
    help="Each run of the set counters measures all rows of pawl bench counters.",
    example="Counters and light locks, about three minutes.",
    parts=(record.PART,),
    judging=_judging,
)
