# SPDX-License-Identifier: MIT
"""The published picture: the author's curves, the simulated ones, and what a machine measured with
one thread and two. Used by pawl_pictures.py; pawl sim dev picture has its figures."""

import json
import lzma
import math
import statistics

import pawl_published
from pawl_tables import ROOT

MEASURED, PREDICTED = "lrubench-e5-2680v3", "predicted-haswell-ep"
RUN = "bench/results/amd-epyc-2026-11-21/run1.json.xz"
CELL = {"hit_nominal": 99, "miss_cost": 100, "chains": 16}
# Column, name, candidate of that run, colour.
ROWS = (
    ("spin", "spinlock", "w/pthread_spin", "#b0502a"),
    ("rwlock", "rwlock", "r+w/pthread_rwlock", "#2a8a4a"),
    ("plock_r_s_w", "R+S>W", "r+s>w/pawl_spin64", "#2a5db0"),
)
LEFT, BOTTOM, STEP = 60, 300, 330


def curves(name, per_core):
    """Of each row: (threads, million lookups a second)."""
    rates = pawl_published.lookups(name)
    return {
        column: [(cores * per_core, rates[99, 100, cores, per_core, column] / 1e6)
                 for cores in range(1, 13)]
        for column, *_ in ROWS
    }  # fmt: skip


def native(candidate):
    """The first published cell of each number of threads."""
    found = {}
    run = json.loads(lzma.decompress((ROOT / RUN).read_bytes()))
    for part in run["parts"]:
        for cell in part["cells"] if part["kind"] == "lru" else []:
            rates = [
                one["ops"] / one["seconds"] / 1e6
                for one in cell["samples"]
                if one["candidate"] == candidate and CELL.items() <= cell.items()
            ]
            if rates:
                found.setdefault(cell["threads"], statistics.median(rates))
    return found.items()


def draw(kind):
    """`kind`: the class of the picture."""
    picture = kind(720, 370)
    for at, (per_core, words) in enumerate(((1, "one thread a core"), (2, "two a core"))):

        def place(point, at=at, per_core=per_core):
            threads, rate = point
            x = LEFT + STEP * at + 24 * threads / per_core
            return f"{x:.0f} {BOTTOM - 75 * math.log2(rate):.0f}"

        for rate in (1, 2, 4, 8):
            y = BOTTOM - 75 * math.log2(rate)
            picture.path(f"M{LEFT + STEP * at} {y:.0f}h300", "#d0d0d0", False)
            picture.text(LEFT + STEP * at - 8, y + 4, str(rate), 12, "end")
        for cores in (1, 4, 8, 12):
            x = LEFT + STEP * at + 24 * cores
            picture.text(x, BOTTOM + 50, str(cores * per_core), 12)
        picture.text(LEFT + STEP * at + 150, BOTTOM + 66, f"threads, {words}", 12)
        real, simulated = (curves(name, per_core) for name in (MEASURED, PREDICTED))
        for column, name, candidate, colour in ROWS:
            picture.path("M" + "L".join(map(place, real[column])), colour, False)
            picture.path("M" + "L".join(map(place, simulated[column])), colour, False, "5 4")
            for point in native(candidate):
                x, y = place(point).split()
                picture.text(int(x), int(y) + 5, "x", 16, "middle", colour)
            x, y = place(real[column][-2]).split()
            picture.text(int(x), int(y) - 8, name, 12, "middle", colour, back=True)
    told = "author (lines), simulated (dashes), measured on another machine (x)"
    picture.text(360, 24, f"million lookups/s: {told}", 12)
    return picture.done()
