# SPDX-License-Identifier: MIT
"""The kind "case"."""

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.case import command
from pawl.kinds.shim import plan, table


def figures(result: dict):
    from pawl.kinds.shim import plot

    return plot.figures(result)


KIND = Kind(
    name="case",
    title="A library that everybody uses",
    driver=command.DRIVER,
    baseline=command.BASELINE,
    command=command.COMMAND,
    figures=figures,
    competes=True,
    main=command.MAIN,
    nulls=((command.BASELINE, command.AGAIN),),
    workload=table.workload,
    label=table.label,
    above_zero=True,
    cell_keys={"case": str, "scene": str, "words": str, "seconds": NUMBER},
    explained=plan.ROWS,
    what="locks",
    ranks_from=100,
    columns=table.columns,
)
