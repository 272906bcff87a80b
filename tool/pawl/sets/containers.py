# SPDX-License-Identifier: MIT
"""The set "containers": the tree, the table and the cache, beside whole ones of others.

Three runs take ten minutes on two CPUs.
"""

from collections.abc import Iterable

from pawl.core import candidates
from pawl.core.errors import BadInput
from pawl.core.kind import Cell
from pawl.core.record import Part, Set, rows
from pawl.core.targets import Finding, Judging, Runs, Target, find_part, rate, ratio
from pawl.kinds.cache.kind import KIND as CACHE
from pawl.kinds.cache.plan import BASELINE as LIST
from pawl.kinds.cache.plan import HITS, MISSES, PATTERN, PATTERNS, with_chains
from pawl.kinds.hash import plan as tables
from pawl.kinds.hash.kind import KIND as TABLE
from pawl.kinds.lru import plan as lru
from pawl.kinds.lru.table import hit_ratio
from pawl.kinds.tree import plan as trees
from pawl.kinds.tree.kind import KIND as TREE

TREES, LIBBSD = ("map/pawl_tree", "map/pawl_tree_read"), "r+s>w/pawl_lock64"
OURS, LFHT = "pawl_table", "urcu_lfht"
TABLES = (OURS, LFHT, "ck_ht", "tbb_hash_map", "libcuckoo", "libcds_split")
CACHES = (candidates.CACHE, "cache/pawl_cache_hold")
# They keep the use of their entries; the published one does not.
LRUS, PUBLISHED = (LIST, "cache/rocksdb_lru", "cache/tbb_lru"), "r+s>w/pawl_lock64"
TREE_BUDGET, TABLE_BUDGET, CACHE_BUDGET = 35.0, 30.0, 35.0


def _of_trees(scale: float, names: list[str]) -> list[Cell]:
    same = {"lookups": ["hot"], "nodes": [1024, 1_000_000], "rounds": 6, "removes": 50.0}
    half = TREE_BUDGET * scale / 2
    reads = trees.Request(**same, threads=[1, 2], inserts=[0.0], budget=half)
    changes = trees.Request(**same, threads=[2], inserts=[5.0, 20.0], budget=half)
    return [*trees.plan(reads, names), *trees.plan(changes, names)]


def _of_tables(scale: float, names: list[str]) -> list[Cell]:
    request = tables.Request(
        threads=[2], updates=[0.0, 5.0, 20.0, 50.0], rounds=6, budget=TABLE_BUDGET * scale
    )
    return tables.plan(request, names)


def _of_caches(scale: float, names: list[str]) -> list[Cell]:
    choice = candidates.Choice(names)
    share = CACHE_BUDGET * scale / 6
    cells = []
    for threads, part, parts in (
        ([1, 2], {"hits": HITS}, 4.5),
        ([2], MISSES, 0.75),
        *(([1], PATTERN | {"dist": dist}, 0.375) for dist in PATTERNS),
    ):
        told = {"miss_costs": [100], **part, "threads": threads, "budget": share * parts}
        cells += lru.plan(with_chains(lru.Request(rounds=6, **told)), choice)
    return cells


def _part(kind, names: tuple[str, ...], cells, baseline: str) -> Part:
    return Part(kind, kind.title, rows(",".join(names), cells), baseline)


# ---- What is wanted -----------------------------------------------------------------------------


def _cells(run: dict, kind: str, threads: int) -> list[dict]:
    cells = [c for c in find_part(run, kind)["cells"] if c["threads"] == threads]
    if not cells:
        raise BadInput(
            f"the run of {run.get('started')} has no cell at {threads} threads; record again on a "
            "machine that has as many CPUs."
        )
    return cells


def _label(kind, cell: dict) -> str:
    return kind.label(cell).replace("\n", ", ")


def _best(cell: dict, names: Iterable[str]) -> str:
    there = {s["candidate"] for s in cell["samples"]}
    return max((n for n in names if n in there), key=lambda name: rate(cell, name))


