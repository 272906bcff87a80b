# SPDX-License-Identifier: MIT
"""What the sleeping lock has to reach in crowds, judged by the samples of `pawl bench crowd`.

The worst of all cells decides, and the note names it.
"""

import statistics
from collections.abc import Callable, Iterable

from pawl.core import stats, table
from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Target, find_part, rate, ratio, samples_of
from pawl.kinds.crowd.kind import KIND
from pawl.kinds.crowd.plan import BASELINE, EVIDENCE, FLOOR, MAIN, MUTEX, OFF, PEERS, SPIN
from pawl.kinds.crowd.record import COLLAPSE, FAIR, GRID, LONG_US, SCALING, SHORT_US
from pawl.kinds.crowd.table import best_peer, fairness, label

CROWDED, FEW = 32, 2
# What a lock's hand-off allows each of the threads before one of them.
HAND_OFF_NS = 0.6e6


def _cells(run: dict, title: str) -> list[dict]:
    return find_part(run, KIND.name, lambda p: p["title"] == title)["cells"]


def _cpu(cell: dict, name: str) -> float:
    """CPU seconds of a section; a lock under which nothing was done has an endless cost."""
    own = samples_of(cell, name)
    ops = sum(s["ops"] for s in own)
    return sum(s["cpu_seconds"] for s in own) / ops if ops else float("inf")


def _crowded(run: dict) -> Iterable[tuple[dict, dict]]:
    """(the cell at 32 threads, the same at two) for all cells that have both."""
    cells = {
        (c["hog"], c["section_us"], c["writes"], c["threads"]): c for c in _cells(run, GRID.title)
    }
    found = [
        (cell, cells[*key[:3], FEW])
        for key, cell in cells.items()
        if key[3] == CROWDED and (*key[:3], FEW) in cells
    ]
    if not found:
        raise BadInput(
            f"the run of {run.get('started')} has no cell at {FEW} and {CROWDED} "
            "threads; record again."
        )
    return found


def _worst(found: list[tuple[dict, float]], least: bool, more: str = "") -> Finding:
    """The worst cell's value, and in the note where it is and what the middle of all is."""
    cell, value = (min if least else max)(found, key=lambda f: f[1])
    middle = statistics.median(v for _, v in found)
    return Finding(value, note=f"{label(cell)}; median of {len(found)} cells {middle:.3f}{more}")


def _kept(run: dict) -> Finding:
    return _worst(
        [(many, rate(many, MAIN) / max(rate(few, MAIN), 1e-9)) for many, few in _crowded(run)],
        least=True,
    )


def _times_spin(run: dict) -> Finding:
    """Where a bare thread does not do three times as much either, no lock can."""
    found = [(many, rate(many, MAIN) / max(rate(many, SPIN), 1e-9)) for many, _ in _crowded(run)]
    cell = min(found, key=lambda f: f[1])[0]
    most = rate(cell, FLOOR) / max(rate(cell, SPIN), 1e-9)
    return _worst(found, least=True, more=f"; bare threads reach {most:.3f} there")


def _cpu_kept(run: dict) -> Finding:
    return _worst(
        [(many, _cpu(many, MAIN) / _cpu(few, MAIN)) for many, few in _crowded(run)], least=False
    )


def _against_peers(run: dict) -> list[tuple[dict, float, str]]:
    found = []
    for cell in _cells(run, GRID.title):
        best = best_peer(cell)
        if best is None:
            raise BadInput("no sleeping peer was measured; record again with a build that has one.")
        rate(cell, MAIN)
        if rate(cell, best) == 0:
            raise BadInput(
                f"no peer let anybody in while a sample lasted ({label(cell)}); "
                "record again on a quiet machine, or with longer --seconds."
            )
        found.append((cell, ratio(cell, MAIN, best).value, best))
    return found


def _peers_mean(run: dict) -> Finding:
    values = [max(value, 1e-9) for _, value, _ in _against_peers(run)]
    return Finding(stats.geometric_mean(values), note=f"{len(values)} points")


def _peers_worst(run: dict) -> Finding:
    found = _against_peers(run)
    cell, value, best = min(found, key=lambda f: f[1])
    below = sum(value < 0.8 for _, value, _ in found)
    return Finding(
        value, note=f"{label(cell)}, against {best}; {below} of {len(found)} points below 0.8"
    )


def _jain(run: dict) -> Finding:
    found = []
    for cell in _cells(run, FAIR.title):
        value = fairness(samples_of(cell, MAIN))["1s"]
        if value is None:
            raise BadInput("the samples are shorter than a second; record again without --seconds.")
        found.append((cell, value))
    cell = min(found, key=lambda f: f[1])[0]
    floor = fairness(samples_of(cell, FLOOR))["1s"]
    return _worst(found, least=True, more=f"; bare threads reach {floor:.3f} there")


def _longest(samples: list[dict]) -> float:
    return max(s["wait_ns"]["max"] for s in samples)


