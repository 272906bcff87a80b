# SPDX-License-Identifier: MIT
"""The part of recorded runs that has other people's programs."""

from pawl.core.record import Part, rows
from pawl.kinds.shim.kind import KIND
from pawl.kinds.shim.plan import plan

PART = Part(KIND, KIND.title, rows("all", plan))
