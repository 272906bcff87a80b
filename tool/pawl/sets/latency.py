# SPDX-License-Identifier: MIT
"""The set "latency": the lock that handlers read. Five runs take less than eight minutes."""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.latency import record


def _judging() -> Judging:
    from pawl.kinds.latency import targets

    return Judging(targets.targets(), targets.notes)


SET = Set(
    name="latency",
    what="the lock that handlers read",
    help="Each run of the set latency measures all scenarios of pawl bench latency; without the "
    "right to real-time scheduling its targets cannot be judged.",
    example="The lock that handlers read, five runs in less than eight minutes; as root.",
    parts=(record.PART,),
    judging=_judging,
    runs=5,
)
