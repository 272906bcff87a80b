# SPDX-License-Identifier: MIT
"""The tables of `pawl bench latency`, as texts: for the terminal and for the page alike.

A scenario has a short table, a line a lock, in units of time; and the long one that the source has,
a line for each thread and each thing measured of it, in cycles.
"""

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pawl.core import stats, table
from pawl.core.kind import Kind
from pawl.core.report import render
from pawl.core.table import line as say
from pawl.kinds.latency import samples as latency_samples
from pawl.kinds.latency.plan import PAIRS, SCENARIOS
from pawl.kinds.latency.samples import MEASURES, QUANTILES

# Who waits: the threads of these roles are put together in the short table.
ROLES = {
    "writers": ("writer/", "trylock_writer/"),
    "readers": ("reader/", "trylock_reader/"),
    "real-time": ("realtime_reader/",),
    "handlers": ("interrupt/", "deferred/"),
}
SHORT_HEADS = (
    "lock",
    "writes",
    "blocked\ntimes",
    "\nmean",
    "\np99.99",
    "\nmax",
    "raised\nmax",
    *(f"max wait\n{role}" for role in ROLES),
)
LONG_HEADS = ("thread", "what", "times", "min", "avg", "max", *QUANTILES)
PAIR_HEADS = ("what", "ns", "quartiles", "cycles", "times\nthe floor", "95 %\ninterval")
# The long tables of so few cells are printed; a page has all of them.
LONG_CELLS = 2


def workload(cell: dict) -> str:
    scene = SCENARIOS.get(cell["scenario"])
    return scene.says if scene else cell["scenario"]


# ---- The short table -----------------------------------------------------------------------------


def _longest(rows: list[dict], prefixes: tuple[str, ...]) -> float | None:
    return max(
        (r["lock"]["max"] for r in rows if r["who"].startswith(prefixes) and r["lock"]),
        default=None,
    )


def overview(cell: dict) -> list[dict]:
    """A line a lock, in cycles."""
    lines = []
    for name in cell["candidates"]:
        samples = stats.of_candidate(cell["samples"], name)
        if not samples:
            continue
        rows = latency_samples.rows(samples)
        lines.append(
            {
                "candidate": name,
                "per_ns": latency_samples.per_ns(samples),
                "writers": [r["iterations"] for r in rows if r["who"].startswith("writer/")],
                "blocked": latency_samples.blocked(samples),
                "raised": latency_samples.together([r["raised"] for r in rows]),
                "waits": {role: _longest(rows, who) for role, who in ROLES.items()},
            }
        )
    return lines


def short_texts(line: dict) -> list[str]:
    def time(cycles: float | None) -> str:
        return "-" if cycles is None else table.duration(cycles / line["per_ns"])

    blocked, raised = line["blocked"] or {}, line["raised"] or {}
    return [
        line["candidate"],
        " ".join(f"{n:,}" for n in line["writers"]) or "-",
        f"{blocked['count']:,}" if blocked else "-",
        *(time(blocked.get(key)) for key in ("avg", "p99.99", "max")),
        time(raised.get("max")),
        *(time(line["waits"][role]) for role in ROLES),
    ]


# ---- The long table, and the one of pairs --------------------------------------------------------


def _series_texts(series: dict) -> list[str]:
    return [
        f"{series['count']:,}",
        *(f"{series[key]:,.0f}" for key in ("min", "avg", "max", *QUANTILES)),
    ]


def long_texts(rows: list[dict]) -> list[list[str]]:
    """As the source has it: first what was kept out, then who waited."""
    lines = []
    for group in (("interrupt", "deferred", "raised"), ("lock", "unlock")):
        lines += [
            [row["who"], MEASURES[m], *_series_texts(row[m])]
            for row in rows
            for m in group
            if row[m]
        ]
    return lines


def tries(rows: list[dict]) -> str:
    """How often those that only try did not get the lock."""
    return ", ".join(f"{r['who']}: {r['failed']:,} tries failed" for r in rows if r["failed"])


def pair_texts(row: dict, per_ns: float) -> list[str]:
    return [
        row["candidate"],
        f"{row['median']:.2f}",
        f"{row['q1']:.2f}..{row['q3']:.2f}",
        f"{row['median'] * per_ns:.1f}",
        table.times(row["ratio_to_baseline"]),
        table.interval(row),
    ]


# ---- Sentences -----------------------------------------------------------------------------------


def counter_sentence(cell: dict) -> str:
    counter = cell["samples"][-1]["counter"]
    cost = counter["cost"]
    return (
        f"{counter.get('name')} takes [min,avg,max] {cost['min']:,},{cost['avg']:,},"
        f"{cost['max']:,} cycles at {counter['per_ns']:.3f} cycles a ns; results are less its "
        f"median of {counter['own']:,}"
    )


def realtime_sentence(cell: dict) -> str:
    why = next((s["realtime_error"] for s in cell["samples"] if s["realtime_error"]), "")
    return why and (
        f"no real-time threads: {why}. Real-time readers were ordinary ones, and no "
        "writer was raised."
    )


