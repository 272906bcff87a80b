# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench lru` measures."""

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import USUAL_SECONDS, Part
from pawl.kinds.lru.kind import KIND
from pawl.kinds.lru.plan import GRID_COSTS, GRID_HITS, Request, plan

# Enough rows to name the best pthread row of a cell and to compare like with like.
GRID_ROWS = (
    candidates.SPIN,
    candidates.RWLOCK,
    candidates.MUTEX,
    candidates.MAIN,
    "r+w/pawl_spin32",
)
# Nine rounds are the fewest whose sign-based 95 % interval leaves out the worst and the best.
GRID_ROUNDS, FOCUS_ROUNDS = 9, 15
# 50 entries a chain and one: the other cells have 200, and the ratios depend on that.
CHAINS = [64, 3200]
WIDTHS = (32, 64)
# The sleeping lock and the spinning one, by width.
SLEEPING = {w: (f"r+s>w/pawl_lock{w}", f"r+s>w/pawl_spin{w}") for w in WIDTHS}

# The lock with scaling readers, by the value of PAWL_BIAS.
ON, OFF, EVIDENCE = (f"r+s>w/pawl_lock64_{mode}" for mode in ("on", "off", "evidence"))

# The published lock under each of its strategies, and ours beside it.
PLOCK = tuple(f"{strategy}/plock64" for strategy in candidates.STRATEGIES)
BESIDE_PLOCK = (ON, OFF, EVIDENCE, SLEEPING[64][0], SLEEPING[64][1])


def _planned(request: Request, choice: candidates.Choice) -> Plan:
    return Plan(plan(request, choice), choice.missing)


def _length(seconds: float, scale: float) -> float:
    return round(seconds * scale, 6)


def _focus(path: Path, scale: float) -> Plan:
    choice = candidates.without_sleepers(candidates.choose("all", driver.candidates(path)))
    return _planned(
        Request(
            threads=[1, 2],
            hits=[99],
            rounds=FOCUS_ROUNDS,
            seconds=_length(2 * USUAL_SECONDS, scale),
        ),
        choice,
    )


def _grid_rows(path: Path) -> candidates.Choice:
    return candidates.choose(",".join(GRID_ROWS), driver.candidates(path))


def _grid(path: Path, scale: float) -> Plan:
    return _planned(
        Request(
            threads=[2],
            hits=GRID_HITS,
            miss_costs=GRID_COSTS,
            rounds=GRID_ROUNDS,
            seconds=_length(USUAL_SECONDS, scale),
        ),
        _grid_rows(path),
    )


def _shorter_chains(path: Path, scale: float) -> Plan:
    return _planned(
        Request(
            threads=[2],
            hits=[99],
            chains=CHAINS,
            rounds=GRID_ROUNDS,
            seconds=_length(USUAL_SECONDS, scale),
        ),
        _grid_rows(path),
    )


def _sleeping_grid(path: Path, scale: float, names: list[str]) -> Plan:
    return _planned(
        Request(
            threads=[2],
            hits=GRID_HITS,
            miss_costs=GRID_COSTS,
            rounds=GRID_ROUNDS,
            seconds=_length(0.05, scale),
            warmup=0.01,
        ),
        candidates.choose(",".join(names), driver.candidates(path)),
    )


def _beside_spin(path: Path, scale: float) -> Plan:
    return _sleeping_grid(path, scale, [name for both in SLEEPING.values() for name in both])


def _scaling(path: Path, scale: float) -> Plan:
    """Beside the same lock in the driver itself, whose readers do not scale: a null row."""
    return _sleeping_grid(path, scale, [SLEEPING[64][0], "*/pawl_lock64_*"])


def _beside_plock(path: Path, scale: float) -> Plan:
    """OFF and the same lock in the driver itself differ by nothing: null rows."""
    return _sleeping_grid(path, scale, [*BESIDE_PLOCK, "*/plock64"])


FOCUS = Part(KIND, "The published cell", _focus)
GRID = Part(KIND, "The published grid", _grid)
SHORTER_CHAINS = Part(KIND, "How the length of chains matters", _shorter_chains)
BESIDE_SPIN = Part(KIND, "The published grid", _beside_spin, baseline=SLEEPING[32][1])
SCALING = Part(KIND, "The published grid, readers that scale", _scaling, baseline=OFF)
ANCESTOR = Part(KIND, "The published grid, the published lock", _beside_plock, baseline=PLOCK[3])
