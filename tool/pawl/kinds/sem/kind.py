# SPDX-License-Identifier: MIT
"""The kind "sem"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.sem import plan, table
from pawl.kinds.sem.command import COMMAND

KIND = Kind.of(
    table,
    name="sem",
    title="Operations on many semaphores",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("sem.plot.figures"),
    competes=True,
    cell_keys={"semaphores": int, "choose": str, "seconds": NUMBER},
    sample_keys={"refused": NUMBER, "cpu_seconds": NUMBER},
    sample_optional={"ctx_voluntary": NUMBER, "ctx_involuntary": NUMBER},
    what="lookup/lock",
    ranks_from=125,
)
