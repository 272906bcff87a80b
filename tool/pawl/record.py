# SPDX-License-Identifier: MIT
"""`pawl bench record`: the runs that bench/results keeps and scripts/targets judges."""

from __future__ import annotations

from pathlib import Path

import click

from pawl import candidates, driver, lru, measure, output, pairs, results
from pawl.errors import BadInput, Interrupted

# Enough rows to name the best pthread row of a cell and to compare like with like.
GRID_ROWS = (candidates.SPIN, candidates.RWLOCK, candidates.MUTEX, candidates.MAIN,
             "r+w/pawl_spin32")
# Nine rounds are the fewest whose sign-based 95 % interval leaves out the worst and the best.
GRID_ROUNDS, FOCUS_ROUNDS, PAIR_ROUNDS = 9, 15, 15
# 50 entries a chain and one: the other cells have 200, and the ratios depend on that.
CHAINS = [64, 3200]


def _part(kind: str, title: str, path: Path, cells: list[measure.Cell], baseline: str,
          missing: list[dict], quiet: bool) -> dict:
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    result = results.new(kind, title, plan, baseline, missing)
    return measure.run(path, cells, result, lambda _: None, quiet)


def _pairs(path: Path, seconds: float, quiet: bool) -> dict:
    offered = driver.candidates(path)
    choice = candidates.choose("all", offered)
    cells = pairs.plan(choice.names, seconds, PAIR_ROUNDS, 0.005, "auto")
    return _part("pairs", "One thread alone", path, cells, pairs.FLOOR, choice.missing, quiet)


def _focus(path: Path, seconds: float, quiet: bool) -> dict:
    offered = driver.candidates(path)
    choice = candidates.choose("all", offered)
    request = lru.Request(threads=[1, 2], hits=[99], seconds=seconds * 2, rounds=FOCUS_ROUNDS)
    return _part("lru", "The published cell", path, lru.plan(request, choice),
                 candidates.RWLOCK, choice.missing, quiet)


def _grid(path: Path, seconds: float, quiet: bool) -> dict:
    choice = candidates.choose(",".join(GRID_ROWS), driver.candidates(path))
    request = lru.Request(threads=[2], hits=lru.GRID_HITS, miss_costs=lru.GRID_COSTS,
                          seconds=seconds, rounds=GRID_ROUNDS)
    return _part("lru", "The published grid", path, lru.plan(request, choice),
                 candidates.RWLOCK, choice.missing, quiet)


def _chains(path: Path, seconds: float, quiet: bool) -> dict:
    choice = candidates.choose(",".join(GRID_ROWS), driver.candidates(path))
    request = lru.Request(threads=[2], hits=[99], chains=CHAINS, seconds=seconds,
                          rounds=GRID_ROUNDS)
    return _part("lru", "How the length of chains matters", path, lru.plan(request, choice),
                 candidates.RWLOCK, choice.missing, quiet)


def _one_run(lru_path: Path, pairs_path: Path, seconds: float, quiet: bool) -> dict:
    whole = {"schema": results.SCHEMA, "kind": "record", "command": results.command_line(),
             "started": results.now(), "parts": []}
    for part in (lambda: _pairs(pairs_path, seconds / 2, quiet),
                 lambda: _focus(lru_path, seconds, quiet),
                 lambda: _grid(lru_path, seconds, quiet),
                 lambda: _chains(lru_path, seconds, quiet)):
        whole["parts"].append(part())
        if whole["parts"][-1]["interrupted"]:
            raise Interrupted("interrupted; complete runs are kept, and the same command goes "
                              "on with the next.")
    whole["finished"] = results.now()
    return whole


def record(folder: Path, runs: int, seconds: float, driver_folder: str | None,
           quiet: bool) -> None:
    if driver_folder and not Path(driver_folder).is_dir():
        raise BadInput(f"--driver: {driver_folder} is not a folder; a record needs both programs, "
                       "name the folder that holds them.")
    lru_path = driver.find(driver.LRU, driver_folder)
    pairs_path = driver.find(driver.PAIRS, driver_folder)
    if not folder.exists():
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise BadInput(f"cannot make the folder {folder}: {error.strerror}; "
                           "name another.") from error
    for number in range(1, runs + 1):
        path = folder / f"run{number}.json"
        if path.exists():
            results.load(path)
            click.echo(f"kept: {path}", err=True)
            continue
        output.check("FOLDER", path)
        click.echo(f"run {number} of {runs}", err=True)
        results.save(path, _one_run(lru_path, pairs_path, seconds, quiet))
        click.echo(f"written: {path}", err=True)
