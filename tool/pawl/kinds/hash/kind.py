# SPDX-License-Identifier: MIT
"""The kind "hash"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.hash import plan, table
from pawl.kinds.hash.command import COMMAND

KIND = Kind.of(
    table,
    name="hash",
    title="A hash table under each design",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=later("hash.plot.figures"),
    competes=True,
    cell_keys={"updates": NUMBER, "elements": int, "seconds": NUMBER},
    sample_keys={"cpu_seconds": NUMBER, "drain_seconds": NUMBER},
    sample_optional={"updates": int},
    what="design",
    ranks_from=125,
)
