# SPDX-License-Identifier: MIT
"""A first report: what a person reads before any table, on the page and in the terminal alike."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAR = 26


@dataclass(frozen=True)
class First:
    sentence: str
    # At most ten rows as table.py has them, from the best on; each with its plain `name`.
    bars: list[dict]
    unit: str
    # Captions with figures; drawn on demand, as the plotting library takes a second to load.
    figures: Callable[[], list[tuple[str, Figure]]]
    # What other machines are expected to do, a line each; [] without a simulation.
    expected: list[str]
    # (a command, what it is for)
    next: list[tuple[str, str]]


def bar_lines(first: First) -> list[str]:
    most = max(row["median"] for row in first.bars)
    lines = []
    for row in first.bars:
        bar = "#" * max(1, round(BAR * row["median"] / most))
        found = row["ratio_to_baseline"]
        times = "" if found is None else f"{found:.2f}x"
        lines.append(f"  {row['name']:26}{row['median'] / 1e6:8.2f} {times:>7}  {bar}")
    return lines


def in_terminal(first: First, width: int = 80) -> list[str]:
    lines = [*textwrap.wrap(first.sentence, width), "", *bar_lines(first), f"  {first.unit}"]
    for number, text in enumerate(first.expected):
        lines += [] if number else [""]
        lines += textwrap.wrap(text, width, initial_indent="  " if number else "",
                               subsequent_indent="  " if number else "")  # fmt: skip
    return [*lines, "", *(f"  {command:39}{what}" for command, what in first.next)]
