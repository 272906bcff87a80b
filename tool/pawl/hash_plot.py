# SPDX-License-Identifier: MIT
"""Plots of `pawl bench hash`: throughput over threads, and over the share of updates."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.figure import Figure

from pawl import crowd_plot, grid_plot, plot
from pawl import hash as hash_bench

COLOURS = {
    hash_bench.BASELINE: ("#1b1f24", ":", 1.2),
    hash_bench.MAIN: ("#0b6e99", "-", 2.0), hash_bench.QUIESCENT: ("#2fa4c9", "-", 1.6),
    "urcu_memb": ("#3b8f5c", "-", 1.2), "urcu_qsbr": ("#8aa63a", "-", 1.2),
    "urcu_bp": ("#61a087", "--", 1.2), "ck_epoch": ("#b5739d", "-", 1.2),
    "tbb_hash_map": ("#c98fb5", "--", 1.2), "bucket_lock": ("#7b61a8", "-", 1.2),
    "refcount": ("#d69c2f", "--", 1.2), "brlock": ("#0b6e99", "--", 1.0),
    "pawl_lock64": ("#2fa4c9", "--", 1.0), "r+s>w/pawl_spin64": ("#7b61a8", "--", 1.0),
    "pthread_rwlock": ("#c4561a", "-", 1.2), "spin": ("#a8323e", "-", 1.2),
}


def _by_mix(elements: int, updates: float) -> str:
    return f"{hash_bench.size(elements)}, {updates:g} % updates"


def _by_threads(elements: int, threads: int) -> str:
    return f"{hash_bench.size(elements)}, {threads} thread{'s' if threads != 1 else ''}"


def _figures(result: dict, cells: list[dict]) -> list[tuple[str, Figure]]:
    several = {key: len({c[key] for c in cells}) > 1 for key in ("threads", "updates")}
    drawn = []
    if several["threads"] or not several["updates"]:
        caption = "million operations a second over threads"
        grid = grid_plot.by(cells, lambda c: c["elements"], lambda c: c["updates"])
        drawn.append((caption, crowd_plot.panels(
            result, grid, grid_plot.over("threads", COLOURS), _by_mix, caption, "threads",
            COLOURS)))
    if several["updates"]:
        caption = "million operations a second over the share of updates"
        grid = grid_plot.by(cells, lambda c: c["elements"], lambda c: c["threads"])
        drawn.append((caption, crowd_plot.panels(
            result, grid, grid_plot.over("updates", COLOURS), _by_threads, caption,
            "% updates", COLOURS)))
    return drawn


def figures(result: dict) -> list[tuple[str, Figure]]:
    cells = [c for c in result["cells"] if c["summary"]]
    with rc_context(plot.STYLE):
        return _figures(result, cells) if cells else []
