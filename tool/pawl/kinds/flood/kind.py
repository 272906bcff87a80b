# SPDX-License-Identifier: MIT
"""The kind "flood"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.crowd import plan as crowd
from pawl.kinds.flood import plan, table

KIND = Kind.of(
    table,
    name="flood",
    title="A writer in a flood of readers",
    driver=crowd.DRIVER,
    baseline=plan.BASELINE,
    figures=later("flood.plot.figures"),
    cell_keys={"section_us": NUMBER, "period_us": NUMBER, "hog": bool, "seconds": NUMBER},
    sample_keys={"wait_ns": dict, "waits": list, "writes": NUMBER, "cpu_seconds": NUMBER},
    nested_keys={"wait_ns": {n: NUMBER for n in (*table.QUANTILES, "max")}},
    comparisons=later("flood.verdict.comparisons"),
    explained=crowd.ROWS,
    what="strategy/lock",
    ranks_from=130,
)
