# SPDX-License-Identifier: MIT
"""What a lock is called that is no variable, and has no name by its program."""

import bisect
import itertools
from collections import defaultdict
from dataclasses import dataclass

from pawl.trace import symbols


@dataclass(frozen=True)
class Block:
    """Of memory that the program allocated: where the lock lies in it, its bytes, by whom."""

    offset: int
    size: int
    site: int


class Around:
    """The blocks that locks are known to lie in, for their neighbours: of a long array of locks the
    recorder has no room for each."""

    def __init__(self, blocks: dict[int, Block]):
        self.all = sorted({(address - b.offset, b.size, b.site) for address, b in blocks.items()})

    def of(self, address: int) -> Block | None:
        at = bisect.bisect_right(self.all, (address, 1 << 62, 0)) - 1
        if at < 0 or address - self.all[at][0] >= self.all[at][1]:
            return None
        start, size, site = self.all[at]
        return Block(address - start, size, site)


def makers(
    chains: dict[int, tuple[int, ...]], places: dict[int, symbols.Place]
) -> dict[int, symbols.Place]:
    """Of each lock the place that made it. A function that several others call to make their locks
    is a wrapper, and says nothing: the place is its caller's."""
    callers: dict[str, set[str]] = defaultdict(set)
    for chain in chains.values():
        for inner, outer in itertools.pairwise(chain):
            callers[symbols.function(places[inner])].add(symbols.function(places[outer]))

    def maker(chain: tuple[int, ...]) -> symbols.Place:
        for address in chain[:-1]:
            if len(callers[symbols.function(places[address])]) < 2:
                return places[address]
        return places[chain[-1]]

    return {lock: maker(chain) for lock, chain in chains.items()}


def lock_name(
    address: int,
    kind: str,
    place: symbols.Place,
    init: symbols.Place | None,
    block: Block | None,
    allocated: symbols.Place | None,
) -> str:
    if kind == "sleep":
        return "sleep"
    if place.module:
        return str(place)
    if block and allocated:
        at = f" at {block.offset}" if block.offset else ""
        is_allocator = symbols.ALLOCATORS.search(symbols.function(allocated))
        return f"{kind}{at} in {block.size} bytes of {init if init and is_allocator else allocated}"
    return f"{kind} of {init}" if init else ""
