# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench tree` measures: all rows."""

from pawl.core.record import Part, rows
from pawl.kinds.tree.kind import KIND
from pawl.kinds.tree.plan import Request, plan

PART = Part(
    KIND,
    KIND.title,
    rows("all", lambda scale, names: plan(Request(threads=[1, 2], budget=35 * scale), names)),
)
