# SPDX-License-Identifier: MIT
"""The parts of `pawl bench record --set wait`: what the sleeping lock has to reach.

Three runs together take less than a quarter of an hour on two CPUs, so each part measures the
rows that its targets need and no others.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pawl import candidates, crowd, driver, flood, lru, pairs, part, wake

WIDTHS = (32, 64)
CACHE = {w: (f"r+s>w/pawl_lock{w}", f"r+s>w/pawl_spin{w}") for w in WIDTHS}
GRID, FAIR = "Crowds of threads", "Shares of 32 threads over a second"
# At --seconds 0.06 these make a run of not quite five minutes.
USUAL_SECONDS = 0.06
PAIR_ROUNDS, CACHE_ROUNDS = 15, 9
CROWD_BUDGET, WAKE_BUDGET, FLOOD_SECONDS, FAIR_SECONDS = 125.0, 58.0, 1.2, 1.0
PROGRAMS = (driver.PAIRS, driver.LRU, driver.CROWD, driver.WAKE)


def _chosen(names: list[str], path: Path) -> candidates.Choice:
    return candidates.choose(",".join(names), driver.candidates(path))


def _pairs(path: Path, scale: float, quiet: bool) -> dict:
    names = [f"{mode}/pawl_{lock}{width}" for lock in ("lock", "spin") for width in WIDTHS
             for mode in "rswa"]
    choice = _chosen([pairs.FLOOR, *names], path)
    cells = pairs.plan(choice.names, USUAL_SECONDS / 2 * scale, PAIR_ROUNDS, 0.005, "auto")
    return part.measured("pairs", "One thread alone", path, cells, pairs.FLOOR, choice.missing,
                         quiet)


def _cache(path: Path, scale: float, quiet: bool) -> dict:
    choice = _chosen([name for both in CACHE.values() for name in both], path)
    request = lru.Request(threads=[2], hits=lru.GRID_HITS, miss_costs=lru.GRID_COSTS,
                          seconds=0.05 * scale, warmup=0.01, rounds=CACHE_ROUNDS)
    return part.measured("lru", "The published grid", path, lru.plan(request, choice),
                         CACHE[32][1], choice.missing, quiet)


def _crowd(path: Path, scale: float, quiet: bool) -> dict:
    absent = [{"candidate": c["name"], "why": c["why"]} for c in driver.candidates(path)
              if c["name"] in crowd.PEERS and not c["available"]]
    peers = [n for n in crowd.PEERS if n not in {a["candidate"] for a in absent}]
    choice = _chosen([crowd.MAIN, crowd.SPIN, *peers, crowd.FLOOR], path)
    # Two rounds of longer samples: a crowd takes its time to go round once.
    request = crowd.Request(rounds=2, warmup=0.004, budget=CROWD_BUDGET * scale)
    return part.measured("crowd", GRID, path, crowd.plan(request, choice.names), crowd.BASELINE,
                         absent, quiet)


def _fair(path: Path, scale: float, quiet: bool) -> dict:
    choice = _chosen([crowd.MAIN, crowd.FLOOR], path)
    request = crowd.Request(threads=[32], writes=[10.0], hogs=[False], rounds=3, warmup=0.02,
                            seconds=FAIR_SECONDS * min(scale, 1))
    return part.measured("crowd", FAIR, path, crowd.plan(request, choice.names), crowd.FLOOR,
                         choice.missing, quiet)


def _flood(path: Path, scale: float, quiet: bool) -> dict:
    choice = _chosen([flood.FLOOR, crowd.MAIN], path)
    request = flood.Request(threads=[2, 8, 32], rounds=2, seconds=FLOOD_SECONDS * scale)
    return part.measured("flood", flood.TITLE, path, flood.plan(request, choice.names),
                         flood.FLOOR, choice.missing, quiet)


def _wake(path: Path, scale: float, quiet: bool) -> dict:
    choice = _chosen(["all"], path)
    request = wake.Request(delays=wake.DELAYS, hogs=[False, True], budget=WAKE_BUDGET * scale)
    return part.measured("wake", wake.TITLE, path, wake.plan(request, choice.names),
                         wake.BASELINE, choice.missing, quiet)


def parts(programs: dict[str, Path], seconds: float, quiet: bool) -> list[Callable[[], dict]]:
    scale = seconds / USUAL_SECONDS
    plan = ((_pairs, driver.PAIRS), (_cache, driver.LRU), (_crowd, driver.CROWD),
            (_fair, driver.CROWD), (_flood, driver.CROWD), (_wake, driver.WAKE))
    return [lambda make=make, name=name: make(programs[name], scale, quiet)
            for make, name in plan]
