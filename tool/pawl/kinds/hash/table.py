# SPDX-License-Identifier: MIT
"""The rows of `pawl bench hash`, and what more threads bring when nobody writes."""

import numpy as np

from pawl.core import grid, stats, table
from pawl.core.table import Column, Extra
from pawl.kinds.hash.plan import ELEMENT_BYTES, MAIN, URCU


def size(elements: int) -> str:
    return f"{elements:,} elements"


def workload(cell: dict) -> str:
    return f"{size(cell['elements'])}, {cell['updates']:g} % updates"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {grid.threads(cell)}"


def _bytes(count: int) -> str:
    for unit, scale in (("KiB", 1 << 10), ("MiB", 1 << 20)):  # noqa: B007 (used after it)
        if count < 1024 * scale:
            break
    return f"{count / scale:,.0f} {unit}"


def heading(cell: dict) -> str:
    whole = _bytes(cell["elements"] * ELEMENT_BYTES)
    text = f"{label(cell)}\n{whole} of table; an update deletes and reinserts"
    if best := best_urcu(cell["samples"]):
        text += f"; the best liburcu row here is {best}"
    return text + table.not_pinned(cell)


def best_urcu(samples: list[dict]) -> str | None:
    """The fastest liburcu row of a cell, by the median of its samples."""
    rates = stats.rates(samples)
    medians = {n: float(np.median(list(rates[n].values()))) for n in URCU if n in rates}
    return max(medians, key=medians.__getitem__) if medians else None


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rates, best = stats.rates(samples), best_urcu(samples)
    rows = stats.rows(samples, baseline, order)
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        against = stats.ratio(stats.paired(rates, row["candidate"], best) if best else [])
        row |= {
            "ratio_to_urcu": against["ratio"],
            "urcu_ci95_low": against["low"],
            "urcu_ci95_high": against["high"],
            **stats.cpu(own),
            "drain_seconds": float(np.median([s["drain_seconds"] for s in own])),
        }
    return rows


def losses(rows: list[dict]) -> list[dict]:
    """Our RCU rows behind the best of liburcu's, beyond the noise."""
    return [
        r
        for r in rows
        if r["candidate"].startswith(MAIN)
        and r["urcu_ci95_high"] is not None
        and r["urcu_ci95_high"] < 1
    ]


def _interval(row: dict) -> str:
    return table.interval(
        {"ratio_ci95_low": row["urcu_ci95_low"], "ratio_ci95_high": row["urcu_ci95_high"]}
    )


def _owed(row: dict) -> str:
    return table.duration(row["drain_seconds"] * 1e9) if row["drain_seconds"] > 0 else "-"


def columns(_cell: dict, baseline: str) -> list[Column]:
    return [
        *table.million("million\noperations/s", wide=140),
        *table.ratio(baseline, wide=125),
        Column("times best\nliburcu", lambda row: table.times(row["ratio_to_urcu"])),
        Column("95 %\ninterval", _interval, 125),
        table.cpu(3, 140),
        Column("frees owed\nat the end", _owed),
    ]


# ---- Reading only: what do more threads bring? --------------------------------------------------


def scaling(cells_of: list[dict], name: str, threads: int) -> float | None:
    """Times its own one thread; the two cells were measured one after the other."""
    medians = {
        c["threads"]: r["median"] for c in cells_of for r in c["summary"] if r["candidate"] == name
    }
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
            found.append(
                Extra(
                    f"{size(elements)}, reading only: times its own one thread",
                    ["design", *(f"{n} threads" for n in counts)],
                    [
                        [name, *(table.times(scaling(here, name, n)) for n in counts)]
                        for name in names
                    ],
                )
            )
    return found
