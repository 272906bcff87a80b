# SPDX-License-Identifier: MIT
"""Plans the cells of `pawl bench lru`: hit ratios x miss costs x thread counts."""

from dataclasses import dataclass, field

from pawl.core import candidates, options, ranges
from pawl.core.errors import BadInput
from pawl.core.keys import Trace
from pawl.core.kind import Cell

DRIVER = "pawl-bench-lru"

# The published grid: 18 cells, each measured for every strategy and number of threads.
GRID_HITS = [50, 80, 90, 95, 98, 99]
GRID_COSTS = [30, 100, 300]
# The cell that is measured unless told.
HITS, COSTS = [99], [100]
# The cache's size unless told. The published one is for random keys; nobody knows beforehand how
# many distinct keys a file has.
SIZE, SIZE_OF_REAL_KEYS = "3200", "25%"
MAX_ENTRIES = 1 << 30
LEAST_SECONDS = 0.005
# The table of the published cache has long chains; doc/design/006 says how they were calibrated.
ENTRIES_OF_A_CHAIN = 200


def usual_chains(size: int, real_keys: bool) -> int:
    """How many chains the cache's hash table has unless --chains says otherwise."""
    return size if real_keys else max(1, size // ENTRIES_OF_A_CHAIN)


def has_usual_chains(parameters: dict) -> bool:
    """Results that do not say have them: they were made before there was a choice."""
    usual = usual_chains(parameters["size"], bool(parameters.get("trace")))
    return (parameters.get("chains") or usual) == usual


@dataclass
class Request:
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int]
    size: str | None = None
    keyspace: int | None = None
    hits: list[float] = field(default_factory=lambda: list(HITS))
    miss_costs: list[int] = field(default_factory=lambda: list(COSTS))
    chains: list[int] = field(default_factory=lambda: [0])
    seconds: float = 0.1
    rounds: int = 9
    warmup: float = 0.02
    pin: str = "auto"
    seed: int = 1
    dist: str = "uniform"
    zipf_s: float = 0.99
    budget: float | None = None
    latency: bool = False


def _spaces(request: Request, trace: Trace | None) -> list[tuple[int, int, float]]:
    """(size, key space, nominal hit percentage), one for each hit ratio asked for."""
    known = trace.distinct if trace else request.keyspace
    usual = SIZE_OF_REAL_KEYS if trace else SIZE
    size = ranges.cache_size(request.size or usual, known)
    if known is not None:
        if size > known:
            whose = "the keys read" if trace else "--keyspace"
            raise BadInput(
                f"--size: a cache of {size:,} entries is larger than {whose} "
                f"({known:,} distinct keys) and would never miss; choose less."
            )
        return [(size, known, 100 * size / known)]
    spaces = []
    for hit in request.hits:
        keyspace = int(size * 100 / hit)
        spaces.append((size, keyspace, hit))
    return spaces


def _seconds(request: Request, samples: int) -> float:
    if request.budget is None:
        return request.seconds
    # A sample costs its warm-up too, and about a millisecond to start its threads.
    share = request.budget / max(samples, 1) - request.warmup - 0.001
    return round(max(LEAST_SECONDS, share), 4)


def plan(
    request: Request,
    choice: candidates.Choice,
    trace: Trace | None = None,
    trace_path: str | None = None,
) -> list[Cell]:
    spaces = _spaces(request, trace)
    for _size, keyspace, _hit in spaces:
        if keyspace > MAX_ENTRIES:
            raise BadInput(
                f"--size: a key space of {keyspace:,} keys is absurd; stay below {MAX_ENTRIES:,}."
            )
    points = [
        (space, cost, chains, threads)
        for chains in request.chains
        for cost in request.miss_costs
        for space in spaces
        for threads in request.threads
        if choice.for_threads(threads)
    ]
    if not points:
        raise BadInput(
            f"--candidates: {candidates.NULL} is no lock and can be measured at one "
            "thread only; say --threads 1 or name a lock."
        )
    samples = sum(len(choice.for_threads(t)) for *_, t in points) * request.rounds
    seconds, pin = _seconds(request, samples), options.pin(request.pin)
    source = trace.describe() if trace else None
    others = {"hit_nominal", "trace"}
    if trace_path:
        others |= {"keyspace", "dist"}
    if trace_path or request.dist == "uniform":
        others.add("zipf_s")
    more = ["--trace", trace_path] if trace_path else []
    cells = []
    for (size, keyspace, hit), cost, chains, threads in points:
        parameters = {
            "threads": threads,
            "size": size,
            "keyspace": keyspace,
            "hit_nominal": hit,
            "chains": chains or usual_chains(size, trace is not None),
            "miss_cost": cost,
            "seconds": seconds,
            "rounds": request.rounds,
            "warmup": request.warmup,
            "seed": request.seed,
            "pin": pin,
            "dist": "trace" if trace else request.dist,
            "zipf_s": request.zipf_s,
            "trace": source,
            "latency": request.latency,
            "candidates": choice.for_threads(threads),
        }
        cells.append(Cell.of(parameters, *others, more=more))
    return cells
