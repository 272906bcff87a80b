# SPDX-License-Identifier: MIT
"""Plots of `pawl bench sem`: throughput over threads."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.figure import Figure

from pawl import crowd_plot, grid_plot, plot, sem

HUES = {"idtable": ("#0b6e99", "#2fa4c9", "#3b8f5c", "#7b61a8", "#61a087", "#8aa63a"),
        "shared": ("#9aa3ad", "#5b646e"),
        "global": ("#c4561a", "#d69c2f", "#a8323e", "#b5739d")}


def colours(names: list[str]) -> dict:
    """One hue for what looks up without a lock, grey for a shared one, warm for all under one."""
    found, used = {}, dict.fromkeys(HUES, 0)
    for name in sorted(names, key=lambda n: (n != sem.MAIN, n)):
        group = name.split("/")[0]
        if group in HUES:
            hue = HUES[group][used[group] % len(HUES[group])]
            used[group] += 1
            found[name] = (hue, "-", 2.0 if name == sem.MAIN else 1.2)
    return found


def figures(result: dict) -> list[tuple[str, Figure]]:
    cells = [c for c in result["cells"] if c["summary"]]
    if not cells:
        return []
    looks = colours(list(dict.fromkeys(r["candidate"] for c in cells for r in c["summary"])))
    caption = "million operations a second over threads"
    grid = grid_plot.by(cells, lambda c: c["semaphores"], lambda c: c["choose"])
    with rc_context(plot.STYLE):
        return [(caption, crowd_plot.panels(
            result, grid, grid_plot.over("threads", looks),
            lambda row, column: f"{row:,} semaphores, {column}", caption, "threads", looks))]
