# SPDX-License-Identifier: MIT
"""The set "crate": the locks of the Rust crate. Three runs take about a minute."""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.crate import record


def _judging() -> Judging:
    from pawl.kinds.crate import targets

    return Judging(targets.targets(), targets.notes)


SET = Set(
    name="crate",
    what="the locks of the Rust crate",
    help="Each run of the set crate measures all rows of pawl bench crate.",
    example="The locks of the Rust crate, about a minute.",
    parts=(record.PART,),
    judging=_judging,
)
