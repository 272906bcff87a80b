# SPDX-License-Identifier: MIT
"""`pawl bench hash`: one hash table under every design. Plans cells, and shows the rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from rich.markup import escape

from pawl import grid, stats, table
from pawl.kinds import Extra
from pawl.measure import Cell

TITLE = "A hash table under each design"
DRIVER = "pawl-bench-hash"
# Without any synchronisation: each thread keeps to its own part of the table when it changes it.
BASELINE = "ideal"
MAIN, QUIESCENT = "pawl_rcu", "pawl_rcu_qs"
URCU = ("urcu_memb", "urcu_qsbr", "urcu_bp")
UPDATES, ELEMENTS = [0.0, 1.0, 5.0, 10.0, 20.0, 50.0, 100.0], [1024, 1 << 22]
MOST_ELEMENTS = 1 << 28
# A bucket and its element.
ELEMENT_BYTES = 80
# Seconds to make, fill and check the table, an element.
FILL = 5e-7
# A look: both ends of the mix and its middle, in cache.
QUICK = {"elements": [1024], "updates": [0.0, 10.0, 100.0], "budget": 20}

NUMBER, MAYBE = (int, float), (int, float, type(None))
CELL_KEYS = {"updates": NUMBER, "elements": int, "seconds": NUMBER}
SAMPLE_KEYS = {"cpu_seconds": NUMBER, "drain_seconds": NUMBER}
ROW_KEYS = {"cpu_seconds_per_million": NUMBER, "drain_seconds": NUMBER, "ratio_to_urcu": MAYBE,
            "urcu_ci95_low": MAYBE, "urcu_ci95_high": MAYBE}
NESTED_KEYS: dict = {}  # no tables in tables


@dataclass
class Request(grid.Effort):
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: [1, 2])
    updates: list[float] = field(default_factory=lambda: list(UPDATES))
    elements: list[int] = field(default_factory=lambda: list(ELEMENTS))
    budget: float = 150


def _setup(point: dict) -> float:
    return point["elements"] * FILL


def plan(request: Request, names: list[str]) -> list[Cell]:
    """Numbers of threads come last: what is compared across them is measured close together."""
    points = [{"threads": threads, "updates": updates, "elements": elements}
              for elements in request.elements for updates in request.updates
              for threads in request.threads]
    return grid.plan("hash", points, lambda _: names, request, _setup)


def expected_seconds(cells: list[Cell]) -> float:
    return grid.expected_seconds(cells, _setup)


def size(elements: int) -> str:
    return f"{elements:,} elements"


def workload(cell: dict) -> str:
    return f"{size(cell['elements'])}, {cell['updates']:g} % updates"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {grid.threads(cell)}"


def _bytes(count: int) -> str:
    for unit, scale in (("KiB", 1 << 10), ("MiB", 1 << 20)):
        if count < 1024 * scale:
            break
    return f"{count / scale:,.0f} {unit}"


def heading(cell: dict) -> str:
    whole = _bytes(cell["elements"] * ELEMENT_BYTES)
    text = f"{label(cell)}\n{whole} of table; an update deletes and reinserts"
    best = best_urcu(cell["samples"])
    return text + (f"; the best liburcu row here is {best}" if best else "") + grid.not_pinned(cell)


def best_urcu(samples: list[dict]) -> str | None:
    """The fastest liburcu row of a cell, by the median of its samples."""
    rates = stats.rates(samples)
    medians = {n: float(np.median(list(rates[n].values()))) for n in URCU if n in rates}
    return max(medians, key=medians.__getitem__) if medians else None


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.summarise(samples, baseline, order)
    rates, best = stats.rates(samples), best_urcu(samples)
    for row in rows:
        own = [s for s in samples if s["candidate"] == row["candidate"]]
        against = stats.ratio(stats.paired(rates, row["candidate"], best) if best else [])
        del row["hit_ratio"]
        row |= {"ratio_to_urcu": against["ratio"], "urcu_ci95_low": against["low"],
                "urcu_ci95_high": against["high"],
                "drain_seconds": float(np.median([s["drain_seconds"] for s in own]))}
    return rows


def sound(_sample: dict) -> bool:
    """Nothing beyond its types."""
    return True


def losses(rows: list[dict]) -> list[dict]:
    """Our RCU rows behind the best of liburcu's, beyond the noise."""
    return [r for r in rows if r["candidate"].startswith(MAIN)
            and r["urcu_ci95_high"] is not None and r["urcu_ci95_high"] < 1]


def _interval(row: dict) -> str:
    return table.interval({"ratio_ci95_low": row["urcu_ci95_low"],
                           "ratio_ci95_high": row["urcu_ci95_high"]})


def columns(baseline: str) -> list[str]:
    return ["", "design", "million\noperations/s", "\nquartiles", f"times\n{baseline}",
            "95 %\ninterval", "times best\nliburcu", "95 %\ninterval", "CPU s per\nmillion",
            "frees owed\nat the end"]


def cells(rank: int, row: dict) -> list[str]:
    owed = table.duration(row["drain_seconds"] * 1e9) if row["drain_seconds"] > 0 else "-"
    return [str(rank), escape(row["candidate"]), f"{row['median'] / 1e6:.3f}",
            f"{row['q1'] / 1e6:.3f}..{row['q3'] / 1e6:.3f}",
            table.times(row["ratio_to_baseline"]), table.interval(row),
            table.times(row["ratio_to_urcu"]), _interval(row),
            f"{row['cpu_seconds_per_million']:.3f}", owed]


def shown(width: int) -> list[int]:
    gone = {0, 3, 5, 7, 8} if width < 125 else {3, 8} if width < 140 else set()
    return [n for n in range(10) if n not in gone]


# ---- Reading only: what do more threads bring? --------------------------------------------------


def scaling(cells_of: list[dict], name: str, threads: int) -> float | None:
    """Times its own one thread; the two cells were measured one after the other."""
    medians = {c["threads"]: r["median"] for c in cells_of for r in c["summary"]
               if r["candidate"] == name}
    one, many = medians.get(1), medians.get(threads)
    return many / one if one and many is not None else None


def more(result: dict) -> list[Extra]:
    """For each size: how the designs scale when nobody writes."""
    found = []
    for elements in dict.fromkeys(c["elements"] for c in result["cells"]):
        here = [c for c in result["cells"] if c["elements"] == elements and c["updates"] == 0]
        counts = sorted(c["threads"] for c in here if c["threads"] > 1)
        names = [r["candidate"] for c in here[-1:] for r in c["summary"]]
        if counts and any(c["threads"] == 1 for c in here):
            found.append(Extra(
                f"{size(elements)}, reading only: times its own one thread",
                ["design", *(f"{n} threads" for n in counts)],
                [[name, *(table.times(scaling(here, name, n)) for n in counts)]
                 for name in names]))
    return found
