# SPDX-License-Identifier: MIT
"""`pawl bench counters`: counting, and the light locks beside it. Plans cells, shows the rows.

A row is named group/what@threads+beside: how many threads do it at once, and what one more thread
does meanwhile. Each group is a cell, and all its rows are measured in turn by one process.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.markup import escape

from pawl import candidates, stats, table
from pawl.errors import BadInput
from pawl.measure import Cell

TITLE = "Counters and light locks"
DRIVER = "pawl-bench-counters"
GROUPS = {"add": "adding to a counter", "read": "reading a counter",
          "seq": "reading 64 bytes that belong together",
          "ref": "getting and dropping a reference",
          "br": "taking and dropping a lock for reading"}
BASELINES = {"add": "add/atomic_shared", "read": "read/membarrier", "seq": "seq/relaxed_copy",
             "ref": "ref/atomic_pair", "br": "br/pthread_rwlock"}
# In these groups the baseline is what one would use otherwise; in the others it is a floor.
RIVALS = ("add", "ref", "br")
# Other operations than the group's, which its baseline cannot be compared with.
ALONE = ("_write", "_kill_to_release")
# What a result names as its baseline, although each group has its own.
BASELINE = BASELINES["add"] + "@1"
# What a sample costs beside its length: threads that are told to begin and waited for.
OVERHEAD, START = 0.0006, 0.05

NUMBER, MAYBE = (int, float), (int, float, type(None))
CELL_KEYS = {"group": str, "seconds": NUMBER}
SAMPLE_KEYS = {"threads": int}
ROW_KEYS = {"threads": int, "million_per_second": NUMBER, "scaling": MAYBE}
NESTED_KEYS: dict = {}  # no tables in tables


@dataclass
class Request:
    """The options of the command."""

    seconds: float = 0.02
    rounds: int = 12
    warmup: float = 0.003
    pin: str = "auto"


def group_of(name: str) -> str:
    return name.split("/")[0]


def threads_of(name: str) -> int:
    return int(name.split("@")[1].split("+")[0])


def baseline_of(name: str) -> str | None:
    """Of the same group, at as many threads, and beside the same if that is part of the thing."""
    what, where = name.split("@")
    if what.endswith(ALONE):
        return None
    base = BASELINES[group_of(name)]
    return f"{base}@{where if group_of(name) == 'read' else threads_of(name)}"


def at_one_thread(name: str) -> str | None:
    return name.replace("@2", "@1") if "@2" in name else None


def with_baselines(choice: candidates.Choice, offered: list[dict]) -> list[str]:
    """The chosen rows, and what they are compared with, in the order of the driver."""
    wanted = set(choice.names) | {baseline_of(n) for n in choice.names}
    wanted |= {n for name in choice.names if (n := at_one_thread(name))}
    return [c["name"] for c in offered if c["name"] in wanted and c["available"]]


def plan(request: Request, names: list[str]) -> list[Cell]:
    unknown = [n for n in names if group_of(n) not in GROUPS or "@" not in n]
    if unknown:
        raise BadInput(f"--driver: it offers '{unknown[0]}', which this command does not know; "
                       "build both from the same sources.")
    cells = []
    for group in GROUPS:
        own = [n for n in names if group_of(n) == group]
        if not own:
            continue
        parameters = {"bench": "counters", "group": group, "threads": max(map(threads_of, own)),
                      "seconds": request.seconds, "rounds": request.rounds,
                      "warmup": request.warmup, "pin": request.pin, "candidates": own}
        options = ["--seconds", request.seconds, "--rounds", request.rounds,
                   "--warmup", request.warmup, "--pin", request.pin,
                   "--candidates", ",".join(own)]
        cells.append(Cell(parameters, [str(o) for o in options]))
    return cells


def expected_seconds(cells: list[Cell]) -> float:
    return sum(START + c.sample_count
               * (c.parameters["seconds"] + c.parameters["warmup"] + OVERHEAD) for c in cells)


def workload(cell: dict) -> str:
    return GROUPS[cell["group"]]


label = workload


def heading(cell: dict) -> str:
    base = BASELINES[cell["group"]]
    text = (f"{workload(cell)}\n@ threads that do it at once; + what one more thread does; ratios "
            f"are of times, with {base} at as many threads")
    return text + (f"\nnot pinned: {cell['pin_error']}" if cell.get("pin_error") else "")


def times(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> nanoseconds that one thread spends on an operation."""
    return {name: {n: threads_of(name) * 1e9 / rate for n, rate in rounds.items() if rate > 0}
            for name, rounds in stats.rates(samples).items()}


def _scaling(rates: dict, name: str) -> float | None:
    """How many times the rate of one thread several have together."""
    one = at_one_thread(name)
    return stats.ratio(stats.paired(rates, name, one))["ratio"] if one in rates else None


def _row(name: str, found: dict, rates: dict) -> dict:
    q1, median, q3 = np.percentile(list(found[name].values()), [25, 50, 75])
    against = stats.ratio(stats.paired(found, name, baseline_of(name) or ""))
    return {
        "candidate": name, "rounds": len(found[name]), "threads": threads_of(name),
        "median": float(median), "q1": float(q1), "q3": float(q3),
        "million_per_second": float(np.median(list(rates[name].values()))) / 1e6,
        "scaling": _scaling(rates, name), "ratio_to_baseline": against["ratio"],
        "ratio_ci95_low": against["low"], "ratio_ci95_high": against["high"],
    }


def summarise(samples: list[dict], _baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate: one thread first, the quickest first."""
    found, rates = times(samples), stats.rates(samples)
    rows = [_row(name, found, rates) for name in order if found.get(name)]
    return sorted(rows, key=lambda r: (r["threads"], "+" in r["candidate"], r["median"]))


def sound(sample: dict) -> bool:
    return "@" in sample["candidate"] and group_of(sample["candidate"]) in GROUPS


def belongs(cell: dict, name: str) -> bool:
    """Whether a row that was not built would have been in this cell."""
    return group_of(name) == cell["group"]


def losses(rows: list[dict]) -> list[dict]:
    """Our rows whose whole interval lies above the baseline: slower beyond the noise."""
    return [r for r in rows if "/pawl_" in r["candidate"] and group_of(r["candidate"]) in RIVALS
            and r["ratio_ci95_low"] is not None and r["ratio_ci95_low"] > 1]


def nanoseconds(value: float) -> str:
    return f"{value:.2f} ns" if value < 100 else table.duration(value)


def columns(_baseline: str) -> list[str]:
    return ["", "what", "an\noperation", "\nquartiles", "million/s\nin all", "times one\nthread",
            "times the\nbaseline", "95 %\ninterval"]


def cells(rank: int, row: dict) -> list[str]:
    return [str(rank), escape(row["candidate"]), nanoseconds(row["median"]),
            f"{nanoseconds(row['q1'])}..{nanoseconds(row['q3'])}",
            f"{row['million_per_second']:.3f}", table.times(row["scaling"]),
            table.times(row["ratio_to_baseline"]), table.interval(row)]


def shown(width: int) -> list[int]:
    return [n for n in range(8) if n not in ({0, 3, 7} if width < 100 else set())]
