# SPDX-License-Identifier: MIT
"""Plans `pawl bench cache`: cells of `pawl bench lru`, with as many chains as entries.

Three parts: hits that are rarely missed, misses alone, and patterns that tell evictions apart.
"""

from dataclasses import replace

from pawl.core import candidates, ranges
from pawl.core.kind import Cell
from pawl.kinds.lru.plan import SIZE, Request
from pawl.kinds.lru.plan import plan as cells_of

BASELINE = "cache/std_list"
ROWS = "cache,first"
HITS = [99.0, 95.0, 90.0]
# A miss costs nothing but what the cache does, and nearly all lookups miss.
MISSES = {"hits": [1.0], "miss_costs": [0]}
# One thread, a cache of a tenth of the keys.
PATTERNS = ("zipf", "scan")
PATTERN = {"threads": [1], "hits": [10.0], "miss_costs": [0]}


def with_chains(request: Request) -> Request:
    """A table as a program has it: one chain for each entry."""
    return replace(request, chains=[ranges.cache_size(request.size or SIZE, None)])


def plan(request: Request, choice: candidates.Choice) -> list[Cell]:
    """What is measured unless the options name keys of their own."""
    request = with_chains(request)
    parts = [replace(request, hits=HITS), replace(request, **MISSES)]
    parts += [replace(request, dist=dist, **PATTERN) for dist in PATTERNS]
    return [cell for part in parts for cell in cells_of(part, choice)]
