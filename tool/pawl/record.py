# SPDX-License-Identifier: MIT
"""`pawl bench record`: the runs that bench/results keeps and scripts/targets judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from pawl import (
    candidates,
    driver,
    lru,
    output,
    pairs,
    part,
    record_counters,
    record_latency,
    record_rcu,
    record_wait,
    results,
)
from pawl.errors import BadInput, Interrupted

# Enough rows to name the best pthread row of a cell and to compare like with like.
GRID_ROWS = (candidates.SPIN, candidates.RWLOCK, candidates.MUTEX, candidates.MAIN,
             "r+w/pawl_spin32")
# Nine rounds are the fewest whose sign-based 95 % interval leaves out the worst and the best.
GRID_ROUNDS, FOCUS_ROUNDS, PAIR_ROUNDS = 9, 15, 15
# 50 entries a chain and one: the other cells have 200, and the ratios depend on that.
CHAINS = [64, 3200]


def _spinning(choice: candidates.Choice) -> candidates.Choice:
    """This set is about locks that spin, and their peers: the sleeping ones have their own."""
    choice.names = [n for n in choice.names if "/pawl_lock" not in n]
    return choice


def _pairs(path: Path, seconds: float, quiet: bool) -> dict:
    offered = driver.candidates(path)
    choice = _spinning(candidates.choose("all", offered))
    cells = pairs.plan(choice.names, seconds, PAIR_ROUNDS, 0.005, "auto")
    return part.measured("pairs", "One thread alone", path, cells, pairs.FLOOR, choice.missing,
                         quiet)


def _focus(path: Path, seconds: float, quiet: bool) -> dict:
    offered = driver.candidates(path)
    choice = _spinning(candidates.choose("all", offered))
    request = lru.Request(threads=[1, 2], hits=[99], seconds=seconds * 2, rounds=FOCUS_ROUNDS)
    return part.measured("lru", "The published cell", path, lru.plan(request, choice),
                         candidates.RWLOCK, choice.missing, quiet)


def _grid(path: Path, seconds: float, quiet: bool) -> dict:
    choice = candidates.choose(",".join(GRID_ROWS), driver.candidates(path))
    request = lru.Request(threads=[2], hits=lru.GRID_HITS, miss_costs=lru.GRID_COSTS,
                          seconds=seconds, rounds=GRID_ROUNDS)
    return part.measured("lru", "The published grid", path, lru.plan(request, choice),
                         candidates.RWLOCK, choice.missing, quiet)


def _chains(path: Path, seconds: float, quiet: bool) -> dict:
    choice = candidates.choose(",".join(GRID_ROWS), driver.candidates(path))
    request = lru.Request(threads=[2], hits=[99], chains=CHAINS, seconds=seconds,
                          rounds=GRID_ROUNDS)
    return part.measured("lru", "How the length of chains matters", path,
                         lru.plan(request, choice), candidates.RWLOCK, choice.missing, quiet)


def _spin_parts(programs: dict[str, Path], seconds: float,
                quiet: bool) -> list[Callable[[], dict]]:
    lru_path, pairs_path = programs[driver.LRU], programs[driver.PAIRS]
    return [lambda: _pairs(pairs_path, seconds / 2, quiet),
            lambda: _focus(lru_path, seconds, quiet),
            lambda: _grid(lru_path, seconds, quiet),
            lambda: _chains(lru_path, seconds, quiet)]


# What a set needs and what it measures.
SETS = {"spin": ((driver.LRU, driver.PAIRS), _spin_parts),
        "wait": (record_wait.PROGRAMS, record_wait.parts),
        "counters": (record_counters.PROGRAMS, record_counters.parts),
        "rcu": (record_rcu.PROGRAMS, record_rcu.parts),
        "latency": (record_latency.PROGRAMS, record_latency.parts)}
# How many runs a record has unless it is told.
RUNS, RUNS_OF = 3, {"latency": record_latency.RUNS}


def _one_run(name: str, parts: list[Callable[[], dict]]) -> dict:
    whole = {"schema": results.SCHEMA, "kind": "record", "set": name,
             "command": results.command_line(), "started": results.now(), "parts": []}
    for measure_part in parts:
        whole["parts"].append(measure_part())
        if whole["parts"][-1]["interrupted"]:
            raise Interrupted("interrupted; complete runs are kept, and the same command goes "
                              "on with the next.")
    whole["finished"] = results.now()
    return whole


def _keep(path: Path, which: str) -> None:
    found = results.load(path).get("set", "spin")
    if found != which:
        raise BadInput(f"{path} is a run of the set {found}; name another folder for the set "
                       f"{which}.")
    click.echo(f"kept: {path}", err=True)


def record(folder: Path, runs: int | None, seconds: float, driver_folder: str | None,
           quiet: bool, which: str = "spin") -> None:
    runs = runs or RUNS_OF.get(which, RUNS)
    if driver_folder and not Path(driver_folder).is_dir():
        raise BadInput(f"--driver: {driver_folder} is not a folder; a record needs several "
                       "programs, name the folder that holds them.")
    needed, parts = SETS[which]
    programs = {name: driver.find(name, driver_folder) for name in needed}
    if not folder.exists():
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise BadInput(f"cannot make the folder {folder}: {error.strerror}; "
                           "name another.") from error
    for number in range(1, runs + 1):
        path = folder / f"run{number}.json"
        if path.exists():
            _keep(path, which)
            continue
        output.check("FOLDER", path)
        click.echo(f"run {number} of {runs}", err=True)
        results.save(path, _one_run(which, parts(programs, seconds, quiet)))
        click.echo(f"written: {path}", err=True)
