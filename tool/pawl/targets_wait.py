# SPDX-License-Identifier: MIT
"""What the sleeping lock and the waiting below it have to reach, for runs of the set "wait".

Where a target speaks of a crowd, the worst of all cells decides, and the note names it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from pathlib import Path

from pawl import crowd, flood, record_wait, stats, table, wake
from pawl.errors import BadInput
from pawl.finding import Finding, Target, find_part, paired, ratio

CROWDED, FEW = 32, 2
CACHE_CELLS = 18
# What a lock's hand-off allows each of the threads before one of them.
HAND_OFF_NS = 0.6e6
MS = 1e6


def _cells(run: dict, kind: str, title: str | None = None) -> list[dict]:
    return find_part(run, kind, lambda p: title in (None, p["title"]))["cells"]


# ---- Pairs and the cache: the sleeping lock beside the spinning one.

def _pair(mode: str, width: int) -> Callable[[dict], Finding]:
    """Time a pair against time a pair: the rates the other way round."""
    def find(run: dict) -> Finding:
        cell = find_part(run, "pairs", lambda _: True)["cells"][0]
        return ratio(cell, f"{mode}/pawl_spin{width}", f"{mode}/pawl_lock{width}")
    return find


def _cache(run: dict, width: int) -> list[tuple[dict, Finding]]:
    cells = [c for c in _cells(run, "lru") if c["threads"] == 2]
    if len(cells) != CACHE_CELLS:
        raise BadInput(f"the run of {run.get('started')} has {len(cells)} of the {CACHE_CELLS} "
                       "cells at two threads; record again.")
    return [(c, ratio(c, *record_wait.CACHE[width])) for c in cells]


def _cache_mean(width: int) -> Callable[[dict], Finding]:
    """A lock under which nothing was done counts as next to nothing, not as minus infinity."""
    return lambda run: Finding(stats.geometric_mean(
        [max(f.value, 1e-9) for _, f in _cache(run, width)]))


def _cache_worst(width: int) -> Callable[[dict], Finding]:
    """The cell whose interval ends lowest: it must not lie below the limit as a whole."""
    def find(run: dict) -> Finding:
        found = _cache(run, width)
        if any(f.high is None for _, f in found):
            raise BadInput("the cells have too few rounds for an interval; record again.")
        cell, worst = min(found, key=lambda f: f[1].high)
        where = f"hit {cell['hit_nominal']:g}, cost {cell['miss_cost']}"
        return Finding(worst.high, worst.low, worst.high, where)
    return find


# ---- The crowd.

def _rate(cell: dict, name: str) -> float:
    rates = stats.rates(cell["samples"]).get(name)
    if not rates:
        raise BadInput(f"{name} was not measured; record again with a build that has it.")
    return statistics.median(rates.values())


def _own(cell: dict, name: str) -> list[dict]:
    own = [s for s in cell["samples"] if s["candidate"] == name]
    if not own:
        raise BadInput(f"{name} was not measured; record again with a build that has it.")
    return own


def _cpu(cell: dict, name: str) -> float:
    """CPU seconds of a section; a lock under which nothing was done has an endless cost."""
    own = _own(cell, name)
    ops = sum(s["ops"] for s in own)
    return sum(s["cpu_seconds"] for s in own) / ops if ops else float("inf")


def _crowded(run: dict) -> Iterable[tuple[dict, dict]]:
    """(the cell at 32 threads, the same at two) for all cells that have both."""
    cells = {(c["hog"], c["section_us"], c["writes"], c["threads"]): c
             for c in _cells(run, "crowd", record_wait.GRID)}
    found = [(cell, cells[*key[:3], FEW]) for key, cell in cells.items()
             if key[3] == CROWDED and (*key[:3], FEW) in cells]
    if not found:
        raise BadInput(f"the run of {run.get('started')} has no cell at {FEW} and {CROWDED} "
                       "threads; record again.")
    return found


def _worst(found: list[tuple[dict, float]], least: bool, more: str = "") -> Finding:
    """The worst cell's value, and in the note where it is and what the middle of all is."""
    cell, value = (min if least else max)(found, key=lambda f: f[1])
    middle = statistics.median(v for _, v in found)
    return Finding(value, note=f"{crowd.label(cell)}; median of {len(found)} cells "
                   f"{middle:.3f}{more}")


