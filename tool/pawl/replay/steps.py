# SPDX-License-Identifier: MIT
"""From a window to the steps of its threads, for the driver (bench/replay/steps.hpp)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

import numpy as np

from pawl.replay.window import Event, Lane, Window

WORK, SLEEP, TAKE_READ, DROP_READ, TAKE_WRITE, DROP_WRITE, TAKE_SEEK, TRY_SEEK, TO_WRITE = range(9)
STEP = np.dtype([("what", "<u4"), ("lock", "<u4"), ("ns", "<u8")])
ANY = 1  # of a sleep: the thread may as well have been kept off its processor
ALONE = 2  # it was not: the kernel has counted that time
NUMBERS = {"mutex": 0, "rwlock": 1, "spin": 2}
PAIR_NS = 1_000_000  # between a read and its write, as in the recorder
ALWAYS = 0.9  # of the reads at a place are followed by a write: then they begin in S
LONG_GAP = 100_000  # ns; where the processor time is not known, longer gaps are sleep
LEAST_SLEEP = 20_000
LONG_WAIT = 1_000_000  # ns; as in bench/replay/candidates.cpp
LONG_CALL = 20_000  # ns; a releasing call takes no longer: the rest is a disturbance, and work here
PLAIN_CALL = 1_000  # ns; a release that wakes nobody is shorter
WRITE_NS = 50  # a write that follows the second look takes at least so long, or a tenth of both
FEW = 20  # sections without a wait that say how long a place takes

Steps = list[tuple[int, int, int]]


@dataclass
class Plan:
    window: Window
    locks: list[int]  # ids; their place is their number in the file
    kinds: list[str]
    replaced: set[int]
    original: list[Steps]
    plain: list[Steps]  # for candidates
    upgraded: list[Steps]
    kept_off: list[int]  # ns for which each thread was kept off its processor: not done again
    behind: list[int]  # ns of its waits for a thread that was kept off
    short: set[int]  # locks whose waits of a millisecond and more are such
    left_out: Counter = field(default_factory=Counter)  # holds that are not done again, by reason
    pairs: int = 0  # reads before writes that become upgrades

    @property
    def off(self) -> list[int]:
        """Nanoseconds that other programs took from each thread."""
        return [kept + behind for kept, behind in zip(self.kept_off, self.behind, strict=True)]

    @property
    def rate(self) -> float:
        """Locks taken a second, of the time in which threads had a processor when they wanted one,
        without the recorder's. A wait that the window cuts off took no lock in it: its time does
        not count either."""
        return 1e9 * sum(
            lane.taken / max(self.window.until(lane) - off - lane.taken * self.recorder, 1)
            for lane, off in zip(self.window.lanes, self.off, strict=True)
        )

    @property
    def recorder(self) -> float:
        """Its nanoseconds for each lock, which the re-enactment does not have: before the hold, and
        in the releasing call, but for the release itself. Longer calls wake a thread."""
        calls = [e.call for e in self.window.holds if 0 < e.call < PLAIN_CALL]
        return self.window.own + max(np.mean(calls) - self.window.pair_ns / 2, 0) if calls else 0

    @property
    def lost(self) -> float:
        """The share of the threads' time that other programs took."""
        return sum(self.off) / max(sum(map(self.window.until, self.window.lanes)), 1)

    def file(self) -> bytes:
        head = np.array([len(self.original), len(self.locks)], "<u4").tobytes()
        kinds = bytes(NUMBERS[kind] for kind in self.kinds)
        replaced = bytes(
            int(lock in self.replaced) + 2 * int(lock in self.short) for lock in self.locks
        )
        lists = (self.original, self.plain, self.upgraded)
        counts = np.array(
            [len(s) for of_one in zip(*lists, strict=True) for s in of_one], "<u4"
        ).tobytes()
        steps = b"".join(np.array(s, STEP).tobytes() for one in lists for s in one)
        return b"PAWLSTP1" + head + kinds + replaced + counts + steps


# ---- What cannot be done again ------------------------------------------------------------------


def _nested(lane: Lane) -> list[tuple[Event, list[Event]]]:
    """Each hold with those around it."""
    found, inside = [], []
    for e in lane.events:
        if e.lock is None:
            continue
        inside = [o for o in inside if o.end > e.begun]
        found.append((e, list(inside)))
        inside.append(e)
    return found


