# SPDX-License-Identifier: MIT
"""The advice as one HTML file: findings, a timeline, histograms, a flame graph of waiting."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from pawl.advise import remarks, replayed, stacks
from pawl.advise.facts import HELD, Facts, Lock, percent, time
from pawl.advise.finding import Finding
from pawl.advise.rules import heaviest

MOST_BARS = 4000  # of the timeline
MOST_LANES = 64
MOST_NAMES = 4  # of locks, in a heading
LEAST_WIDTH = 0.1  # percent of all waiting; what is narrower is not drawn


@dataclass
class Bar:
    left: float  # in percent
    width: float
    kind: str
    title: str
    scale: str = ""


def timeline(facts: Facts) -> tuple[str, dict[str, list[Bar]]]:
    """The window with most holds, in which those of all threads lie beside each other."""
    db = facts.db
    largest = db.execute(
        "SELECT process, window FROM step GROUP BY process, window ORDER BY count(*) DESC LIMIT 1"
    ).fetchone()
    if largest is None:
        return "", {}
    rows = db.execute(
        "SELECT e.*, l.name, t.text AS at, r.text AS released FROM step e JOIN lock l ON "
        "l.id = e.lock LEFT JOIN site t ON t.id = e.take LEFT JOIN site r ON r.id = e.release "
        "WHERE e.process = ? AND e.window = ? ORDER BY e.begun_ns LIMIT ?",
        (*largest, MOST_BARS),
    ).fetchall()
    first = min(r["begun_ns"] for r in rows)
    whole = max(max(r["begun_ns"] + r["wait_ns"] + r["hold_ns"] for r in rows) - first, 1)
    lanes: dict[int, list[Bar]] = defaultdict(list)
    for r in rows:
        begun = r["begun_ns"] - first
        places = f", taken at {r['at']}" + (
            f", released at {r['released']}" if r["released"] else ""
        )
        for kind, at, length in (
            ("wait", begun, r["wait_ns"]),
            ("hold", begun + r["wait_ns"], r["hold_ns"]),
        ):
            if length:
                lanes[r["lane"]].append(
                    Bar(
                        100 * at / whole,
                        max(100 * length / whole, 0.02),
                        kind,
                        f"{kind} {r['name']} ({r['mode']}): {time(length)}{places}",
                    )
                )
    threads: dict[tuple[int, str], list[Bar]] = {}  # one that outgrew its lane has two
    for lane, bars in lanes.items():
        threads.setdefault(facts.thread(largest[0], "lane", lane), []).extend(bars)
    return time(whole), {name: threads[n, name] for n, name in sorted(threads)[:MOST_LANES]}


def flames(facts: Facts) -> list[tuple[Bar, list[Bar]]]:
    """A lock each, as wide as its share of all waiting; below it who waited for whom."""
    whole, at, made = max(facts.wait_ns, 1), 0.0, []
    for lock in heaviest(facts, 40):
        wait = lock.all.sum("wait_ns")
        if not wait:
            continue
        width, left, below = 100 * wait / whole, at, []
        for b in facts.blames(lock):
            share = 100 * b.wait_ns / whole
            below.append(
                Bar(
                    left,
                    share,
                    b.mode,
                    f"{b.site} behind {b.holder}: {time(b.wait_ns)} in {b.count:,} waits",
                )
            )
            left += share
        made.append((Bar(at, width, lock.kind, f"{lock.name}: {time(wait)} waited"), below))
        at += width
    return made


@dataclass
class Node:
    wait_ns: int = 0
    count: int = 0
    below: dict[str, Node] = field(default_factory=dict)


def flame_graph(facts: Facts) -> list[list[Bar]]:
    """Rows of bars: the locks, below each the outermost functions of its stacks, and so on to the
    call of the lock. A bar is as wide as its share of all waiting for locks."""
    root = Node()
    for lock, stack in stacks.waiting(facts):
        if lock.kind not in HELD:
            continue
        node = root
        for name in (lock.name, *stacks.names(stack)):
            node = node.below.setdefault(name, Node())
            node.wait_ns += stack.wait_ns
            node.count += stack.count
    whole = max(facts.wait_ns, sum(n.wait_ns for n in root.below.values()), 1)
    rows: list[list[Bar]] = []
    level = [(0.0, root)]
    while level := [
        (at, name, node) for left, one in level for at, name, node in _beside(left, one, whole)
    ]:
        rows.append(
            [
                Bar(
                    at,
                    100 * node.wait_ns / whole,
                    "wait",
                    f"{name}: {time(node.wait_ns)} in {node.count:,} waits",
                )
                for at, name, node in level
            ]
        )
        level = [(at, node) for at, _, node in level]
    return rows


def _beside(left: float, node: Node, whole: int) -> Iterator[tuple[float, str, Node]]:
    """What lies below a bar, the widest first."""
    for name, one in sorted(node.below.items(), key=lambda item: -item[1].wait_ns):
        width = 100 * one.wait_ns / whole
        if width < LEAST_WIDTH:
            return
        yield left, name, one
        left += width


def _histogram(lock: Lock, what: str) -> list[Bar]:
    """Powers of two, the heights by logarithm: `width` is the height."""
    octaves: dict[int, int] = defaultdict(int)
    for use in lock.uses:
        for edge, count in use.histogram(what):
            octaves[max(edge, 1).bit_length() - 1] += count
    if not octaves:
        return []
    top = math.log2(1 + max(octaves.values()))
    return [
        Bar(
            0,
            100 * math.log2(1 + octaves.get(o, 0)) / top,
            what,
            f"from {time(2**o)}: {octaves.get(o, 0):,}",
            time(2**o),
        )
        for o in range(min(octaves), max(octaves) + 1)
    ]


def render(facts: Facts, findings: list[Finding], replay: dict | None = None) -> str:
    from jinja2 import Environment, PackageLoader  # takes long; only pages need it

    window, lanes = timeline(facts)
    locks = [(lock, _histogram(lock, "hold"), _histogram(lock, "wait")) for lock in heaviest(facts)]
    environment = Environment(loader=PackageLoader("pawl.advise", "."), autoescape=True)
    return environment.get_template("page.html.j2").render(
        facts=facts,
        findings=[(f, replayed.best(f, replay)) for f in findings],
        expected=replayed.expected,
        said=replayed.said,
        remarks=remarks,
        nothing=remarks.nothing(facts, findings),
        most=MOST_NAMES,
        window=window,
        lanes=lanes,
        flames=flames(facts),
        graph=flame_graph(facts),
        locks=locks,
        shown={lock.id for lock, *_ in locks},
        time=time,
        percent=percent,
    )
