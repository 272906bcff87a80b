# SPDX-License-Identifier: MIT
"""The set "functions": what the manual pages say of each function. Three runs take two minutes."""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.functions import record


def _judging() -> Judging:
    from pawl.kinds.functions import targets

    return Judging(targets.targets(), targets.notes)


SET = Set(
    name="functions",
    what="what one call of each function costs",
    help="Each run of the set functions measures all rows of pawl bench functions.",
    example="One call of each function, about two minutes.",
    parts=(record.PART,),
    judging=_judging,
)
