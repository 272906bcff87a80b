# SPDX-License-Identifier: MIT
"""What lines cost that several processors write: by `pawl costs` of the machine where its result is
given, else from the takes that the recorder timed."""

from __future__ import annotations

from dataclasses import dataclass

from pawl.advise.facts import LINE_NS, Facts, Lock, Process, Uses, percent, time

NAMES = {"mutex": "pthread_mutex", "rwlock": "pthread_rwlock", "spin": "pthread_spinlock"}


@dataclass(frozen=True)
class Price:
    """What the lines of locks cost, as takes and releases were timed. The recorder has lines of its
    own, which move, too: without that the threads would be faster, and meet more often."""

    said: str
    gain: tuple[float, float]  # ns, with the recorder's part of the threads' time and without it
    between: str


def measured(facts: Facts, kind: str, mode: str) -> float | None:
    """By how much a take and its release take longer where another processor had the line."""
    row = facts.costs and facts.costs.lock(NAMES.get(kind, kind), mode)
    if not row or not row["local"] or not row["moved"]:
        return None
    return max(row["moved"]["median"] - row["local"]["median"], 0.0)


def of_pair(facts: Facts, lock: Lock) -> tuple[float, str]:
    """Of a mutex or spinlock, and whence it is known."""
    if (by_costs := measured(facts, lock.kind, "w")) is not None:
        return by_costs, f"{time(by_costs)} by `pawl costs`"
    timed = lock.all.timed("take_ns", "drop_ns")
    if timed is not None:
        return timed, f"{time(timed)}, as the recorder timed it"
    return LINE_NS, f"{LINE_NS} ns, assumed: neither `pawl costs` nor the recorder has timed it"


def of(facts: Facts, process: Process, locks: list[Lock]) -> Price | None:
    """Of reads."""
    every = Uses([use for lock in locks for use in lock.of("read")])
    more, own = every.timed("take_ns", "drop_ns"), every.timed("own_ns", "note_ns")
    by_costs = measured(facts, locks[0].kind, "r")
    if by_costs is None and (more is None or own is None):
        return None
    own = (own or 0) + process.own_ns
    low = most = every.count * (more or 0)
    if by_costs is not None:
        moved = min(every.sum("handoffs") + every.sum("overlaps"), every.count)
        low, most = moved * by_costs, every.count * by_costs
        said = (
            f"by `pawl costs` a take and its release cost {time(by_costs)} more where another "
            "processor had the line"
        )
    else:
        said = (
            f"a take and its release cost {time(process.pair_ns + more)} here, and "
            f"{time(process.pair_ns)} where no other thread comes; {every.sum('priced'):,} were "
            "timed"
        )
    rest = max(process.thread_ns - every.count * own, most)
    high = most * process.thread_ns / max(rest, 1)
    return Price(
        f"{said}. The recorder adds {time(own)}",
        (low, high),
        f"the lines of these locks cost between {percent(low / process.thread_ns)} of the threads' "
        f"time, as recorded, and {percent(high / process.thread_ns)}, without the recorder's part "
        "of it",
    )