def _least(run: dict, kind, ours: tuple[str, ...], peers: tuple[str, ...]) -> Finding:
    """The better of ours over the best peer, in the cell where that is least."""
    found = []
    for cell in _cells(run, kind.name, 2):
        own, best = _best(cell, ours), _best(cell, peers)
        one = ratio(cell, own, best)
        one.note = f"{_label(kind, cell)}: {own} against {best}"
        found.append(one)
    return min(found, key=lambda one: one.value)


def _twice(run: dict) -> Finding:
    """Look-ups alone, two threads over one."""
    one = {c["nodes"]: c for c in _cells(run, TREE.name, 1) if c["inserts"] == 0}
    two = [c for c in _cells(run, TREE.name, 2) if c["inserts"] == 0]
    value, nodes = min(
        (rate(c, TREES[0]) / rate(one[c["nodes"]], TREES[0]), c["nodes"]) for c in two
    )
    return Finding(value, note=f"{TREES[0]}, {nodes:,} nodes")


def _of_maps(run: dict) -> tuple[str, ...]:
    names = {s["candidate"] for c in _cells(run, TREE.name, 2) for s in c["samples"]}
    return tuple(sorted(names - set(TREES)))


def _at_99(run: dict, peers: tuple[str, ...]) -> Finding:
    (cell,) = (c for c in _cells(run, CACHE.name, 2) if c["hit_nominal"] == HITS[0])
    best = _best(cell, peers)
    found = ratio(cell, candidates.CACHE, best)
    found.note = f"against {best}"
    return found


def _hits(run: dict) -> Finding:
    """Our hits less the best LRU's, in points."""
    found = []
    for cell in _cells(run, CACHE.name, 1):
        if cell["dist"] != "uniform":
            of = {
                name: hit_ratio([s for s in cell["samples"] if s["candidate"] == name])
                for name in (candidates.CACHE, *LRUS)
            }
            own = of.pop(candidates.CACHE)
            found.append((100 * (own - max(v for v in of.values() if v)), cell["dist"]))
    value, dist = min(found)
    return Finding(value, note=dist)


def _judging() -> Judging:
    def notes(runs: Runs) -> Iterable[str]:
        for path, run in runs:
            beside = _at_99(run, (PUBLISHED,)).show()
            yield f"{path.name}: at 99 % {candidates.CACHE} / the published cache: {beside}"

    least = (
        ("tree, 2 threads: the better of ours / best other map", TREE, TREES, _of_maps),
        (f"table, 2 threads: {OURS} / {LFHT}", TABLE, (OURS,), lambda _: (LFHT,)),
    )
    return Judging(
        [
            Target(f"tree, read only: {TREES[0]}, 2 threads / 1", 1.8, True, _twice),
            *(
                Target(
                    f"{words}, worst cell",
                    1.0,
                    True,
                    lambda run, k=kind, o=ours, p=peers: _least(run, k, o, p(run)),
                )
                for words, kind, ours, peers in least
            ),
            Target(
                f"cache, 99 % hits, 2 threads: {candidates.CACHE} / best LRU",
                1.5,
                True,
                lambda run: _at_99(run, LRUS),
            ),
            Target("cache, points of hits above the best LRU, worst pattern", -0.5, True, _hits),
        ],
        notes,
    )


SET = Set(
    name="containers",
    what="the tree, the table and the cache",
    help="Each run of the set containers measures pawl_tree, pawl_table and pawl_cache beside "
    "whole maps, tables and caches of others.",
    example="The tree, the table and the cache, about ten minutes.",
    parts=(
        _part(TREE, ("map", LIBBSD), _of_trees, LIBBSD),
        _part(TABLE, TABLES, _of_tables, LFHT),
        _part(CACHE, ("cache", PUBLISHED), _of_caches, LIST),
    ),
    judging=_judging,
)
