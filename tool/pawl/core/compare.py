# SPDX-License-Identifier: MIT
"""A verdict of rows that do not all compete: each kind names which row it compares with which.

The host words them alike. Every sentence says what is compared and whether ours is ahead, so that
nobody has to know whether less is better.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pawl.core import stats
from pawl.core.table import counted

Table = dict[str, dict[int, float]]


@dataclass(frozen=True)
class Comparison:
    """A row of ours beside what one would use otherwise."""

    # What both do: the start of the sentence.
    work: str
    ours: str
    theirs: str
    # For each workload: the ratios of its rounds, ours over theirs.
    workloads: Sequence[list[float]]
    # What is compared: "time", "rate", or another quantity in words.
    what: str = "time"

    @property
    def more_is_better(self) -> bool:
        return self.what == RATE


TIME, RATE = "time", "rate"


def _place(found: dict, more_is_better: bool) -> str:
    """On which side of 1 the whole interval lies."""
    if found["low"] is None:
        return "unknown"
    if found["low"] <= 1 <= found["high"]:
        return "even"
    return "ahead" if (found["low"] > 1) == more_is_better else "behind"


def _number(value: float) -> str:
    """Three digits for what is large, two for what is small: 0.004 is not 0.00."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 or not value else f"{value:.2g}"


def _factor(found: dict) -> str:
    said = f"{_number(found['ratio'])}x"
    if found["low"] is None:
        return said
    return f"{said} ({_number(found['low'])} to {_number(found['high'])})"


ENDS = {
    "unknown": "fewer than six rounds, so no interval",
    "even": "no difference beyond noise",
    "ahead": "ahead",
    "behind": "behind",
}


def _one(asked: Comparison) -> str:
    found = stats.ratio(list(asked.workloads[0]))
    factor = _factor(found)
    said = {
        TIME: f"{asked.ours} takes {factor} the time of {asked.theirs}",
        RATE: f"{asked.ours} has {factor} the rate of {asked.theirs}",
    }.get(asked.what, f"{asked.what} of {asked.ours} is {factor} that of {asked.theirs}")
    return f"{said}: {ENDS[_place(found, asked.more_is_better)]}"


def _many(asked: Comparison) -> str:
    every = [stats.ratio(list(values)) for values in asked.workloads]
    places = Counter(_place(found, asked.more_is_better) for found in every)
    mean = _number(stats.geometric_mean([max(found["ratio"], 1e-9) for found in every]))
    name = {TIME: "the time", RATE: "the rate"}.get(asked.what, asked.what)
    if len(every) == places["unknown"]:
        better = sum((found["ratio"] > 1) == asked.more_is_better for found in every)
        said = f"{asked.ours} is the better one in {better}; {ENDS['unknown']}"
    else:
        order = ("ahead", "even", "behind")
        counts = ", ".join(f"{place} in {places[place]}" for place in order)
        said = f"{asked.ours} is {counts}"
        if places["unknown"]:
            said += f"; {places['unknown']} had too few rounds"
    return (
        f"in {counted(len(every), 'workload')} {said}; in the geometric mean {name} is "
        f"{mean}x that of {asked.theirs}"
    )


def _direction(asked: list[Comparison]) -> str:
    found = [
        text
        for text, there in (
            ("of rates more is better", any(a.more_is_better for a in asked)),
            ("of times and sizes less is better", any(not a.more_is_better for a in asked)),
        )
        if there
    ]
    return f"{'; '.join(found).capitalize()}."


def sentences(asked: list[Comparison]) -> list[str]:
    """A sentence a comparison that has values, and one that says which way is better."""
    asked = _with_values(asked)
    if not asked:
        return []
    said = [f"{a.work}: {(_one if len(a.workloads) == 1 else _many)(a)}." for a in asked]
    return [text[0].upper() + text[1:] for text in said] + [_direction(asked)]


def short(asked: list[Comparison]) -> list[str]:
    """All comparisons as one sentence, for a page of many parts."""
    places = Counter(
        _place(stats.ratio(list(values)), a.more_is_better)
        for a in _with_values(asked)
        for values in a.workloads
    )
    if not places:
        return []
    sure = places.total() - places["unknown"]
    if not sure:
        return [f"{counted(places.total(), 'comparison')}, each of fewer than six rounds."]
    more = f"; {places['unknown']} more had fewer than six rounds" if places["unknown"] else ""
    return [
        f"Of {counted(sure, 'comparison')} ahead in {places['ahead']}, even in "
        f"{places['even']}, behind in {places['behind']}{more}."
    ]


def _with_values(asked: list[Comparison]) -> list[Comparison]:
    found = [replace(a, workloads=[values for values in a.workloads if values]) for a in asked]
    return [a for a in found if a.workloads]


# ---- For kinds ----------------------------------------------------------------------------------


def of_cells(
    work: str,
    ours: str,
    theirs: str,
    cells: list[dict],
    what: str = RATE,
    table: Callable[[list[dict]], Table] = stats.rates,
) -> Comparison:
    """Round by round in each of the cells; `table` says what a round is worth."""
    found = [stats.paired(table(cell["samples"]), ours, theirs) for cell in cells]
    return Comparison(work, ours, theirs, found, what)