def _longest_wait(run: dict) -> Finding:
    """Beyond the longest pause of a bare thread, in units of what the threads before may take."""
    found = []
    for title in (GRID.title, FAIR.title):
        for cell in _cells(run, title):
            wait, floor = (_longest(samples_of(cell, n)) for n in (MAIN, FLOOR))
            found.append((cell, max(0.0, wait - floor) / (cell["threads"] * HAND_OFF_NS)))
    cell = max(found, key=lambda f: f[1])[0]
    wait, floor = (_longest(samples_of(cell, n)) for n in (MAIN, FLOOR))
    return _worst(
        found,
        least=False,
        more=f"; it waited {table.duration(wait)} there, a bare "
        f"thread paused {table.duration(floor)}",
    )


def targets() -> list[Target]:
    main = MAIN
    return [
        Target(f"{CROWDED} threads: {main} / itself at {FEW} threads, worst cell", 0.85, True,
               _kept),
        Target(f"{CROWDED} threads: {main} / {SPIN}, worst cell", 3.0, True, _times_spin),
        Target(f"crowd grid: {main} / best sleeping peer, geometric mean", 1.0, True, _peers_mean),
        Target(f"crowd grid: {main} / best sleeping peer, worst point", 0.8, True, _peers_worst),
        Target(f"{CROWDED} threads: {main}, Jain's index over 1 s, worst cell", 0.95, True, _jain),
        Target(
            f"{main}: longest wait beyond a bare thread's pause / (threads x 0.6 ms), worst cell",
            1.0,
            False,
            _longest_wait,
        ),
        Target(f"{CROWDED} threads: {main}, CPU time a section / that of {FEW} threads, worst cell",
               1.2, False, _cpu_kept),
    ]  # fmt: skip


def longest_pause(run: dict) -> float:
    """Of bare threads, in nanoseconds."""
    return max(_longest(samples_of(c, FLOOR)) for c in _cells(run, GRID.title))


# ---- Readers that scale -------------------------------------------------------------------------


def _not_below(run: dict) -> Finding:
    """The worst upper end of an interval; the null row beside it says what noise does."""
    found, null = (
        [
            (f.high or f.value, label(cell))
            for cell in _cells(run, SCALING.title)
            for f in (ratio(cell, name, OFF),)
        ]
        for name in (EVIDENCE, MAIN)
    )
    worst, where = min(found)
    middle = statistics.median(high for high, _ in found)
    return Finding(
        worst,
        note=f"{where}; {MAIN} / {OFF} has {min(null)[0]:.3f}; median of {len(found)} cells "
        f"{middle:.3f}",
    )


def scaling() -> list[Target]:
    return [
        Target(
            f"crowd grid: {EVIDENCE} / {OFF}, upper end of the lowest 95 % interval",
            0.98,
            True,
            _not_below,
        )
    ]


# ---- Where a lock may collapse ------------------------------------------------------------------


def _steady(run: dict, section: float) -> dict:
    return next(c for c in _cells(run, COLLAPSE.title) if c["section_us"] == section)


def _short(name: str) -> Callable[[dict], Finding]:
    return lambda run: ratio(_steady(run, SHORT_US), name, BASELINE)


def _short_cpu(run: dict) -> Finding:
    cell = _steady(run, SHORT_US)
    there = {s["candidate"] for s in cell["samples"]}
    peers = {n: _cpu(cell, n) for n in (*PEERS, MUTEX) if n in there}
    best = min(peers, key=peers.__getitem__)
    return Finding(_cpu(cell, MAIN) / peers[best], note=f"against {best}")


def _long_rate(run: dict) -> Finding:
    cell = _steady(run, LONG_US)
    best = best_peer(cell) or BASELINE
    found = ratio(cell, MAIN, best)
    found.note = f"against {best}"
    return found


def _long_wait(run: dict) -> Finding:
    own = samples_of(_steady(run, LONG_US), MAIN)
    return Finding(statistics.median(s["wait_ns"]["p99.9"] for s in own) / 1e6)


def _long_jain(run: dict) -> Finding:
    value = fairness(samples_of(_steady(run, LONG_US), MAIN))["100ms"]
    if value is None:
        raise BadInput("the samples are shorter than 100 ms; record again without --seconds.")
    return Finding(value)


def _null(section: float) -> Callable[[dict], Finding]:
    return lambda run: ratio(_steady(run, section), MAIN, OFF)


def collapse() -> list[Target]:
    short = f"{CROWDED} threads, sections of {SHORT_US * 1000:g} ns, no pause"
    long = f"{CROWDED} threads, sections of {LONG_US:g} us"
    return [
        *(Target(f"{short}: {n} / {BASELINE}", 1.0, True, _short(n)) for n in (MAIN, EVIDENCE)),
        Target(f"{short}: {MAIN} / best peer, CPU time a section", 1.0, False, _short_cpu),
        Target(f"{long}: {MAIN} / best sleeping peer", 1.0, True, _long_rate),
        Target(f"{long}: {MAIN}, p99.9 of waits, ms", 12.0, False, _long_wait),
        Target(f"{long}: {MAIN}, Jain's index over 100 ms", 0.9, True, _long_jain),
    ]


def collapse_note(run: dict) -> str:
    """The lock against itself, in both cells: the noise."""
    short, long = (_null(us)(run).show() for us in (SHORT_US, LONG_US))
    return f"the same lock twice, short and long sections: {short}, {long}"
