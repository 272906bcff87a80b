# SPDX-License-Identifier: MIT
"""The options of `pawl bench cache`, which are those of `pawl bench lru`, and its plan."""

from pawl.core.kind import Call, Command, Plan
from pawl.kinds.cache.plan import BASELINE, ROWS, plan, with_chains
from pawl.kinds.lru import command as lru

HELP = """Which cache serves hits best, and which keeps the right entries?

Whole caches: ours, those of RocksDB and oneTBB, and the list and map that programs write
themselves. Beside them stands the published cache of pawl bench lru under each lock, with as
many chains as entries; it is round-robin, not LRU. A lookup copies the value out, and a miss
computes and inserts it. The row pawl_cache uses a hit in its read section, pawl_cache_hold by
a reference. Without options of its own: hit ratios of 99, 95 and 90 %, then misses alone, then
the hits of each row where the keys are Zipf's, and where every other lookup scans all keys.
"""
EXAMPLES = [
    ("pawl bench cache --quick", "A look at all rows."),
    (
        "pawl bench cache --keys access.log --words --threads 1",
        "The hit ratios of your own keys, a cache for a quarter of them.",
    ),
    (
        "pawl bench cache --candidates cache --json cache.json --html cache.html",
        "Whole caches alone; saved, and as a page.",
    ),
]


def _plan(o: Call) -> Plan:
    if o["names"] == "all":
        o.options["names"] = ROWS
    request = lru.request_of(o)
    own = o["hit"] or o["keyspace"] or o["key_names"] or o["grid"] or o["miss_cost"]
    if own or request.dist != "uniform" or o["chains"] != "0":
        named = o["key_names"] or o["chains"] != "0"
        return lru.planned(o, request if named else with_chains(request), BASELINE)
    choice = o.choose(BASELINE)
    return Plan(plan(request, choice), choice.missing)


COMMAND = Command(HELP, EXAMPLES, lru.OPTIONS, _plan, quick={"seconds": 0.02, "rounds": 6})
