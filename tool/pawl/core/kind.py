# SPDX-License-Identifier: MIT
"""A kind of measurement is a form to fill in; the hosts of this folder read the form.

Each folder of pawl/kinds fills in one `Kind`, pawl/kinds/registry.py lists them, and the entry
points pass that list in. No host asks which kind it has: what a kind leaves out has a default here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pawl.core import candidates, driver, stats, table
from pawl.core.schema import NUMBER as NUMBER
from pawl.core.table import Column, Extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from pawl.core.cluster import Cluster
    from pawl.core.compare import Comparison
    from pawl.core.first import First

MAYBE = (int, float, type(None))


@dataclass
class Cell:
    """One point of a plan: what identifies it, and what the driver is told."""

    parameters: dict
    options: list[str]

    @classmethod
    def of(cls, parameters: dict, *others: str, more: Iterable[str] = ()) -> Cell:
        """The driver is told of all parameters but the others: of section_us as --section, and of
        a flag by its name."""
        told = []
        for key, value in parameters.items():
            name = "--" + re.sub("_(us|ms)$", "", key).replace("_", "-")
            if key in others or value is False:
                continue
            values = value if isinstance(value, list) else [value]
            told += [name] if value is True else [name, ",".join(map(str, values))]
        return cls(parameters, [*told, *more])

    @property
    def candidates(self) -> list[str]:
        return self.parameters["candidates"]

    @property
    def sample_count(self) -> int:
        return len(self.candidates) * self.parameters["rounds"]


@dataclass
class Plan:
    """What one call of a bench measures."""

    cells: list[Cell]
    # Rows that were asked for and not built: {"candidate": ..., "why": ...}.
    missing: list[dict] = field(default_factory=list)
    # About how long it takes; told before the first sample. None: it is short, or was asked for.
    seconds: float | None = None
    # A complete file with the same plan is shown and not measured again.
    keeps_complete: bool = False
    # What the result holds beside the cells.
    extra: dict = field(default_factory=dict)
    # The kind that is measured, if it is not the command's own.
    kind: Kind | None = None
    # The option whose files the driver reads here, so that no other machine can measure; "": none.
    here_only: str = ""


@dataclass
class Call:
    """One call of a command: its parsed options, its driver, and what lives until it ends."""

    options: dict
    driver: Path
    held: ExitStack = field(default_factory=ExitStack)
    # The cluster whose workers measure; None: this machine does.
    fleet: Cluster | None = None

    def __getitem__(self, option: str):
        return self.options[option]

    def given(self, *names: str) -> dict:
        """Those of the options that were given; the plan has defaults for the others."""
        return {name: self[name] for name in names if self[name] is not None}

    def choose(self, *always: str) -> candidates.Choice:
        """The rows that --candidates names, and those that are measured whatever it names."""
        offered = driver.candidates(self.driver)
        choice = candidates.choose(self["names"], offered)
        for row in always:
            choice = candidates.with_baseline(choice, row, offered)
        return choice


@dataclass(frozen=True)
class Command:
    """A kind's command: its options, and how they become a plan. The rest is pawl.core.bench."""

    # The first line is a question and the short help; paragraphs follow.
    help: str
    # (a command line, what it is for)
    examples: list[tuple[str, str]]
    # Decorators of click; the options that all benches have come after them.
    options: tuple[Callable, ...]
    # From a call to its plan.
    plan: Callable[[Call], Plan]
    # `pawl NAME` instead of `pawl bench NAME`.
    top: bool = False
    # Lines for --list, from the driver.
    rows: Callable[[Call], list[str]] | None = None
    # What else is made of a complete result, once it was shown.
    finish: Callable[[Call, dict], None] | None = None
    # Defaults of options with --quick; empty: the kind has an option of that name itself.
    quick: dict[str, float] = field(default_factory=dict)


def _nothing(*_arguments) -> list:
    return []


def _no_figures(_result: dict) -> list:
    return []


def _yes(*_arguments) -> bool:
    return True


def _empty(_result_or_cell: dict) -> dict:
    return {}


def _no_text(_result: dict) -> str:
    return ""


def _no_first(_result: dict, _simulated: Path | None) -> None:
    return None


def later(path: str) -> Callable:
    """The function MODULE.NAME below pawl.kinds, whose module the first call loads: the plotting
    library takes a second."""
    module, _, name = path.rpartition(".")
    return lambda *given: getattr(import_module(f"pawl.kinds.{module}"), name)(*given)


