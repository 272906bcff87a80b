# SPDX-License-Identifier: MIT
"""What the samples of `pawl bench latency` say: series of durations, put together.

A series is a table of its statistics; null is a series without any. All are cycles.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pawl import stats
from pawl.errors import BadInput

PAIR_FLOOR = "floor/cas_sub"
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
STATISTICS = ("count", "min", "avg", "max", *QUANTILES)
# What a row tells, in the order of the tables.
MEASURES = {"interrupt": "interrupt signals blocked", "deferred": "deferred signals blocked",
            "raised": "preemption raised", "lock": "lock delay", "unlock": "unlock delay"}
NUMBER = (int, float)


def sound(sample: dict) -> bool:
    """A sample of threads has rows, and each statistic of a row is whole."""
    counter, rows = sample["counter"], sample.get("rows", [])
    return (isinstance(sample.get("rescued", 0), int)
            and isinstance(counter.get("per_ns"), NUMBER) and counter["per_ns"] > 0
            and isinstance(counter.get("own"), NUMBER) and isinstance(counter.get("cost"), dict)
            and _sound_series(counter["cost"]) and isinstance(rows, list)
            and all(_sound_row(r) for r in rows))


def _sound_row(row: object) -> bool:
    return (isinstance(row, dict) and isinstance(row.get("who"), str)
            and isinstance(row.get("iterations"), int)
            and all(_sound_series(row.get(m)) for m in MEASURES)
            and (row["interrupt"] is None or _sound_buckets(row.get("blocked"))))


def _sound_buckets(buckets: object) -> bool:
    return isinstance(buckets, list) and bool(buckets) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(n, NUMBER) for n in pair)
        for pair in buckets)


def _sound_series(series: object) -> bool:
    return series is None or (isinstance(series, dict)
                              and all(isinstance(series.get(k), NUMBER) for k in STATISTICS))


def per_ns(samples: list[dict]) -> float:
    """Cycles a nanosecond."""
    return float(samples[-1]["counter"]["per_ns"])


def together(found: list[dict | None]) -> dict | None:
    """Several series as one: quantiles as the median of theirs, the extremes of all."""
    found = [s for s in found if s]
    if not found:
        return None
    count = sum(s["count"] for s in found)
    return {"count": count, "min": min(s["min"] for s in found),
            "avg": sum(s["avg"] * s["count"] for s in found) / count,
            "max": max(s["max"] for s in found),
            **{q: float(np.median([s[q] for s in found])) for q in QUANTILES}}


def blocked(samples: list[dict]) -> dict | None:
    """How long signals stayed blocked, over all threads and rounds: quantiles within 1/16. Short
    tries by the thousand would hide all else, so they count only where there is nothing else."""
    every = [r for s in samples for r in s["rows"] if r["interrupt"]]
    rows = [r for r in every if not r["who"].startswith("trylock_writer/")] or every
    counts: Counter = Counter()
    for row in rows:
        for cycles, count in row["blocked"]:
            counts[cycles] += count
    found = together([r["interrupt"] for r in rows])
    total, ordered = sum(counts.values()), sorted(counts)
    below, wanted = 0, dict(QUANTILES)
    for value in ordered:
        below += counts[value]
        for name in [n for n, share in wanted.items() if below >= share * total]:
            found[name] = value
            del wanted[name]
    return found


def of_lock(cell: dict, name: str) -> list[dict]:
    found = [s for s in cell["samples"] if s["candidate"] == name]
    if not found:
        raise BadInput(f"{name} was not measured in the scenario {cell['scenario']}; record again "
                       "with a build that has it.")
    return found


def rows(samples: list[dict]) -> list[dict]:
    """A row a thread, over all rounds."""
    found: dict[str, list[dict]] = {}
    for sample in samples:
        for row in sample["rows"]:
            found.setdefault(row["who"], []).append(row)
    return [{"who": who, "context": own[0].get("context", ""),
             "iterations": sum(r["iterations"] for r in own),
             "failed": sum(r.get("failed", 0) for r in own),
             **{m: together([r[m] for r in own]) for m in MEASURES}}
            for who, own in found.items()]


def nanoseconds(samples: list[dict]) -> dict[str, dict[int, float]]:
    """Of pairs: row -> round -> nanoseconds of one."""
    return {name: {n: 1e9 / rate for n, rate in rounds.items() if rate > 0}
            for name, rounds in stats.rates(samples).items()}


def _pair_row(name: str, found: dict) -> dict:
    q1, median, q3 = np.percentile(list(found[name].values()), [25, 50, 75])
    against = stats.ratio(stats.paired(found, name, PAIR_FLOOR))
    return {"candidate": name, "rounds": len(found[name]), "median": float(median),
            "q1": float(q1), "q3": float(q3), "ratio_to_baseline": against["ratio"],
            "ratio_ci95_low": against["low"], "ratio_ci95_high": against["high"]}


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """Of pairs: nanoseconds; of threads: passes a second of all of them. In their own order."""
    if any("rows" in s for s in samples):
        found = {r["candidate"]: r for r in stats.summarise(samples, baseline, order)}
        keys = ("candidate", "rounds", "median", "q1", "q3", "ratio_to_baseline",
                "ratio_ci95_low", "ratio_ci95_high")
        return [{k: found[n][k] for k in keys} for n in order if n in found]
    times = nanoseconds(samples)
    return [_pair_row(n, times) for n in order if times.get(n)]
