# SPDX-License-Identifier: MIT
"""The rows of `pawl bench tree`. Beside them stands what the published formula predicts for more
cores, from the three times measured here."""

import statistics

from pawl.core import grid, stats, table
from pawl.core.kind import NUMBER
from pawl.core.table import Column, Extra
from pawl.kinds.lru.table import latency, quantile
from pawl.kinds.lru.table import sound as sound_times
from pawl.kinds.tree.plan import BASELINE, MAIN, PARTS

CORES = (1, 2, 4, 8, 16, 32, 64)
PUBLISHED = {"seek_ns": 595.0, "write_ns": 5.0, "read_ns": 40.0}


def workload(cell: dict) -> str:
    what = "inserts"
    if cell.get("removes"):
        what = f"changes, {cell['removes']:g} % of them removals"
    return f"{cell['nodes']:,} nodes, {cell['inserts']:g} % {what}, {cell['lookups']} lookups"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {grid.threads(cell)}"


def heading(cell: dict) -> str:
    found = pieces(cell["samples"])
    text = label(cell)
    if found:
        text += f"\nwithout a lock: {_pieces_text(found)}"
    return text + table.not_pinned(cell)


def _pieces_text(found: dict) -> str:
    return ", ".join(
        f"{name} {table.duration(found[name + '_ns'])}" for name in ("seek", "write", "read")
    )


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.rows(samples, baseline, [n for n in order if n != PARTS])
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        row |= {**stats.cpu(own), **stats.switches(own), **latency(own)}
    return rows


def sound(sample: dict) -> bool:
    return sound_times(sample) and (
        sample["candidate"] != PARTS
        or all(isinstance(sample.get(key), NUMBER) and sample[key] >= 0 for key in PUBLISHED)
    )


def columns(cell: dict, baseline: str) -> list[Column]:
    timed = ("p50", "p99.9") if any("latency_ns" in row for row in cell["summary"]) else ()
    return [
        *(quantile(name) for name in timed),
        *table.million("million\noperations/s", wide=125),
        *table.ratio(baseline.split("/")[-1]),
        table.cpu(3, 125),
        table.switches(2, 125),
    ]


# ---- The formula --------------------------------------------------------------------------------


def pieces(samples: list[dict]) -> dict | None:
    """Nanoseconds of a search, of linking, and of a lookup, without a lock: medians."""
    own = stats.of_candidate(samples, PARTS)
    return {key: statistics.median(s[key] for s in own) for key in PUBLISHED} if own else None


def predicted(found: dict, inserts: float, cores: int, progressive: bool) -> float:
    """Million operations a second of so many cores, as the source reckons.

    Under a reader-writer lock the search excludes the readers. Under S they go on meanwhile on the
    other cores; the writer then waits for half a lookup, and what lookups are left run on all.
    """
    lookups = (100 - inserts) / inserts
    seek, write, read = found["seek_ns"], found["write_ns"], found["read_ns"]
    if progressive:
        left = max(0.0, lookups * read - (cores - 1) * seek)
        time = seek + (read / 2 if cores > 1 else 0) + write + left / cores
    else:
        time = seek + write + lookups * read / cores
    return (lookups + 1) / time * 1e3


def _measured(here: list[dict], name: str, cores: int) -> str:
    for cell in here:
        for row in cell["summary"]:
            if cell["threads"] == cores and row["candidate"] == name:
                return f"{row['median'] / 1e6:.2f}"
    return "-"


def _prediction(here: list[dict]) -> Extra | None:
    found = pieces([s for c in here for s in c["samples"]])
    inserts = here[0]["inserts"]
    if not found or not 0 < inserts <= 100:
        return None
    rows = []
    for cores in sorted({*CORES, *(c["threads"] for c in here)}):
        lock, ours = (predicted(found, inserts, cores, own) for own in (False, True))
        rows.append(
            [
                str(cores),
                f"{lock:.2f}",
                f"{ours:.2f}",
                f"{(ours / lock - 1) * 100:+.0f} %",
                _measured(here, BASELINE, cores),
                _measured(here, MAIN, cores),
            ]
        )
    lock, ours = (predicted(PUBLISHED, 1, 8, own) for own in (False, True))
    return Extra(
        f"{workload(here[0])}: million operations a second, predicted and measured",
        [
            "cores",
            "predicted\nrwlock",
            "predicted\nprogressive",
            "\ngain",
            "measured\nrwlock",
            "measured\nprogressive",
        ],
        rows,
        [
            f"predicted from {_pieces_text(found)} without a lock, as if locks cost nothing; "
            f"measured: {BASELINE} and {MAIN}",
            f"published: seek 595 ns, write 5 ns, read 40 ns on 8 cores: {lock:.0f} and {ours:.0f} "
            f"million, {(ours / lock - 1) * 100:+.0f} %",
        ],
    )


def more(result: dict) -> list[Extra]:
    groups: dict[str, list[dict]] = {}
    for cell in result["cells"]:
        groups.setdefault(workload(cell), []).append(cell)
    return [extra for here in groups.values() if (extra := _prediction(here))]
