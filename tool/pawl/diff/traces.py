# SPDX-License-Identifier: MIT
"""Two traces: the locks of the same name, and the findings that went and came."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from pawl.advise.facts import HELD, Facts, Lock, Uses
from pawl.advise.finding import find
from pawl.advise.rules import RULES
from pawl.diff.rows import Compared, Row

Key = tuple[str, str, str]


def _locks(facts: Facts) -> dict[Key, list[Lock]]:
    """Of all processes of one program; addresses differ from run to run, names do not."""
    found: dict[Key, list[Lock]] = defaultdict(list)
    for lock in facts.kind(*HELD):
        found[Path(lock.process.program).name, lock.kind, lock.name].append(lock)
    return found


def _measures(locks: list[Lock]) -> dict[str, float]:
    every = Uses([use for lock in locks for use in lock.uses])
    ran = sum({lock.process.id: lock.process.thread_ns for lock in locks}.values())
    made = {
        "waiting": every.sum("wait_ns") / ran,
        "takes_per_second": every.count / ran * 1e9,
        "waits_per_take": every.sum("waits") / max(every.count, 1),
    }
    for what in ("wait", "hold"):
        made[f"p50_{what}"] = every.percentile(what, 0.5)
        made[f"p99_{what}"] = every.percentile(what, 0.99)
        made[f"max_{what}"] = every.max(f"{what}_max")
    return made


def _findings(facts: Facts) -> set[str]:
    return {
        f"{f.rule}: {', '.join(lock.name for lock in f.match.locks)}" for f in find(facts, RULES)
    }


def compare(before: Facts, after: Facts) -> Compared:
    old, new = _locks(before), _locks(after)
    rows = []
    for key in old.keys() & new.keys():
        a, b = _measures(old[key]), _measures(new[key])
        rows.append(
            Row(f"{key[2]}", {m: (a[m], b[m]) for m in a}, weight=max(a["waiting"], b["waiting"]))
        )
    gone, come = _findings(before), _findings(after)
    return Compared(
        sorted(rows, key=lambda r: (-r.weight, r.name)),
        sorted(k[2] for k in old.keys() - new.keys()),
        sorted(k[2] for k in new.keys() - old.keys()),
        sorted(gone - come),
        sorted(come - gone),
    )
