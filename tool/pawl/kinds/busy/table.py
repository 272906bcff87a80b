# SPDX-License-Identifier: MIT
"""The rows of `pawl bench crowd --busy`: throughput, all waits, and what overran its deadline."""

from collections import defaultdict

import numpy as np

from pawl.core import stats, table
from pawl.core.table import Column, Extra, counted, duration
from pawl.kinds.busy.plan import MACHINES, MAIN, PEERS, machine_of

SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
SAID = {
    "idle": "alone",
    "one-cpu": "alone on one CPU",
    "one-cpu-busy": "on one CPU, beside a busy process",
    "busy-1": "beside a busy process on each CPU",
    "busy-2": "beside 2 busy processes on each CPU",
    "busy-4": "beside 4 busy processes on each CPU",
}


def _scene(cell: dict) -> str:
    section = f"{cell['section_us']:g} us"
    if cell["scene"] == "probe":
        return f"a probe beside a holder with sections of {section}"
    if cell["scene"] == "writer":
        return f"a writer among {counted(cell['threads'], 'reader')} with sections of {section}"
    text = (
        f"sections of {section}, {cell['outside_us']:g} us between them, "
        f"{cell['writes']:g} % writes"
    )
    if cell["scene"] == "deadline":
        text += f", deadlines of {cell['deadline_us']:g} us"
    return text


def workload(cell: dict) -> str:
    return f"{_scene(cell)}, {SAID[machine_of(cell)]}"


def label(cell: dict) -> str:
    if cell["scene"] in ("probe", "writer"):
        return workload(cell)
    return f"{workload(cell)}, {counted(cell['threads'], 'thread')}"


def heading(cell: dict) -> str:
    more = (
        "\nrates are of the others, waits of the one that comes every millisecond"
        if cell["scene"] in ("probe", "writer")
        else ""
    )
    return label(cell) + more


def of_buckets(samples: list[dict], key: str) -> dict | None:
    """Quantiles of all rounds together, each within 1/16 of its value; None: there is nothing."""
    pairs = [pair for s in samples for pair in s[key]]
    if not pairs:
        return None
    return stats.quantiles(pairs, SHARES) | {"max": max(ns for ns, _ in pairs)}


def waits(samples: list[dict]) -> dict:
    """A thread that never got in has waited for the whole sample."""
    found = of_buckets(samples, "waits")
    if found is None:
        longest = max(s["seconds"] for s in samples) * 1e9
        found = dict.fromkeys((*SHARES, "max"), longest)
    return found


def mean_wait(samples: list[dict]) -> float:
    """Of all rounds together, by their numbers of waits."""
    counts = [sum(n for _, n in s["waits"]) for s in samples]
    total = sum(s["wait_mean_ns"] * n for s, n in zip(samples, counts, strict=True))
    return total / sum(counts) if sum(counts) else waits(samples)["max"]


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.rows(samples, baseline, order)
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        row |= {
            "wait_ns": waits(own),
            "wait_mean_ns": mean_wait(own),
            "overrun_ns": of_buckets(own, "overruns"),
            "expired": sum(s["expired"] for s in own),
            **stats.cpu(own),
            **stats.switches(own),
        }
    return rows


def sound(sample: dict) -> bool:
    return stats.are_buckets(sample["waits"]) and stats.are_buckets(sample["overruns"])


def losses(_rows: list[dict]) -> list[dict]:
    """The baseline is one peer of several; the tables of means name all."""
    return []


def rate(cell: dict, name: str) -> float | None:
    """The median of the rounds."""
    rates = stats.rates(cell["samples"]).get(name)
    return float(np.median(list(rates.values()))) if rates else None


def against(cells: list[dict], peer: str) -> list[float]:
    """How many times the peer's rate ours is, for each cell of the grid that has both."""
    pairs = [(rate(c, MAIN), rate(c, peer)) for c in cells if c["scene"] == "crowd"]
    return [
        max(ours, 1e-9) / max(theirs, 1e-9)
        for ours, theirs in pairs
        if ours is not None and theirs is not None
    ]


def against_best(cells: list[dict]) -> list[tuple[dict, float]]:
    """The same against the fastest peer of each cell."""
    found = []
    for cell in cells:
        ours = rate(cell, MAIN)
        peers = [r for p in PEERS if (r := rate(cell, p)) is not None]
        if cell["scene"] == "crowd" and ours is not None and peers:
            found.append((cell, max(ours, 1e-9) / max(*peers, 1e-9)))
    return found


def by_machine(cells: list[dict]) -> dict[str, list[dict]]:
    found = defaultdict(list)
    for cell in cells:
        found[machine_of(cell)].append(cell)
    return {name: found[name] for name in MACHINES if name in found}


def more(result: dict) -> list[Extra]:
    """Geometric means over the grid: one number for each machine and peer."""
    machines = by_machine(result["cells"])
    rows = []
    for peer in PEERS:
        values = {m: against(cells, peer) for m, cells in machines.items()}
        if any(values.values()):
            rows.append(
                [
                    peer,
                    *(table.times(stats.geometric_mean(v) if v else None) for v in values.values()),
                ]
            )
    if not rows:
        return []
    best = {m: [v for _, v in against_best(cells)] for m, cells in machines.items()}
    rows.append(
        [
            "best of each cell",
            *(table.times(stats.geometric_mean(v) if v else None) for v in best.values()),
        ]
    )
    return [
        Extra(
            f"throughput of {MAIN}, times that of each",
            ["peer", *machines],
            rows,
            ["geometric means of all cells of a machine"],
        )
    ]


def _wait(head: str, quantile: str, least: int = 0) -> Column:
    return Column(head, lambda row: duration(row["wait_ns"][quantile]), least)


def _overrun(quantile: str) -> Column:
    return Column(
        f"overrun\n{quantile}", lambda row: duration((row["overrun_ns"] or {}).get(quantile))
    )


def columns(cell: dict, baseline: str) -> list[Column]:
    shown = [
        *table.million("million\nsections/s", 4, wide=200),
        *table.ratio(baseline.split("/")[-1], wide=160),
        Column("mean\nwait", lambda row: duration(row["wait_mean_ns"]), 98),
        _wait("wait\np50", "p50", 160),
        _wait("wait\np99", "p99", 98),
        _wait("wait\np99.9", "p99.9"),
        _wait("longest\nwait", "max"),
    ]
    if cell["scene"] == "deadline":
        shown += [
            Column("expired", lambda row: f"{row['expired']:,}"),
            *(_overrun(q) for q in ("p50", "p99.9", "max")),
        ]
    return [*shown, table.cpu(2, 98), table.switches(1, 160)]
