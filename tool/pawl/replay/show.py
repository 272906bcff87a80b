# SPDX-License-Identifier: MIT
"""The answer of `pawl replay` in the terminal."""

from rich.console import Console
from rich.table import Table

from pawl.advise.facts import percent, time
from pawl.core.table import line
from pawl.replay.rows import MOVING, NEAR

SEEN = 0.01  # of the time; less is not said
ASSUMPTIONS = (
    "sections and the work between them take as long as in the recording, whatever lock is used; "
    "but sections after a wait, which begin with cold caches, take as long under candidates as "
    "those of their place that did not wait",
    "they are work of the processor, which touches no memory in common; where a thread ran for "
    "less than passed, its longest gaps are sleep, or shorter by what it was kept off",
    "the cores and the cost of a wake-up are those of this machine, now",
    "the recorder's own time, which the answer does not have, is known to some nanoseconds a lock",
    "Pawl's own locks that the program has are left out: the time in them is the program's own",
    "each lock has a cache line of its own; conditions, barriers and semaphores are sleep of the "
    "recorded length",
)
OF_PAIRS = (
    "an upgrade saves the second look, which takes as long as the section that read; where "
    "a place nearly always writes after it has read, it begins in S"
)


def interval(ratio: dict) -> str:
    if ratio["ratio"] is None:
        return "no sample"
    if ratio["low"] is None:
        return f"{ratio['ratio']:.2f} (no interval: under 6 rounds)"
    return f"{ratio['ratio']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"


def fidelity(found: dict) -> str:
    rates = (
        f"with the locks it had, the re-enactment takes {interval(found)} times as many "
        f"locks a second as the recording ({found['recorded_rate']:,.0f})"
    )
    if found["waiting"] is not None:
        rates += (
            f", and waits for {percent(found['waiting'])} of the threads' time, recorded "
            f"{percent(found['recorded_waiting'])}"
        )
    if max(found["lost"] or 0, found["recorded_lost"]) >= SEEN:
        rates += (
            f"; without the {percent(found['lost'] or 0)} of the time for which threads were kept "
            "off a processor or waited for one that was, in the recording "
            f"{percent(found['recorded_lost'])}"
        )
    if found["lines"] > MOVING:
        return (
            f"Fidelity: {rates}. But for {percent(found['lines'])} of the recorded time, lines of "
            "the locks and of the recorder came from another processor. That is done again as work "
            "of the program, so ratios of readers that scale are too small. `pawl run` measures "
            "them"
        ) + "."
    within = f"{NEAR:.0%}".replace("%", " %")
    said = (
        f"within {within}"
        if found["near"]
        else f"NOT within {within}, so this trace cannot be re-enacted: take the rows below as no "
        "more than an order"
    )
    return f"Fidelity: {rates}. It is {said}."


def _table(rows: list[dict]) -> Table:
    table = Table(box=None, pad_edge=False)
    for head in (
        "candidate",
        "million locks/s",
        "times the original",
        "waits/1000",
        "waited/lock",
        "p99 of waits",
        "CPU s/million",
    ):
        table.add_column(head, justify="left" if head == "candidate" else "right")
    for r in rows:
        waits = r["wait_ns"]
        table.add_row(
            r["candidate"],
            f"{r['rate']['median'] / 1e6:.3f}",
            interval(r["gain"]),
            f"{1000 * r['waits_per_lock']:.3g}",
            time(r["wait_ns_per_lock"]),
            time(waits["p99"]) if waits else "none",
            f"{r['cpu_seconds_per_million']:.3f}",
        )
    return table


def show(result: dict, console: Console) -> None:
    w = result["window"]
    line(console, fidelity(result["fidelity"]))
    line(
        console,
        f"Window {w['number']} of {w['program']}: {time(w['length_ns'])}, threads "
        f"{w['threads']}, locks {w['locks']}, taken {w['taken']:,} times, reads before "
        f"writes {w['pairs']:,}.",
    )
    line(console, f"Replaced: {', '.join(result['replaced'])}; all others stay what they were.")
    for reason, count in w["left_out"].items():
        line(console, f"Left out: {count:,} holds {reason}.")
    console.print()
    console.print(_table(result["rows"]))
    console.print()
    line(console, "It assumes:")
    for text in result["assumptions"]:
        line(console, f"- {text}")
