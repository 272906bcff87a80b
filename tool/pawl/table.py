# SPDX-License-Identifier: MIT
"""Ranked tables for the terminal. The measured hit ratio stands beside the nominal one."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pawl import kinds, measure, stats

LATENCIES = (*stats.QUANTILES, "max")


def percent(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio * 100:.2f} %"


def times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def interval(row: dict) -> str:
    if row.get("ratio_ci95_low") is None:
        return "-"
    return f"{row['ratio_ci95_low']:.2f}..{row['ratio_ci95_high']:.2f}"


def as_cost(row: dict) -> dict:
    """The same ratio as time instead of rate: how many times the baseline's time."""
    def turned(key: str) -> float | None:
        return 1 / row[key] if row.get(key) else None
    return {"ratio_to_baseline": turned("ratio_to_baseline"),
            "ratio_ci95_low": turned("ratio_ci95_high"),
            "ratio_ci95_high": turned("ratio_ci95_low")}


def duration(nanoseconds: float | None) -> str:
    """Three digits and a unit: latencies span seven orders of magnitude."""
    if nanoseconds is None:
        return "-"
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 999.5 * scale:
            break
    else:
        unit, scale = "s", 1e9
    value = nanoseconds / scale
    return f"{value:.{0 if value >= 100 or scale == 1 else 1 if value >= 10 else 2}f} {unit}"


def heading(cell: dict) -> str:
    if kind := kinds.of_cell(cell):
        return kind.heading(cell) + _unfinished(cell)
    text = measure.label(cell)
    if "size" in cell:
        share = cell["size"] / cell["keyspace"]
        text += (f"\ncache {cell['size']:,} of {cell['keyspace']:,} keys = nominal "
                 f"{percent(share)} hits, measured {percent(cell.get('measured_hit_ratio'))}")
        if cell.get("chains"):
            text += (f"\nhash table of {_count(cell['chains'], 'chain')}, about "
                     f"{_count(max(1, round(cell['size'] / cell['chains'])), 'entry')} each")
        if cell.get("pin_error"):
            text += f"\nnot pinned: {cell['pin_error']}"
    return text + _unfinished(cell)


def _unfinished(cell: dict) -> str:
    return "" if cell.get("complete", True) else "\ninterrupted: fewer rounds than asked for"


def _count(number: int, what: str) -> str:
    many = {"entry": "entries"}.get(what, what + "s")
    return f"{number:,} {what if number == 1 else many}"


def timed(cell: dict) -> bool:
    return any("latency_ns" in row for row in cell["summary"])


def _verdict(row: dict) -> str:
    if row.get("ratio_ci95_high") is None:
        return ""
    if row["ratio_ci95_high"] < 1:
        return "slower"
    return "faster" if row["ratio_ci95_low"] > 1 else "even"


def _view(kind: str, cell: dict | None):
    """What words the rows: the kind, or its face for this cell if its cells differ."""
    view = kinds.of(kind)
    return view.face(cell) if cell is not None and hasattr(view, "face") else view


def cells(kind: str, rank: int, row: dict, latency: bool = False,
          cell: dict | None = None) -> list[str]:
    """The texts of a row; columns() names them."""
    if view := _view(kind, cell):
        return view.cells(rank, row)
    return (cells_lru if kind == "lru" else cells_pairs)(rank, row, latency)


def cells_lru(rank: int, row: dict, latency: bool = False) -> list[str]:
    times_of = row.get("latency_ns", {})
    latencies = [duration(times_of.get(n)) for n in LATENCIES] if latency else []
    return [str(rank), escape(row["candidate"]), f"{row['median'] / 1e6:.3f}",
            f"{row['q1'] / 1e6:.3f}..{row['q3'] / 1e6:.3f}", times(row["ratio_to_baseline"]),
            interval(row), _verdict(row), percent(row.get("hit_ratio")),
            f"{row.get('cpu_seconds_per_million', 0):.2f}", *latencies]


def cells_pairs(rank: int, row: dict, _latency: bool = False) -> list[str]:
    cost = as_cost(row)
    return [str(rank), escape(row["candidate"]), f"{1e9 / row['median']:.2f}",
            f"{1e9 / row['q3']:.2f}..{1e9 / row['q1']:.2f}", times(cost["ratio_to_baseline"]),
            interval(cost)]


