# SPDX-License-Identifier: MIT
"""Plots of `pawl bench hash`: throughput over threads, and over the share of updates."""

from matplotlib.figure import Figure

from pawl.core import plot
from pawl.core.table import counted
from pawl.kinds.hash.plan import BASELINE, MAIN, QUIESCENT
from pawl.kinds.hash.table import size

COLOURS = {
    BASELINE: ("#1b1f24", ":", 1.2),
    MAIN: ("#0b6e99", "-", 2.0),
    QUIESCENT: ("#2fa4c9", "-", 1.6),
    "urcu_memb": ("#3b8f5c", "-", 1.2),
    "urcu_qsbr": ("#8aa63a", "-", 1.2),
    "urcu_bp": ("#61a087", "--", 1.2),
    "ck_epoch": ("#b5739d", "-", 1.2),
    "tbb_hash_map": ("#c98fb5", "--", 1.2),
    "bucket_lock": ("#7b61a8", "-", 1.2),
    "refcount": ("#d69c2f", "--", 1.2),
    "brlock": ("#0b6e99", "--", 1.0),
    "pawl_lock64": ("#2fa4c9", "--", 1.0),
    "r+s>w/pawl_spin64": ("#7b61a8", "--", 1.0),
    "pthread_rwlock": ("#c4561a", "-", 1.2),
    "spin": ("#a8323e", "-", 1.2),
}


def _by_mix(elements: int, updates: float) -> str:
    return f"{size(elements)}, {updates:g} % updates"


def _by_threads(elements: int, threads: int) -> str:
    return f"{size(elements)}, {counted(threads, 'thread')}"


def figures(result: dict) -> list[tuple[str, Figure]]:
    cells = result["cells"]
    several = {key: len({c[key] for c in cells}) > 1 for key in ("threads", "updates")}
    drawn = []
    if several["threads"] or not several["updates"]:
        grid = plot.by(cells, lambda c: c["elements"], lambda c: c["updates"])
        drawn.append(
            plot.panels(
                result,
                grid,
                plot.over("threads", COLOURS),
                _by_mix,
                "million operations a second over threads",
                "threads",
                COLOURS,
            )
        )
    if several["updates"]:
        grid = plot.by(cells, lambda c: c["elements"], lambda c: c["threads"])
        drawn.append(
            plot.panels(
                result,
                grid,
                plot.over("updates", COLOURS),
                _by_threads,
                "million operations a second over the share of updates",
                "% updates",
                COLOURS,
            )
        )
    return drawn
