# SPDX-License-Identifier: MIT
"""Finds what is particular to a kind of measurement: its module, and that of its plots.

A kind is a module with these names, which tables, reports and results go by:

    TITLE, CELL_KEYS, SAMPLE_KEYS, ROW_KEYS, NESTED_KEYS
    workload(cell), label(cell), heading(cell)         in words
    sound(sample), and perhaps sound_row(row)          beyond the types that the keys name
    summarise(samples, baseline, order), losses(rows)  the rows
    columns(baseline), cells(rank, row), shown(width)  the table
    belongs(cell, name)                                if cells have different rows: is it one?
    face(cell)                                         if cells have different columns: what has
                                                       columns, cells and shown for this one
    more(result)                                       further tables, after all cells: Extra

In place of the table, rows that do not compete have tables of their own:

    derive(result)                                     what the result file keeps of its samples
    show(result, console), section(result)             in the terminal; for templates/KIND.html.j2

The kinds "lru" and "pairs" are older and built into those modules. Modules are loaded when they
are asked for: they themselves need what asks.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from types import ModuleType

NAMES = ("wake", "crowd", "flood", "costs", "counters", "hash", "tree", "sem", "rcu",
         "latency")


@dataclass
class Extra:
    """A table that belongs to no single cell, as texts; notes are lines below its title."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


def of(kind: str | None) -> ModuleType | None:
    return importlib.import_module(f"pawl.{kind}") if kind in NAMES else None


def own_tables(kind: str | None) -> ModuleType | None:
    """The module of a kind that derives and shows its results itself."""
    module = of(kind)
    return module if hasattr(module, "derive") else None


def more(result: dict) -> list[Extra]:
    module = of(result["kind"])
    return module.more(result) if hasattr(module, "more") else []


def of_cell(parameters: dict) -> ModuleType | None:
    return of(parameters.get("bench"))


def plots(kind: str) -> ModuleType | None:
    """What draws the figures: the plotting library takes a second to load."""
    return importlib.import_module(f"pawl.{kind}_plot") if kind in NAMES else None