def _kept(run: dict) -> Finding:
    return _worst([(many, _rate(many, crowd.MAIN) / max(_rate(few, crowd.MAIN), 1e-9))
                   for many, few in _crowded(run)], least=True)


def _times_spin(run: dict) -> Finding:
    """Where a bare thread does not do three times as much either, no lock can."""
    found = [(many, _rate(many, crowd.MAIN) / max(_rate(many, crowd.SPIN), 1e-9))
             for many, _ in _crowded(run)]
    cell = min(found, key=lambda f: f[1])[0]
    most = _rate(cell, crowd.FLOOR) / max(_rate(cell, crowd.SPIN), 1e-9)
    return _worst(found, least=True, more=f"; bare threads reach {most:.3f} there")


def _cpu_kept(run: dict) -> Finding:
    return _worst([(many, _cpu(many, crowd.MAIN) / _cpu(few, crowd.MAIN))
                   for many, few in _crowded(run)], least=False)


def _against_peers(run: dict) -> list[tuple[dict, float, str]]:
    found = []
    for cell in _cells(run, "crowd", record_wait.GRID):
        best = crowd.best_peer(cell)
        if best is None:
            raise BadInput("no sleeping peer was measured; record again with a build that has "
                           "one.")
        _rate(cell, crowd.MAIN)
        if _rate(cell, best) == 0:
            raise BadInput(f"no peer let anybody in while a sample lasted ({crowd.label(cell)}); "
                           "record again on a quiet machine, or with longer --seconds.")
        found.append((cell, ratio(cell, crowd.MAIN, best).value, best))
    return found


def _peers_mean(run: dict) -> Finding:
    values = [max(value, 1e-9) for _, value, _ in _against_peers(run)]
    return Finding(stats.geometric_mean(values), note=f"{len(values)} points")


def _peers_worst(run: dict) -> Finding:
    found = _against_peers(run)
    cell, value, best = min(found, key=lambda f: f[1])
    below = sum(value < 0.8 for _, value, _ in found)
    return Finding(value, note=f"{crowd.label(cell)}, against {best}; {below} of {len(found)} "
                   "points below 0.8")


def _jain(run: dict) -> Finding:
    found = []
    for cell in _cells(run, "crowd", record_wait.FAIR):
        value = crowd.fairness(_own(cell, crowd.MAIN))["1s"]
        if value is None:
            raise BadInput("the samples are shorter than a second; record again without "
                           "--seconds.")
        found.append((cell, value))
    cell = min(found, key=lambda f: f[1])[0]
    floor = crowd.fairness(_own(cell, crowd.FLOOR))["1s"]
    return _worst(found, least=True, more=f"; bare threads reach {floor:.3f} there")


def _longest(samples: list[dict]) -> float:
    return max(s["wait_ns"]["max"] for s in samples)


def _longest_wait(run: dict) -> Finding:
    """Beyond the longest pause of a bare thread, in units of what the threads before may take."""
    found = []
    for title in (record_wait.GRID, record_wait.FAIR):
        for cell in _cells(run, "crowd", title):
            wait, floor = (_longest(_own(cell, n)) for n in (crowd.MAIN, crowd.FLOOR))
            found.append((cell, max(0.0, wait - floor) / (cell["threads"] * HAND_OFF_NS)))
    cell = max(found, key=lambda f: f[1])[0]
    wait, floor = (_longest(_own(cell, n)) for n in (crowd.MAIN, crowd.FLOOR))
    return _worst(found, least=False, more=f"; it waited {table.duration(wait)} there, a bare "
                  f"thread paused {table.duration(floor)}")


# ---- The flood.

def _writer(quantile: str) -> Callable[[dict], Finding]:
    """Milliseconds beyond how late a bare thread is woken."""
    def find(run: dict) -> Finding:
        found = []
        for cell in _cells(run, "flood"):
            wait, floor = (flood.waits(_own(cell, n))[quantile]
                           for n in (crowd.MAIN, flood.FLOOR))
            found.append((cell, wait, floor))
        cell, wait, floor = max(found, key=lambda f: f[1] - f[2])
        return Finding(max(0.0, wait - floor) / MS, note=f"{flood.label(cell)}: waited "
                       f"{table.duration(wait)}, a bare thread {table.duration(floor)}")
    return find


# ---- Waking.

