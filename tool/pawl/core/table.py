# SPDX-License-Identifier: MIT
"""Ranked tables of the rows of a cell, for the terminal and for the page alike."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from pawl.core.kind import Kind

# A column for the page only: a terminal has other things to show in its place.
PAGE_ONLY = 10**6


@dataclass(frozen=True)
class Column:
    head: str
    # The text of a row.
    text: Callable[[dict], str]
    # The least width of a terminal that shows it.
    least: int = 0


@dataclass
class Extra:
    """A table that belongs to no single cell, as texts; notes are lines below its title."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


# ---- Numbers as texts ---------------------------------------------------------------------------


def percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio * 100:.2f} %"


def times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def interval(row: dict) -> str:
    if row.get("ratio_ci95_low") is None:
        return "-"
    return f"{row['ratio_ci95_low']:.2f}..{row['ratio_ci95_high']:.2f}"


def duration(nanoseconds: float | None) -> str:
    """Three digits and a unit: latest and longest differ by seven orders of magnitude."""
    if nanoseconds is None:
        return "-"
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):  # noqa: B007 (used after it)
        if nanoseconds < 999.5 * scale:
            break
    else:
        unit, scale = "s", 1e9
    value = nanoseconds / scale
    return f"{value:.{0 if value >= 100 or scale == 1 else 1 if value >= 10 else 2}f} {unit}"


def nanoseconds(value: float) -> str:
    """As a duration, but with two digits more where an operation takes a few of them."""
    return f"{value:.2f} ns" if value < 100 else duration(value)


def counted(number: int, what: str) -> str:
    """1 thread, 2 threads, 3 entries."""
    many = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{number:,} {what if number == 1 else many}"


def not_pinned(cell: dict) -> str:
    return f"\nnot pinned: {cell['pin_error']}" if cell.get("pin_error") else ""


# ---- Columns that several kinds have ------------------------------------------------------------


def million(head: str, digits: int = 3, wide: int = 0) -> list[Column]:
    """The median of a rate, and its quartiles where there is room for them."""
    return [
        Column(head, lambda row: f"{row['median'] / 1e6:.{digits}f}"),
        Column(
            "\nquartiles",
            lambda row: f"{row['q1'] / 1e6:.{digits}f}..{row['q3'] / 1e6:.{digits}f}",
            wide,
        ),
    ]


def ratio(baseline: str, wide: int = 0) -> list[Column]:
    return [
        Column(f"times\n{baseline}", lambda row: times(row["ratio_to_baseline"])),
        Column("95 %\ninterval", interval, wide),
    ]


def cpu(digits: int, least: int) -> Column:
    return Column(
        "CPU s per\nmillion", lambda row: f"{row['cpu_seconds_per_million']:.{digits}f}", least
    )


def switches(digits: int, least: int) -> Column:
    return Column(
        "switches\nper 1000", lambda row: f"{row['ctx_per_million'] / 1000:.{digits}f}", least
    )


# ---- A cell -------------------------------------------------------------------------------------


def columns(kind: Kind, result: dict, cell: dict) -> list[Column]:
    """Rank, name, and the kind's own columns; ranked() numbers the rows."""
    return [
        Column("", lambda row: str(row["rank"]), kind.ranks_from),
        Column(kind.what, lambda row: row["candidate"]),
        *kind.columns(cell, result["baseline"]),
    ]


def ranked(cell: dict) -> list[dict]:
    return [row | {"rank": rank} for rank, row in enumerate(cell["summary"], 1)]


def heading(kind: Kind, cell: dict) -> str:
    unfinished = "" if cell.get("complete", True) else "\ninterrupted: fewer rounds than asked for"
    return kind.heading(cell) + unfinished


def unavailable(kind: Kind, result: dict, cell: dict) -> list[dict]:
    return [gone for gone in result["unavailable"] if kind.belongs(cell, gone["candidate"])]


def lost(kind: Kind, cell: dict) -> set[str]:
    return {row["candidate"] for row in kind.losses(cell["summary"])}


# ---- In the terminal ----------------------------------------------------------------------------


def console() -> Console:
    """Tables are not folded to 80 columns when they go to a file."""
    return Console() if sys.stdout.isatty() else Console(width=140)


