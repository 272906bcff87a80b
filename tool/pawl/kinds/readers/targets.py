# SPDX-License-Identifier: MIT
"""What locks that are mostly read have to reach, judged by the samples of `pawl bench readers`.

The targets of scaling readers compare the rows _on and _off, which a lock without them lacks.
"""

import statistics
from collections.abc import Callable

from pawl.core import stats
from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Target, find_part, paired, rate, ratio, samples_of
from pawl.kinds.readers.kind import KIND
from pawl.kinds.readers.plan import BRLOCK, EVIDENCE, MAIN, OFF, ON, ONE_WORD, XADD
from pawl.kinds.readers.record import GRID, PAIR, SCENES
from pawl.kinds.readers.table import label

MOSTLY_WRITTEN = 20.0
# What a writer may pay beyond the lock whose readers do not scale: once, and for each thread.
WRITE_NS, THREAD_NS = 150.0, 12.0


def _cells(run: dict, title: str, **keys: object) -> list[dict]:
    part = find_part(run, KIND.name, lambda p: p["title"] == title)
    found = [c for c in part["cells"] if all(c[k] == v for k, v in keys.items())]
    if not found:
        raise BadInput(
            f"the run of {run.get('started')} has no cell of '{title}' with {keys}; record again."
        )
    return found


def _pair(run: dict, threads: int) -> dict:
    return _cells(run, PAIR.title, threads=threads)[0]


def _time(name: str, against: str) -> Callable[[dict], Finding]:
    """A pair of one thread, in times of another's."""
    return lambda run: ratio(_pair(run, 1), against, name)


def _scaling(name: str) -> Callable[[dict], Finding]:
    """Two threads together against one, round by round."""

    def find(run: dict) -> Finding:
        one, two = (stats.rates(_pair(run, n)["samples"]).get(name, {}) for n in (1, 2))
        return paired({"two": two, "one": one} if two and one else {}, "two", "one")

    return find


def _over(name: str, against: str) -> Callable[[dict], Finding]:
    return lambda run: ratio(_pair(run, 2), name, against)


def _over_all(name: str) -> Callable[[dict], Finding]:
    """Against the best of those that count in one word."""

    def find(run: dict) -> Finding:
        cell = _pair(run, 2)
        rates = stats.rates(cell["samples"])
        known = [n for n in ONE_WORD if n in rates]
        if not known:
            raise BadInput("no lock that counts in one word was measured; record again.")
        best = max(known, key=lambda n: rate(cell, n))
        found = ratio(cell, name, best)
        found.note = f"against {best}, the best of {len(known)}"
        return found

    return find


def _time_of(cell: dict, name: str) -> float:
    return 1e9 / max(rate(cell, name), 1e-9)


def _write(run: dict) -> Finding:
    """What W costs more, in times of what it may; the worst number of registered threads."""
    found = []
    for cell in _cells(run, SCENES.title, scene="write"):
        more = _time_of(cell, ON) - _time_of(cell, OFF)
        allowed = WRITE_NS + THREAD_NS * max(cell["registered"] - 2, 0)
        found.append((more / allowed, f"{label(cell)}: {more:+.0f} ns, {allowed:.0f} allowed"))
    value, note = max(found)
    return Finding(value, note=note)


def _seek(run: dict) -> Finding:
    """The worst section; a time, so less is better."""
    found = [
        (ratio(cell, OFF, ON), label(cell)) for cell in _cells(run, SCENES.title, scene="seek")
    ]
    worst, where = max(found, key=lambda f: f[0].value)
    worst.note = where
    return worst


def _flood(run: dict) -> Finding:
    cell = _cells(run, SCENES.title, scene="flood")[0]
    on, off = (
        statistics.median(s["wait_ns"]["p99.9"] for s in samples_of(cell, n)) for n in (ON, OFF)
    )
    if off <= 0:
        raise BadInput("no writer came among the readers; record again, with longer --seconds.")
    return Finding(on / off, note=label(cell))


def _mostly_written(run: dict) -> Finding:
    """The worst upper end of an interval. A lock that is mostly written turns scaling off where
    the evidence decides."""
    found = [
        (ratio(cell, EVIDENCE, OFF), label(cell))
        for cell in _cells(run, GRID.title)
        if cell["writes"] >= MOSTLY_WRITTEN
    ]
    worst, where = min(found, key=lambda f: f[0].high or f[0].value)
    return Finding(worst.high or worst.value, note=where)


def brlock() -> list[Target]:
    return [
        Target(f"reader's pair, 1 thread: {BRLOCK} / {OFF}, time", 0.25, False, _time(BRLOCK, OFF),
               middle=True),
        Target(f"read only, 2 threads: {BRLOCK} / {OFF}", 10.0, True, _over(BRLOCK, OFF),
               middle=True),
    ]  # fmt: skip


def scaling() -> list[Target]:
    return [
        Target(f"reader's pair, 1 thread: {ON} / {OFF}, time", 0.65, False, _time(ON, OFF),
               middle=True),
        Target(f"read only: {ON}, 2 threads / 1", 1.9, True, _scaling(ON), middle=True),
        Target(f"read only, 2 threads: {ON} / {OFF}", 4.0, True, _over(ON, OFF), middle=True),
        Target(f"read only, 2 threads: {ON} / the best that counts in one word", 4.0, True,
               _over_all(ON), middle=True),
        Target(f"W, nobody reading: {ON} beyond {OFF}, in times of 150 ns + 12 ns a thread", 1.0,
               False, _write),
        Target(f"S beside a looping reader: {ON} / {OFF}, time", 1.05, False, _seek),
        Target(f"writer among 8 looping readers: {ON} / {OFF}, p99.9 of its waits", 1.0, False,
               _flood, middle=True),
        Target(f"{MOSTLY_WRITTEN:g} % writes and more: {EVIDENCE} / {OFF}, worst upper end", 0.98,
               True, _mostly_written),
    ]  # fmt: skip


def _has_additions(run: dict) -> bool:
    return bool(stats.of_candidate(_pair(run, 1)["samples"], XADD))


def word(limit: float = 1.05) -> list[Target]:
    return [
        Target(
            f"reader's pair, 1 thread: {MAIN} / {XADD}, time",
            limit,
            False,
            _time(MAIN, XADD),
            middle=True,
            applies=_has_additions,
        )
    ]


def targets() -> list[Target]:
    return [*brlock(), *scaling(), *word()]


def notes(run: dict) -> str:
    """The pair beside the floors, for a run without the rows _on and _off too."""
    one, two = _pair(run, 1), _pair(run, 2)
    return (
        f"{BRLOCK} / {MAIN}: {ratio(one, MAIN, BRLOCK).show()} of its pair's time at one "
        f"thread, {ratio(two, BRLOCK, MAIN).show()} times its rate at two"
    )
