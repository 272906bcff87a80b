# SPDX-License-Identifier: MIT
"""How wrong the simulator is where: by row, hit ratio and number of cores; of rates, and of their
ratios to the rwlock, which is what people read."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

import numpy as np

from pawl.sim import folly, reference, validate
from pawl.sim.reference import STRATEGIES, Point

HITS = {"98 and 99 % hits": 97, "90 and 95 % hits": 85, "50 and 80 % hits": 0}  # from there on
MANY = 6
CORES = (f"1 to {MANY - 1} cores", f"{MANY} to 12 cores")
BASE = "rwlock"
ALL = "all rows"

Region = tuple[str, str]


def region(hit: float, cores: int) -> Region:
    return next(n for n, least in HITS.items() if hit >= least), CORES[cores >= MANY]


def errors(predicted: dict[Point, float]) -> dict[tuple[str, Region], dict]:
    """The 90th percentiles on the unseen points; `ratio` is None for the rwlock itself."""
    real, rates, ratios = reference.measured(), defaultdict(list), defaultdict(list)
    for p in predicted:
        if not p.unseen:
            continue
        base = Point(p.hit, p.cost, p.cores, p.per_core, BASE)
        there = region(p.hit, p.cores)
        for row in (p.strategy, ALL):
            rates[row, there].append(abs(predicted[p] / real[p] - 1))
            if p.strategy != BASE:
                both = (predicted[p] / predicted[base]) / (real[p] / real[base])
                ratios[row, there].append(abs(both - 1))
    return {
        key: {
            "points": len(found),
            "rate": float(np.percentile(found, 90)),
            "ratio": float(np.percentile(ratios[key], 90)) if ratios[key] else None,
        }
        for key, found in rates.items()
    }


@lru_cache
def recorded(name: str) -> dict:
    return errors(validate.load(name)) if validate.path_of(name).is_file() else {}


@lru_cache
def _factor(lock: str, threads: int) -> float:
    return folly.factor(folly.load(), lock, threads)


def known_for(name: str) -> str:
    if recorded(name):
        return "validated by the published LRU job, by row, hit ratio and number of cores"
    if name == folly.MACHINE:
        return "validated by folly's table of locks of one word"
    return "never validated on this machine"


def of(name: str, program: str, lock: str, hit: float | None, cores: int) -> dict | str:
    """The errors of a cell, or why there are none."""
    there = recorded(name)
    if name == folly.MACHINE:
        known = lock in folly.LOCKS.values()
        return (
            f"off by {_factor(lock, cores):.1f} times" if known else "never validated for this lock"
        )
    if not there:
        return known_for(name)
    if program != "lru" or hit is None:
        return "never validated for this job"
    return there.get((lock, region(hit, cores)), "never validated for this lock")


def markdown(found: dict[tuple[str, Region], dict]) -> str:
    """A row a strategy; each cell: of rates / of ratios to the rwlock."""
    columns = [(h, c) for h in HITS for c in CORES]
    lines = [
        "| *simulated*, 90th percentile: rate / ratio to rwlock | "
        + " | ".join(f"{h}, {c}" for h, c in columns)
        + " |",
        f"|---|{'---|' * len(columns)}",
    ]
    for row in (*STRATEGIES, ALL):
        cells = []
        for column in columns:
            e = found[row, column]
            ratio = "" if e["ratio"] is None else f" / {100 * e['ratio']:.0f} %"
            cells.append(f"{100 * e['rate']:.0f} %{ratio}")
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
