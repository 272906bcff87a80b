# SPDX-License-Identifier: MIT
"""Locks that are taken in orders that contradict each other."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator

Edges = dict[tuple[int, int], frozenset[int]]  # (held, taken) -> the threads that did it
SEVERAL: frozenset[int] = frozenset()
STEPS = 1_000_000  # of the search for longer ones; then it ends, as locks may be a million
PATHS = 4  # that are followed to one lock: a first one may use a lock that the rest needs


def _through(
    start: int, after: dict[int, set[int]], edges: Edges, steps: Iterator[int]
) -> list[int]:
    """The locks of a shortest cycle through this one that several threads close; none if there is
    none. One thread that takes locks in several orders waits for nobody."""
    queue: deque[tuple[tuple[int, ...], frozenset[int]]] = deque([((start,), frozenset())])
    met: Counter = Counter()
    while queue and next(steps, None) is not None:
        path, threads = queue.popleft()
        for then in sorted(after[path[-1]]):
            who = threads | edges[path[-1], then]
            only = who if len(who) == 1 else SEVERAL
            if then == start and only is SEVERAL:
                return list(path)
            if then not in path and met[then, only] < PATHS:
                met[then, only] += 1
                queue.append(((*path, then), who))
    return []


def _prune(after: dict[int, set[int]]) -> None:
    """No cycle goes through a lock after which none is taken."""
    while ends := [lock for lock, then in after.items() if not then]:
        for lock in ends:
            del after[lock]
        for then in after.values():
            then.intersection_update(after)


def closed(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those that may be part of a cycle: few, also where there are a million."""
    after: dict[int, set[int]] = defaultdict(set)
    for held, taken in pairs:
        after[held].add(taken)
    for then in after.values():
        then.intersection_update(after)
    _prune(after)
    return {(held, taken) for held, every in after.items() for taken in every}


def cycles(edges: Edges, most: int = 100) -> Iterator[list[int]]:
    """Cycles of locks that several threads close: all of two, then longer ones, the shortest first,
    `most` of them. An edge that closed one is in no later one."""
    steps = iter(range(STEPS))
    after: dict[int, set[int]] = defaultdict(set)
    for held, taken in edges:
        after[held].add(taken)
    for held, taken in sorted(edges):
        both = held < taken and held in after[taken]
        if both and len(edges[held, taken] | edges[taken, held]) > 1:
            yield [held, taken]
            after[taken].discard(held)
    for _ in range(most):
        for then in after.values():
            then.intersection_update(after)
        _prune(after)
        found = [cycle for lock in sorted(after) if (cycle := _through(lock, after, edges, steps))]
        if not found:
            return
        cycle = min(found, key=len)
        yield cycle
        after[cycle[-1]].discard(cycle[0])
