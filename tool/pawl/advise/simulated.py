# SPDX-License-Identifier: MIT
"""What readers that scale would give: here, by the prices that the recorder timed, and on more
cores by what `pawl sim trace` does.

The recorder's own work is longer than what a program with short sections does between its locks, so
a trace says only between which two times that lies. Both give a gain, and the figure is the middle
of the two. Where they lie too far apart, there is none.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

import numpy as np

from pawl.advise.facts import Facts, Process, Uses
from pawl.advise.finding import Finding
from pawl.core import driver
from pawl.core.errors import BadInput, Failure
from pawl.replay import command as replay
from pawl.replay import steps
from pawl.replay.window import Window, largest
from pawl.sim import grid, machine, tasks

RULE = "many_short_reads"
LARGE, MACHINE = "milan", "two AMD EPYC 7763"
CORES = (8, 32, 64)
NEAR = 2.2  # of the two gains, the greater over the less; doc/trace.md: their middle was measured
MOST_SECONDS = 20
EACH = 60  # locks of a thread in a run
BUSY = 4  # a thread that takes fewer than this part of the busiest one's locks is left out
OTHER = 4  # times as long a lock as in the whole run: the window shows something else
UNMOVED = 2  # percentile of a gap: of those whose lines were there
BEFORE, AFTER = "original", "lock32_evidence"


@dataclass(frozen=True)
class Row:
    cores: int
    low: float
    high: float
    here: bool = False

    @property
    def is_figure(self) -> bool:
        return self.high <= NEAR * self.low

    @property
    def said(self) -> str:
        low, high = grid.digits(self.low), grid.digits(self.high)
        middle = f"about {grid.digits((self.low * self.high) ** 0.5)} times"
        if low != high:
            middle += f" ({low} to {high})"
        if not self.is_figure:
            middle = f"{low} to {high} times, too wide for a figure"
        if self.here:
            return f"here, at {self.cores} threads, {middle}, by the prices that were timed"
        return f"{self.cores} cores: {middle}"


@dataclass
class Gains:
    rows: list[Row] = field(default_factory=list)
    why: str = ""  # what is missing, and why

    @property
    def said(self) -> str:
        here = [row.said for row in self.rows if row.here]
        more = [row.said for row in self.rows if not row.here]
        if more:
            more.append(f"simulated ({MACHINE}), never validated for these locks")
        return "; ".join([*here, *more, *([self.why] if self.why else [])])

    def as_json(self) -> dict:
        rows = [
            {
                "cores": r.cores,
                "simulated": not r.here,
                "low": r.low,
                "high": r.high,
                "figure": (r.low * r.high) ** 0.5 if r.is_figure else None,
            }
            for r in self.rows
        ]
        return {"rows": rows, "why": self.why}


# ---- How long the program works between its locks ------------------------------------------------


def _gaps(window: Window) -> tuple[float, float]:
    """Nanoseconds a lock, in its section and before it: as if no line had come from elsewhere, and
    as recorded, but for what lines took in the mean."""
    taken, places = 0, defaultdict(list)
    for lane in window.lanes:
        points = [(e.granted, 1, e) for e in lane.events if e.lock is not None]
        points += [(e.end, 0, e) for e in lane.events if e.lock is not None]
        points.sort(key=lambda p: p[:2])
        for (then, begun, before), (now, begins, e) in zip(points, points[1:], strict=False):
            gap = now - then - (e.wait if begins else 0) - (0 if begun else before.call)
            moved = window.moves.get((e.lock, e.take), 0) if begins else 0
            if gap >= steps.LEAST_SLEEP:
                continue  # it slept, or had no processor
            taken += bool(begins)
            places[begun, before.take, begins, e.lock, e.take].append((gap, moved))
    least = most = 0.0
    for gaps in places.values():
        all_, moved = np.array(gaps, dtype=float).T
        low = max(float(np.percentile(all_, UNMOVED)), 0)
        least += low * len(all_)
        most += float(np.maximum(all_ - moved, low).sum())
    return least / max(taken, 1), most / max(taken, 1)


def _work(window: Window) -> tuple[float, float]:
    """Without the recorder's: it reads the clock at both ends of a hold, and an empty one has only
    that; and without the calls."""
    holds = [e.hold for e in window.holds]
    clock = float(np.percentile(holds, 1)) if holds else 0.0
    least, most = _gaps(window)
    alone = window.own + 2 * clock + window.pair_ns
    return max(least - alone, 1.0), max(most - alone, 1.0)


def _mean(every: list[steps.Steps]) -> float:
    takes = sum(what in (steps.TAKE_READ, steps.TAKE_WRITE) for own in every for what, _, _ in own)
    works = sum(ns for own in every for what, _, ns in own if what == steps.WORK)
    return works / max(takes, 1)


def _shorter(own: steps.Steps, ns: float, factor: float) -> steps.Steps:
    """Without sleep, as the machine would be full; each piece of work shorter by so much."""
    return [
        (what, lock, round(factor * max(length - ns, 0)))
        for what, lock, length in own
        if what != steps.SLEEP
    ]


def _lasting(plan: steps.Plan, work: float) -> steps.Plan:
    """The threads with so much work a lock: what is too much goes from each piece alike, as the
    recorder and the lines put it there."""
    busy = [own for own in plan.plain if len(own) > len(max(plan.plain, key=len)) / BUSY]
    low, high = 0.0, float(max(ns for own in busy for _, _, ns in own))
    for _ in range(40):
        middle = (low + high) / 2
        more = _mean([_shorter(own, middle, 1) for own in busy]) > work
        low, high = (middle, high) if more else (low, middle)
    left = _mean([_shorter(own, low, 1) for own in busy])
    made = [_shorter(own, low, min(work / max(left, 1e-9), 1)) for own in busy]
    return replace(plan, original=made, plain=made, upgraded=made)


# ---- The gains -----------------------------------------------------------------------------------


class _Runs:
    """Runs of pawl-sim, for at most so long."""

    def __init__(self, program: Path, quiet: bool, seconds: float = MOST_SECONDS):
        self.program, self.quiet, self.seconds = program, quiet, seconds
        self.end = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return monotonic() > self.end

    def rates(self, wanted: list[tuple[str, ...]]) -> list[float]:
        found = tasks.run(self.program, wanted, quiet=self.quiet)
        return [one["operations_per_s"] for one in found]


def _task(lock: str, file: Path, cores: int, words: list[str]) -> tuple[str, ...]:
    return (
        "replay",
        *(f"{k}={v}" for k, v in grid.settings_of(lock).items()),
        f"steps={file}",
        f"cores={cores}",
        f"threads={cores}",
        f"count={EACH * cores}",
        f"warm={EACH // 2}",
        "seed=1",
        *words,
    )


def _here(threads: int, work: tuple[float, float], pair: float, line: float) -> Row:
    """By the prices that were timed. A look at the clock waits for what stands in front of it: in
    the program lines come beside each other, and beside its work, so down to half of that counts.
    """
    least, most = (ns + pair for ns in work)
    return Row(threads, (most + line / 2) / most, (least + line) / least, True)


def _row(runs: _Runs, files: list[Path], cores: int, words: list[str]) -> Row:
    rates = runs.rates(
        [_task(lock, file, cores, words) for file in files for lock in (BEFORE, AFTER)]
    )
    if min(rates) <= 0:
        raise Failure("a simulated run took no lock")
    gains = [after / before for before, after in zip(rates[::2], rates[1::2], strict=True)]
    return Row(cores, min(gains), max(gains))


def _is_other(facts: Facts, window: Window, process: Process) -> bool:
    """Threads start in it, or do something else: they take locks far less often than in the run."""
    ran, pairs = facts.db.execute(
        "SELECT coalesce(cpu_ns, thread_ns), pairs FROM process WHERE id = ?", (process.id,)
    ).fetchone()
    most = max(lane.taken for lane in window.lanes)
    busy = [lane for lane in window.lanes if lane.taken > most / BUSY]
    lasted = sum(map(window.until, busy)) / max(sum(lane.taken for lane in busy), 1)
    return lasted > OTHER * ran / max(pairs, 1)


def _on_more(plans: list[steps.Plan], runs: _Runs, found: Gains) -> None:
    threads = len(plans[0].plain)
    words = machine.words(machine.load(LARGE))
    with tempfile.TemporaryDirectory(prefix="pawl-advise-") as folder:
        files = [Path(folder, str(i)) for i in range(len(plans))]
        for file, one in zip(files, plans, strict=True):
            file.write_bytes(one.file())
        for cores in (c // threads * threads for c in CORES if c >= 2 * threads):
            if runs.is_over:
                found.why = f"{cores} cores and more were cut, after {runs.seconds:.0f} s"
                return
            found.rows.append(_row(runs, files, cores, words))


def _add(facts: Facts, finding: Finding, found: Gains, runs: Callable[[], _Runs]) -> None:
    window = largest(facts.db)
    locks = finding.match.locks
    if not {lock.id for lock in locks} & {e.lock for e in window.holds}:
        raise BadInput("the window that holds most has none of these locks")
    if _is_other(facts, window, locks[0].process):
        raise BadInput("the window that holds most is not like the rest of the run")
    kinds = {n: lock.kind for n, lock in facts.locks.items()}
    shared = {e.lock for e in window.holds if kinds[e.lock] == "rwlock"}
    plan = steps.plan(window, kinds, shared, replay.known(facts))
    work = _work(window)
    plans = [_lasting(plan, ns) for ns in work]
    if len(plans[0].plain) < 2:
        raise BadInput("in the window that holds most a single thread was at work")
    line = Uses([use for lock in locks for use in lock.of("read")]).timed("take_ns", "drop_ns")
    if line is not None:
        found.rows.append(_here(len(plans[0].plain), work, window.pair_ns, line))
    _on_more(plans, runs(), found)


def gains(facts: Facts, finding: Finding, given: str | None = None, quiet: bool = True) -> Gains:
    """Of a finding about readers that share lines."""
    found = Gains()
    try:
        if finding.match.locks[0].kind != "rwlock":
            raise BadInput("Pawl's own locks are not done again")
        _add(facts, finding, found, lambda: _Runs(driver.find("pawl-sim", given), quiet))
    except (BadInput, Failure) as error:
        found.why = f"not simulated: {str(error).rstrip('.')}"
    return found
