# SPDX-License-Identifier: MIT
"""The kind "latency"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.latency import plan, samples, table
from pawl.kinds.latency.command import COMMAND

KIND = Kind.of(
    table,
    name="latency",
    title="Latencies of a lock that handlers read",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("latency.plot.figures"),
    cell_keys={
        "scenario": str,
        "seconds": NUMBER,
        "slow_section_us": NUMBER,
        "write_section_us": NUMBER,
        "handler_period_ms": NUMBER,
    },
    sample_keys={"realtime_error": str, "counter": dict},
    sample_optional={"rescued": int, "rows": list},
    sound=samples.sound,
    summarise=samples.summarise,
    losses=samples.no_losses,
    comparisons=later("latency.verdict.comparisons"),
    explained=plan.ROWS,
    views=table.no_views,
)
