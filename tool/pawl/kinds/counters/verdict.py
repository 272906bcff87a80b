# SPDX-License-Identifier: MIT
"""What a page of `pawl bench counters` begins with."""

from __future__ import annotations

from pawl.core import groups
from pawl.core.compare import Comparison
from pawl.kinds.counters.plan import GROUPS, MAIN, baseline_of


def comparisons(result: dict) -> list[Comparison]:
    return groups.comparisons(result, GROUPS, MAIN, baseline_of)
