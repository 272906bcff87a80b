# SPDX-License-Identifier: MIT
"""Rows named group/what@threads+beside, for the kinds that have them.

`threads` is how many threads do it at once, `beside` what one more thread does meanwhile. Each
group is a cell, and one process measures all its rows in turn. Times are nanoseconds that one
thread spends on an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
import numpy as np

from pawl.core import candidates, driver, options, stats
from pawl.core.errors import BadInput
from pawl.core.kind import NUMBER, Call
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


def with_baselines(choice: candidates.Choice, offered: list[dict],
                   baseline_of: Callable[[str], str | None]) -> list[str]:
    """The chosen rows, and what they are compared with, in the order of the driver."""
    wanted = set(choice.names) | {baseline_of(n) for n in choice.names}
    wanted |= {n for name in choice.names if (n := at_one_thread(name))}
    return [c["name"] for c in offered if c["name"] in wanted and c["available"]]


def refuse_unknown(names: list[str], groups: Iterable[str]) -> None:
    unknown = [n for n in names if not known(n, groups)]
    if unknown:
        raise BadInput(f"--driver: it offers '{unknown[0]}', which this command does not know; "
                       "build both from the same sources.")


# ---- The options --------------------------------------------------------------------------------

PIN = click.option("--pin", default="auto", show_default=True, metavar="auto|CPUS",
                   help="Thread i on the i-th CPU of the list; auto: of all allowed ones.")


def option(groups: Iterable[str], text: str) -> Callable:
    return click.option("--groups", default=",".join(groups), show_default=True,
                        metavar="NAME,...", help=text)


def pin(text: str) -> str:
    return options.pinned(text, "rows at two threads mean nothing unless each has a CPU of its "
                          "own")


def chosen(call: Call, groups: Iterable[str],
           baseline_of: Callable[[str], str | None]) -> tuple[list[str], list[dict]]:
    """The rows that a call measures, and those that were not built."""
    offered = [c for c in driver.candidates(call.driver) if group_of(c["name"]) in groups]
    choice = candidates.choose(call["names"], offered)
    return with_baselines(choice, offered, baseline_of), choice.missing


# ---- From samples to rows -----------------------------------------------------------------------


def times(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> nanoseconds."""
    return {name: {n: threads_of(name) * 1e9 / rate for n, rate in rounds.items() if rate > 0}
            for name, rounds in stats.rates(samples).items()}


def _scaling(rates: dict, name: str) -> float | None:
    """How many times the rate of one thread several have together."""
    one = at_one_thread(name)
    return stats.ratio(stats.paired(rates, name, one))["ratio"] if one in rates else None


def row(name: str, found: dict, rates: dict, baseline: str | None) -> dict:
    return {"candidate": name, "rounds": len(found[name]), "threads": threads_of(name),
            **stats.quartiles(found[name].values()),
            "million_per_second": float(np.median(list(rates[name].values()))) / 1e6,
            "scaling": _scaling(rates, name), **stats.against(found, name, baseline or "")}


def ordered(rows: list[dict]) -> list[dict]:
    """One thread first, the quickest first."""
    return sorted(rows, key=lambda r: (r["threads"], "+" in r["candidate"], r["median"]))


def time_columns(wide: int) -> list[Column]:
    return [Column("an\noperation", lambda row: shown(row["median"])),
            Column("\nquartiles", lambda row: f"{shown(row['q1'])}..{shown(row['q3'])}", wide)]


# ---- For targets --------------------------------------------------------------------------------


def cell_of(part: dict, run: dict, group: str) -> dict:
    for cell in part["cells"]:
        if cell["group"] == group:
            return cell
    raise BadInput(f"the run of {run.get('started')} lacks the group {group}; record again.")
