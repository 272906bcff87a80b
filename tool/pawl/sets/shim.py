# SPDX-License-Identifier: MIT
"""The set "shim": other people's programs on the preload library.

Three runs take about twelve minutes. The programs are those of `scripts/setup programs`.
"""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.shim import record


def _judging() -> Judging:
    from pawl.kinds.shim import targets

    return Judging(targets.targets(), targets.notes)


SET = Set(
    name="shim",
    what="other people's programs on the preload library",
    help="Each run of the set shim starts programs on the C library's read-write locks and on "
    "Pawl's in alternation: pairs, readers, crowds, and five servers and tools.",
    example="Other people's programs, about twelve minutes.",
    parts=(record.PART,),
    judging=_judging,
)
