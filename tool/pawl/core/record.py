# SPDX-License-Identifier: MIT
"""`pawl bench record`: the runs that bench/results keeps and scripts/targets judges.

A run is what a set measures: parts, each of which is a result of its own. pawl/sets lists them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from pawl.core import bench, candidates, driver, measure, output, results, schema
from pawl.core.errors import BadInput, Interrupted
from pawl.core.kind import Cell, Kind, Kinds, Plan
from pawl.core.targets import Judging

# At this --seconds, which is the default, the parts have the lengths that their plans name.
USUAL_SECONDS = 0.06


@dataclass(frozen=True)
class Part:
    """One result of a run."""

    kind: Kind
    title: str
    # (driver, scale) -> plan; `scale` multiplies all lengths, and is 1 at the usual --seconds.
    plan: Callable[[Path, float], Plan]
    # The row that ratios compare with, if not the kind's own.
    baseline: str | None = None


def rows(
    names: str, cells: Callable[[float, list[str]], list[Cell]]
) -> Callable[[Path, float], Plan]:
    """The plan of a part: the rows that --candidates NAMES would measure, in the cells that
    `cells` makes of the scale and of those rows."""

    def plan(path: Path, scale: float) -> Plan:
        choice = candidates.choose(names, driver.candidates(path))
        return Plan(cells(scale, choice.names), choice.missing)

    return plan


def beside_peers(
    ours: list[str], peers: tuple[str, ...], cells: Callable[[float, list[str]], list[Cell]]
) -> Callable[[Path, float], Plan]:
    """The same of `ours` and of those peers that are built here; the others are told missing."""

    def plan(path: Path, scale: float) -> Plan:
        offered = driver.candidates(path)
        absent = [
            {"candidate": c["name"], "why": c["why"]}
            for c in offered
            if c["name"] in peers and not c["available"]
        ]
        there = [n for n in peers if n not in {a["candidate"] for a in absent}]
        choice = candidates.choose(",".join([*ours, *there]), offered)
        return Plan(cells(scale, choice.names), absent)

    return plan


@dataclass(frozen=True)
class Set:
    """What is recorded and judged together; a folder holds runs of one set."""

    name: str
    # In a few words, for --set.
    what: str
    # What each run measures, for the help of the command.
    help: str
    # What a recording takes, for the examples of the command.
    example: str
    parts: tuple[Part, ...]
    # Loads the targets: only a judge needs them.
    judging: Callable[[], Judging]
    # How many runs prove something, and are recorded unless --runs says otherwise.
    runs: int = 3

    @property
    def programs(self) -> list[str]:
        return list(dict.fromkeys(part.kind.driver for part in self.parts))


# By name. A run that names no set is of the first: there was only one at the beginning.
Sets = Mapping[str, Set]


def set_of(run: dict, sets: Sets) -> str:
    return run.get("set", next(iter(sets)))


def _one_run(which: Set, programs: dict[str, Path], seconds: float, quiet: bool) -> dict:
    whole = {
        "schema": schema.VERSION,
        "kind": schema.RECORD,
        "set": which.name,
        "command": results.command_line(),
        "started": results.now(),
        "parts": [],
    }
    for part in which.parts:
        path = programs[part.kind.driver]
        plan = part.plan(path, seconds / USUAL_SECONDS)
        result = bench.result_of(part.kind, part.title, path, plan, part.baseline)
        measure.run(part.kind, path, plan.cells, result, quiet=quiet)
        whole["parts"].append(result)
        if result["interrupted"]:
            raise Interrupted(
                "interrupted; complete runs are kept, and the same command goes on with the next."
            )
    return whole | {"finished": results.now()}


def _keep(path: Path, which: Set, kinds: Kinds, sets: Sets) -> None:
    found = set_of(results.load(path, kinds), sets)
    if found != which.name:
        raise BadInput(
            f"{path} is a run of the set {found}; name another folder for the set {which.name}."
        )
    click.echo(f"kept: {path}", err=True)


def _save(path: Path, run: dict) -> None:
    """A run took minutes: Ctrl-C waits until it is written."""
    with driver.stop_on_signals() as stop:
        results.save(path, run)
    click.echo(f"written: {path}", err=True)
    if stop.asked:
        raise Interrupted(
            f"interrupted; {path.name} is complete, and the same command goes on with the next."
        )


def files_of(folder: Path, number: int | str = "*") -> list[Path]:
    """The runs of a folder, however they are packed."""
    forms = (".json.xz", ".json", ".json.gz")
    return sorted(p for form in forms for p in folder.glob(f"run{number}{form}"))


def record(
    folder: Path,
    which: Set,
    runs: int | None,
    seconds: float,
    driver_folder: str | None,
    quiet: bool,
    kinds: Kinds,
    sets: Sets,
) -> None:
    if driver_folder and not Path(driver_folder).is_dir():
        raise BadInput(
            f"--driver: {driver_folder} is not a folder; a record needs several "
            "programs, name the folder that holds them."
        )
    programs = {name: driver.find(name, driver_folder) for name in which.programs}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"cannot make the folder {folder}: {error.strerror}; name another."
        ) from error
    runs = runs or which.runs
    for number in range(1, runs + 1):
        there = files_of(folder, number)
        for path in there:
            _keep(path, which, kinds, sets)
        if there:
            continue
        path = folder / f"run{number}.json.xz"
        output.check("FOLDER", path)
        click.echo(f"run {number} of {runs}", err=True)
        _save(path, _one_run(which, programs, seconds, quiet))
