# SPDX-License-Identifier: MIT
"""Plots of `pawl bench crowd --busy`: throughput over threads, and how waits are distributed."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.busy.plan import SIDES, machine_of
from pawl.kinds.busy.table import SAID, SHARES, by_machine
from pawl.kinds.crowd.plot import COLOURS, distribution

TITLES = {
    "probe": "a probe beside a holder",
    "writer": "a writer among readers",
    "deadline": "waits with deadlines",
}


def _waits(axes: Axes, cells: list[dict]) -> None:
    distribution(axes, cells[0]["summary"], SHARES, 4)


def _title(writes: float, work: tuple) -> str:
    section, outside = work
    return f"{section:g} us, {outside:g} between, {writes:g} % writes"


def _throughput(result: dict, machine: str, cells: list[dict]) -> tuple[str, Figure]:
    grid = plot.by(cells, lambda c: c["writes"], lambda c: (c["section_us"], c["outside_us"]))
    return plot.panels(
        result,
        grid,
        plot.over("threads", COLOURS),
        _title,
        f"million sections a second over threads, {SAID[machine]}",
        "threads",
        COLOURS,
    )


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = []
    for machine, cells in by_machine(result["cells"]).items():
        grid = [c for c in cells if c["scene"] == "crowd"]
        if grid:
            drawn.append(_throughput(result, machine, grid))
    sides = plot.by(
        [c for c in result["cells"] if c["scene"] in SIDES], machine_of, lambda c: c["scene"]
    )
    if sides:
        drawn.append(
            plot.panels(
                result,
                sides,
                _waits,
                lambda machine, scene: f"{TITLES[scene]}, {machine}",
                "waits of one among others",
                "ns, log scale",
                COLOURS,
            )
        )
    return drawn