def _woken(run: dict, delay: float, hog: bool, ours: str, theirs: str) -> Finding:
    for cell in _cells(run, "wake"):
        if (cell["delay_ms"], cell["hog"]) == (delay, hog):
            return paired(wake.latencies(cell["samples"]), ours, theirs)
    raise BadInput(f"the run of {run.get('started')} lacks the delay of {delay:g} ms; "
                   "record again.")


def _wake(delay: float, ours: str, theirs: str) -> Callable[[dict], Finding]:
    return lambda run: _woken(run, delay, False, ours, theirs)


WAKES = (("pawl_wait", "futex", 1.1), ("pawl_wait_cond", "pthread_cond", 1.2),
         ("pawl_wait_sem", "pthread_cond", 1.2))


def _beside_spin() -> list[Target]:
    wanted = [Target(f"{mode}/pawl_lock{width} pair / {mode}/pawl_spin{width} pair", 1.03, False,
                     _pair(mode, width)) for width in record_wait.WIDTHS for mode in "rswa"]
    for width in record_wait.WIDTHS:
        ours, theirs = record_wait.CACHE[width]
        wanted += [Target(f"18 cells, 2 threads: {ours} / {theirs}, geometric mean", 1.0, True,
                          _cache_mean(width)),
                   Target(f"18 cells, 2 threads: {ours} / {theirs}, upper end of the lowest "
                          "95 % interval", 0.97, True, _cache_worst(width))]
    return wanted


def _in_crowds() -> list[Target]:
    main = crowd.MAIN
    return [
        Target(f"{CROWDED} threads: {main} / itself at {FEW} threads, worst cell", 0.85, True,
               _kept),
        Target(f"{CROWDED} threads: {main} / {crowd.SPIN}, worst cell", 3.0, True, _times_spin),
        Target(f"crowd grid: {main} / best sleeping peer, geometric mean", 1.0, True,
               _peers_mean),
        Target(f"crowd grid: {main} / best sleeping peer, worst point", 0.8, True, _peers_worst),
        Target(f"{CROWDED} threads: {main}, Jain's index over 1 s, worst cell", 0.95, True,
               _jain),
        Target(f"{main}: longest wait beyond a bare thread's pause / (threads x 0.6 ms), "
               "worst cell", 1.0, False, _longest_wait),
        Target(f"{CROWDED} threads: {main}, CPU time a section / that of {FEW} threads, "
               "worst cell", 1.2, False, _cpu_kept),
    ]


def targets() -> list[Target]:
    wanted = _beside_spin() + _in_crowds()
    wanted += [Target(f"flood: {crowd.MAIN}, {name} of the writer's wait beyond a bare thread's, "
                      "ms, worst cell", limit, False, _writer(quantile))
               for name, quantile, limit in (("p99.9", "p99.9", 1.0), ("longest", "max", 5.0))]
    wanted += [Target(f"asleep for {delay:g} ms: {ours} / {theirs}", limit, False,
                      _wake(delay, ours, theirs))
               for ours, theirs, limit in WAKES for delay in wake.DELAYS]
    return wanted


def _wake_notes(run: dict) -> list[str]:
    """Noise, and the rows with a busy CPU: information without a verdict."""
    lines = []
    for hog in (False, True):
        for delay in wake.DELAYS:
            noise = _woken(run, delay, hog, "futex_again", "futex")
            shown = [f"futex_again / futex {noise.show()}"]
            if hog:
                shown += [f"{ours} / {theirs} {_woken(run, delay, hog, ours, theirs).show()}"
                          for ours, theirs, _ in WAKES]
            busy = ", CPU busy" if hog else ""
            lines.append(f"asleep for {delay:g} ms{busy}: " + ", ".join(shown))
    return lines


def notes(runs: list[tuple[Path, dict]]) -> None:
    print("floors: the longest pause of bare threads, and how late they are woken (information):")
    for path, run in runs:
        grid = [_longest(_own(c, crowd.FLOOR)) for c in _cells(run, "crowd", record_wait.GRID)]
        late = [flood.waits(_own(c, flood.FLOOR))["max"] for c in _cells(run, "flood")]
        print(f"          {path.name}: {table.duration(max(grid))} in the crowd grid, "
              f"{table.duration(max(late))} in the flood")
    print("wakes (information; the null row shows the noise):")
    for path, run in runs:
        for line in _wake_notes(run):
            print(f"          {path.name}: {line}")
