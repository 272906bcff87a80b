# SPDX-License-Identifier: MIT
"""The tables of `pawl costs`, as texts: for the terminal and for the page alike."""

import textwrap

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pawl.core.kind import Kind
from pawl.core.report import render
from pawl.core.table import counted, duration
from pawl.core.table import line as say
from pawl.kinds.costs import rows as texts_of
from pawl.kinds.costs.derive import derive
from pawl.kinds.costs.plan import PARTS

HEADS = ("operation", "time", "quartiles", "cycles", "instruc-\ntions", "2005", "instruc-\ntions")
LOCK_HEADS = (
    "lock",
    "mode",
    "a pair\nhere",
    "\ntake",
    "\ndrop",
    "\nmoved",
    "efficiency\n100 ns",
    "\n1,000 ns",
    "moved\n100 ns",
    "\n1,000 ns",
)
LENGTHS = (100.0, 1000.0)
MODES = {"r": "read", "s": "seek", "w": "write", "a": "atomic"}
# Up to so many CPUs the matrix is printed; the page draws any.
MATRIX_COLUMNS = 16


def workload(cell: dict) -> str:
    return PARTS.get(cell["part"], cell["part"])


def time(ns: float | None) -> str:
    """Three digits; below a nanosecond they matter most."""
    if ns is None:
        return "-"
    if ns < 99.95:
        return f"{ns:.{3 if ns < 0.9995 else 2 if ns < 9.995 else 1}f} ns"
    return duration(ns)


