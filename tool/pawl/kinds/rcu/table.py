# SPDX-License-Identifier: MIT
"""The rows of `pawl bench rcu`: times, callbacks, delays and floods are different things."""

import numpy as np

from pawl.core import groups, stats, table
from pawl.core.groups import group_of
from pawl.core.kind import MAYBE, NUMBER
from pawl.core.table import Column, nanoseconds
from pawl.kinds.rcu.plan import GROUPS, baseline_of

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


# ---- In words -----------------------------------------------------------------------------------


def workload(cell: dict) -> str:
    return GROUPS[cell["group"]]


def explain(cell: dict) -> str:
    """What the columns mean, below the heading."""
    if cell["group"] == "call":
        return (
            f"{cell['callbacks']:,} calls by each thread, then the barrier; ratios are of "
            "times, with liburcu's"
        )
    if cell["group"] == "delay":
        return (
            f"a call each {cell['period']:g} us; +readers: beside a thread that reads without pause"
        )
    if cell["group"] == "flood":
        return (
            f"{cell['flood']:,} calls without a pause, ours bounded at "
            f"{mebibytes(cell['bound'])}; at {mebibytes(cell['most'])} the bench itself stops"
        )
    text = "@ threads that do it at once; ratios are of times, with liburcu's at as many threads"
    if cell["group"] == "sync":
        text += "\nbeside four threads that sleep; +readers: and one that reads without pause"
    if cell["group"] == "busy":
        text += "\nbeside a thread that reads without pause, and a busy process for each CPU"
    return text


def heading(cell: dict) -> str:
    return f"{workload(cell)}\n{explain(cell)}" + table.not_pinned(cell)


# ---- The file -----------------------------------------------------------------------------------

# What samples of these groups have beside the others.
OWN_KEYS = {
    "call": {"call_ns": NUMBER},
    "delay": {"delay_ns": dict},
    "flood": {
        "peak_bytes": NUMBER,
        "rss_peak_bytes": NUMBER,
        "bound_bytes": MAYBE,
        "stopped": bool,
    },
}
# Pairs of numbers: [ns, count], and [seconds, bytes] over time.
CURVES = {"delay": "delays_ns", "flood": "held"}
SAMPLE_KEYS = {key: types for keys in OWN_KEYS.values() for key, types in keys.items()} | {
    key: list for key in CURVES.values()
}


def _has(thing: dict, keys: dict) -> bool:
    return all(key in thing and isinstance(thing[key], types) for key, types in keys.items())


def sound(sample: dict) -> bool:
    group = group_of(sample["candidate"])
    curve = CURVES.get(group)
    return (
        groups.known(sample["candidate"], GROUPS)
        and _has(sample, OWN_KEYS.get(group, {}))
        and (curve is None or stats.are_buckets(sample.get(curve)))
        and (group != "delay" or _has(sample["delay_ns"], {"max": NUMBER}))
    )


# ---- From samples to rows -----------------------------------------------------------------------


def times(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> nanoseconds that one thread spends on an operation.

    Of the group delay it is how long 99 of 100 callbacks waited at most.
    """
    delays = [s for s in samples if group_of(s["candidate"]) == "delay"]
    found = groups.times([s for s in samples if group_of(s["candidate"]) != "delay"])
    for sample in delays:
        if sample["delays_ns"]:
            found.setdefault(sample["candidate"], {})[sample["round"]] = max(
                1.0, merged([sample])["p99"]
            )
    return found


def merged(samples: list[dict]) -> dict:
    """Quantiles of the delays of all rounds together, each within its bucket's width."""
    found = stats.quantiles(
        (pair for s in samples for pair in s["delays_ns"]), {"p25": 0.25, "p75": 0.75} | QUANTILES
    )
    return found | {"max": max((s["delay_ns"]["max"] for s in samples), default=0)}


def _held(samples: list[dict]) -> dict:
    """Of the largest round: what was queued at most, how the process grew, what bounded it."""
    worst = max(samples, key=lambda s: s["peak_bytes"])
    return {key: worst[key] for key in ("peak_bytes", "rss_peak_bytes", "bound_bytes", "stopped")}


def _own(name: str, samples: list[dict]) -> dict:
    """What rows of this group have beside the others."""
    if group_of(name) == "delay":
        delay = merged(samples)
        return {"median": delay["p50"], "q1": delay["p25"], "q3": delay["p75"], "delay_ns": delay}
    if group_of(name) == "flood":
        return _held(samples)
    if group_of(name) == "call":
        return {"call_ns": float(np.median([s["call_ns"] for s in samples]))}
    return {}


def summarise(samples: list[dict], _baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate: one thread first, the quickest first."""
    found, rates = times(samples), stats.rates(samples)
    rows = [
        groups.row(name, found, rates, baseline_of(name))
        | _own(name, stats.of_candidate(samples, name))
        for name in order
        if found.get(name)
    ]
    return groups.ordered(rows)


def losses(rows: list[dict]) -> list[dict]:
    """Compared with liburcu."""
    return [r for r in rows if "/pawl_" in r["candidate"] and groups.is_slower(r)]


# ---- The columns of a group ---------------------------------------------------------------------


def mebibytes(count: float | None) -> str:
    return "-" if count is None else f"{count / 2**20:,.1f} MiB"


def _in_all(head: str, least: int = 0) -> Column:
    return Column(head, lambda row: f"{row['million_per_second']:.3f}", least)


def _delay(head: str, quantile: str, least: int = 0) -> Column:
    return Column(head, lambda row: table.duration(row["delay_ns"][quantile]), least)


def _bytes(head: str, key: str, least: int = 0) -> Column:
    return Column(head, lambda row: mebibytes(row[key]), least)


_TIME, _QUARTILES = groups.time_columns(wide=125)
_RATIO = table.ratio("liburcu", wide=125)
TIMED = [
    _TIME,
    _QUARTILES,
    _in_all("million/s\nin all", 125),
    Column("times one\nthread", lambda row: table.times(row["scaling"])),
    *_RATIO,
]
OF_GROUP = {
    "call": [
        _in_all("million\ncallbacks/s"),
        Column("a call\nand its run", _TIME.text),
        _QUARTILES,
        Column("the call\nalone", lambda row: nanoseconds(row["call_ns"])),
        *_RATIO,
    ],
    "delay": [
        _delay("delay\np50", "p50"),
        _delay("\np90", "p90", 125),
        _delay("\np99", "p99"),
        _delay("\np99.9", "p99.9", 125),
        _delay("\nlongest", "max"),
        Column("p99 times\nliburcu", _RATIO[0].text),
        _RATIO[1],
    ],
    "flood": [
        _bytes("queued\nat most", "peak_bytes"),
        _bytes("\nbound", "bound_bytes"),
        _bytes("process\ngrew by", "rss_peak_bytes"),
        _in_all("million\ncallbacks/s", 125),
        Column("", lambda row: "stopped" if row["stopped"] else "all ran"),
        Column("times\nliburcu", _RATIO[0].text, 125),
    ],
}


def columns(cell: dict, _baseline: str) -> list[Column]:
    return OF_GROUP.get(cell["group"], TIMED)
