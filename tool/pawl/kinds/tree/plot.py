# SPDX-License-Identifier: MIT
"""Plots of `pawl bench tree`: throughput over threads, and what the formula predicts."""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.crowd.plot import COLOURS as CROWD
from pawl.kinds.tree.plan import BASELINE, MAIN
from pawl.kinds.tree.table import CORES, pieces, predicted

COLOURS = {
    **CROWD,
    MAIN: ("#0b6e99", "-", 2.0),
    "r+s>w/pawl_spin32": ("#2fa4c9", "-", 1.2),
    "r+s>w/pawl_lock64": ("#61a087", "-", 1.2),
    "r+s>w/pawl_brlock": ("#7b61a8", "--", 1.0),
    "r+s>w/boost_upgrade_mutex": ("#b5739d", "-", 1.2),
    "r+w/tbb_spin_rw_mutex": ("#a8323e", "--", 1.2),
    "r+w/ck_rwlock": ("#8aa63a", "--", 1.2),
    "w/none": ("#1b1f24", ":", 1.2),
}
PREDICTED = {name: COLOURS[name] for name in (BASELINE, MAIN)}


def _cores(most: int) -> list[float]:
    return [2 ** (n / 8) for n in range(int(math.log2(most) * 8) + 1)]


def _prediction(axes: Axes, cells: list[dict]) -> None:
    """Lines: the formula; dots: the same two locks as measured here, at so many threads."""
    found = pieces([s for c in cells for s in c["samples"]])
    inserts = cells[0]["inserts"]
    if found and 0 < inserts <= 100:
        xs = _cores(max(CORES))
        for name in PREDICTED:
            axes.plot(
                [math.log2(x) for x in xs],
                [predicted(found, inserts, x, name == MAIN) for x in xs],
                **plot.look(name, COLOURS),
            )
    for cell in cells:
        for row in cell["summary"]:
            if row["candidate"] in PREDICTED:
                axes.plot(
                    [math.log2(cell["threads"])],
                    [row["median"] / 1e6],
                    "o",
                    markersize=4,
                    color=plot.look(row["candidate"], COLOURS)["color"],
                )
    axes.set_xticks([math.log2(n) for n in CORES], [str(n) for n in CORES])
    axes.set_ylim(0, None)
    axes.grid(axis="y", color=plot.FAINT, linewidth=0.6)


def _title(inserts: float, lookups: str) -> str:
    return f"{lookups} lookups, {inserts:g} % inserts"


def figures(result: dict) -> list[tuple[str, Figure]]:
    cells = result["cells"]
    grid = plot.by(cells, lambda c: c["inserts"], lambda c: c["lookups"])
    nodes = f"{cells[0]['nodes']:,} nodes"
    return [
        plot.panels(
            result,
            grid,
            plot.over("threads", COLOURS),
            _title,
            f"million operations a second over threads, {nodes}",
            "threads",
            COLOURS,
        ),
        plot.panels(
            result,
            grid,
            _prediction,
            _title,
            f"predicted (lines) and measured (dots), million operations a second, {nodes}",
            "cores, log scale",
            PREDICTED,
        ),
    ]
