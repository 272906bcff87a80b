# SPDX-License-Identifier: MIT
"""Measures the cells of a plan one after the other and saves after each."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pawl.core import cluster, driver, results, verdict
from pawl.core.errors import BadInput
from pawl.core.kind import Cell, Kind


class Watcher:
    """A bar for people at a terminal; a line a cell for logs."""

    def __init__(self, kind: Kind, cells: list[Cell], quiet: bool):
        self.label = kind.label
        self.console = Console(stderr=True, quiet=quiet)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal or quiet,
        )
        self.task = self.bar.add_task("", total=sum(c.sample_count for c in cells))

    def begin(self, cell: Cell, number: int, total: int) -> None:
        text = f"{number}/{total} {self.label(cell.parameters)}"
        self.bar.update(self.task, description=text)
        if not self.console.is_terminal:
            self.console.print(text, highlight=False)

    def again(self, cell: Cell) -> None:
        """The same cell once more: the bar has as much more to go."""
        self.bar.update(self.task, total=self.bar.tasks[0].total + cell.sample_count)
        self.console.print(
            "  something else used the machine: this cell is measured once more", highlight=False
        )

    def sample(self, _sample: dict) -> None:
        self.bar.advance(self.task)


def _refuse_unpinned(cell: Cell, start: dict) -> None:
    asked = cell.parameters.get("pin")
    if asked not in (None, "auto", "none") and start.get("pinned") is False:
        raise BadInput(
            f"--pin {asked}: the system did not allow it "
            f"({start.get('pin_error') or 'no reason given'}); "
            "choose other CPUs or say --pin none."
        )


def _finish(kind: Kind, cell: Cell, outcome: driver.Outcome, baseline: str, told: dict) -> dict:
    full = len(outcome.samples) == cell.sample_count and not outcome.interrupted
    measured = {
        **cell.parameters,
        "complete": full,
        "pin_error": outcome.start.get("pin_error", ""),
        **told,
        "samples": results.kept(kind, outcome.samples),
    }
    return measured | {"summary": results.rows(kind, measured, baseline)}


def _identity(parameters: dict) -> str:
    return json.dumps(parameters, sort_keys=True)


def _disturbed(outcome: driver.Outcome) -> int:
    """In how many rounds something else used the machine."""
    return 0 if outcome.interrupted else verdict.slow_rounds(outcome.samples)[0]


def _calmer(first: driver.Outcome, second: driver.Outcome) -> driver.Outcome:
    """A disturbed cell is measured once more, before its noise is shown."""
    if second.interrupted or _disturbed(second) > _disturbed(first):
        return first
    return second


# A cell with its outcome, and what the result says of where it was measured.
Measured = Iterator[tuple[Cell, driver.Outcome, dict]]


def _here(
    path: Path, todo: list[Cell], skipped: int, stop: driver.Stop, watcher: Watcher
) -> Measured:
    for number, cell in enumerate(todo, skipped + 1):
        watcher.begin(cell, number, skipped + len(todo))
        outcome = driver.run(path, cell.options, stop, watcher.sample)
        if _disturbed(outcome) and not stop.asked:
            watcher.again(cell)
            outcome = _calmer(outcome, driver.run(path, cell.options, stop, watcher.sample))
        yield cell, outcome, {}


def _on_fleet(
    fleet: cluster.Cluster,
    path: Path,
    todo: list[Cell],
    skipped: int,
    stop: driver.Stop,
    watcher: Watcher,
) -> Measured:
    """The workers take the cells as they become free; each has one at a time."""
    ended = cluster.ended(fleet, path, [tuple(c.options) for c in todo], lambda: stop.asked)
    count = 0
    for count, (number, answer) in enumerate(ended, 1):
        watcher.begin(todo[number], skipped + count, skipped + len(todo))
        if answer.code == 2 and not answer.text:
            raise BadInput(f"--scheduler: {answer.said.strip()} (on {answer.host}).")
        yield (
            todo[number],
            driver.told(path.name, answer.code, answer.text, answer.said, watcher.sample),
            {"host": answer.host},
        )
    if count < len(todo):
        yield todo[0], driver.Outcome(interrupted=True), {}


def run(
    kind: Kind,
    path: Path,
    cells: list[Cell],
    result: dict,
    save: Callable[[dict], None] = lambda _: None,
    quiet: bool = False,
    fleet: cluster.Cluster | None = None,
) -> dict:
    """Fills result['cells']; on an interrupt the result says so and holds what was measured."""
    places = {_identity(c.parameters): place for place, c in enumerate(cells)}

    def place_of(cell: dict) -> int:
        return places.get(_identity({k: cell.get(k) for k in cells[0].parameters}), -1)

    done = {place_of(c) for c in result["cells"]}
    todo = [c for c in cells if places[_identity(c.parameters)] not in done]
    skipped = len(cells) - len(todo)
    watcher = Watcher(kind, todo, quiet)
    if skipped:
        watcher.console.print(f"going on after {skipped} of {len(cells)} cells", highlight=False)
    with driver.stop_on_signals() as stop, watcher.bar:
        measured = (
            _here(path, todo, skipped, stop, watcher)
            if fleet is None
            else _on_fleet(fleet, path, todo, skipped, stop, watcher)
        )
        for cell, outcome, told in measured:
            _refuse_unpinned(cell, outcome.start)
            result["compiler"] = outcome.start.get("compiler", result["compiler"])
            result["flags"] = outcome.start.get("flags", result["flags"])
            if outcome.samples:
                result["cells"].append(_finish(kind, cell, outcome, result["baseline"], told))
                result["cells"].sort(key=place_of)
            result["interrupted"] = outcome.interrupted
            result["finished"] = results.now()
            if derived := kind.derive(result):
                result[kind.name] = derived
            save(result)
            if outcome.interrupted:
                break
    return result
