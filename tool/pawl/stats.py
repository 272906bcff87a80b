# SPDX-License-Identifier: MIT
"""What the samples say: medians, quartiles, and ratios with their intervals.

Candidates alternate within a process, so the samples of one round shared the machine's
mood of that moment. Ratios are therefore taken round by round, and the interval is the
sign-based one of their median: it assumes nothing about the shape of the noise.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.special import bdtr

CONFIDENCE = 0.95
QUANTILES = ("p50", "p99", "p99.9")


def sign_interval(values, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """The tightest pair of order statistics that covers the median often enough.

    None below six values: not even the extremes cover it in 95 of 100 cases then.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    count = len(ordered)
    # Both tails: the median lies outside [x(k+1), x(n-k)] with probability 2 P(B <= k).
    cut = -1
    while cut + 1 < count // 2 and 2 * bdtr(cut + 1, count, 0.5) <= 1 - confidence:
        cut += 1
    if cut < 0:
        return None
    return float(ordered[cut]), float(ordered[count - 1 - cut])


def rates(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> operations a second."""
    table: dict[str, dict[int, float]] = defaultdict(dict)
    for s in samples:
        if s["seconds"] > 0:
            table[s["candidate"]][s["round"]] = s["ops"] / s["seconds"]
    return dict(table)


def paired(table: dict[str, dict[int, float]], name: str, baseline: str) -> list[float]:
    """Round by round how many times the baseline's rate the candidate reached."""
    ours, theirs = table.get(name, {}), table.get(baseline, {})
    return [ours[r] / theirs[r] for r in sorted(ours) if theirs.get(r)]


def ratio(values: list[float]) -> dict:
    if not values:
        return {"ratio": None, "low": None, "high": None}
    interval = sign_interval(values) or (None, None)
    return {"ratio": float(np.median(values)), "low": interval[0], "high": interval[1]}


def geometric_mean(values) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=float)))))


def hit_ratio(samples: list[dict]) -> float | None:
    hits = sum(s.get("hits", 0) for s in samples)
    misses = sum(s.get("misses", 0) for s in samples)
    return hits / (hits + misses) if hits + misses else None


def latency(samples: list[dict]) -> dict:
    """Quantiles as the median of the rounds, the maximum over all of them; {} if not timed."""
    timed = [s["latency_ns"] for s in samples if s.get("latency_ns")]
    if not timed:
        return {}
    found = {name: float(np.median([t[name] for t in timed])) for name in QUANTILES}
    return {"latency_ns": found | {"max": max(t["max"] for t in timed)}}


def _extras(samples: list[dict]) -> dict:
    ops = sum(s["ops"] for s in samples)
    million = max(ops, 1) / 1e6
    return {
        "hit_ratio": hit_ratio(samples),
        "cpu_seconds_per_million": sum(s.get("cpu_seconds", 0) for s in samples) / million,
        "ctx_per_million": sum(s.get("ctx_voluntary", 0) + s.get("ctx_involuntary", 0)
                               for s in samples) / million,
        **latency(samples),
    }


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, fastest first; rows without samples are left out."""
    table = rates(samples)
    rows = []
    for name in order:
        if name not in table:
            continue
        values = np.array(list(table[name].values()))
        q1, median, q3 = np.percentile(values, [25, 50, 75])
        against = ratio(paired(table, name, baseline))
        rows.append({
            "candidate": name, "rounds": len(values),
            "median": float(median), "q1": float(q1), "q3": float(q3),
            "ratio_to_baseline": against["ratio"],
            "ratio_ci95_low": against["low"], "ratio_ci95_high": against["high"],
            **_extras([s for s in samples if s["candidate"] == name]),
        })
    rows.sort(key=lambda row: -row["median"])
    return rows


def losses(rows: list[dict]) -> list[dict]:
    """Our rows whose whole interval lies below the baseline: slower beyond the noise."""
    return [r for r in rows if "pawl" in r["candidate"]
            and r["ratio_ci95_high"] is not None and r["ratio_ci95_high"] < 1]