def rescued_sentences(cell: dict) -> list[str]:
    found: dict[str, int] = {}
    for sample in cell["samples"]:
        found[sample["candidate"]] = found.get(sample["candidate"], 0) + sample.get("rescued", 0)
    return [
        f"{name}: {n} real-time thread{'s' if n > 1 else ''} spun for half a second for a "
        "thread that could not run, and had to be made ordinary"
        for name, n in found.items()
        if n
    ]


def _said_above(cell: dict) -> list[str]:
    if cell["scenario"] == PAIRS:
        return [workload(cell)]
    lines = [
        workload(cell),
        f"write sections of {cell['write_section_us']:g} us, read sections of "
        f"{cell['read_section_us']:g} us, a slow one of {cell['slow_section_us']:g} us each "
        f"{cell['slow_every_ms']:g} ms, handlers each {cell['handler_period_ms']:g} ms",
    ]
    return lines + ([] if cell.get("complete", True) else ["interrupted: rows are missing"])


# ---- In the terminal -----------------------------------------------------------------------------


def _table(title: str, heads: tuple[str, ...], left: int = 1) -> Table:
    made = Table(title=escape(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for n, name in enumerate(heads):
        made.add_column(name, justify="left" if n < left else "right", no_wrap=True)
    return made


def _style(name: str) -> str:
    return "cyan" if "pawl" in name else ""


def _show_pairs(cell: dict, console: Console) -> None:
    made = _table(workload(cell), PAIR_HEADS)
    per_ns = latency_samples.per_ns(cell["samples"])
    for row in cell["summary"]:
        made.add_row(*pair_texts(row, per_ns), style=_style(row["candidate"]))
    console.print(made)


def shown(width: int) -> list[int]:
    """What was blocked stays; what it cost others goes first, then how often."""
    gone = {3, 6, 7, 8, 9} if width < 90 else {2, 6, 8} if width < 126 else set()
    return [n for n in range(len(SHORT_HEADS)) if n not in gone]


def _show_short(cell: dict, console: Console) -> None:
    columns = shown(console.width)
    made = _table("\n".join(_said_above(cell)), tuple(SHORT_HEADS[n] for n in columns))
    for line in overview(cell):
        texts = short_texts(line)
        made.add_row(*(texts[n] for n in columns), style=_style(line["candidate"]))
    console.print(made)
    for line in rescued_sentences(cell):
        say(console, line)


def _show_long(cell: dict, console: Console) -> None:
    for line in overview(cell):
        rows = latency_samples.rows(latency_samples.of_lock(cell, line["candidate"]))
        made = _table(f"{line['candidate']}, cycles", LONG_HEADS, left=2)
        for texts in long_texts(rows):
            made.add_row(*texts, style=_style(line["candidate"]))
        console.print(made)
        if failed := tries(rows):
            say(console, failed)


def _show(result: dict, console: Console) -> None:
    few = len(result["cells"]) <= LONG_CELLS
    for cell in result["cells"]:
        if cell["scenario"] == PAIRS:
            _show_pairs(cell, console)
            continue
        _show_short(cell, console)
        if few:
            _show_long(cell, console)
    say(console, counter_sentence(result["cells"][-1]))
    if why := realtime_sentence(result["cells"][-1]):
        say(console, why, "red")
    table.show_missing(result, console)


def show(_kind: Kind, result: dict, console: Console, most: int = 0) -> None:
    """All cells, however many."""
    if result["cells"]:
        _show(result, console)


# ---- For the page --------------------------------------------------------------------------------


def _view(cell: dict) -> dict:
    if cell["scenario"] == PAIRS:
        per_ns = latency_samples.per_ns(cell["samples"])
        return {
            "heading": _said_above(cell),
            "heads": PAIR_HEADS,
            "locks": [],
            "rows": [
                {"texts": pair_texts(r, per_ns), "ours": "pawl" in r["candidate"]}
                for r in cell["summary"]
            ],
        }
    locks = []
    for line in overview(cell):
        rows = latency_samples.rows(latency_samples.of_lock(cell, line["candidate"]))
        locks.append({"name": line["candidate"], "rows": long_texts(rows), "tries": tries(rows)})
    return {
        "heading": _said_above(cell) + rescued_sentences(cell),
        "heads": SHORT_HEADS,
        "locks": locks,
        "rows": [
            {"texts": short_texts(x), "ours": "pawl" in x["candidate"]} for x in overview(cell)
        ],
    }


def body(result: dict) -> str:
    """What the page shows in place of ranked tables."""
    last = result["cells"][-1]
    return render(
        __package__,
        "page.html.j2",
        own={
            "cells": [_view(c) for c in result["cells"]],
            "long_heads": LONG_HEADS,
            "counter": counter_sentence(last),
            "realtime": realtime_sentence(last),
            "missing": [f"{g['candidate']}: {g['why']}" for g in result["unavailable"]],
        },
    )


def no_views(_kind: Kind, _result: dict) -> list[dict]:
    return []
