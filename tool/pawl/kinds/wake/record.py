# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench wake` measures."""

from pawl.core.record import Part, rows
from pawl.kinds.wake.kind import KIND
from pawl.kinds.wake.plan import Request, plan

PART = Part(
    KIND, KIND.title, rows("all", lambda scale, names: plan(Request(budget=58 * scale), names))
)