@dataclass(frozen=True)
class Kind:
    """What is particular to a kind of measurement."""

    # The `kind` of a result file, and the name of the command.
    name: str
    # A heading for the page, unless --title names one.
    title: str
    # The measuring program.
    driver: str
    # The row that ratios compare with.
    baseline: str

    # ---- In words; each takes a cell.
    # What the cell does, whatever the number of threads.
    workload: Callable[[dict], str]
    # The same in a few words for progress and lists; by default the workload.
    label: Callable[[dict], str] | None = None
    # Above its table, with lines that explain it; by default the label.
    heading: Callable[[dict], str] | None = None

    # ---- The result file: the type of each key, beyond those that all results have.
    cell_keys: Mapping[str, object] = field(default_factory=dict)
    # What may be absent, but not be of another type.
    cell_optional: Mapping[str, object] = field(default_factory=dict)
    # The file keeps no other keys of a sample.
    sample_keys: Mapping[str, object] = field(default_factory=dict)
    sample_optional: Mapping[str, object] = field(default_factory=dict)
    # key of a sample -> the keys of the table that it holds.
    nested_keys: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    # Whether a cell and a sample are sound beyond their types.
    sound_cell: Callable[[dict], bool] = _yes
    sound: Callable[[dict], bool] = _yes
    # A row of zero is damage: it is a time, or one is divided by it.
    above_zero: bool = False

    # ---- From samples to rows.
    # (samples, baseline, names in order) -> rows
    summarise: Callable[[list[dict], str, list[str]], list[dict]] = stats.rows
    # Our rows that are behind the baseline beyond the noise.
    losses: Callable[[list[dict]], list[dict]] = stats.losses
    # Rows do the same work and compete with the baseline: the page begins with a verdict.
    competes: bool = False
    # Where they do not all: what the verdict compares instead, from the result.
    comparisons: Callable[[dict], list[Comparison]] = _nothing
    # (a row, the same row once more): by what these differ is noise.
    nulls: tuple[tuple[str, str], ...] = ()
    # samples -> candidate -> round -> what a row is compared by; for null rows.
    per_round: Callable[[list[dict]], dict[str, dict[int, float]]] = stats.rates
    # The row of ours that the verdict is about; without it the best one, which flatters a little.
    main: str | None = None
    # A row counts times, not rates: a ratio below 1 is the better one.
    less_is_better: bool = False
    # The row that takes no lock, where there is one.
    floor: str | None = None
    # (start of a row's name up to the slash, what such a row does), for the page.
    explained: tuple[tuple[str, str], ...] = ()
    # Whether a sentence below the table names them as well.
    names_losses: bool = False
    # What --json keeps for other programs beside the cells, under the kind's name.
    derive: Callable[[dict], dict] = _empty

    # ---- The table of a cell.
    # The head of the column of names.
    what: str = ""
    # From this width of a terminal on there is a column of ranks.
    ranks_from: int = 100
    # (cell, baseline) -> the columns after the name
    columns: Callable[[dict, str], list[Column]] = _nothing
    # Whether a row that was not built would have been in this cell.
    belongs: Callable[[dict, str], bool] = _yes
    # The best row of ours against the best of theirs, for the top of the page; {}: no such line.
    headline: Callable[[dict], dict] = _empty
    # Tables after all cells.
    more: Callable[[dict], list[Extra]] = _nothing

    # ---- Where rows do not compete, tables of their own take the place of the ranked ones.
    show: Callable[[Kind, dict, Console], None] = table.show
    views: Callable[[Kind, dict], list[dict]] = table.views
    # HTML for the page, before the figures.
    body: Callable[[dict], str] = _no_text

    # ---- Figures with their captions, of a result whose cells all have rows; see `later`.
    figures: Callable[[dict], list[tuple[str, Figure]]] = _no_figures

    # What core/first.py describes: (result, a file with a simulation of the same job or None) ->
    # First. None: the kind has none, or this result does not have its rows.
    first: Callable[[dict, Path | None], First | None] = _no_first

    # None: another kind's command measures it.
    command: Command | None = None

    @classmethod
    def of(cls, table: ModuleType, **own) -> Kind:
        """Each name of a kind's `table` that is also a field fills it; `own` has the others."""
        theirs = {f.name: vars(table)[f.name] for f in fields(cls) if f.name in vars(table)}
        return cls(**theirs | own)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.workload)
        object.__setattr__(self, "heading", self.heading or self.label)


# By name: the hosts look a result's kind up here and ask nothing else.
Kinds = Mapping[str, Kind]
