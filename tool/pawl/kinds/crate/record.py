# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench crate` measures: all rows, longer."""

from pawl.core.groups import recorded
from pawl.core.record import Part, rows
from pawl.kinds.crate.kind import KIND
from pawl.kinds.crate.plan import GROUPS

PART = Part(KIND, KIND.title, rows("all", recorded("crate", GROUPS)))
