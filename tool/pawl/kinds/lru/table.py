# SPDX-License-Identifier: MIT
"""The rows of `pawl bench lru`. The measured hit ratio stands beside the nominal one."""

import numpy as np

from pawl.core import candidates, stats, table
from pawl.core.kind import NUMBER
from pawl.core.table import PAGE_ONLY, Column, counted, percent
from pawl.kinds.lru.plan import has_usual_chains

QUANTILES = ("p50", "p99", "p99.9")
LATENCIES = (*QUANTILES, "max")
STRATEGIES = (
    ("w", "each lookup takes W, a mutex"),
    ("s", "each lookup takes S, the state that one thread can hold beside readers"),
    ("r+w", "lookups read; a miss takes W and looks again"),
    (
        "r+s>w",
        "lookups read; a miss takes S, looks again beside the readers, and turns S into W "
        "for the change",
    ),
    ("r+rs>w", "readers that upgrade: a miss tries to turn R into S, and S into W for the change"),
    ("r+rw", "readers that upgrade: a miss tries to turn R into W"),
)


# ---- In words -----------------------------------------------------------------------------------


def workload(cell: dict) -> str:
    """What the cell does, whatever the number of threads."""
    cost = f"miss cost {cell['miss_cost']}"
    if not has_usual_chains(cell):
        cost += f", {cell['chains']:,} chains"
    if cell.get("trace"):
        return f"{cell['trace']['distinct']:,} distinct keys, cache of {cell['size']:,}, {cost}"
    dist = "" if cell["dist"] == "uniform" else f", {cell['dist']}"
    return f"nominal hit {cell['hit_nominal']:g} %, {cost}{dist}"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {counted(cell['threads'], 'thread')}"


def heading(cell: dict) -> str:
    share = cell["size"] / cell["keyspace"]
    text = (
        f"{label(cell)}\ncache {cell['size']:,} of {cell['keyspace']:,} keys = nominal "
        f"{percent(share)} hits, measured {percent(measured_hits(cell))}"
    )
    if cell.get("chains"):
        length = max(1, round(cell["size"] / cell["chains"]))
        text += (
            f"\nhash table of {counted(cell['chains'], 'chain')}, about "
            f"{counted(length, 'entry')} each"
        )
    return text + table.not_pinned(cell)


# ---- The file -----------------------------------------------------------------------------------


def sound_cell(cell: dict) -> bool:
    trace = cell.get("trace")
    return trace is None or (isinstance(trace, dict) and isinstance(trace.get("distinct"), int))


def sound(sample: dict) -> bool:
    times = sample.get("latency_ns")
    return times is None or all(isinstance(times.get(name), NUMBER) for name in LATENCIES)


# ---- From samples to rows -----------------------------------------------------------------------


def hit_ratio(samples: list[dict]) -> float | None:
    hits = sum(s.get("hits", 0) for s in samples)
    misses = sum(s.get("misses", 0) for s in samples)
    return hits / (hits + misses) if hits + misses else None


def measured_hits(cell: dict) -> float | None:
    return hit_ratio(cell["samples"])


def latency(samples: list[dict]) -> dict:
    """Quantiles as the median of the rounds, the maximum over all of them; {} if not timed."""
    timed = [s["latency_ns"] for s in samples if s.get("latency_ns")]
    if not timed:
        return {}
    found = {name: float(np.median([t[name] for t in timed])) for name in QUANTILES}
    return {"latency_ns": found | {"max": max(t["max"] for t in timed)}}


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.rows(samples, baseline, order)
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        row |= {"hit_ratio": hit_ratio(own), **stats.cpu(own), **latency(own)}
    return rows


def headline(cell: dict) -> dict:
    """The first line of the page: our main strategy against the best pthread row."""
    names = [row["candidate"] for row in cell["summary"]]
    ours = [n for n in names if n == candidates.MAIN] or [n for n in names if "pawl" in n]
    theirs = [n for n in names if n in candidates.PTHREAD]
    if not ours or not theirs:
        return {}
    values = stats.paired(stats.rates(cell["samples"]), ours[0], theirs[0])
    return {"ours": ours[0], "theirs": theirs[0], **stats.ratio(values)}


# ---- The table ----------------------------------------------------------------------------------


def _verdict(row: dict) -> str:
    if row["ratio_ci95_high"] is None:
        return ""
    if row["ratio_ci95_high"] < 1:
        return "slower"
    return "faster" if row["ratio_ci95_low"] > 1 else "even"


def quantile(name: str) -> Column:
    return Column(
        f"lookup\n{name}", lambda row: table.duration(row.get("latency_ns", {}).get(name))
    )


def columns(cell: dict, baseline: str) -> list[Column]:
    """Quartiles and CPU time need the most room; --latency shows its quantiles at any width."""
    timed = any("latency_ns" in row for row in cell["summary"])
    return [
        *table.million("million\nlookups/s", wide=PAGE_ONLY if timed else 130),
        *table.ratio(baseline.split("/")[-1], wide=100 if timed else 0),
        Column("", _verdict, 100 if timed else 0),
        Column(
            "measured\nhits", lambda row: percent(row["hit_ratio"]), PAGE_ONLY if timed else 100
        ),
        table.cpu(2, PAGE_ONLY if timed else 130),
        *(quantile(name) for name in (LATENCIES if timed else ())),
    ]
