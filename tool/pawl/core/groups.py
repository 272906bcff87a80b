# SPDX-License-Identifier: MIT
"""Rows named group/what@threads+beside, for the kinds that have them.

`threads` is how many threads do it at once, `beside` what one more thread does meanwhile. Each
group is a cell, and one process measures all its rows in turn. Times are nanoseconds that one
thread spends on an operation. A kind whose rows are all timed alike, for as long as one is told,
takes its request, plan and rows from here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module

import click
import numpy as np

from pawl.core import candidates, driver, options, stats, table
from pawl.core.compare import Comparison
from pawl.core.errors import BadInput
from pawl.core.kind import NUMBER, Call, Cell, Plan
from pawl.core.table import Column
from pawl.core.table import nanoseconds as shown

# What the cells of these kinds have.
CELL_KEYS = {"group": str, "seconds": NUMBER}


def group_of(name: str) -> str:
    return name.split("/")[0]


def threads_of(name: str) -> int:
    return int(name.split("@")[1].split("+")[0])


def at_one_thread(name: str) -> str | None:
    return name.replace("@2", "@1") if "@2" in name else None


def known(name: str, groups: Iterable[str]) -> bool:
    return "@" in name and group_of(name) in groups


def belongs(cell: dict, name: str) -> bool:
    """Whether a row that was not built would have been in this cell."""
    return group_of(name) == cell["group"]


def with_baselines(
    choice: candidates.Choice, offered: list[dict], baseline_of: Callable[[str], str | None]
) -> list[str]:
    """The chosen rows, and what they are compared with, in the order of the driver."""
    wanted = set(choice.names) | {baseline_of(n) for n in choice.names}
    wanted |= {n for name in choice.names if (n := at_one_thread(name))}
    return [c["name"] for c in offered if c["name"] in wanted and c["available"]]


def refuse_unknown(names: list[str], groups: Iterable[str]) -> None:
    unknown = [n for n in names if not known(n, groups)]
    if unknown:
        raise BadInput(
            f"--driver: it offers '{unknown[0]}', which this command does not know; "
            "build both from the same sources."
        )


# ---- The options --------------------------------------------------------------------------------

PIN = click.option(
    "--pin",
    default="auto",
    show_default=True,
    metavar="auto|CPUS",
    help="Thread i on the i-th CPU of the list; auto: of all allowed ones.",
)


def option(groups: Iterable[str], text: str) -> Callable:
    return click.option(
        "--groups", default=",".join(groups), show_default=True, metavar="NAME,...", help=text
    )


def pin(text: str) -> str:
    return options.pinned(text, "rows at two threads mean nothing unless each has a CPU of its own")


def chosen(
    call: Call, groups: Iterable[str], baseline_of: Callable[[str], str | None]
) -> tuple[list[str], list[dict]]:
    """The rows that a call measures, and those that were not built."""
    offered = [c for c in driver.candidates(call.driver) if group_of(c["name"]) in groups]
    choice = candidates.choose(call["names"], offered)
    return with_baselines(choice, offered, baseline_of), choice.missing


# ---- Rows that are all timed alike --------------------------------------------------------------


@dataclass
class Request:
    """The options of the command."""

    seconds: float = 0.02
    rounds: int = 12
    warmup: float = 0.003
    pin: str = "auto"


RECORDED_SECONDS, RECORDED_ROUNDS = 0.04, 15
# What a sample takes beside its length: threads that are told to begin and waited for.
OVERHEAD, START = 0.0006, 0.05
TIMED = (
    options.seconds(Request.seconds),
    options.rounds(Request.rounds),
    options.warmup(Request.warmup),
    PIN,
    options.rows(),
)


def plan(bench: str, groups: Iterable[str], request: Request, names: list[str]) -> list[Cell]:
    refuse_unknown(names, groups)
    cells = []
    for group in groups:
        own = [n for n in names if group_of(n) == group]
        if not own:
            continue
        parameters = {
            "bench": bench,
            "group": group,
            "threads": max(map(threads_of, own)),
            **vars(request),
            "candidates": own,
        }
        told = [text for key, value in vars(request).items() for text in (f"--{key}", str(value))]
        cells.append(Cell(parameters, [*told, "--candidates", ",".join(own)]))
    return cells


def expected_seconds(cells: list[Cell]) -> float:
    return sum(
        START + c.sample_count * (c.parameters["seconds"] + c.parameters["warmup"] + OVERHEAD)
        for c in cells
    )


def planned(
    call: Call, bench: str, groups: Iterable[str], baseline_of: Callable[[str], str | None]
) -> Plan:
    wanted = options.words(call["groups"], "--groups", groups, "group ")
    request = Request(call["seconds"], call["rounds"], call["warmup"], pin(call["pin"]))
    names, missing = chosen(call, wanted, baseline_of)
    cells = plan(bench, groups, request, names)
    return Plan(cells, missing, expected_seconds(cells))


def recorded(bench: str, groups: Iterable[str]) -> Callable[[float, list[str]], list[Cell]]:
    """The cells of a recorded run, which are longer."""

    def cells(scale: float, names: list[str]) -> list[Cell]:
        request = Request(seconds=round(RECORDED_SECONDS * scale, 4), rounds=RECORDED_ROUNDS)
        return plan(bench, groups, request, names)

    return cells


def summarise(
    samples: list[dict], order: list[str], baseline_of: Callable[[str], str | None]
) -> list[dict]:
    """One row a candidate: one thread first, the quickest first."""
    found, rates = times(samples), stats.rates(samples)
    return ordered(
        [row(name, found, rates, baseline_of(name)) for name in order if found.get(name)]
    )


# ---- From samples to rows -----------------------------------------------------------------------


def times(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> nanoseconds."""
    return {
        name: {n: threads_of(name) * 1e9 / rate for n, rate in rounds.items() if rate > 0}
        for name, rounds in stats.rates(samples).items()
    }


