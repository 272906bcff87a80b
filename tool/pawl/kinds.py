# SPDX-License-Identifier: MIT
"""Finds what is particular to a kind of measurement: its module, and that of its plots.

A kind is a module with these names, which tables, reports and results go by:

    TITLE, CELL_KEYS, SAMPLE_KEYS, ROW_KEYS, NESTED_KEYS
    workload(cell), label(cell), heading(cell)         in words
    sound(sample)                                      beyond the types that the keys name
    summarise(samples, baseline, order), losses(rows)  the rows
    columns(baseline), cells(rank, row), shown(width)  the table
    belongs(cell, name)                                if cells have different rows: is it one?

In place of the table, rows that do not compete have tables of their own:

    derive(result)                                     what the result file keeps of its samples
    show(result, console), section(result)             in the terminal; for templates/KIND.html.j2

The kinds "lru" and "pairs" are older and built into those modules. Modules are loaded when they
are asked for: they themselves need what asks.
"""

from __future__ import annotations

import importlib
from types import ModuleType

NAMES = ("wake", "crowd", "flood", "costs", "counters")


def of(kind: str | None) -> ModuleType | None:
    return importlib.import_module(f"pawl.{kind}") if kind in NAMES else None


def own_tables(kind: str | None) -> ModuleType | None:
    """The module of a kind that derives and shows its results itself."""
    module = of(kind)
    return module if hasattr(module, "derive") else None


def of_cell(parameters: dict) -> ModuleType | None:
    return of(parameters.get("bench"))


def plots(kind: str) -> ModuleType | None:
    """What draws the figures: the plotting library takes a second to load."""
    return importlib.import_module(f"pawl.{kind}_plot") if kind in NAMES else None