def line(console: Console, text: str, style: str = "") -> None:
    """Running text, which no digit or bracket colours or changes."""
    console.print(text, style=style, highlight=False, markup=False)


def build(kind: Kind, result: dict, cell: dict, width: int) -> Table:
    every = columns(kind, result, cell)
    shown = [c for c in every if c.least <= width]
    made = Table(
        title=heading(kind, cell), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    for column in shown:
        made.add_column(
            column.head, justify="left" if column is every[1] else "right", no_wrap=True
        )
    behind = lost(kind, cell)
    for row in ranked(cell):
        name = row["candidate"]
        style = "red" if name in behind else "cyan" if "pawl" in name else ""
        made.add_row(*(escape(c.text(row)) for c in shown), style=style)
    for gone in unavailable(kind, result, cell):
        texts = ["-", escape(gone["candidate"]), "not built"]
        made.add_row(
            *(text for column, text in zip(every, texts, strict=False) if column in shown),
            style="dim",
        )
    return made


def _losses(kind: Kind, result: dict, cell: dict) -> str:
    if not kind.names_losses or not (behind := kind.losses(cell["summary"])):
        return ""
    listed = ", ".join(f"{r['candidate']} {times(r['ratio_to_baseline'])}" for r in behind)
    return f"slower than {result['baseline']} here, beyond the noise: {listed}"


def _show_extra(extra: Extra, console: Console) -> None:
    # A title would be folded to the width of its table.
    line(console, extra.title, "bold")
    for note in extra.notes:
        line(console, note, "dim")
    made = Table(box=box.SIMPLE_HEAD)
    for number, name in enumerate(extra.heads):
        made.add_column(name, justify="left" if number == 0 else "right", no_wrap=True)
    for row in extra.rows:
        made.add_row(*map(escape, row), style="cyan" if "pawl" in row[0] else "")
    console.print(made)


def show(kind: Kind, result: dict, console: Console, most: int = 8) -> None:
    """Every cell of a small run; of a grid the last ones, since the report shows them all."""
    cells = result["cells"]
    for cell in cells[-most:]:
        console.print(build(kind, result, cell, console.width))
        if text := _losses(kind, result, cell):
            line(console, text, "red")
    for extra in kind.more(result):
        _show_extra(extra, console)
    show_missing(result, console)
    if len(cells) > most:
        console.print(
            f"{len(cells) - most} more cells are in the JSON and the report", highlight=False
        )


def show_missing(result: dict, console: Console) -> None:
    for gone in result["unavailable"]:
        line(console, f"not measured: {gone['candidate']}: {gone['why']}")


# ---- For the page -------------------------------------------------------------------------------


# A table with more rows than this shows the best of each family, and folds the rest.
FOLDED_FROM = 10


def _family(name: str) -> str:
    """The library that a row's lock comes from: r+w/pthread_rwlock -> pthread."""
    return name.split("/")[-1].split("_")[0]


def _best_of_families(rows: list[dict]) -> list[dict]:
    """The first row of each family, and the baseline; [] for a table short enough as it is."""
    if len(rows) <= FOLDED_FROM:
        return []
    seen: set[str] = set()
    found = []
    for row in rows:
        family = _family(row["text"][1])
        if family not in seen or row["baseline"]:
            found.append(row)
        seen.add(family)
    return found


def _view(kind: Kind, result: dict, cell: dict) -> dict:
    behind, every = lost(kind, cell), columns(kind, result, cell)
    rows = [
        {
            "text": [c.text(row) for c in every],
            "ours": "pawl" in row["candidate"],
            "lost": row["candidate"] in behind,
            "baseline": row["candidate"] == result["baseline"],
        }
        for row in ranked(cell)
    ]
    return {
        "heading": heading(kind, cell).split("\n"),
        "label": kind.label(cell),
        "columns": [c.head for c in every],
        "rows": rows,
        "best": _best_of_families(rows),
        "unavailable": unavailable(kind, result, cell),
        "headline": kind.headline(cell),
        "losses": [
            r["candidate"]
            for r in cell["summary"]
            if kind.names_losses and r["candidate"] in behind
        ],
    }


def views(kind: Kind, result: dict) -> list[dict]:
    """What the page's template shows of each cell."""
    return [_view(kind, result, cell) for cell in result["cells"]]
