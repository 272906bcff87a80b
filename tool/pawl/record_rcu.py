# SPDX-License-Identifier: MIT
"""The parts of `pawl bench record --set rcu`: readers and callbacks, the table, the tree, the
semaphores.

Three runs together take about twelve minutes on two CPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from pawl import candidates, driver, part, rcu, sem, tree
from pawl import hash as hash_bench

PROGRAMS = (rcu.DRIVER, hash_bench.DRIVER, tree.DRIVER, sem.DRIVER)
# At --seconds 0.06 the parts take these times; a shorter record has a smaller flood as well.
USUAL_SECONDS = 0.06
HASH_BUDGET, TREE_BUDGET, SEM_BUDGET = 105.0, 35.0, 12.0
# Two cells are compared there, so that each needs more samples, and longer ones.
READING, READING_ROUNDS, READING_SECONDS = "A hash table that is only read", 15, 0.05
FLOOD, CALLBACKS, DELAYS = 10_000_000, 500_000, 0.5
MOST_MIB = 2048
THREADS = [1, 2]


def _floods(name: str) -> bool:
    """Ten million callbacks take seconds: the rows that say most."""
    what, where = name.removeprefix("flood/").split("@")
    return what in ("pawl_rcu", "pawl_rcu_wait", "urcu_memb") and where.startswith("1")


def _rcu(path: Path, scale: float, quiet: bool) -> dict:
    offered = [c for c in driver.candidates(path)
               if rcu.group_of(c["name"]) != "flood" or _floods(c["name"])]
    choice = candidates.choose("all", offered)
    small = min(scale, 1.0)
    request = rcu.Request(
        seconds=round(0.02 * scale, 4), delay_seconds=DELAYS * scale,
        callbacks=int(CALLBACKS * small), flood=int(FLOOD * small), most=rcu.most_bytes(MOST_MIB))
    return part.measured("rcu", rcu.TITLE, path,
                         rcu.plan(request, rcu.with_baselines(choice, offered)), rcu.BASELINE,
                         choice.missing, quiet)


def _grid(kind: ModuleType, name: str, path: Path, quiet: bool, **options) -> dict:
    choice = candidates.choose("all", driver.candidates(path))
    request = kind.Request(threads=THREADS, **options)
    return part.measured(name, kind.TITLE, path, kind.plan(request, choice.names), kind.BASELINE,
                         choice.missing, quiet)


def _hash(path: Path, scale: float, quiet: bool) -> dict:
    return _grid(hash_bench, "hash", path, quiet, budget=HASH_BUDGET * scale)


def _reading(path: Path, scale: float, quiet: bool) -> dict:
    names = [hash_bench.BASELINE, hash_bench.MAIN, hash_bench.QUIESCENT]
    choice = candidates.choose(",".join(names), driver.candidates(path))
    request = hash_bench.Request(threads=THREADS, updates=[0.0], rounds=READING_ROUNDS,
                                 seconds=round(READING_SECONDS * scale, 4), warmup=0.02)
    return part.measured("hash", READING, path, hash_bench.plan(request, choice.names),
                         hash_bench.BASELINE, choice.missing, quiet)


def _tree(path: Path, scale: float, quiet: bool) -> dict:
    return _grid(tree, "tree", path, quiet, budget=TREE_BUDGET * scale)


def _sem(path: Path, scale: float, quiet: bool) -> dict:
    return _grid(sem, "sem", path, quiet, budget=SEM_BUDGET * scale)


def parts(programs: dict[str, Path], seconds: float, quiet: bool) -> list[Callable[[], dict]]:
    scale = seconds / USUAL_SECONDS
    plan = ((_rcu, rcu.DRIVER), (_hash, hash_bench.DRIVER), (_reading, hash_bench.DRIVER),
            (_tree, tree.DRIVER), (_sem, sem.DRIVER))
    return [lambda make=make, name=name: make(programs[name], scale, quiet)
            for make, name in plan]
