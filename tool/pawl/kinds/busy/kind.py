# SPDX-License-Identifier: MIT
"""The kind "busy"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.busy import plan, table
from pawl.kinds.crowd import plan as crowd

KIND = Kind.of(
    table,
    name="busy",
    title="Sleeping locks on a machine that others use too",
    driver=crowd.DRIVER,
    baseline=plan.BASELINE,
    figures=later("busy.plot.figures"),
    cell_keys={
        "scene": str,
        "cpus": NUMBER,
        "busy": NUMBER,
        "section_us": NUMBER,
        "outside_us": NUMBER,
        "writes": NUMBER,
        "deadline_us": NUMBER,
        "seconds": NUMBER,
    },
    sample_keys={
        "wait_ns": dict,
        "wait_mean_ns": NUMBER,
        "waits": list,
        "overruns": list,
        "expired": NUMBER,
        "cpu_seconds": NUMBER,
        "ctx_voluntary": NUMBER,
        "ctx_involuntary": NUMBER,
    },
    nested_keys={"wait_ns": {n: NUMBER for n in (*table.SHARES, "max")}},
    sound_cell=plan.is_known,
    comparisons=later("busy.verdict.comparisons"),
    explained=crowd.ROWS,
    what="strategy/lock",
    ranks_from=135,
)