def _reaches(graph: dict[int, set[int]], start: int, goal: int) -> bool:
    seen, todo = {start}, [start]
    while todo:
        one = todo.pop()
        if one == goal:
            return True
        new = graph[one] - seen
        seen |= new
        todo += new
    return False


def _against_order(window: Window) -> set[tuple[int, int]]:
    """Pairs (held, taken) that would close a circle; the rarest of each circle."""
    counts = Counter(
        (o.lock, e.lock)
        for lane in window.lanes
        for e, around in _nested(lane)
        for o in around
        if o.lock != e.lock
    )
    graph: dict[int, set[int]] = defaultdict(set)
    refused = set()
    for (held, taken), _ in counts.most_common():
        if _reaches(graph, taken, held):
            refused.add((held, taken))
        else:
            graph[held].add(taken)
    return refused


def _leave_out(window: Window, left_out: Counter) -> list[Lane]:
    refused = _against_order(window)
    lanes = []
    for lane in window.lanes:
        gone = set()
        for e, around in _nested(lane):
            around = [o for o in around if id(o) not in gone]
            if any(o.lock == e.lock for o in around):
                left_out["taken again by the thread that held it"] += 1
                gone.add(id(e))
            elif any((o.lock, e.lock) in refused for o in around):
                left_out["taken against the order of locks, which could hang"] += 1
                gone.add(id(e))
        lanes.append(replace(lane, events=[e for e in lane.events if id(e) not in gone]))
    return lanes


# ---- Sections after a wait ----------------------------------------------------------------------


def _warm(lanes: list[Lane]) -> list[Lane]:
    """A thread that has slept finds its caches cold, so its section takes longer than others of
    that place. Where another lock spares the wait, it spares that, too."""
    times: dict[tuple, dict[bool, list[int]]] = defaultdict(lambda: {True: [], False: []})
    for lane in lanes:
        for e in lane.events:
            times[e.lock, e.mode, e.take][e.wait > 0].append(e.hold)
    factors = {
        place: min(np.mean(t[False]) / max(np.mean(t[True]), 1), 1.0)
        for place, t in times.items()
        if len(t[False]) >= FEW and t[True]
    }

    def shorter(e: Event) -> Event:
        factor = factors.get((e.lock, e.mode, e.take), 1.0) if e.wait else 1.0
        if e.lock is None or factor == 1.0:
            return e
        return replace(e, saved=e.hold - round(e.hold * factor))

    return [replace(lane, events=[shorter(e) for e in lane.events]) for lane in lanes]


# ---- Steps ---------------------------------------------------------------------------------------


def _upgrades(lanes: list[Lane], known: set[tuple], replaced: set[int]) -> dict[int, int]:
    """id of a read -> of the write that follows, where it is the only hold of its thread."""
    found = {}
    for lane in lanes:
        for (read, around), (write, _) in zip(pairs := _nested(lane), pairs[1:], strict=False):
            if (
                not around
                and (read.mode, write.mode) == ("read", "write")
                and read.lock == write.lock
                and read.lock in replaced
                and read.end <= write.begun <= read.end + PAIR_NS
                and (read.lock, read.take, write.take) in known
            ):
                found[id(read)] = id(write)
    return found


def _always(lanes: list[Lane], pairs: dict[int, int]) -> set[tuple]:
    """Places whose reads nearly always come before a write."""
    every, followed = Counter(), Counter()
    for lane in lanes:
        for e in lane.events:
            if e.mode == "read":
                every[e.lock, e.take] += 1
                followed[e.lock, e.take] += id(e) in pairs
    return {place for place, count in followed.items() if count >= ALWAYS * every[place]}


