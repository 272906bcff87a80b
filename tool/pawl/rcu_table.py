# SPDX-License-Identifier: MIT
"""The columns of `pawl bench rcu`: times, callbacks, delays and floods are different things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.markup import escape

from pawl import table
from pawl.counters import nanoseconds


@dataclass(frozen=True)
class Face:
    """What a cell's table shows; `wide` are the columns that a narrow terminal has no room for."""

    heads: list[str]
    texts: Callable[[dict], list[str]]
    wide: frozenset[int]

    def columns(self, _baseline: str) -> list[str]:
        return self.heads

    def cells(self, rank: int, row: dict) -> list[str]:
        return [str(rank), escape(row["candidate"]), *self.texts(row)]

    def shown(self, width: int) -> list[int]:
        return [n for n in range(len(self.heads)) if width >= 125 or n not in self.wide]


def _quartiles(row: dict) -> str:
    return f"{nanoseconds(row['q1'])}..{nanoseconds(row['q3'])}"


def _ratio(row: dict) -> list[str]:
    return [table.times(row["ratio_to_baseline"]), table.interval(row)]


def mebibytes(count: float | None) -> str:
    return "-" if count is None else f"{count / 2**20:,.1f} MiB"


def _timed(row: dict) -> list[str]:
    return [nanoseconds(row["median"]), _quartiles(row), f"{row['million_per_second']:.3f}",
            table.times(row["scaling"]), *_ratio(row)]


def _calls(row: dict) -> list[str]:
    return [f"{row['million_per_second']:.3f}", nanoseconds(row["median"]), _quartiles(row),
            nanoseconds(row["call_ns"]), *_ratio(row)]


def _delays(row: dict) -> list[str]:
    delay = row["delay_ns"]
    return [*(table.duration(delay[q]) for q in ("p50", "p90", "p99", "p99.9", "max")),
            *_ratio(row)]


def _flood(row: dict) -> list[str]:
    ended = "stopped" if row["stopped"] else "all ran"
    return [mebibytes(row["peak_bytes"]), mebibytes(row["bound_bytes"]),
            mebibytes(row["rss_peak_bytes"]), f"{row['million_per_second']:.3f}", ended,
            table.times(row["ratio_to_baseline"])]


INTERVAL = "95 %\ninterval"
TIMED = Face(["", "what", "an\noperation", "\nquartiles", "million/s\nin all", "times one\nthread",
              "times\nliburcu", INTERVAL], _timed, frozenset({0, 3, 4, 7}))
CALLS = Face(["", "what", "million\ncallbacks/s", "a call\nand its run", "\nquartiles",
              "the call\nalone", "times\nliburcu", INTERVAL], _calls, frozenset({0, 4, 7}))
DELAYS = Face(["", "what", "delay\np50", "\np90", "\np99", "\np99.9", "\nlongest",
               "p99 times\nliburcu", INTERVAL], _delays, frozenset({0, 3, 5, 8}))
FLOOD = Face(["", "what", "queued\nat most", "\nbound", "process\ngrew by", "million\ncallbacks/s",
              "", "times\nliburcu"], _flood, frozenset({0, 5, 7}))


def of_group(group: str) -> Face:
    return {"call": CALLS, "delay": DELAYS, "flood": FLOOD}.get(group, TIMED)


def face(cell: dict) -> Face:
    return of_group(cell["group"])


def explain(cell: dict) -> str:
    """What the columns mean, below the heading."""
    if cell["group"] == "call":
        return (f"{cell['callbacks']:,} calls by each thread, then the barrier; ratios are of "
                "times, with liburcu's")
    if cell["group"] == "delay":
        return (f"a call each {cell['period']:g} us; +readers: beside a thread that reads without "
                "pause")
    if cell["group"] == "flood":
        return (f"{cell['flood']:,} calls without a pause, ours bounded at "
                f"{mebibytes(cell['bound'])}; at {mebibytes(cell['most'])} the bench itself stops")
    text = "@ threads that do it at once; ratios are of times, with liburcu's at as many threads"
    if cell["group"] == "sync":
        text += "\nbeside four threads that sleep; +readers: and one that reads without pause"
    return text
