# SPDX-License-Identifier: MIT
"""Plots of `pawl bench readers`: throughput over threads and over writes, waits of writers."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.readers.plan import BRLOCK, CALLED, EVIDENCE, FLOOR, MAIN, OFF, ON, XADD
from pawl.kinds.readers.table import section

COLOURS = {
    MAIN: ("#0b6e99", "-", 2.0),
    ON: ("#2fa4c9", "-", 1.6),
    OFF: ("#2fa4c9", ":", 1.2),
    EVIDENCE: ("#2fa4c9", "--", 1.6),
    CALLED: ("#2fa4c9", "-.", 1.2),
    "r+w/pawl_lock32": ("#0b6e99", ":", 1.2),
    BRLOCK: ("#3b8f5c", "-", 1.8),
    "r+w/pawl_brlock_fenced": ("#3b8f5c", ":", 1.2),
    "r+w/pawl_spin64": ("#7b61a8", "-", 1.2),
    "r+w/pthread_rwlock": ("#c4561a", "-", 1.2),
    "r+w/pthread_rwlock_writer": ("#c4561a", ":", 1.2),
    "r+w/std_shared_mutex": ("#d69c2f", "--", 1.2),
    "r+w/absl_mutex": ("#8aa63a", "-", 1.2),
    "r+w/nsync_mu": ("#61a087", "--", 1.2),
    "r+w/tbb_spin_rw_mutex": ("#a8323e", "-", 1.2),
    "r+w/tbb_rw_mutex": ("#a8323e", ":", 1.2),
    "r+w/ck_rwlock": ("#b5739d", "-", 1.2),
    "r+w/ck_brlock": ("#b5739d", "--", 1.2),
    "r+w/ck_pflock": ("#b5739d", ":", 1.2),
    "r+w/parking_lot": ("#8a6d3b", "-", 1.2),
    "r+w/bravo_pthread_rwlock": ("#1b1f24", "-", 1.2),
    "floor/pawl_rcu": ("#9aa3ad", "--", 1.2),
    XADD: ("#9aa3ad", "-.", 1.2),
    FLOOR: ("#9aa3ad", ":", 1.2),
}
SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


def _locks(count: int) -> str:
    return "one lock" if count == 1 else f"{count} locks"


def _many(cells: list[dict], key: str) -> bool:
    return len({c[key] for c in cells}) > 1


def _over_threads(result: dict, cells: list[dict]) -> list[tuple[str, Figure]]:
    """A figure for each number of locks: sections down, writes across."""
    drawn = []
    for locks in sorted({c["locks"] for c in cells}):
        grid = plot.by(
            [c for c in cells if c["locks"] == locks], lambda c: c["section"], lambda c: c["writes"]
        )
        drawn.append(
            plot.panels(
                result,
                grid,
                plot.over("threads", COLOURS),
                lambda row, column: f"{section(row)}, {column:g} % writes",
                f"million sections a second over threads, {_locks(locks)}",
                "threads",
                COLOURS,
            )
        )
    return drawn


def _over_writes(result: dict, cells: list[dict]) -> tuple[str, Figure]:
    """At the most threads: where the curves of two locks cross, one gives way to the other."""
    most = max(c["threads"] for c in cells)
    grid = plot.by(
        [c for c in cells if c["threads"] == most], lambda c: c["locks"], lambda c: c["section"]
    )
    return plot.panels(
        result,
        grid,
        plot.over("writes", COLOURS),
        lambda row, column: f"{_locks(row)}, sections of {section(column)}",
        f"million sections a second over writes, {most} threads",
        "% of the sections that write",
        COLOURS,
    )


def _waits(axes: Axes, cells: list[dict]) -> None:
    found = {r["candidate"]: r["wait_ns"] for r in cells[0]["summary"] if r["writes"]}
    plot.distribution(
        axes, {n: found[n] for n in COLOURS if n in found}, SHARES, 4, COLOURS, least=10
    )


def figures(result: dict) -> list[tuple[str, Figure]]:
    of = {
        scene: [c for c in result["cells"] if c["scene"] == scene]
        for scene in ("mix", "write", "seek", "flood")
    }
    drawn = _over_threads(result, of["mix"]) if of["mix"] else []
    if of["mix"] and _many(of["mix"], "writes"):
        drawn.append(_over_writes(result, of["mix"]))
    if of["write"]:
        drawn.append(
            plot.panels(
                result,
                {(0, 0): of["write"]},
                plot.over("registered", COLOURS),
                lambda _row, _column: "a writer alone",
                "million writes a second over registered threads",
                "threads asleep",
                COLOURS,
            )
        )
    if of["seek"]:
        drawn.append(
            plot.panels(
                result,
                {(0, 0): of["seek"]},
                plot.over("section", COLOURS),
                lambda _row, _column: "a seeker beside a looping reader",
                "million seeks a second over sections",
                "us under the lock",
                COLOURS,
            )
        )
    if of["flood"]:
        grid = plot.by(of["flood"], lambda _c: 0, lambda c: c["threads"])
        drawn.append(
            plot.panels(
                result,
                grid,
                _waits,
                lambda _row, column: f"{column} looping readers",
                "waits of a writer among readers",
                "ns, log scale",
                COLOURS,
            )
        )
    return drawn
