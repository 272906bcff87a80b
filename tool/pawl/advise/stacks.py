# SPDX-License-Identifier: MIT
"""Stacks of waiting: by lock, for findings, for flame graphs and for the files of others.

The recorder's table of stacks is bounded. What waited without a place there goes by its call site
alone, so the sums are always those of the trace.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pawl.advise.facts import Facts, Lock, Site, percent

LEAST_SHARE = 0.1  # of a lock's waiting; a stack with less is no evidence
MOST_FRAMES = 8  # that a line of evidence names
# Of the C and C++ libraries: how they come to the program's functions. Evidence leaves them out.
BEGINNINGS = ("_start", "start_thread", "clone", "clone3")
INTERNAL = ("__", "std::")


@dataclass(frozen=True)
class Stack:
    """`frames` from the call of the lock outwards; `cut`: there were more. `taken`: takes without a
    wait, of those that were looked at."""

    frames: tuple[Site, ...]
    cut: bool
    mode: str
    count: int
    wait_ns: int
    taken: int
    share: float = 0.0  # of what was compared: waiting, or takes

    def __str__(self) -> str:
        first, *others = [text for site in self.frames for text in site.texts]
        functions = [
            first,
            *(
                text
                for text in others
                if not text.startswith(INTERNAL) and text.split(" (")[0] not in BEGINNINGS
            ),
        ]
        shown = functions[:MOST_FRAMES]
        more = len(functions) - len(shown)
        rest = f", and {more} more" if more else ", and more" if self.cut else ""
        return ", called by ".join(shown) + rest

    @property
    def said(self) -> str:
        what = "the waiting" if self.wait_ns else "the takes that were looked at"
        return f"{percent(self.share)} of {what} ({self.mode}): {self}"

    def as_json(self) -> dict:
        return {
            "mode": self.mode,
            "count": self.count,
            "wait_ns": self.wait_ns,
            "taken": self.taken,
            "share": self.share,
            "cut": self.cut,
            "frames": [
                {"text": s.text, "function": s.function, "file": s.file, "line": s.line}
                for s in self.frames
            ],
        }


def frames(facts: Facts, number: int | None) -> tuple[tuple[Site, ...], bool]:
    """Of a stack of the trace, and whether it was cut."""
    row = facts.db.execute("SELECT sites, cut FROM stack WHERE id = ?", (number,)).fetchone()
    if row is None:
        return (), False
    return tuple(facts.site(site) for site in json.loads(row["sites"])), bool(row["cut"])


def of(facts: Facts, locks: Iterable[Lock]) -> list[Stack]:
    found = []
    for lock in locks:
        for row in facts.db.execute("SELECT * FROM waited WHERE lock = ?", (lock.id,)):
            sites, cut = frames(facts, row["stack"])
            if sites:
                found.append(
                    Stack(sites, cut, row["mode"], row["count"], row["wait_ns"], row["taken"])
                )
    return found


def heaviest(facts: Facts, locks: list[Lock], most: int = 3) -> list[Stack]:
    """Those that waited most; of locks that nobody waited for, those that took them most."""
    every = of(facts, locks)
    for measure in ("wait_ns", "taken"):
        whole = sum(getattr(stack, measure) for stack in every)
        if not whole:
            continue
        shares = [(getattr(stack, measure) / whole, stack) for stack in every]
        shares = sorted((s for s in shares if s[0] >= LEAST_SHARE), key=lambda s: -s[0])[:most]
        return [
            Stack(s.frames, s.cut, s.mode, s.count, s.wait_ns, s.taken, share)
            for share, s in shares
        ]
    return []


def _rest(facts: Facts, lock: Lock, known: list[Stack]) -> Iterator[Stack]:
    """Waits that no stack has, by their call sites."""
    left: dict[tuple[str, Site], list[int]] = defaultdict(lambda: [0, 0])
    for use in lock.uses if lock.waits else ():
        left[use.mode, use.take][0] += use.waits
        left[use.mode, use.take][1] += use.wait_ns
    for stack in known:
        one = left[stack.mode, stack.frames[0]]
        one[0] -= stack.count
        one[1] -= stack.wait_ns
    for (mode, site), (count, wait_ns) in left.items():
        if count > 0 and wait_ns > 0:
            yield Stack((site,), False, mode, count, wait_ns, 0)


def waiting(facts: Facts, *kinds: str) -> Iterator[tuple[Lock, Stack]]:
    """All waits of all locks, or of those kinds."""
    with_stacks = {r[0] for r in facts.db.execute("SELECT DISTINCT lock FROM waited")}
    for lock in facts.locks.values():
        if (kinds and lock.kind not in kinds) or not (lock.waits or lock.id in with_stacks):
            continue
        known = [s for s in of(facts, [lock]) if s.count] if lock.id in with_stacks else []
        for stack in [*known, *_rest(facts, lock, known)]:
            yield lock, stack


def names(stack: Stack) -> list[str]:
    """From the outermost frame to the innermost, with those that were inlined."""
    found = ["..."] if stack.cut else []
    for site in reversed(stack.frames):
        found += [str(name) for name, *_ in reversed(site.frames)] or [site.text]
    return found
