# SPDX-License-Identifier: MIT
"""The kind "wake"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.wake import plan, table
from pawl.kinds.wake.command import COMMAND

KIND = Kind.of(
    table,
    name="wake",
    title="How long sleeping threads take to wake",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("wake.plot.figures"),
    competes=True,
    above_zero=True,
    cell_keys={"delay_ms": NUMBER, "hog": bool, "wakes": int},
    sample_keys={"wakes_ns": list, "cpu_ns": NUMBER, "waited_ns": NUMBER},
    less_is_better=True,
    nulls=plan.NULLS,
    per_round=table.latencies,
    what="way to wait",
    ranks_from=128,
)
