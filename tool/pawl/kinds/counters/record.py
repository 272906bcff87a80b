# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench counters` measures: all rows, longer."""

from pawl.core.groups import recorded
from pawl.core.record import Part, rows
from pawl.kinds.counters.kind import KIND
from pawl.kinds.counters.plan import GROUPS

PART = Part(KIND, KIND.title, rows("all", recorded("counters", GROUPS)))
