# SPDX-License-Identifier: MIT
"""The set "busy": the sleeping lock on a machine that others use too.

Three runs take about seventeen minutes.
"""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.busy import record


def _judging() -> Judging:
    from pawl.kinds.busy import targets

    return Judging(targets.targets(), targets.notes)


SET = Set(
    name="busy",
    what="the lock that sleeps, on a busy machine",
    help="Each run of the set busy measures the sleeping locks of pawl bench crowd --busy: alone, "
    "on one CPU, and beside one and two busy processes on each CPU.",
    example="The sleeping lock on a busy machine, about seventeen minutes.",
    parts=(record.PART,),
    judging=_judging,
)
