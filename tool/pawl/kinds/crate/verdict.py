# SPDX-License-Identifier: MIT
"""What a page of `pawl bench crate` begins with."""

from __future__ import annotations

from pawl.core import groups
from pawl.core.compare import Comparison
from pawl.kinds.crate.plan import GROUPS, OURS, baseline_of


def comparisons(result: dict) -> list[Comparison]:
    return groups.comparisons(result, GROUPS, dict.fromkeys(GROUPS, (OURS,)), baseline_of)
