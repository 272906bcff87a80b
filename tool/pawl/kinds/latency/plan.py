# SPDX-License-Identifier: MIT
"""Plans `pawl bench latency`: times with signals blocked, and waits.

Each scenario is a cell. Under "pairs" one thread is alone and a sample is a time; in all others the
threads of a sample, and the handlers of those that are interrupted, have a row each. Numbers of
such rows are cycles of the processor's counter.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pawl.core.kind import Cell

DRIVER = "pawl-bench-latency"
OURS, BASELINE, FLOOR = "pawl_sift", "pthread_rwlock", "none"
PTHREAD = (BASELINE, "pthread_rwlock_writer", "pthread_rwlock_nonrecursive")
PAIRS, PAIR_FLOOR = "pairs", "floor/cas_sub"


# What the name of a row of pairs begins with.
ROWS = (
    ("r", "taking and dropping for reading"),
    ("w", "taking and dropping for writing"),
    ("calls", "the system calls of a writer alone"),
    ("floor", "no lock: an empty loop, or the least that a reader's pair can be"),
)


@dataclass(frozen=True)
class Scenario:
    says: str
    threads: int
    share: float  # of --seconds
    write_section_us: float = 1
    writer_delay_us: float = 100
    handler_period_ms: float = 100
    realtime: bool = False  # real-time threads contend with writers


SCENARIOS = {
    PAIRS: Scenario("taking and dropping, one thread alone", 1, 0.005),
    "writer": Scenario("one writer", 1, 0.06),
    "trylock_writer": Scenario("one writer that only tries", 1, 0.06),
    "reader": Scenario("one reader", 1, 0.06),
    "realtime_reader": Scenario("one real-time reader", 1, 0.06),
    "readers": Scenario("two readers and two real-time readers", 4, 0.06),
    "contention": Scenario(
        "high contention: all at once, more threads than CPUs", 8, 1, realtime=True
    ),
    "placed": Scenario(
        "high contention, the writer on one CPU, all readers on another", 6, 1, realtime=True
    ),
    "handlers": Scenario(
        "handlers that read beside busy writers, whose CPU another thread wants",
        5,
        0.25,
        write_section_us=20,
        writer_delay_us=20,
        handler_period_ms=1,
        realtime=True,
    ),
}
# Locks whose waits spin for a bit that a thread holds for a moment: a real-time thread that has
# preempted that one spins until the kernel holds it up, about a second, and nothing else happens.
SPINNING = ("absl_mutex",)
LEAST_SECONDS, PAIR_ROUNDS = 0.002, 15
# What a sample costs beside its length, and a cell: threads, timers; start and calibration.
SAMPLE_OVERHEAD, CELL_OVERHEAD = 0.02, 0.12


# ---- The plan ------------------------------------------------------------------------------------


@dataclass
class Request:
    """The options of the command; None is what the scenario itself says."""

    scenarios: list[str] = field(default_factory=lambda: list(SCENARIOS))
    seconds: float = 4
    rounds: int = 1
    warmup: float = 0.05
    pin: str = "auto"
    realtime: str = "auto"
    slow_section_us: float = 3000
    slow_every_ms: float = 50
    read_section_us: float = 1
    write_section_us: float | None = None
    writer_delay_us: float | None = None
    trylock_delay_us: float = 1000
    tries: int = 100
    handler_period_ms: float | None = None
    realtime_share: float = 20


GIVEN = (
    "slow_section_us",
    "slow_every_ms",
    "read_section_us",
    "write_section_us",
    "writer_delay_us",
    "trylock_delay_us",
    "tries",
    "handler_period_ms",
    "realtime_share",
)


def _cell(request: Request, name: str, names: list[str]) -> Cell:
    scene, alone = SCENARIOS[name], name == PAIRS
    seconds = round(max(LEAST_SECONDS, request.seconds * scene.share), 4)
    given = {key: getattr(request, key) for key in GIVEN}
    given |= {key: getattr(scene, key) for key, value in given.items() if value is None}
    parameters = {
        "bench": "latency",
        "scenario": name,
        "threads": scene.threads,
        "seconds": seconds,
        "rounds": PAIR_ROUNDS * request.rounds if alone else request.rounds,
        "warmup": round(min(request.warmup, seconds / 4), 4),
        "pin": request.pin,
        "realtime": request.realtime,
        **given,
        "candidates": names,
    }
    return Cell.of(parameters, "bench", "threads")


def pair_options(request: Request) -> list[str]:
    """What the driver must know to list the rows of pairs."""
    return ["--scenario", PAIRS, "--realtime", request.realtime]


def lock_of(row: str, locks: Iterable[str]) -> str | None:
    """Which lock a row of "pairs" is about: pthread_rwlock of w/pthread_rwlock_masked."""
    what = row.split("/")[-1]
    return max((n for n in locks if what == n or what.startswith(n + "_")), key=len, default=None)


def rows_of_pairs(offered: list[dict], known: list[str], chosen: list[str]) -> list[str]:
    """The rows of the chosen locks, with all floors and calls: no row says much without them."""
    return [
        c["name"]
        for c in offered
        if c["available"]
        and (not c["name"].startswith(("r/", "w/")) or lock_of(c["name"], known) in chosen)
    ]


def plan(request: Request, locks: list[str], pair_rows: list[str]) -> list[Cell]:
    def rows(name: str) -> list[str]:
        if name == PAIRS:
            return pair_rows
        spared = SCENARIOS[name].realtime and request.realtime != "no"
        return [n for n in locks if not (spared and n in SPINNING)]

    cells = [_cell(request, name, rows(name)) for name in request.scenarios]
    return [c for c in cells if c.candidates]


def expected_seconds(cells: list[Cell]) -> float:
    return sum(
        CELL_OVERHEAD
        + c.sample_count
        * (
            c.parameters["seconds"]
            + c.parameters["warmup"]
            + (0 if c.parameters["scenario"] == PAIRS else SAMPLE_OVERHEAD)
        )
        for c in cells
    )
