# SPDX-License-Identifier: MIT
"""Further rules: patterns over several locks, conditions, sleeps. rules.py has the list."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator

from pawl.advise import sections
from pawl.advise.facts import HELD, SHARED, WAKE_NS, Facts, Lock, percent, time
from pawl.advise.finding import Match

FEW = 100
MANY_WAKES = 3  # fewer may be threads that were preempted at that moment
OFTEN = 0.1  # of the wakes; fewer may be, too
SHORT_NS = 20_000
OWN_NS = 50  # a shorter hold is the recorder's own work, about: no shorter ones can be told apart


def writers_leave_early(facts: Facts) -> Iterator[Match]:
    """Most writers leave as fast as readers: they only looked."""
    for lock in facts.heavy(*SHARED):
        if lock.of("read").count < FEW or lock.of("write").count < FEW:
            continue
        median = max(lock.of("read").percentile("hold", 0.5), OWN_NS)
        for use in lock.of("write"):
            if use.count < FEW:
                continue
            pairs = use.histogram("hold")
            early = sum(n for edge, n in pairs if edge <= 2 * median)
            late = sum(n for edge, n in pairs if edge >= 8 * median)
            if early < 0.7 * use.count or late < 0.01 * use.count:
                continue
            reads, writes = lock.of("read"), lock.of("write")
            yield Match(
                [lock],
                [
                    f"{early:,} of {use.count:,} write locks here ({percent(early / use.count)}) "
                    f"are dropped as fast as a read lock, after about {time(median)}",
                    f"{late:,} ({percent(late / use.count)}) take at least eight times as long: "
                    "those write",
                    f"waits for this lock: {time(lock.all.sum('wait_ns'))} in all",
                ],
                "medium",
                [use.take, use.release or use.take],
                *lock.without(reads.sum("wait_ns") + writes.sum("wait_ns")),
            )
            break


def _own_threads(lock: Lock) -> dict[int, list]:
    """The number of a thread -> its uses; empty where some use has several threads."""
    found: dict[int, list] = defaultdict(list)
    for use in lock.uses:
        if use.release is None:
            continue
        if use.row["threads"] != 1 or use.row["thread"] is None:
            return {}
        found[use.row["thread"]].append(use)
    return found


def could_be_split(facts: Facts) -> Iterator[Match]:
    """Each thread comes to the lock at places of its own."""
    waits = {u.take for lock in facts.kind("cond") for u in lock.of("cond-wait")}
    for lock in facts.heavy("mutex", *SHARED):
        if not lock.wait_ns or facts.is_handed_over(lock):
            continue
        own = _own_threads(lock)
        places = [{u.take for u in uses} for uses in own.values()]
        every = lock.all
        if (
            len(own) < 2
            or every.count < FEW
            or not every.sum("wait_ns")
            or set().union(*places) & waits
            or any(map(sections.is_empty, set().union(*places)))
        ):  # a condition, or a sign: the threads work together
            continue
        if sum(map(len, places)) != len(set().union(*places)):
            continue
        main = [max(uses, key=lambda u: u.count) for uses in own.values()]
        yield Match(
            [lock],
            [
                f"{len(own)} threads take it, each at places of its own: "
                + ", ".join(
                    f"{facts.thread(lock.process.id, 'number', u.row['thread'])[1]} at {u.take}"
                    for u in sorted(main, key=lambda u: u.row["thread"])[:4]
                ),
                f"they wait {time(every.sum('wait_ns'))} for each other",
            ],
            "low",
            [u.take for u in main[:4]],
            *lock.without(every.sum("wait_ns")),
        )


def uneven_split(facts: Facts) -> Iterator[Match]:
    """Many locks of one place, and one of them has most of the waiting."""
    groups: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    marks = ",".join("?" * len(HELD))
    for r in facts.db.execute(
        "SELECT u.take, u.lock, sum(u.count), sum(u.wait_ns) FROM use u JOIN lock l ON "
        f"l.id = u.lock WHERE u.release IS NOT NULL AND l.kind IN ({marks}) GROUP BY u.take, "
        "u.lock",
        HELD,
    ):
        groups[r[0]][r[1]] = (r[2], r[3])
    told = set()
    for place, uses in groups.items():
        if len(uses) < 4:
            continue
        counts = {n: count for n, (count, _) in uses.items()}
        waits = {n: wait for n, (_, wait) in uses.items()}
        hot = max(waits, key=lambda n: (waits[n], counts[n]))
        whole = sum(counts.values())
        if (
            hot in told
            or whole < FEW
            or not waits[hot]
            or waits[hot] < sum(waits.values()) / 2
            or counts[hot] < max(2 * whole / len(uses), whole / 4)
        ):
            continue
        told.add(hot)
        yield Match(
            [facts.locks[hot]],
            [
                f"{len(uses)} locks are taken at this place, and this one has "
                f"{percent(counts[hot] / whole)} of the takes; an even split would give "
                f"{percent(1 / len(uses))}",
                f"it has {percent(waits[hot] / sum(waits.values()))} of their waiting: "
                f"{time(waits[hot])}",
            ],
            "medium",
            [facts.site(place)],
            *facts.locks[hot].without(waits[hot] * (1 - 1 / len(uses))),
        )


def _sleeps_beside(facts: Facts, cond: Lock, mutexes: list[Lock]) -> int:
    """At other conditions of its mutex: those who wait until the crowd has gone by."""
    sites = {u.take for lock in mutexes for u in lock.uses}
    return sum(
        use.waits
        for other in facts.kind("cond")
        if other is not cond and other.process is cond.process
        for use in other.of("cond-wait")
        if use.take in sites
    )


def broadcast_storm(facts: Facts) -> Iterator[Match]:
    """Threads that a broadcast woke find nothing, and sleep again at once."""
    for cond in facts.kind("cond"):
        broadcasts = cond.of("cond-broadcast").count
        if broadcasts < 20:
            continue
        places = {u.take for u in cond.of("cond-wait")}
        woken = cond.of("cond-wait").count
        mutexes = [
            lock
            for lock in facts.kind("mutex")
            if lock.process is cond.process and any(u.take in places for u in lock.uses)
        ]
        again = [
            u for lock in mutexes for u in lock.uses if u.take in places and u.release is u.take
        ]
        count = sum(u.count for u in again)
        count = min(count, woken - broadcasts)  # one finds something, and may look for more
        if count < FEW or count < woken / 2:
            continue
        # A woken thread needs the mutex: it may sleep for that once more.
        wakes = count + _sleeps_beside(facts, cond, mutexes) * count / woken
        lost = sum(u.wait_ns for u in again) + wakes * cond.process.wake_ns(2 * WAKE_NS)
        yield Match(
            [cond],
            [
                f"{broadcasts:,} broadcasts woke threads {woken:,} times "
                f"({woken / broadcasts:.1f} each)",
                f"{count:,} of these ({percent(min(count / woken, 1))}) waited again without "
                "having found what they waited for",
            ],
            "high",
            sorted(places, key=str)[:2] + [u.take for u in cond.of("cond-broadcast")][:2],
            0,
            lost,
        )


def wakes_before_unlock(facts: Facts) -> Iterator[Match]:
    """Threads are woken long before the lock is released that they need to go on."""
    waits: dict[tuple[int, object], Lock] = {}
    for cond in facts.kind("cond"):
        for use in cond.of("cond-wait"):
            waits[cond.process.id, use.take] = cond
    for lock in facts.kind("mutex"):
        early = [u for u in lock.uses if u.woke]
        conds = {
            waits[key].id: waits[key]
            for u in lock.uses
            for site in (u.take, u.release)
            if (key := (lock.process.id, site)) in waits
        }
        count = sum(u.woke for u in early)
        rows = facts.wakes_inside(lock)
        wakes = sum(conds[n].of("cond-signal", "cond-broadcast").count for n in conds)
        early_ns, kept = sum(u.woke_ns for u in early), sum(u.kept for u in early)
        # Else they were woken, and took the processor of the thread that woke them.
        if count < max(MANY_WAKES, OFTEN * wakes) or 2 * kept > count:
            continue
        if not any(row["taken"] in conds for row in rows):
            continue
        takes = {u.take for u in early}
        behind = sum(b.wait_ns for b in facts.blames(lock) if b.holder in takes)
        yield Match(
            [lock, *(conds[n] for n in sorted({r["taken"] for r in rows} & set(conds)))],
            [
                f"{count:,} times a thread woke others and released their lock only "
                f"{time(early_ns / count)} later, on average",
                *(
                    f"{row['count']:,} of these wakes at {facts.site(row['taken_site'])}"
                    for row in rows[:3]
                ),
                *(
                    [
                        f"in {kept:,} holds of a millisecond and more the thread was only kept off "
                        "its processor: nothing slow is inside"
                    ]
                    if kept
                    else []
                ),
                *([f"others waited {time(behind)} behind what was taken there"] if behind else []),
            ],
            "low" if kept else "medium",
            [facts.site(rows[0]["taken_site"]), *(u.release or u.take for u in early[:1])],
            (0, behind),
            (0, early_ns),
            unknown="the C library does not show how long a woken thread waits for its lock",
        )


def _sequences(facts: Facts) -> Iterator[tuple[int, int, int, int]]:
    """(lock, take, sleep's site, hold) of each hold that a sleep and the same hold follow."""
    rows = facts.db.execute("SELECT process, lane, lock, mode, take, hold_ns FROM event")
    last: deque = deque(maxlen=3)
    for row in rows:  # as they lie there: those of a lane together, in order
        last.append(row)
        if len(last) < 3:
            continue
        a, b, c = last
        if (a["process"], a["lane"]) != (c["process"], c["lane"]) or b["mode"] != "sleep":
            continue
        if a["mode"] != "sleep" and (a["lock"], a["take"]) == (c["lock"], c["take"]):
            yield a["lock"], a["take"], b["take"], a["hold_ns"]


def _waits_for_nobody(facts: Facts) -> Iterator[Match]:
    """Timed waits on a condition that nobody ever signals are sleeps."""
    for cond in facts.locks.values():
        if cond.kind != "cond" or not cond.waits:
            continue
        waits = cond.of("cond-wait")
        ended = waits.sum("timeouts")
        if (
            ended >= 20
            and ended >= 0.95 * waits.sum("waits")
            and not cond.of("cond-signal", "cond-broadcast").count
        ):
            longest = max(waits, key=lambda u: u.timeouts)
            yield Match(
                [cond],
                [
                    f"{ended:,} waits ended by their time, {time(waits.sum('wait_ns') / ended)} "
                    "each; nobody signalled the condition"
                ],
                "medium",
                [longest.take],
            )


def polling(facts: Facts) -> Iterator[Match]:
    """Lock, look, unlock, sleep, and again. A section that changes something is no look."""
    found: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for lock, take, sleep, hold in _sequences(facts):
        found[lock, take, sleep].append(hold)
    sleeps = Counter()
    for lock in facts.kind("sleep"):
        for use in lock.uses:
            sleeps[use.row["take"]] += use.count
    for (number, take, sleep), holds in found.items():
        lock = facts.locks[number]
        short = sorted(holds)[len(holds) // 2]
        if (
            len(holds) < 20
            or short > SHORT_NS
            or lock.all.threads < 2
            or not lock.is_whole
            or len(holds) < 0.5 * min(sleeps[sleep], 4096)
            or any(site == facts.site(sleep) for _, site in facts.sleeps_inside(lock))
            or (looks := sections.look(facts.site(take))) is None
            or looks.kind != "read"
        ):
            continue
        yield Match(
            [lock],
            [
                f"a thread looked {len(holds):,} times in a row, each time for about "
                f"{time(max(short, 1))}, and slept or gave its processor away in between",
                f"it sleeps at {facts.site(sleep)}; what it waits for is noticed only after the "
                "sleep",
            ],
            "medium",
            [facts.site(take), facts.site(sleep)],
        )
    yield from _waits_for_nobody(facts)


def inverted_priority(facts: Facts) -> Iterator[Match]:
    """A real-time thread waits for one that any other thread can keep from running."""
    for lock in facts.inverted:
        blames = [b for b in facts.blames(lock) if b.inverted]
        count = sum(b.inverted for b in blames)
        yield Match(
            [lock],
            [
                f"{count:,} times a thread with a real-time policy waited for a holder without one",
                *(
                    f"{b.inverted:,} times: {b.site} behind {b.holder}, {time(b.wait_ns)} in all"
                    for b in blames[:3]
                ),
            ],
            "high",
            [blames[0].site, blames[0].holder],
        )