def _scaling(rates: dict, name: str) -> float | None:
    """How many times the rate of one thread several have together."""
    one = at_one_thread(name)
    return stats.ratio(stats.paired(rates, name, one))["ratio"] if one in rates else None


def row(name: str, found: dict, rates: dict, baseline: str | None) -> dict:
    return {
        "candidate": name,
        "rounds": len(found[name]),
        "threads": threads_of(name),
        **stats.quartiles(found[name].values()),
        "million_per_second": float(np.median(list(rates[name].values()))) / 1e6,
        "scaling": _scaling(rates, name),
        **stats.against(found, name, baseline or ""),
    }


def ordered(rows: list[dict]) -> list[dict]:
    """One thread first, the quickest first."""
    return sorted(rows, key=lambda r: (r["threads"], "+" in r["candidate"], r["median"]))


def is_slower(row: dict) -> bool:
    """Its whole interval lies above the baseline: slower beyond the noise."""
    return row["ratio_ci95_low"] is not None and row["ratio_ci95_low"] > 1


def time_columns(wide: int) -> list[Column]:
    return [
        Column("an\noperation", lambda row: shown(row["median"])),
        Column("\nquartiles", lambda row: f"{shown(row['q1'])}..{shown(row['q3'])}", wide),
    ]


def timed_columns(ratio_head: str) -> list[Column]:
    ratio, interval = table.ratio("", wide=100)
    return [
        *time_columns(wide=100),
        Column("million/s\nin all", lambda row: f"{row['million_per_second']:.3f}"),
        Column("times one\nthread", lambda row: table.times(row["scaling"])),
        Column(ratio_head, ratio.text),
        interval,
    ]


def figures(groups: Mapping[str, str]) -> Callable:
    """A figure for each group, a row for each candidate. Drawing loads the plotting library."""

    def drawn(result: dict) -> list[tuple]:
        of_groups = import_module("pawl.core.plot").of_groups
        named = [(groups[c["group"]], c["summary"]) for c in result["cells"]]
        return [(name, of_groups(result, rows, name)) for name, rows in named]

    return drawn


# ---- For a verdict ------------------------------------------------------------------------------


def comparisons(
    result: dict,
    groups: Mapping[str, str],
    main: Mapping[str, tuple[str, ...]],
    baseline_of: Callable[[str], str | None],
) -> list[Comparison]:
    """In each group its main rows beside its baseline, of times."""
    found = []
    for cell in result["cells"]:
        group = cell["group"]
        table_of = times(cell["samples"])
        for name in cell["candidates"]:
            what, where = name.split("/")[1].split("@")
            theirs = baseline_of(name)
            if what in main[group] and theirs:
                values = stats.paired(table_of, name, theirs)
                found.append(
                    Comparison(f"{groups[group]}, {worded(where)}", name, theirs, [values])
                )
    return found


def worded(text: str) -> str:
    """The part of a name after the @, in words: what a thread beside does, or who is there."""
    threads, _, beside = text.partition("+")
    said = table.counted(int(threads), "thread")
    if not beside:
        return said
    return f"{said} beside {beside if beside.endswith('ers') else f'one that {beside}'}"


# ---- For targets --------------------------------------------------------------------------------


def cell_of(part: dict, run: dict, group: str) -> dict:
    for cell in part["cells"]:
        if cell["group"] == group:
            return cell
    raise BadInput(f"the run of {run.get('started')} lacks the group {group}; record again.")
