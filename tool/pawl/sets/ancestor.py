# SPDX-License-Identifier: MIT
"""The set "ancestor": ours beside the published progressive lock. Three runs take five minutes."""

from pawl.core.record import Set
from pawl.core.targets import Judging
from pawl.kinds.lru import record


def _judging() -> Judging:
    from pawl.kinds.lru import targets

    return Judging(targets.ancestor(), targets.ancestor_notes)


SET = Set(
    name="ancestor",
    what="the published progressive lock, in its own benchmark",
    help="Each run of the set ancestor measures plock under each of its strategies and our locks "
    "under R+S>W, in the 18 published cells of the cache at two threads.",
    example="Beside the published progressive lock, about five minutes.",
    parts=(record.ANCESTOR,),
    judging=_judging,
)