def count(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def quartiles(row: dict) -> str:
    return f"{time(row['q1'])}..{time(row['q3'])}"


def _published(row: dict) -> tuple[str, str]:
    ns = row["source_ns"]
    one = texts_of.BY_ID["instruction"].source_ns
    return ("", "") if ns is None else (f"{ns:g} ns", count(ns / one))


def _how(row: dict) -> str:
    size = row.get("bytes")
    if not size:
        return row["how"]
    text = f"{size / 2**20:,.1f} MiB" if size >= 2**20 else f"{size / 2**10:,.0f} KiB"
    return f"{row['how']} ({text})"


def row_texts(row: dict) -> list[str]:
    if not row["available"]:
        return [row["label"], "not measured", "", "", "", *_published(row)]
    return [
        row["label"],
        time(row["median"]),
        quartiles(row),
        count(row["cycles"]),
        count(row["instructions"]),
        *_published(row),
    ]


def explanation(row: dict) -> str:
    return _how(row) if row["available"] else f"{_how(row)} Here not: {row['why']}."


def efficiency(cost: float | None, tc: float) -> str:
    return "-" if cost is None else f"{tc / (tc + cost) * 100:.1f} %"


def lock_texts(lock: dict) -> list[str]:
    local, moved = lock["local"] or {}, lock["moved"] or {}
    return [
        lock["lock"],
        MODES.get(lock["mode"], lock["mode"]),
        time(local.get("median")),
        time(local.get("take")),
        time(local.get("drop")),
        time(moved.get("median")),
        *(efficiency(cost.get("median"), tc) for cost in (local, moved) for tc in LENGTHS),
    ]


def clock_sentences(costs: dict) -> list[str]:
    clock = costs["clock"]
    lines = []
    if clock["core_ghz"]:
        lines.append(f"The core ran at {clock['core_ghz']:.2f} GHz while its cycle was measured.")
    if clock["tsc_ghz"]:
        lines.append(
            f"The time stamp counter ticks at {clock['tsc_ghz']:.3f} GHz, whatever the core does."
        )
    if costs["near"] is not None:
        lines.append(
            f"Transfers are between CPU {costs['first']} and CPU {costs['near']}: "
            f"{costs['near_relation']}."
        )
    return lines


def doubts(costs: dict) -> list[str]:
    labels = {row["id"]: row["label"] for row in costs["rows"]}
    return [
        f"{labels[less]} came out slower than {labels[more]}, which cannot be: something "
        "disturbed the measurement. Measure again when the machine is idle."
        for less, more in costs["contradictions"]
    ]


def groups(costs: dict) -> list[tuple[str, list[dict]]]:
    return [
        (name, [r for r in costs["rows"] if r["group"] == group])
        for group, name in texts_of.GROUPS.items()
    ]


# The first column is left-aligned and wide enough for every label.
WIDTHS = (39, 13, 24, 10, 9, 9, 9)
INDENT = 4


def _line(texts: list[str], shown: list[int]) -> str:
    return texts[shown[0]].ljust(WIDTHS[0]) + "".join(texts[n].rjust(WIDTHS[n]) for n in shown[1:])


def _print(console: Console, line: str, style: str = "") -> None:
    console.print(Text(line, style=style), no_wrap=True, overflow="ignore", crop=False)


def _show_rows(costs: dict, console: Console) -> None:
    """No table of rich: a sentence under a row would be squeezed into one column."""
    narrow = console.width < sum(WIDTHS)
    shown = [n for n in range(len(HEADS)) if not (narrow and n in (2, 6))]
    width = sum(WIDTHS[n] for n in shown)
    _print(console, "What single operations cost", "bold")
    for part in (0, 1):
        _print(console, _line([h.partition("\n")[2 * part] for h in HEADS], shown).rstrip())
    for name, rows in groups(costs):
        _print(console, f"\n{name}\n{'-' * min(width, console.width)}", "bold")
        for row in rows:
            _print(
                console,
                _line(row_texts(row), shown).rstrip(),
                "cyan" if row["available"] else "dim",
            )
            for line in textwrap.wrap(explanation(row), min(width, console.width) - INDENT):
                _print(console, " " * INDENT + line, "dim")
    console.print()


def _matrix_table(matrix: dict) -> Table:
    table = Table(
        title="Nanoseconds for a line from CPU to CPU",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("CPU", justify="right")
    for cpu in matrix["cpus"]:
        table.add_column(str(cpu), justify="right")
    for cpu, line in zip(matrix["cpus"], matrix["ns"], strict=True):
        table.add_row(str(cpu), *("-" if ns is None else count(ns) for ns in line))
    return table


def relations(matrix: dict) -> list[str]:
    """One sentence for each kind of pair."""
    kinds: dict[str, list[float]] = {}
    for pair in matrix["pairs"]:
        kinds.setdefault(pair["relation"], []).append(pair["median"])
    return [
        f"{relation}: {counted(len(ns), 'pair')}, {count(min(ns))}..{count(max(ns))} ns"
        if len(ns) > 1
        else f"{relation}: 1 pair, {count(ns[0])} ns"
        for relation, ns in kinds.items()
    ]


def _locks_table(costs: dict, width: int) -> Table:
    table = Table(
        title="What each lock costs", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    shown = [n for n in range(len(LOCK_HEADS)) if not (width < 120 and n in (3, 4, 7, 9))]
    for n in shown:
        table.add_column(LOCK_HEADS[n], justify="left" if n < 2 else "right", no_wrap=True)
    for lock in costs["locks"]:
        if lock["available"]:
            texts = lock_texts(lock)
            table.add_row(
                *(texts[n] for n in shown), style="cyan" if lock["lock"].startswith("pawl_") else ""
            )
    return table


LOCKS_HOW = (
    "A pair is a take and a drop. 64 locks lie on pages of their own; in random order each is "
    "taken and dropped at once, and which is next depends on this one. Here: the same thread had "
    "them last; moved: another core had. Take, drop: all are taken, then all are dropped. "
    "Efficiency: the part of the time that goes into a section of this length, "
    "Tc / (Tc + Ta + Tr)."
)


def missing_locks(costs: dict) -> list[str]:
    return [
        f"{x['lock']} ({MODES.get(x['mode'], x['mode'])}): {x['why']}"
        for x in costs["locks"]
        if not x["available"]
    ]


def _show(costs: dict, console: Console) -> None:
    _show_rows(costs, console)
    for line in clock_sentences(costs):
        say(console, line)
    for line in doubts(costs):
        say(console, line, "red")
    matrix = costs["matrix"]
    if matrix and len(matrix["cpus"]) <= MATRIX_COLUMNS:
        console.print(_matrix_table(matrix))
    for line in relations(matrix) if matrix else []:
        say(console, line)
    if costs["locks"]:
        console.print(_locks_table(costs, console.width))
        say(console, LOCKS_HOW, "dim")
    for line in missing_locks(costs):
        say(console, f"not measured: {line}")


def show(_kind: Kind, result: dict, console: Console, most: int = 0) -> None:
    """All parts, however many."""
    if result["cells"]:
        _show(derive(result), console)


def _section(costs: dict) -> dict:
    matrix = costs["matrix"]
    return {
        "heads": HEADS,
        "notes": clock_sentences(costs),
        "doubts": doubts(costs),
        "source": texts_of.SOURCE,
        "groups": [
            (
                name,
                [
                    {"texts": row_texts(r), "how": explanation(r), "available": r["available"]}
                    for r in rows
                ],
            )
            for name, rows in groups(costs)
        ],
        "relations": relations(matrix) if matrix else [],
        "lock_heads": LOCK_HEADS,
        "locks_how": LOCKS_HOW,
        "locks": [
            {"texts": lock_texts(x), "ours": x["lock"].startswith("pawl_")}
            for x in costs["locks"]
            if x["available"]
        ],
        "missing": missing_locks(costs),
    }


def body(result: dict) -> str:
    """What the page shows in place of ranked tables."""
    return render(__package__, "page.html.j2", own=_section(derive(result)))


def no_views(_kind: Kind, _result: dict) -> list[dict]:
    return []
