# SPDX-License-Identifier: MIT
"""The rules: each looks at the facts and yields what it found. rules.toml has their words.

What a rule says it would save is at most what the trace shows as lost; nothing was replayed.
tests/advise has, for each rule, a program that shows it and one that is repaired.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator

from pawl.advise import prices, sections, stacks
from pawl.advise.cycles import closed, cycles
from pawl.advise.facts import HELD, LINE_NS, OURS, SHARED, Facts, Lock, percent, time
from pawl.advise.finding import Match
from pawl.advise.patterns import (
    broadcast_storm,
    could_be_split,
    inverted_priority,
    polling,
    uneven_split,
    wakes_before_unlock,
    writers_leave_early,
)

FEW = 100  # what happened less often is no pattern
SHORT_NS = 1_000
TINY_NS = 150  # a section that adds to a number, on a line that other cores have, too
LONG_NS = 1_000_000
SATURATED = 0.5  # of the time
DENSE = 0.1  # reads of shared lines, as a share of the threads' work, before it is worth a word
SELDOM = (
    "the lock hardly ever changed the processor: where the threads shared one, record again on a "
    "machine that has one for each"
)
BY_STACKS = (
    "the lock is taken in a function of its own: stacks of waits and of some takes say who calls "
    "it, and a caller in none of them is not seen"
)
MOST_PLACES = 16  # of a lock, whose machine code is looked at
NEAR_NS = 5_000  # after a read: a write that may have nothing to do with it comes later
CROWDED = 0.2  # of the time somebody is in, or nobody starves
MANY_LONG = 3  # fewer may be threads that were preempted while they held it


def read_then_write(facts: Facts) -> Iterator[Match]:
    """R, unlock, W, look again."""
    rows = facts.db.execute("SELECT * FROM upgrade ORDER BY lock, count DESC").fetchall()
    groups: dict[int, list] = defaultdict(list)
    for row in rows:
        groups[row["lock"]].append(row)
    for number, several in groups.items():
        lock = facts.locks[number]
        count = sum(r["count"] for r in several)
        if count < FEW:
            continue
        gap = sum(r["gap_ns"] for r in several) / count
        if gap > NEAR_NS and gap > facts.between_reads(lock) / 2:
            continue  # no nearer to its read than the next read is
        changed = sum(r["changed"] for r in several)
        writes = lock.of("write")
        sites = {facts.site(r["write"]) for r in several}
        waits = sum(u.wait_ns for u in writes if u.take in sites)
        looks, own = lock.of("read"), lock.all.timed("own_ns", "note_ns") or 0
        reads = {facts.site(r["read"]) for r in several}
        behind = sum(b.wait_ns for b in facts.blames(lock) if reads & {b.site, b.holder})
        waited, wakes = lock.without(behind * min(count / max(looks.count, 1), 1))
        # Where a write is shorter than a look, it does not look again.
        look = looks.percentile("hold", 0.5)
        look *= writes.percentile("hold", 0.5) >= look
        pairs = count * (lock.process.pair_ns + (looks.timed("take_ns", "drop_ns") or 0) + look)
        pairs = lock.process.unrecorded(pairs, (own + lock.process.own_ns) * lock.all.count)
        yield Match(
            [lock],
            [
                f"{count:,} times a thread wrote soon after it had dropped its read lock "
                f"({percent(count / max(writes.count, 1))} of all write locks)",
                f"in {changed:,} of them ({percent(changed / count)}) another thread had written "
                "in between, so what was read was for nothing",
                f"between the two it took {time(gap)} on average",
                f"waits for these write locks: {time(waits)} in all",
            ],
            "high",
            [facts.site(several[0]["read"]), facts.site(several[0]["write"])],
            waited,
            wakes + pairs,
        )


def readers_do_not_overlap(facts: Facts) -> Iterator[Match]:
    for lock in facts.heavy(*SHARED):
        reads, every = lock.of("read"), lock.all
        if lock.of("seek").count:
            continue
        overlaps = reads.sum("overlaps")
        if reads.count < FEW or every.threads < 2 or overlaps > reads.count / 100:
            continue
        yield Match(
            [lock],
            [
                f"{reads.count:,} read locks by {reads.threads} or more threads; in {overlaps:,} "
                "of them another reader was seen in",
                f"{lock.of('write').count:,} write locks",
            ],
            "medium" if every.sum("waits") else "high",
            [max(reads, key=lambda u: u.count).take],
            (0, reads.sum("wait_ns") / 2),
            (0, every.count * lock.process.pair_ns / 2),
            unknown="a mutex was not timed here",
        )


def seek_without_readers(facts: Facts) -> Iterator[Match]:
    """Seekers pay for readers that they never meet."""
    for lock in facts.heavy(*OURS):
        seeks, reads, every = lock.of("seek"), lock.of("read"), lock.all
        if seeks.count < FEW or every.threads < 2:
            continue
        met = seeks.sum("beside") + reads.sum("beside")
        if met > seeks.count / 100:
            continue
        writes = {u.row["take"] for u in lock.of("write")}
        upgrades = sum(u.count for u in seeks if u.row["release"] in writes)
        yield Match(
            [lock],
            [
                f"{seeks.count:,} seek locks by {seeks.threads} or more threads, and "
                f"{reads.count:,} read locks",
                f"in {met:,} of them a reader and the seeker were in at the same time",
                f"{upgrades:,} seekers ({percent(upgrades / seeks.count)}) went on to write; they "
                f"waited {time(lock.of('write').sum('wait_ns'))} in all",
            ],
            "medium" if reads.count else "high",
            [max(seeks, key=lambda u: u.count).take],
            0,
            upgrades * lock.process.pair_ns,
        )


def one_thread(facts: Facts) -> Iterator[Match]:
    for lock in facts.heavy(*HELD):
        every = lock.all
        if every.count >= FEW and every.threads == 1 and not every.sum("waits"):
            own = (every.timed("own_ns", "note_ns") or 0) + lock.process.own_ns
            pairs = every.count * lock.process.pair_ns
            pairs = lock.process.unrecorded(pairs, every.count * own)
            thread = max(u.row["thread"] or 0 for u in every)
            yield Match(
                [lock],
                [
                    f"{every.count:,} pairs of lock and unlock, all by "
                    + facts.thread(lock.process.id, "number", thread)[1],
                    f"the program has {lock.process.threads} threads",
                ],
                "medium",
                [max(every, key=lambda u: u.count).take],
                0,
                pairs,
            )


def _read_shortly(lock: Lock) -> bool:
    """By several threads at a time: others were in, or had been on another processor."""
    reads, writes = lock.of("read"), lock.of("write")
    share = writes.count / max(lock.all.count, 1)
    return (
        reads.count >= FEW
        and reads.threads >= 2
        and share <= (0.05 if lock.kind == "rwlock" else 0.01)  # else it is what would be proposed
        and reads.sum("overlaps") + reads.sum("handoffs") > reads.count / 100
        and reads.percentile("hold", 0.5) <= SHORT_NS
    )


def many_short_reads(facts: Facts) -> Iterator[Match]:
    """Whether or not anybody waits: each reader writes the line of the lock."""
    for process in facts.processes.values():
        locks = [
            lock
            for lock in facts.heavy("rwlock", "pawl_spin", "pawl_lock")
            if lock.process is process and _read_shortly(lock)
        ]
        locks.sort(key=lambda lock: -lock.of("read").count)
        reads = [lock.of("read") for lock in locks]
        count = sum(r.count for r in reads)
        if count * LINE_NS < DENSE * process.thread_ns:
            continue
        writes = sum(lock.of("write").count for lock in locks)
        beside = sum(r.sum("overlaps") for r in reads)
        moved = sum(r.sum("handoffs") for r in reads)
        price = prices.of(facts, process, locks) if locks else None
        yield Match(
            locks,
            [
                f"{count:,} read locks by {max(r.threads for r in reads)} or more threads: one for "
                f"each {time(process.thread_ns / count)} of their work",
                f"in {beside:,} ({percent(beside / count)}) another reader was in; after "
                f"{moved:,} ({percent(moved / count)}) takes the lock had changed the processor",
                f"{percent(writes / (count + writes))} of the locks are for writing",
                f"waits, which may be few: {time(sum(r.sum('wait_ns') for r in reads))}",
                *([price.said] if price else []),
                *([] if moved > count / 100 else [SELDOM]),
            ],
            "medium" if moved > count / 100 else "low",
            [max(r, key=lambda u: u.count).take for r in reads[:3]],
            (0, sum(r.sum("wait_ns") for r in reads)),
            (0, count * LINE_NS) if price is None else price.gain,
            unknown=f"{price.between if price else 'nothing was timed'}. `pawl run PROGRAM` "
            "measures it without a change",
        )


def _called_by(facts: Facts, stack: int | None) -> list[str]:
    frames, cut = stacks.frames(facts, stack)
    return [f"its stack: {stacks.Stack(frames, cut, '', 0, 0, 0)}"] if len(frames) > 1 else []


def self_deadlock(facts: Facts) -> Iterator[Match]:
    """At the end a thread waits for what it holds."""
    for wait in facts.db.execute("SELECT * FROM held WHERE waiting = 1"):
        own = facts.db.execute(
            "SELECT * FROM held WHERE process = ? AND thread = ? AND lock = ? AND waiting = 0",
            (wait["process"], wait["thread"], wait["lock"]),
        ).fetchone()
        if own:
            lock = facts.locks[wait["lock"]]
            thread = facts.thread(wait["process"], "kernel", wait["thread"])[1]
            yield Match(
                [lock],
                [
                    f"{thread} holds it ({own['mode']}) since {facts.site(own['site'])}",
                    f"and waits for it ({wait['mode']}) at {facts.site(wait['site'])}, for "
                    f"{time(lock.process.wall_ns - wait['since_ns'])} when the trace ended",
                    *_called_by(facts, wait["stack"]),
                ],
                "high",
                [facts.site(own["site"]), facts.site(wait["site"])],
            )


def _orders(facts: Facts) -> dict[tuple[int, int], list]:
    """(held, taken) -> rows. A lock is its address and its life there. Hand over hand is no order:
    one function walks, and releases the first lock before the second one."""
    nodes: dict[tuple[int, int], int] = {}
    found: dict[tuple[int, int], list] = defaultdict(list)
    for row in facts.db.execute("SELECT * FROM edge WHERE held != taken ORDER BY count DESC"):
        places = {facts.site(row[end]).function for end in ("held_site", "taken_site")}
        if row["handed"] * 2 > row["count"] and len(places) == 1:
            continue
        ends = ((row["held"], row["held_life"]), (row["taken"], row["taken_life"]))
        found[tuple(nodes.setdefault(end, len(nodes)) for end in ends)].append(row)
    return found


def _comes_after(facts: Facts, steps: list[list]) -> bool:
    """One of the orders was seen once, when all threads of the others had ended."""
    for step in steps:
        row = step[0]
        others = [r["ended_ns"] for other in steps if other is not step for r in other]
        if len(step) != 1 or row["count"] != 1 or None in others:
            continue
        process = facts.locks[row["taken"]].process.id
        begun = facts.db.execute(
            "SELECT max(begun_ns) FROM event WHERE process = ? AND lane = ? AND lock = ? AND "
            "take = ?",
            (process, row["thread"], row["taken"], row["taken_site"]),
        ).fetchone()[0]
        if begun is not None and begun > max(others):
            return True
    return False


def _by(facts: Facts, rows: list) -> str:
    """The first of the threads, in their order, that took locks like this."""
    process = facts.locks[rows[0]["taken"]].process.id
    names = [name for _, name in sorted({facts.thread(process, "lane", r["thread"]) for r in rows})]
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def lock_order(facts: Facts) -> Iterator[Match]:
    """A before B in one thread, B before A in another; or a chain that ends where it began."""
    rows_of = _orders(facts)
    edges = {edge: frozenset(row["thread"] for row in rows_of[edge]) for edge in closed(rows_of)}
    for cycle in cycles(edges):
        steps = [rows_of[both] for both in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        rows = [row for step in steps for row in step]
        if _comes_after(facts, steps):
            continue
        reading = all(row["held_mode"] == row["taken_mode"] == "read" for row in rows)
        once = min(sum(row["count"] for row in step) for step in steps) == 1
        lines = [
            f"{sum(row['count'] for row in step):,} times {facts.locks[step[0]['held']].name} at "
            f"{facts.site(step[0]['held_site'])}, then {facts.locks[step[0]['taken']].name} at "
            f"{facts.site(step[0]['taken_site'])}, by {_by(facts, step)}"
            for step in steps
        ]
        if once:
            lines.append(
                "one of these orders was seen once: where it is that of the program's start or "
                "end, no other thread may be there"
            )
        yield Match(
            [facts.locks[step[0]["held"]] for step in steps],
            lines,
            "low" if reading else "medium" if once else "high",
            [facts.site(step[0][k]) for step in steps for k in ("held_site", "taken_site")],
        )


def _long(facts: Facts, lock: Lock) -> tuple[list, list, int]:
    """Uses with long holds, who waited behind them, and for how long while they held. Not those in
    which the thread was only kept off its processor: nothing slow is inside."""
    long = [
        u
        for u in lock.uses
        if u.hold_p99 >= LONG_NS
        and sum(n for edge, n in u.histogram("hold") if edge >= LONG_NS) >= MANY_LONG + u.kept
    ]
    takes = {u.take for u in long}
    blames = [b for b in facts.blames(lock) if b.holder in takes and not sections.is_empty(b.site)]
    kept = sum(u.kept_ns for u in long) / max(sum(u.hold_ns for u in long), 1)
    return long, blames, round(sum(b.held_ns for b in blames) * (1 - min(kept, 1)))


def _behind(facts: Facts, lock: Lock) -> list[str]:
    return [
        f"{b.count:,} waits, {time(b.wait_ns)}: {b.site} behind {b.holder}"
        for b in facts.blames(lock)[:3]
    ]


def _is_held(lock: Lock) -> str:
    most = lock.process.wall_ns / max(lock.exclusive_ns, 1)
    return (
        f"somebody held it for {percent(lock.held)} of the time: no more than {most:.1f} threads' "
        "work of this kind can be done at a time"
    )


def long_holds(facts: Facts) -> Iterator[Match]:
    for lock in facts.heavy(*HELD):
        long, blames, lost = _long(facts, lock)
        if not lost:
            continue
        worst = max(long, key=lambda u: u.hold_ns)
        yield Match(
            [lock],
            [
                f"held for up to {time(worst.hold_max)}, on average "
                f"{time(worst.hold_ns / max(worst.count, 1))}, {worst.count:,} times",
                *([_is_held(lock)] if lock.held >= SATURATED else []),
                f"others waited {time(lost)} in all while it was held like this, in "
                f"{sum(b.count for b in blames):,} waits",
                *(
                    [f"in {n:,} of the long holds the thread was only kept off its processor"]
                    if (n := sum(u.kept for u in long))
                    else []
                ),
                *_behind(facts, lock),
                *(
                    f"{count:,} sleeps inside, at {site}"
                    for count, site in facts.sleeps_inside(lock)[:3]
                ),
            ],
            "high",
            [worst.take, worst.release or worst.take],
            *lock.without(sum(b.wait_ns for b in blames) * lost / sum(b.held_ns for b in blames)),
        )


def _usually_held(lock: Lock) -> float:
    """As lock.held, without the time by which holds were far longer than others of their place:
    threads were kept off their processor then, and nobody else could go on."""
    ns = sum(min(u.hold_ns, 2 * u.count * u.hold_p50) for u in lock.uses if u.mode != "read")
    return ns / max(lock.process.wall_ns - (lock.exclusive_ns - ns), ns, 1)


def saturated(facts: Facts) -> Iterator[Match]:
    """Held for most of the time, in sections of any length."""
    for lock in facts.heavy(*HELD):
        if _usually_held(lock) < SATURATED or lock.callers < 2:
            continue
        blames = [b for b in facts.blames(lock) if not sections.is_empty(b.site)]
        waited = min(sum(b.wait_ns for b in blames), lock.explained_ns)
        longest = sorted(lock.uses, key=lambda u: -u.hold_ns)[:3]
        if not waited:
            continue
        yield Match(
            [lock],
            [
                _is_held(lock),
                *(
                    f"{percent(u.hold_ns / max(lock.hold_ns, 1))} of it: taken at {u.take}, "
                    f"released at {u.release}, {u.count:,} times, {time(u.hold_ns / u.count)} each"
                    for u in longest
                    if u.count
                ),
                f"others waited {time(waited)} in {lock.waits:,} waits",
            ],
            "high",
            [longest[0].take, longest[0].release or longest[0].take],
            *lock.without(waited),
        )


def counter(facts: Facts) -> Iterator[Match]:
    """The machine code of each section was seen to be one addition, or a look at the sum."""
    for lock in facts.heavy("mutex", "spin"):
        every, uses = lock.all, [u for u in lock.uses if u.count]
        if (
            every.count < FEW
            or every.threads < 2
            or len(uses) > MOST_PLACES
            or every.percentile("hold", 0.5) > TINY_NS
        ):
            continue
        found = {u.take: sections.shares(facts, lock, u.take) for u in uses}
        kinds = [(u, one, share) for u in uses for one, share in found[u.take].items()]
        if any(one is None or one.kind == "empty" for _, one, _ in kinds):
            continue
        adds = [(u, one, u.count * share) for u, one, share in kinds if one.kind == "add"]
        added = sum(count for *_, count in adds)
        if added < 0.95 * every.count or len({one.target for _, one, _ in adds}) > 1:
            continue
        wrapped = any(sections.look(u.take) is None for u in uses)
        line, whence = prices.of_pair(facts, lock)
        yield Match(
            [lock],
            [
                f"{every.count:,} sections at {len(found):,} places; in the machine code "
                f"{percent(added / every.count)} of them are one addition to one number, whose "
                "result nobody uses, and the others only read",
                f"{every.threads} or more threads; {every.sum('waits'):,} waits, "
                f"{time(every.sum('wait_ns'))} in all",
                *([BY_STACKS] if wrapped else []),
            ],
            "medium" if wrapped else "high",
            list(dict.fromkeys(u.take for u, *_ in sorted(adds, key=lambda a: -a[2])[:2])),
            (0, every.sum("wait_ns")),
            (0, every.count * (lock.process.pair_ns + line)),
            unknown="how often threads meet without the recorder, a trace does not show. A line "
            f"that moves costs {whence}. Measure the program with the change",
        )


def only_reads(facts: Facts) -> Iterator[Match]:
    """The machine code of nearly all sections was seen to change nothing."""
    for lock in facts.heavy("mutex", "spin"):
        every, uses = lock.all, [u for u in lock.uses if u.count]
        if every.count < FEW or every.threads < 2 or not lock.waits or len(uses) > MOST_PLACES:
            continue
        found = {u.take: sections.read_share(facts, lock, u.take) for u in uses}
        reads = [u for u in uses if found[u.take]]
        read = round(sum(u.count * found[u.take] for u in reads))
        empty = [
            one is not None and one.kind == "empty"
            for u in reads
            for one in sections.shares(facts, lock, u.take)
        ]
        if read < 0.95 * every.count or any(empty):
            continue
        yield Match(
            [lock],
            [
                f"{read:,} of {every.count:,} sections only read, as their machine code says",
                f"{every.threads} or more threads; {lock.waits:,} waits, {time(lock.wait_ns)} in "
                "all, most of them for others that read",
                *([BY_STACKS] if any(not sections.reads_only(u.take) for u in reads) else []),
            ],
            "medium",
            [u.take for u in sorted(reads, key=lambda u: -u.count)[:2]],
            *lock.without(lock.wait_ns),
        )


def convoy(facts: Facts) -> Iterator[Match]:
    """Most threads have to wait, each for several holds of others."""
    for lock in facts.heavy("mutex", "spin", *OURS):
        every = lock.all
        waits, count = every.sum("waits"), every.count
        if waits < FEW or waits < count / 2 or every.threads < 3:
            continue
        wait, hold = every.sum("wait_ns") / waits, every.sum("hold_ns") / count
        longest = max(every, key=lambda u: u.wait_ns).take
        if wait < 3 * hold or sections.is_empty(longest):
            continue
        yield Match(
            [lock],
            [
                f"{percent(waits / count)} of {count:,} takes had to wait, {time(wait)} on "
                f"average: {wait / max(hold, 1):.0f} times as long as a hold ({time(hold)})",
                f"the lock is held for {percent(lock.held)} of the time",
                *_behind(facts, lock),
            ],
            "medium",
            [longest],
            *lock.without(lock.wait_ns),
        )


def starvation(facts: Facts) -> Iterator[Match]:
    for lock in facts.heavy(*SHARED):
        if lock.all.max("wait_max") < 10_000_000:
            continue
        for mode, other in (("write", "read"), ("read", "write")):
            mine, theirs = lock.of(mode), lock.of(other)
            longest, hold = mine.max("wait_max"), theirs.percentile("hold", 0.5)
            if theirs.count < 20 or longest < 10_000_000 or longest < 10 * max(hold, 1):
                continue
            if theirs.max("wait_max") > longest / 2:
                continue  # all wait alike
            # One hold was long, or threads got no CPU: nobody went past it.
            held = theirs.sum("hold_ns") - theirs.max("hold_max")
            if held < max(mine.sum("wait_ns") / 2, CROWDED * lock.process.wall_ns):
                continue
            yield Match(
                [lock],
                [
                    f"a {mode} lock waited {time(longest)}: {longest / max(hold, 1):.0f} times as "
                    f"long as a {other} lock is held ({time(hold)})",
                    f"{theirs.count:,} {other} locks were granted, none of which waited longer "
                    f"than {time(theirs.max('wait_max'))}",
                ],
                "medium",
                [max(mine, key=lambda u: u.wait_max).take],
                *lock.without(mine.sum("wait_ns")),
            )


RULES = {
    rule.__name__: rule
    for rule in (
        self_deadlock,
        lock_order,
        inverted_priority,
        read_then_write,
        writers_leave_early,
        saturated,
        long_holds,
        convoy,
        starvation,
        uneven_split,
        could_be_split,
        broadcast_storm,
        wakes_before_unlock,
        polling,
        many_short_reads,
        readers_do_not_overlap,
        seek_without_readers,
        counter,
        only_reads,
        one_thread,
    )
}


def heaviest(facts: Facts, most: int = 10) -> list[Lock]:
    """By waiting, then by holding."""
    locks = (lock for lock in facts.locks.values() if lock.kind in HELD and lock.count)
    return heapq.nsmallest(most, locks, key=lambda k: (-k.wait_ns, -k.hold_ns))


def most_held(facts: Facts) -> list[Lock]:
    """The one that somebody held alone for most of the time; none where no lock was held."""
    return heapq.nlargest(1, facts.kind(*HELD), key=lambda k: k.exclusive_ns)
