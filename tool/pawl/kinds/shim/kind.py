# SPDX-License-Identifier: MIT
"""The kind "shim"."""

from pawl.core.kind import NUMBER, Kind, later
from pawl.kinds.shim import plan, table


def _sound_cell(cell: dict) -> bool:
    return cell["scene"] in plan.SCENES


KIND = Kind.of(
    table,
    name="shim",
    title="Other people's programs",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    figures=later("shim.plot.figures"),
    above_zero=True,
    cell_keys={"scene": str, "seconds": NUMBER},
    sound_cell=_sound_cell,
    comparisons=later("shim.verdict.comparisons"),
    explained=plan.ROWS,
    what="locks",
    ranks_from=100,
)