class _Thread:
    """The steps of one lane, with their gaps."""

    def __init__(
        self, numbers: dict[int, int], pairs: dict[int, int], always: set[tuple], own: int
    ):
        self.numbers, self.pairs, self.always, self.own = numbers, pairs, always, own
        self.steps: Steps = []
        self.clock = 0
        self.worked = 0  # ns

    def _until(self, when: int, without: int = 0) -> None:
        """Work, of which `without` is the recorder's."""
        ns = when - self.clock - without
        if ns > 0:
            before = self.steps.pop()[2] if self.steps and self.steps[-1][0] == WORK else 0
            self.steps.append((WORK, 0, before + ns))
            self.worked += ns
        self.clock = max(self.clock, when)

    def _add(self, what: int, lock: int, ns: int = 0) -> None:
        self.steps.append((what, self.numbers[lock], ns))

    def _points(self, lane: Lane) -> list[tuple[int, int, Event]]:
        """(time, 0 for an end and 1 for a begin, event)"""
        points = []
        for e in lane.events:
            points.append((e.begun, 1, e))
            if e.lock is not None:
                points.append((e.end, 0, e))
        return sorted(points, key=lambda p: (p[0], p[1] if p[2].hold else 1))

    def go(self, lane: Lane, length: int) -> None:
        writes = {write: read for read, write in self.pairs.items()}
        by_id = {id(e): e for e in lane.events}
        for when, begins, e in self._points(lane):
            self._until(when, self.own if begins and e.lock is not None and not e.wait else 0)
            if e.lock is None:
                self.steps.append((SLEEP, 0, max(e.end - self.clock, 0)))
            elif begins:
                self._take(e, by_id.get(writes.get(id(e))))
            elif id(e) not in self.pairs:
                self._drop(e)
            self.clock = max(
                self.clock, e.granted + e.saved if begins else when + min(e.call, LONG_CALL)
            )
        self._until(length)

    def _take(self, e: Event, read: Event | None) -> None:
        if read is not None:  # the write of a pair
            if (e.lock, read.take) not in self.always:
                self._add(TRY_SEEK, e.lock, read.hold - read.saved)
            self._add(TO_WRITE, e.lock)
            # The section looked again first, for as long as the read did. That goes.
            hold = e.hold - e.saved
            again = min(read.hold - read.saved, hold - min(hold // 10, WRITE_NS))
            self.clock = max(self.clock, e.granted + e.saved) + again
        elif id(e) in self.pairs and (e.lock, e.take) in self.always:
            self._add(TAKE_SEEK, e.lock)
        else:
            self._add(TAKE_READ if e.mode == "read" else TAKE_WRITE, e.lock)

    def _drop(self, e: Event) -> None:
        self._add(DROP_READ if e.mode == "read" else DROP_WRITE, e.lock)

    def off(self, lane: Lane, length: int) -> Off | None:
        """None: not known. The processor was also used in the calls of locks, which are no work
        here, so it is compared with all of the time that was no wait."""
        if lane.cpu_share is None:
            return None
        span, waited = lane.cpu_of, lane.known_ns
        inside = sum(e.wait for e in lane.events)
        if span is None:
            span, waited = length, inside
        off = max(span * (1 - lane.cpu_share) - waited, 0)
        kept = _kept_off(lane, off, waited)
        whole = min(off * max(length - inside, 0) / max(span - waited, 1), self.worked)
        if whole < max(0.02 * length, LEAST_SLEEP):
            return Off(0, 0)
        return Off(whole, None if kept is None else kept * whole / off)


@dataclass(frozen=True)
class Off:
    """Nanoseconds that passed in gaps and sections while the thread was off its processor; the part
    of them that was measured stands for the rest."""

    ns: float
    kept: float | None  # of these: ready to run, but without a processor. None: not known


def _kept_off(lane: Lane, off: float, waited: int) -> float | None:
    """Of the time off the processor, outside of waits, what other threads and programs took. A
    thread that left its processor of its own accord for waits and sleeps that were recorded, and
    for nothing else, slept never in it. Some waits sleep twice. Else the kernel has counted; a part
    of what it counted may lie at the ends of waits, before the thread that was woken ran. It is
    shared out by time."""
    if lane.sleeps is not None and lane.sleeps <= 2 * lane.known + 1:
        return off
    if lane.kept_off is None:
        return None
    outside = lane.kept_off * off / max(off + waited, 1)
    return min(max(outside, lane.kept_off - waited), off)


def _with_sleep(steps: Steps, off: Off | None) -> Steps:
    """The time off the processor goes to the longest gaps: as sleep, where the thread slept. The
    time for which it was kept off goes, as that depends on what else the machine does. It is taken
    from sections first, as programs seldom sleep in them, unseen by the recorder."""
    if off is None:
        return [
            (SLEEP, ANY, ns) if what == WORK and ns > LONG_GAP else (what, n, ns)
            for what, n, ns in steps
        ]
    if off.ns <= 0:
        return list(steps)
    left, gone = off.ns, {}
    for i in sorted(range(len(steps)), key=lambda i: -steps[i][2]):
        what, _, ns = steps[i]
        if left < LEAST_SLEEP or ns < LEAST_SLEEP:
            break
        if what == WORK:
            gone[i] = min(ns, int(left))
            left -= gone[i]
    number, kept = (ANY, 0) if off.kept is None else (ALONE, off.kept * sum(gone.values()) / off.ns)
    lasts = {True: 0, False: 0}  # in sections, and between them
    inside = _inside(steps)
    for i, ns in gone.items():
        lasts[inside[i]] += ns
    in_sections = min(kept, lasts[True])
    slept = {
        True: 1 - in_sections / max(lasts[True], 1),
        False: 1 - (kept - in_sections) / max(lasts[False], 1),
    }
    made = []
    for i, (what, n, ns) in enumerate(steps):
        if sleep := int(slept[inside[i]] * gone.get(i, 0)):
            made.append((SLEEP, number, sleep))
        if ns > gone.get(i, 0) or i not in gone:
            made.append((what, n, ns - gone.get(i, 0)))
    return made


def _inside(steps: Steps) -> list[bool]:
    """Of each step: the thread holds a lock."""
    held, found = 0, []
    for what, _, _ in steps:
        found.append(held > 0)
        held += what in (TAKE_READ, TAKE_WRITE, TAKE_SEEK)
        held -= what in (DROP_READ, DROP_WRITE)
    return found


def _lasts(steps: Steps) -> int:
    return sum(ns for what, _, ns in steps if what in (WORK, SLEEP))


def _short(every: list[Steps], locks: list[int]) -> set[int]:
    """Locks whose sections are so short that a wait of a millisecond and more is for a thread that
    was kept off its processor: else all others could have had their sections in that time."""
    longest: Counter = Counter()
    for own in every:
        held: dict[int, int] = {}
        for what, lock, ns in own:
            if what in (WORK, SLEEP):
                held = {one: length + ns for one, length in held.items()}
            elif what in (TAKE_READ, TAKE_WRITE):
                held[lock] = 0
            elif what in (DROP_READ, DROP_WRITE):
                longest[lock] = max(longest[lock], held.pop(lock))
    return {lock for i, lock in enumerate(locks) if longest[i] * len(every) < LONG_WAIT}


def plan(window: Window, kinds: dict[int, str], replaced: set[int], known: set[tuple]) -> Plan:
    """known: (lock, site of the read, site of the write) of the pairs that the recorder found."""
    left_out: Counter = Counter()
    lanes = [
        lane
        for lane in _leave_out(window, left_out)
        if any(e.lock is not None for e in lane.events)
    ]
    locks = sorted({e.lock for lane in lanes for e in lane.events if e.lock is not None})
    numbers = {lock: i for i, lock in enumerate(locks)}

    def threads(lanes: list[Lane], pairs: dict[int, int]) -> list[_Thread]:
        always = _always(lanes, pairs)
        made = [_Thread(numbers, pairs, always, window.own) for _ in lanes]
        for thread, lane in zip(made, lanes, strict=True):
            thread.go(lane, window.until(lane))
        return made

    def with_sleep(every: list[_Thread]) -> list[Steps]:
        return [_with_sleep(one.steps, off) for one, off in zip(every, offs, strict=True)]

    original, warm = threads(lanes, {}), _warm(lanes)
    offs = [one.off(lane, window.until(lane)) for one, lane in zip(original, lanes, strict=True)]
    slept = with_sleep(original)
    kept_off = [_lasts(one.steps) - _lasts(made) for one, made in zip(original, slept, strict=True)]
    pairs = _upgrades(warm, known, replaced)
    made = Plan(
        replace(window, lanes=lanes),
        locks,
        [kinds[lock] for lock in locks],
        replaced & set(locks),
        slept,
        with_sleep(threads(warm, {})),
        with_sleep(threads(warm, pairs)),
        kept_off,
        [0] * len(lanes),
        set(),
        left_out,
        len(pairs),
    )
    made.short = _short(slept, locks)
    made.behind = [
        sum(e.wait for e in lane.events if e.lock in made.short and e.wait >= LONG_WAIT)
        for lane in lanes
    ]
    return made