def columns(kind: str, baseline: str, latency: bool = False,
            cell: dict | None = None) -> list[str]:
    if view := _view(kind, cell):
        return view.columns(baseline)
    short = baseline.split("/")[-1]
    if kind == "lru":
        return ["", "strategy/lock", "million\nlookups/s", "\nquartiles", f"times\n{short}",
                "95 %\ninterval", "", "measured\nhits", "CPU s per\nmillion",
                *([f"lookup\n{n}" for n in LATENCIES] if latency else [])]
    return ["", "mode/lock", "ns\na pair", "\nquartiles", f"times\n{short}",
            "95 %\ninterval"]


def _shown(kind: str, width: int, latency: bool = False,
           cell: dict | None = None) -> list[int]:
    """Which columns fit: quartiles and CPU time go first, rank and hits of each row next."""
    if view := _view(kind, cell):
        return view.shown(width)
    if kind == "lru" and latency:
        # Who asks for latencies gets them at any width.
        gone = {0, 3, 5, 6, 7, 8} if width < 100 else {0, 3, 7, 8} if width < 130 else {3, 7, 8}
        return [n for n in range(9 + len(LATENCIES)) if n not in gone]
    if kind == "lru":
        gone = {0, 3, 7, 8} if width < 100 else {3, 8} if width < 130 else set()
        return [n for n in range(9) if n not in gone]
    return [n for n in range(6) if n not in ({0, 3} if width < 88 else set())]


def build(result: dict, cell: dict, width: int = 140) -> Table:
    kind = result["kind"]
    latency = timed(cell)
    shown = _shown(kind, width, latency, cell)
    table = Table(title=heading(cell), title_justify="left", title_style="bold",
                  box=box.SIMPLE_HEAD)
    heads = columns(kind, result["baseline"], latency, cell)
    for name in (heads[n] for n in shown):
        table.add_column(name, justify="left" if name == heads[1] else "right", no_wrap=True)
    lost = {id(r) for r in losses(kind, cell["summary"])}
    for rank, row in enumerate(cell["summary"], 1):
        style = "red" if id(row) in lost else "cyan" if "pawl" in row["candidate"] else ""
        texts = cells(kind, rank, row, latency, cell)
        table.add_row(*(texts[n] for n in shown), style=style)
    for gone in unavailable(result, cell):
        texts = ["-", escape(gone["candidate"]), "not built", *[""] * (len(heads) - 3)]
        table.add_row(*(texts[n] for n in shown), style="dim")
    return table


def unavailable(result: dict, cell: dict) -> list[dict]:
    """The rows of this cell that were not built; of most kinds all cells have the same rows."""
    belongs = getattr(kinds.of(result["kind"]), "belongs", lambda _cell, _name: True)
    return [gone for gone in result["unavailable"] if belongs(cell, gone["candidate"])]


def losses(kind: str, rows: list[dict]) -> list[dict]:
    """Our rows that are behind the baseline beyond the noise."""
    return (kinds.of(kind) or stats).losses(rows)


def _losses_line(result: dict, cell: dict) -> str | None:
    lost = losses(result["kind"], cell["summary"])
    if not lost or result["kind"] not in ("lru", "crowd"):
        return None
    listed = ", ".join(f"{r['candidate']} {times(r['ratio_to_baseline'])}" for r in lost)
    return f"slower than {result['baseline']} here, beyond the noise: {listed}"


def _extra(extra: kinds.Extra) -> Table:
    found = Table(box=box.SIMPLE_HEAD)
    for number, name in enumerate(extra.heads):
        found.add_column(name, justify="left" if number == 0 else "right", no_wrap=True)
    for row in extra.rows:
        found.add_row(*map(escape, row), style="cyan" if "pawl" in row[0] else "")
    return found


def show(result: dict, console: Console, most: int = 8) -> None:
    """Every cell of a small run; of a grid the last ones, since the report shows them all."""
    if own := kinds.own_tables(result["kind"]):
        own.show(result, console)
        return
    cells = result["cells"]
    for cell in cells[-most:]:
        console.print(build(result, cell, console.width))
        if line := _losses_line(result, cell):
            console.print(line, style="red", highlight=False, markup=False)
    for extra in kinds.more(result):
        # A title would be folded to the width of its table.
        console.print(extra.title, highlight=False, markup=False, style="bold")
        for note in extra.notes:
            console.print(note, highlight=False, markup=False, style="dim")
        console.print(_extra(extra))
    for gone in result["unavailable"]:
        console.print(f"not measured: {gone['candidate']}: {gone['why']}", highlight=False,
                      markup=False)
    if len(cells) > most:
        console.print(f"{len(cells) - most} more cells are in the JSON and the report",
                      highlight=False)
