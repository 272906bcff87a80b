# SPDX-License-Identifier: MIT
"""What a trace says of each lock, added up as the rules need it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from pawl.trace import store

# Pawl's own locks; the others that are held, of which the first two have one mode.
OURS = ("pawl_spin", "pawl_lock", "pawl_pshared_lock", "pawl_brlock", "pawl_sift")
HELD = ("mutex", "spin", "rwlock", *OURS)
SHARED = ("rwlock", *OURS)
TOTALS = (
    "SELECT l.id, l.name, l.given, l.kind, l.process, t.* FROM lock l LEFT JOIN (SELECT lock, "
    "sum(count) AS count, sum(waits) AS waits, sum(wait_ns) AS wait_ns, sum(hold_ns) AS "
    "hold_ns, sum(CASE mode WHEN 'read' THEN 0 ELSE hold_ns END) AS exclusive_ns FROM use "
    "GROUP BY lock) t ON t.lock = l.id"
)
COLUMNS = (
    "id, lock, mode, take, release, count, hold_ns, hold_p50, hold_p99, hold_max, waits, wait_ns, "
    "wait_max, failed, timeouts, handoffs, overlaps, beside, threads, thread, kept, kept_ns, "
    "woke, woke_ns, priced, take_ns, drop_ns, own_ns, note_ns"
)
PART = 10_000  # locks between two words of how far it is
# Two moves of a line between processors, about. It only decides what is worth a word, and stands
# for what a trace of an older version does not say.
LINE_NS = 100
MANY_TIMED = 20  # fewer say nothing
WAKE_NS = 25_000  # of processor time, about: a thread goes to sleep, and another one wakes it
# Of the threads' time. No rule looks at a lock whose waits and pairs are less in all: far below
# what is worth a word (finding.py), so that a trace may have a million locks.
LEAST = 0.0001
Tell = Callable[[int], None]


@dataclass(frozen=True)
class Site:
    text: str
    function: str = ""
    file: str = ""
    line: int = 0
    frames: tuple = ()
    module: str = field(default="", compare=False)
    offset: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def is_bare(self) -> bool:
        return bool(self.module) and not self.function

    @property
    def chain(self) -> str:
        """With the functions into which it was inlined, the nearest three: a wrapper of a lock says
        nothing alone."""
        return ", inlined in ".join([self.text, *self.texts[1:4]])

    @property
    def texts(self) -> list[str]:
        """Of the function, and of those into which it was inlined."""
        return [
            f"{name} ({file.rsplit('/', 1)[-1]}:{line})" if file and line else str(name)
            for name, file, line in self.frames
        ] or [self.text]


NOWHERE = Site("?")


@dataclass(slots=True, eq=False)
class Use:
    """A lock, a mode and a pair of call sites; times in nanoseconds. The histograms stay in the
    file until they are asked for."""

    mode: str
    take: Site
    release: Site | None
    row: sqlite3.Row
    db: sqlite3.Connection

    def __getattr__(self, name: str):
        return self.row[name]

    def histogram(self, what: str) -> list[tuple[int, int]]:
        """Of hold or wait: (lower edge, count)."""
        text = self.db.execute(
            f"SELECT {what}_histogram FROM use WHERE id = ?", (self.row["id"],)
        ).fetchone()[0]
        return store.histogram(text)


@dataclass(eq=False)
class Lock:
    """Its sums are there from the start; its uses are read when a rule looks at them."""

    id: int
    name: str
    kind: str
    process: Process
    count: int
    waits: int
    wait_ns: int
    hold_ns: int
    given: bool  # the program named it; else the name is that of a variable, or of a place
    facts: Facts = field(repr=False)
    exclusive_ns: int = 0  # how long somebody was in alone

    @cached_property
    def uses(self) -> list[Use]:
        rows = self.facts.db.execute(
            f"SELECT {COLUMNS} FROM use WHERE lock = ? ORDER BY id", (self.id,)
        )
        site = self.facts.site
        return [
            Use(r["mode"], site(r["take"]), self.facts.sites.get(r["release"]), r, self.facts.db)
            for r in rows
        ]

    def of(self, *modes: str) -> Uses:
        return Uses([u for u in self.uses if u.mode in modes])

    @cached_property
    def all(self) -> Uses:
        return Uses(self.uses)

    @property
    def callers(self) -> int:
        """At most so many threads."""
        return min(self.process.threads, sum(u.row["threads"] for u in self.uses))

    @property
    def explained_ns(self) -> int:
        """Of the waiting, what holds can be the reason of: behind each hold at most all others
        wait. The rest is the way to a processor, and no other lock shortens it."""
        return min(self.wait_ns, max(self.callers - 1, 0) * self.hold_ns)

    def without(self, waited: float) -> tuple[float, float]:
        """What goes with so much of its waiting, of a match: the time, and what it costs that
        threads sleep and are woken. While one waits each release wakes one, which finds the lock
        taken where its holder was back first. A short wait is no sleep."""
        hold = max(self.hold_ns / max(self.count, 1), WAKE_NS)
        wakes = max(self.waits, min(self.wait_ns / max(self.callers - 1, 1) / hold, self.count))
        ns = min(wakes * self.process.wake_ns(), self.wait_ns)
        share = waited / max(self.wait_ns, 1)
        return max(waited - self.crowd_ns * share, 0), ns * share

    @property
    def crowd_ns(self) -> float:
        """Of the waiting, what is left where its sections run on too few processors beside each
        other: a thread without one keeps others out."""
        process, processors = self.process, self.facts.processors
        if not processors or process.cpu_ns is None:
            return 0.0
        ran = min(self.hold_ns, max(process.cpu_ns - process.sleeps * WAKE_NS, 0))
        return max(self.callers / processors - 1, 0) * ran

    @property
    def held(self) -> float:
        """That time as a share of the recording."""
        return min(self.exclusive_ns / max(self.process.wall_ns, 1), 1.0)

    @property
    def is_whole(self) -> bool:
        """False: the recorder saw its waits only, so nothing is known of takes and holds."""
        return self.kind not in OURS or any(u.release is not None for u in self.uses)


class Uses:
    """Several uses as one."""

    def __init__(self, uses: list[Use]):
        self.uses = uses

    def __iter__(self):
        return iter(self.uses)

    def sum(self, column: str) -> int:
        return sum(u.row[column] for u in self.uses)

    def max(self, column: str) -> int:
        return max((u.row[column] for u in self.uses), default=0)

    @cached_property
    def count(self) -> int:
        return self.sum("count")

    def timed(self, *columns: str) -> float | None:
        """The mean of these, in nanoseconds, of the takes that were timed."""
        priced = self.sum("priced")
        if priced < MANY_TIMED:
            return None
        return sum(u.row[c] * u.row["priced"] for u in self.uses for c in columns) / priced

    @property
    def threads(self) -> int:
        """At least so many; where it says 1, it is exact."""
        several = {u.row["thread"] for u in self.uses if u.row["thread"] is not None}
        return max(len(several), self.max("threads"))

    def percentile(self, what: str, share: float) -> float:
        """Of hold or wait, over all uses, from their histograms: the lower edge of the bucket."""
        buckets: dict[int, int] = {}
        for use in self.uses:
            for edge, count in use.histogram(what):
                buckets[edge] = buckets.get(edge, 0) + count
        left = share * sum(buckets.values())
        for edge in sorted(buckets):
            left -= buckets[edge]
            if left <= 0:
                return edge
        return 0


@dataclass
class Process:
    id: int
    program: str
    thread_ns: int  # of work: processor time, and waits for locks
    wall_ns: int
    threads: int
    pair_ns: int = 20  # what a take and its release cost here, of a lock that nobody shares
    own_ns: int = 0  # what the recorder does before a hold
    cpu_ns: int | None = None
    sleeps: int = 0  # waits of all kinds

    def wake_ns(self, most: float = WAKE_NS) -> float:
        """What a sleep and its wake cost here: no more than there is for each."""
        return most if self.cpu_ns is None else min(most, self.cpu_ns / max(self.sleeps, 1))

    def unrecorded(self, ns: float, own_ns: float) -> float:
        """Time that a change saves, as the same share of the threads' time without the recorder's
        part."""
        return ns * self.thread_ns / max(self.thread_ns - own_ns, ns, 1)


@dataclass
class Blame:
    site: Site
    holder: Site
    mode: str
    count: int
    wait_ns: int
    held_ns: int  # of the waits, while it held
    inverted: int


def _worked(process: sqlite3.Row, waited: int) -> int:
    """How long threads ran or waited for locks, between the first and last call of each. Sleep is
    no work: a pool of threads that have nothing to do would make each wait look small."""
    cpu, there = process["cpu_ns"], process["thread_ns"]
    return there if cpu is None else min(cpu + waited, there)


class Facts:
    def __init__(self, db: sqlite3.Connection, tell: Tell = lambda _: None):
        """`tell` hears how many locks have been read since it was told last."""
        self.db = db
        self.costs: Any = None  # of `pawl costs` of this machine (kinds/costs/saved.py)
        meta = dict(db.execute("SELECT name, value FROM meta").fetchall())
        self.command = meta.get("command", "")
        self.machine = meta.get("machine", "")
        count = meta.get("processors", "")
        self.processors = int(count) if re.fullmatch("[0-9]{1,6}", count) else 0  # 0: not known
        waited = self._waited()
        self.processes = {
            r["id"]: Process(
                r["id"],
                r["program"],
                max(_worked(r, waited.get(r["id"], (0, 0))[0]), 1),
                r["wall_ns"],
                r["threads"],
                r["pair_ns"],
                r["own_ns"],
                r["cpu_ns"],
                waited.get(r["id"], (0, 0))[1],
            )
            for r in db.execute("SELECT * FROM process")
        }
        self.sites = {
            r["id"]: Site(
                r["text"],
                r["function"],
                r["file"],
                r["line"],
                tuple(map(tuple, json.loads(r["frames"]))),
                r["module"] or "",
                r["offset"] or 0,
            )
            for r in db.execute("SELECT * FROM site")
        }
        self.locks: dict[int, Lock] = {}
        for number, r in enumerate(db.execute(TOTALS), 1):
            self.locks[r["id"]] = Lock(
                r["id"],
                r["name"],
                r["kind"],
                self.processes[r["process"]],
                r["count"] or 0,
                r["waits"] or 0,
                r["wait_ns"] or 0,
                r["hold_ns"] or 0,
                bool(r["given"]),
                self,
                r["exclusive_ns"] or 0,
            )
            if number % PART == 0:
                tell(PART)

    @property
    def program(self) -> str:
        return Path(self.command.split(" ")[0]).name or "a program"

    @property
    def when(self) -> str:
        """Date and length of the recording, and where it was made."""
        begun, ns = self.db.execute(
            "SELECT min(begun_unix_ns), max(wall_ns) FROM process"
        ).fetchone()
        if not begun:
            return self.machine
        try:
            day = datetime.fromtimestamp(begun / 1e9).astimezone()
        except (OverflowError, ValueError, OSError):
            return self.machine
        at = f" on {self.machine}" if self.machine else ""
        return f"{day:%Y-%m-%d %H:%M}, for {time(ns or 0)}{at}"

    def _waited(self) -> dict[int, tuple[int, int]]:
        """Of each process: for its locks; how often for anything."""
        marks = ",".join("?" * len(HELD))
        rows = self.db.execute(
            f"SELECT l.process, sum(CASE WHEN l.kind IN ({marks}) THEN u.wait_ns ELSE 0 END), "
            "sum(u.waits) FROM use u JOIN lock l ON l.id = u.lock GROUP BY l.process",
            HELD,
        )
        return {process: (waited, sleeps) for process, waited, sleeps in rows}

    @cached_property
    def _threads(self) -> dict[tuple[int, str, int], sqlite3.Row]:
        rows = self.db.execute("SELECT * FROM thread ORDER BY number DESC").fetchall()
        columns = ("lane", "number", "kernel")
        return {(r["process"], column, r[column]): r for r in rows for column in columns}

    def thread(self, process: int, column: str, value: int) -> tuple[int, str]:
        """Its place in their order, and what it is called: of a lane, a number, or a number in the
        kernel."""
        row = self._threads.get((process, column, value))
        if row is None:
            return value, f"thread {value}"
        others = f", and {row['several'] - 1} before it" if row["several"] > 1 else ""
        more = others if column == "lane" else ""
        return row["number"], f"{row['name'] or 'thread'} (thread {row['number']}){more}"

    def site(self, number: int | None) -> Site:
        return self.sites.get(number, NOWHERE)

    def kind(self, *kinds: str) -> Iterable[Lock]:
        return (
            lock
            for lock in self.locks.values()
            if lock.kind in kinds and lock.count and lock.is_whole
        )

    def heavy(self, *kinds: str) -> Iterable[Lock]:
        """Those at which a change could gain something."""
        return (
            lock
            for lock in self.kind(*kinds)
            if lock.wait_ns + lock.count * lock.process.pair_ns >= LEAST * lock.process.thread_ns
        )

    @property
    def waits_only(self) -> Iterator[Lock]:
        """Pawl's locks in programs that do not define PAWL_TRACED."""
        return (lock for lock in self.locks.values() if not lock.is_whole)

    @cached_property
    def thread_ns(self) -> int:
        return sum(p.thread_ns for p in self.processes.values())

    @cached_property
    def wait_ns(self) -> int:
        """All waiting for locks; not for conditions, barriers and semaphores, which wait for
        work."""
        return sum(lock.wait_ns for lock in self.locks.values() if lock.kind in HELD)

    @cached_property
    def short(self) -> float:
        """Of the time in which threads could have run, the share in which they had no processor, by
        the kernel's counters, in the windows."""
        kept, ran = self.db.execute(
            "SELECT total(kept_ns), total(cpu_ns) FROM part WHERE kept_ns IS NOT NULL"
        ).fetchone()
        return kept / (kept + ran) if kept else 0.0

    @cached_property
    def losses(self) -> list[tuple[int, str]]:
        return [
            tuple(r)
            for r in self.db.execute("SELECT sum(count), meaning FROM loss GROUP BY meaning")
        ]

    def blames(self, lock: Lock) -> list[Blame]:
        rows = self.db.execute(
            "SELECT * FROM blame WHERE lock = ? ORDER BY wait_ns DESC", (lock.id,)
        )
        return [
            Blame(
                self.site(r["site"]),
                self.site(r["holder"]),
                r["mode"],
                r["count"],
                r["wait_ns"],
                r["wait_ns"] - r["past_ns"],
                r["inverted"],
            )
            for r in rows
        ]

    @cached_property
    def inverted(self) -> list[Lock]:
        """Those that a real-time thread waited for while another thread held it."""
        return [
            self.locks[r["lock"]]
            for r in self.db.execute(
                "SELECT DISTINCT lock FROM blame WHERE inverted > 0 ORDER BY lock"
            )
        ]

    def between_reads(self, lock: Lock) -> float:
        """From the end of a read to the next one of the same thread, in the median of the last."""
        gaps, last = [], None
        for row in self.db.execute("SELECT * FROM event WHERE lock = ?", (lock.id,)):
            lane = (row["process"], row["lane"])
            if last and row["mode"] == "read":
                if last[0] == lane:
                    gaps.append(max(row["begun_ns"] - last[1], 0))
            end = row["begun_ns"] + row["wait_ns"] + row["hold_ns"]
            last = (lane, end) if row["mode"] == "read" else None
        return median(gaps) if gaps else float("inf")

    def wakes_inside(self, lock: Lock) -> list[sqlite3.Row]:
        """Conditions that were signalled long before the lock was released."""
        return self.db.execute(
            "SELECT taken, taken_site, sum(count) AS count FROM edge WHERE held = ? AND "
            "taken_mode IN ('cond-signal', 'cond-broadcast') GROUP BY taken, taken_site "
            "ORDER BY count DESC",
            (lock.id,),
        ).fetchall()

    def is_handed_over(self, lock: Lock) -> bool:
        """Hand over hand: it is released while one that was taken after it is held."""
        count, handed = self.db.execute(
            "SELECT total(count), total(handed) FROM edge WHERE held = ? AND taken_mode NOT IN "
            "('sleep', 'cond-signal', 'cond-broadcast')",
            (lock.id,),
        ).fetchone()
        return handed * 2 > count

    def sleeps_inside(self, lock: Lock) -> list[tuple[int, Site]]:
        """How often a thread slept while it held the lock, and where."""
        rows = self.db.execute(
            "SELECT e.taken_site, sum(e.count) AS count FROM edge e WHERE "
            "e.held = ? AND e.taken_mode = 'sleep' GROUP BY e.taken_site "
            "ORDER BY count DESC",
            (lock.id,),
        )
        return [(r["count"], self.site(r["taken_site"])) for r in rows]


def time(ns: float) -> str:
    for limit, unit, size in ((1e3, "ns", 1), (1e6, "µs", 1e3), (1e9, "ms", 1e6)):
        if ns < limit:
            return f"{ns / size:.3g} {unit}"
    for limit, unit, size in ((120, "s", 1), (7200, "min", 60), (48 * 3600, "h", 3600)):
        if ns < limit * 1e9:
            return f"{ns / 1e9 / size:.3g} {unit}"
    return f"{ns / 86400e9:.3g} days"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"
