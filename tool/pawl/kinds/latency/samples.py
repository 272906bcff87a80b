# SPDX-License-Identifier: MIT
"""What the samples of `pawl bench latency` say: series of durations, put together.

A series is a table of its statistics; null is a series without any. All are cycles.
"""

import numpy as np

from pawl.core import stats
from pawl.core.errors import BadInput
from pawl.core.kind import NUMBER
from pawl.kinds.latency.plan import PAIR_FLOOR

QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
STATISTICS = ("count", "min", "avg", "max", *QUANTILES)
# What a row tells, in the order of the tables.
MEASURES = {
    "interrupt": "interrupt signals blocked",
    "deferred": "deferred signals blocked",
    "raised": "preemption raised",
    "lock": "lock delay",
    "unlock": "unlock delay",
}


def sound(sample: dict) -> bool:
    """A sample of threads has rows, and each statistic of a row is whole."""
    counter, rows = sample["counter"], sample.get("rows", [])
    return (
        isinstance(sample.get("rescued", 0), int)
        and isinstance(counter.get("per_ns"), NUMBER)
        and counter["per_ns"] > 0
        and isinstance(counter.get("own"), NUMBER)
        and isinstance(counter.get("cost"), dict)
        and _sound_series(counter["cost"])
        and isinstance(rows, list)
        and all(_sound_row(r) for r in rows)
    )


def _sound_row(row: object) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("who"), str)
        and isinstance(row.get("iterations"), int)
        and all(_sound_series(row.get(m)) for m in MEASURES)
        and (
            row["interrupt"] is None
            or (stats.are_buckets(row.get("blocked")) and bool(row["blocked"]))
        )
    )


def _sound_series(series: object) -> bool:
    return series is None or (
        isinstance(series, dict) and all(isinstance(series.get(k), NUMBER) for k in STATISTICS)
    )


def per_ns(samples: list[dict]) -> float:
    """Cycles a nanosecond."""
    return float(samples[-1]["counter"]["per_ns"])


def together(found: list[dict | None]) -> dict | None:
    """Several series as one: quantiles as the median of theirs, the extremes of all."""
    found = [s for s in found if s]
    if not found:
        return None
    count = sum(s["count"] for s in found)
    return {
        "count": count,
        "min": min(s["min"] for s in found),
        "avg": sum(s["avg"] * s["count"] for s in found) / count,
        "max": max(s["max"] for s in found),
        **{q: float(np.median([s[q] for s in found])) for q in QUANTILES},
    }


def blocked(samples: list[dict]) -> dict | None:
    """How long signals stayed blocked, over all threads and rounds: quantiles within 1/16. Short
    tries by the thousand would hide all else, so they count only where there is nothing else."""
    every = [r for s in samples for r in s["rows"] if r["interrupt"]]
    rows = [r for r in every if not r["who"].startswith("trylock_writer/")] or every
    found = together([r["interrupt"] for r in rows])
    return found and found | stats.quantiles(
        (pair for row in rows for pair in row["blocked"]), QUANTILES
    )


def of_lock(cell: dict, name: str) -> list[dict]:
    found = stats.of_candidate(cell["samples"], name)
    if not found:
        raise BadInput(
            f"{name} was not measured in the scenario {cell['scenario']}; record again "
            "with a build that has it."
        )
    return found


def rows(samples: list[dict]) -> list[dict]:
    """A row a thread, over all rounds."""
    found: dict[str, list[dict]] = {}
    for sample in samples:
        for row in sample["rows"]:
            found.setdefault(row["who"], []).append(row)
    return [
        {
            "who": who,
            "context": own[0].get("context", ""),
            "iterations": sum(r["iterations"] for r in own),
            "failed": sum(r.get("failed", 0) for r in own),
            **{m: together([r[m] for r in own]) for m in MEASURES},
        }
        for who, own in found.items()
    ]


def nanoseconds(samples: list[dict]) -> dict[str, dict[int, float]]:
    """Of pairs: row -> round -> nanoseconds of one."""
    return {
        name: {n: 1e9 / rate for n, rate in rounds.items() if rate > 0}
        for name, rounds in stats.rates(samples).items()
    }


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """Of pairs: nanoseconds; of threads: passes a second of all of them. In their own order."""
    if any("rows" in s for s in samples):
        found = {r["candidate"]: r for r in stats.rows(samples, baseline, order)}
        return [found[n] for n in order if n in found]
    times = nanoseconds(samples)
    return [
        {
            "candidate": n,
            "rounds": len(times[n]),
            **stats.quartiles(times[n].values()),
            **stats.against(times, n, PAIR_FLOOR),
        }
        for n in order
        if times.get(n)
    ]


def no_losses(_rows: list[dict]) -> list[dict]:
    """The passes are of all threads together: fewer of them are no loss."""
    return []
