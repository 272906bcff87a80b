# SPDX-License-Identifier: MIT
"""`pawl bench tree`: a large ordered tree, one in a hundred operations an insertion.

The search for the place takes far longer than linking there, which is the case that the seek state
is made for. Beside the rows stands what the published formula predicts for more cores, from the
three times measured here.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from rich.markup import escape

from pawl import candidates, grid, stats, table
from pawl.kinds import Extra
from pawl.measure import Cell

TITLE = "A large ordered tree under each lock"
DRIVER = "pawl-bench-tree"
BASELINE, MAIN = candidates.RWLOCK, "r+s>w/pawl_spin64"
# The pieces of the work without any lock: no rival, but what the formula is fed with.
PARTS = "parts/none"
LOOKUPS = ("hot", "cold")
CORES = (1, 2, 4, 8, 16, 32, 64)
# Seconds to make the tree, a node.
FILL = 1.5e-6
QUICK = {"nodes": 100_000, "budget": 10}
PUBLISHED = {"seek_ns": 595.0, "write_ns": 5.0, "read_ns": 40.0}

NUMBER = (int, float)
CELL_KEYS = {"nodes": int, "inserts": NUMBER, "lookups": str, "seconds": NUMBER}
SAMPLE_KEYS = {"threads": int}
ROW_KEYS = {"cpu_seconds_per_million": NUMBER}
NESTED_KEYS: dict = {}  # no tables in tables


@dataclass
class Request(grid.Effort):
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: [1, 2])
    lookups: list[str] = field(default_factory=lambda: list(LOOKUPS))
    nodes: int = 1_000_000
    inserts: float = 1.0
    warmup: float = 0.02
    budget: float = 60


def _setup(point: dict) -> float:
    return point["nodes"] * FILL


def plan(request: Request, names: list[str]) -> list[Cell]:
    choice = candidates.Choice(names)
    points = [{"threads": threads, "nodes": request.nodes, "inserts": request.inserts,
               "lookups": lookups} for lookups in request.lookups for threads in request.threads]
    return grid.plan("tree", points, lambda p: choice.for_threads(p["threads"]), request, _setup)


def expected_seconds(cells: list[Cell]) -> float:
    return grid.expected_seconds(cells, _setup)


def workload(cell: dict) -> str:
    return f"{cell['nodes']:,} nodes, {cell['inserts']:g} % inserts, {cell['lookups']} lookups"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {grid.threads(cell)}"


def heading(cell: dict) -> str:
    found = pieces(cell["samples"])
    text = label(cell)
    if found:
        text += f"\nwithout a lock: {_pieces_text(found)}"
    return text + grid.not_pinned(cell)


def _pieces_text(found: dict) -> str:
    return ", ".join(f"{name} {table.duration(found[name + '_ns'])}"
                     for name in ("seek", "write", "read"))


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.summarise(samples, baseline, [n for n in order if n != PARTS])
    for row in rows:
        del row["hit_ratio"]
    return rows


def sound(sample: dict) -> bool:
    return sample["candidate"] != PARTS or all(
        isinstance(sample.get(key), NUMBER) and sample[key] >= 0 for key in PUBLISHED)


losses = stats.losses


def columns(baseline: str) -> list[str]:
    short = baseline.split("/")[-1]
    return ["", "strategy/lock", "million\noperations/s", "\nquartiles", f"times\n{short}",
            "95 %\ninterval", "CPU s per\nmillion", "switches\nper 1000"]


def cells(rank: int, row: dict) -> list[str]:
    return [str(rank), escape(row["candidate"]), f"{row['median'] / 1e6:.3f}",
            f"{row['q1'] / 1e6:.3f}..{row['q3'] / 1e6:.3f}",
            table.times(row["ratio_to_baseline"]), table.interval(row),
            f"{row['cpu_seconds_per_million']:.3f}", f"{row['ctx_per_million'] / 1000:.2f}"]


def shown(width: int) -> list[int]:
    gone = {0, 3, 6, 7} if width < 125 else set()
    return [n for n in range(8) if n not in gone]


# ---- The formula --------------------------------------------------------------------------------


def pieces(samples: list[dict]) -> dict | None:
    """Nanoseconds of a search, of linking, and of a lookup, without a lock: medians."""
    own = [s for s in samples if s["candidate"] == PARTS]
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
        rows.append([str(cores), f"{lock:.2f}", f"{ours:.2f}", f"{(ours / lock - 1) * 100:+.0f} %",
                     _measured(here, BASELINE, cores), _measured(here, MAIN, cores)])
    lock, ours = (predicted(PUBLISHED, 1, 8, own) for own in (False, True))
    return Extra(
        f"{workload(here[0])}: million operations a second, predicted and measured",
        ["cores", "predicted\nrwlock", "predicted\nprogressive", "\ngain",
         "measured\nrwlock", "measured\nprogressive"], rows,
        [f"predicted from {_pieces_text(found)} without a lock, as if locks cost nothing; "
         f"measured: {BASELINE} and {MAIN}",
         f"published: seek 595 ns, write 5 ns, read 40 ns on 8 cores: {lock:.0f} and {ours:.0f} "
         f"million, {(ours / lock - 1) * 100:+.0f} %"])


def more(result: dict) -> list[Extra]:
    groups: dict[str, list[dict]] = {}
    for cell in result["cells"]:
        groups.setdefault(workload(cell), []).append(cell)
    return [extra for here in groups.values() if (extra := _prediction(here))]
