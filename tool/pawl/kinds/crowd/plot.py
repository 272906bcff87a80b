# SPDX-License-Identifier: MIT
"""Plots of `pawl bench crowd`: throughput over threads, and how the waits are distributed."""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.crowd.plan import FLOOR, MAIN, SPIN

COLOURS = {
    MAIN: ("#0b6e99", "-", 2.0),
    "r+w/pawl_lock32": ("#2fa4c9", "-", 1.2),
    SPIN: ("#7b61a8", "-", 1.2),
    "r+w/pthread_rwlock": ("#c4561a", "-", 1.2),
    "r+w/std_shared_mutex": ("#d69c2f", "--", 1.2),
    "r+w/absl_mutex": ("#3b8f5c", "-", 1.2),
    "r+w/nsync_mu": ("#8aa63a", "-", 1.2),
    "r+w/tbb_rw_mutex": ("#a8323e", "-", 1.2),
    "w/pthread_mutex": ("#b5739d", "--", 1.2),
    FLOOR: ("#9aa3ad", ":", 1.2),
}
# The distribution of waits is drawn for this many threads, or the most below it.
CROWDED = 32
SHARES = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}


def _throughput(axes: Axes, cells: list[dict]) -> None:
    cells = sorted(cells, key=lambda c: c["threads"])
    for name in COLOURS:
        points = [(c["threads"], r) for c in cells for r in c["summary"] if r["candidate"] == name]
        if points:
            axes.plot(
                [math.log2(t) for t, _ in points],
                [r["median"] / 1e6 for _, r in points],
                marker="o",
                markersize=2.5,
                **plot.look(name, COLOURS),
            )
    counts = [c["threads"] for c in cells]
    axes.set_xticks([math.log2(t) for t in counts], [str(t) for t in counts])
    axes.set_ylim(0, None)
    axes.grid(axis="y", color=plot.FAINT, linewidth=0.6)


def distribution(axes: Axes, rows: list[dict], shares: dict[str, float], top: float) -> None:
    waits = {r["candidate"]: r["wait_ns"] for r in rows}
    plot.distribution(
        axes, {n: waits[n] for n in COLOURS if n in waits}, shares, top, COLOURS, least=10
    )


def _waits(axes: Axes, cells: list[dict]) -> None:
    distribution(axes, cells[0]["summary"], SHARES, 5)


def _title(writes: float, section: float) -> str:
    return f"{section:g} us, {writes:g} % writes"


def _grid(cells: list[dict]) -> dict[tuple, list[dict]]:
    return plot.by(cells, lambda c: c["writes"], lambda c: c["section_us"])


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = []
    for hog, beside in ((False, ""), (True, ", beside a CPU hog")):
        cells = [c for c in result["cells"] if c["hog"] == hog]
        if not cells:
            continue
        counts = {c["threads"] for c in cells}
        most = max((t for t in counts if t <= CROWDED), default=min(counts))
        drawn += [
            plot.panels(
                result,
                _grid(cells),
                _throughput,
                _title,
                f"million sections a second over threads{beside}",
                "threads",
                COLOURS,
            ),
            plot.panels(
                result,
                _grid([c for c in cells if c["threads"] == most]),
                _waits,
                _title,
                f"waits for the lock, {most} threads{beside}",
                "ns, log scale",
                COLOURS,
            ),
        ]
    return drawn
