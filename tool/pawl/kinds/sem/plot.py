# SPDX-License-Identifier: MIT
"""Plots of `pawl bench sem`: throughput over threads."""

from matplotlib.figure import Figure

from pawl.core import plot
from pawl.kinds.sem.plan import MAIN

HUES = {
    "idtable": ("#0b6e99", "#2fa4c9", "#3b8f5c", "#7b61a8", "#61a087", "#8aa63a"),
    "shared": ("#9aa3ad", "#5b646e"),
    "global": ("#c4561a", "#d69c2f", "#a8323e", "#b5739d"),
}


def colours(names: list[str]) -> dict:
    """One hue for what looks up without a lock, grey for a shared one, warm for all under one."""
    found, used = {}, dict.fromkeys(HUES, 0)
    for name in sorted(names, key=lambda n: (n != MAIN, n)):
        group = name.split("/")[0]
        if group in HUES:
            hue = HUES[group][used[group] % len(HUES[group])]
            used[group] += 1
            found[name] = (hue, "-", 2.0 if name == MAIN else 1.2)
    return found


def figures(result: dict) -> list[tuple[str, Figure]]:
    cells = result["cells"]
    looks = colours(list(dict.fromkeys(r["candidate"] for c in cells for r in c["summary"])))
    grid = plot.by(cells, lambda c: c["semaphores"], lambda c: c["choose"])
    return [
        plot.panels(
            result,
            grid,
            plot.over("threads", looks),
            lambda row, column: f"{row:,} semaphores, {column}",
            "million operations a second over threads",
            "threads",
            looks,
        )
    ]
