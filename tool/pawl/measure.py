# SPDX-License-Identifier: MIT
"""Measures the cells of a plan one after the other and saves after each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pawl import driver, kinds, results, stats
from pawl.errors import BadInput


# The table of the published cache has long chains; doc/design/006 says how they were calibrated.
ENTRIES_OF_A_CHAIN = 200


@dataclass
class Cell:
    """One point of the plan: what identifies it, and what the driver is told."""

    parameters: dict
    options: list[str]

    @property
    def candidates(self) -> list[str]:
        return self.parameters["candidates"]

    @property
    def sample_count(self) -> int:
        return len(self.candidates) * self.parameters["rounds"]


def label(parameters: dict) -> str:
    """A cell in a few words, for progress, tables and plots."""
    if kind := kinds.of_cell(parameters):
        return kind.label(parameters)
    if "size" not in parameters:
        return workload(parameters)
    threads = parameters["threads"]
    return f"{workload(parameters)}, {threads} thread{'s' if threads != 1 else ''}"


def workload(parameters: dict) -> str:
    """What the cell does, whatever the number of threads."""
    if kind := kinds.of_cell(parameters):
        return kind.workload(parameters)
    if "size" not in parameters:
        return "take and drop by one thread alone"
    cost = f"miss cost {parameters['miss_cost']}"
    if not has_usual_chains(parameters):
        cost += f", {parameters['chains']:,} chains"
    if parameters.get("trace"):
        return (f"{parameters['trace']['distinct']:,} distinct keys, "
                f"cache of {parameters['size']:,}, {cost}")
    dist = "" if parameters["dist"] == "uniform" else f", {parameters['dist']}"
    return f"nominal hit {parameters['hit_nominal']:g} %, {cost}{dist}"


def usual_chains(size: int, real_keys: bool) -> int:
    """How many chains the cache's hash table has unless --chains says otherwise."""
    return size if real_keys else max(1, size // ENTRIES_OF_A_CHAIN)


def has_usual_chains(parameters: dict) -> bool:
    """Results that do not say have them: they were made before there was a choice."""
    usual = usual_chains(parameters["size"], bool(parameters.get("trace")))
    return (parameters.get("chains") or usual) == usual


class Watcher:
    """A bar for people at a terminal; a line a cell for logs."""

    def __init__(self, cells: list[Cell], quiet: bool):
        self.console = Console(stderr=True, quiet=quiet)
        self.bar = Progress(TextColumn("{task.description}"), BarColumn(),
                            TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(),
                            console=self.console, transient=True,
                            disable=not self.console.is_terminal or quiet)
        self.task = self.bar.add_task("", total=sum(c.sample_count for c in cells))

    def begin(self, cell: Cell, number: int, total: int) -> None:
        text = f"{number}/{total} {label(cell.parameters)}"
        self.bar.update(self.task, description=text)
        if not self.console.is_terminal:
            self.console.print(text, highlight=False)

    def sample(self, _sample: dict) -> None:
        self.bar.advance(self.task)


def _refuse_unpinned(cell: Cell, start: dict) -> None:
    asked = cell.parameters.get("pin")
    if asked not in (None, "auto", "none") and start.get("pinned") is False:
        raise BadInput(f"--pin {asked}: the system did not allow it "
                       f"({start.get('pin_error') or 'no reason given'}); "
                       "choose other CPUs or say --pin none.")


def _finish(cell: Cell, outcome: driver.Outcome, baseline: str) -> dict:
    full = len(outcome.samples) == cell.sample_count and not outcome.interrupted
    summarise = (kinds.of_cell(cell.parameters) or stats).summarise
    return {
        **cell.parameters, "complete": full,
        "pinned": outcome.start.get("pinned"), "pin_error": outcome.start.get("pin_error", ""),
        "measured_hit_ratio": stats.hit_ratio(outcome.samples),
        "samples": outcome.samples,
        "summary": summarise(outcome.samples, baseline, cell.candidates),
    }


def _identity(parameters: dict) -> str:
    return json.dumps(parameters, sort_keys=True)


def run(path: Path, cells: list[Cell], result: dict, save: Callable[[dict], None],
        quiet: bool = False) -> dict:
    """Fills result['cells']; on an interrupt the result says so and holds what was measured."""
    done = {_identity({k: c.get(k) for k in cells[0].parameters}) for c in result["cells"]}
    todo = [c for c in cells if _identity(c.parameters) not in done]
    skipped = len(cells) - len(todo)
    watcher = Watcher(todo, quiet)
    if skipped:
        watcher.console.print(f"going on after {skipped} of {len(cells)} cells", highlight=False)
    with driver.stop_on_signals() as stop, watcher.bar:
        for number, cell in enumerate(todo, skipped + 1):
            watcher.begin(cell, number, len(cells))
            outcome = driver.run(path, cell.options, stop, watcher.sample)
            _refuse_unpinned(cell, outcome.start)
            result["compiler"] = outcome.start.get("compiler", result["compiler"])
            result["flags"] = outcome.start.get("flags", result["flags"])
            if outcome.samples:
                result["cells"].append(_finish(cell, outcome, result["baseline"]))
            result["interrupted"] = outcome.interrupted
            result["finished"] = results.now()
            if own := kinds.own_tables(result["kind"]):
                result[result["kind"]] = own.derive(result)
            save(result)
            if outcome.interrupted:
                break
    return result
