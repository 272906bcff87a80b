# SPDX-License-Identifier: MIT
"""What lines cost that several processors write, from the takes that the recorder timed."""

from __future__ import annotations

from dataclasses import dataclass

from pawl.advise.facts import Process, Uses, percent, time


@dataclass(frozen=True)
class Price:
    """What the lines of locks cost, as takes and releases were timed. The recorder has lines of its
    own, which move, too: without that the threads would be faster, and meet more often."""

    said: str
    gain: tuple[float, float]  # ns, with the recorder's part of the threads' time and without it
    between: str


def of(process: Process, several: list[Uses]) -> Price | None:
    every = Uses([use for uses in several for use in uses])
    more, own = every.timed("take_ns", "drop_ns"), every.timed("own_ns", "note_ns")
    if more is None or own is None:
        return None
    own += process.own_ns
    low = every.count * more
    rest = max(process.thread_ns - every.count * own, low)
    high = low * process.thread_ns / max(rest, 1)
    return Price(
        f"a take and its release cost {time(process.pair_ns + more)} here, and "
        f"{time(process.pair_ns)} where no other thread comes; {every.sum('priced'):,} were timed. "
        f"The recorder adds {time(own)}",
        (low, high),
        f"the lines of these locks cost between {percent(low / process.thread_ns)} of the threads' "
        f"time, as recorded, and {percent(high / process.thread_ns)}, without the recorder's part "
        "of it",
    )
