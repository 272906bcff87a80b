# SPDX-License-Identifier: MIT
"""What the samples say: medians, quartiles, and ratios with their intervals.

Candidates alternate within a process, so the samples of one round shared the machine's
state of that moment. Ratios are therefore taken round by round, and the interval is the
sign-based one of their median: it assumes nothing about the shape of the noise.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache

import numpy as np

CONFIDENCE = 0.95


@cache
def _places(count: int, confidence: float) -> tuple[int, int] | None:
    """Which of so many ordered values are the ends of the median's interval.

    As many values lie below the median as a fair coin shows heads. Exact, and by the standard
    library: scipy has a function for it since 1.12 only, and takes most of a second to load.
    """
    tail = (1 - Fraction(confidence)) / 2 * 2**count
    low, ways, heads = 0, 1, 1  # heads: the ways in which at most `low` of the values lie below
    while heads < tail:
        ways = ways * (count - low) // (low + 1)
        low += 1
        heads += ways
    # The other end is its mirror image.
    return (low - 1, count - low) if low > 0 else None


_confidence: ContextVar[float] = ContextVar("confidence", default=CONFIDENCE)


@contextmanager
def confidence(wanted: float) -> Iterator[None]:
    """Intervals that are made here cover their medians so often."""
    before = _confidence.set(wanted)
    try:
        yield
    finally:
        _confidence.reset(before)


def sign_interval(values) -> tuple[float, float] | None:
    """The tightest pair of order statistics that covers the median often enough.

    None below six values: not even the extremes cover it in 95 of 100 cases then.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    places = _places(len(ordered), _confidence.get()) if len(ordered) else None
    return places and (float(ordered[places[0]]), float(ordered[places[1]]))


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
    return statistics.geometric_mean(values)


def quantiles(buckets: Iterable[list], shares: dict[str, float]) -> dict[str, float]:
    """Of values in buckets of [value, count]: each within the width of its bucket."""
    counts: Counter = Counter()
    for value, count in buckets:
        counts[value] += count
    total, ordered = sum(counts.values()), sorted(counts)
    found = {}
    for name, share in shares.items():
        below, value = 0, 0
        for value in ordered:
            below += counts[value]
            if below >= share * total:
                break
        found[name] = value
    return found


def are_buckets(found: object) -> bool:
    """A list of [value, count], as a file should hold it."""
    return isinstance(found, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(n, (int, float)) for n in pair)
        for pair in found
    )


def quartiles(values: Iterable[float]) -> dict[str, float]:
    q1, median, q3 = np.percentile(list(values), [25, 50, 75])
    return {"median": float(median), "q1": float(q1), "q3": float(q3)}


def against(table: dict[str, dict[int, float]], name: str, baseline: str) -> dict:
    """A row's ratio to another, with its interval."""
    found = ratio(paired(table, name, baseline))
    return {
        "ratio_to_baseline": found["ratio"],
        "ratio_ci95_low": found["low"],
        "ratio_ci95_high": found["high"],
    }


def of_candidate(samples: list[dict], name: str) -> list[dict]:
    return [s for s in samples if s["candidate"] == name]


def rows(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, fastest first; rows without samples are left out."""
    table = rates(samples)
    found = [
        {
            "candidate": name,
            "rounds": len(table[name]),
            **quartiles(table[name].values()),
            **against(table, name, baseline),
        }
        for name in order
        if name in table
    ]
    return sorted(found, key=lambda row: -row["median"])


def per_million(samples: list[dict], *keys: str) -> float:
    """What the samples took in all, for a million operations."""
    spent = sum(s.get(key, 0) for s in samples for key in keys)
    return spent / (max(sum(s["ops"] for s in samples), 1) / 1e6)


def cpu(samples: list[dict]) -> dict:
    return {"cpu_seconds_per_million": per_million(samples, "cpu_seconds")}


def switches(samples: list[dict]) -> dict:
    return {"ctx_per_million": per_million(samples, "ctx_voluntary", "ctx_involuntary")}


def losses(rows: list[dict]) -> list[dict]:
    """Our rows whose whole interval lies below the baseline: slower beyond the noise."""
    return [
        r
        for r in rows
        if "pawl" in r["candidate"]
        and r["ratio_ci95_high"] is not None
        and r["ratio_ci95_high"] < 1
    ]
