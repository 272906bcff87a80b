# SPDX-License-Identifier: MIT
"""What the samples say of each candidate, and how near the re-enactment came to the recording."""

from collections.abc import Iterable

import numpy as np

from pawl.core import stats
from pawl.replay.steps import Plan

BASELINE = "original/pthread"
NEAR = 0.1  # a re-enactment further away than this is no base for advice
WIDE = 0.2  # nor is one whose samples tell less than this
MOVING = 0.2  # of the time for lines that come: more, and readers that scale look too bad
BIAS = " with scaling readers"
WAITS = {"p50": 0.5, "p99": 0.99, "p999": 0.999}


def of_run(samples: list[dict], suffix: str) -> list[dict]:
    """A row a candidate, with its ratio to the baseline of the same rounds; none for what has no
    samples. Rows of the second run have a suffix, and its baseline is not shown again."""
    table = stats.rates(samples)
    found = []
    for name in table:
        if suffix and name == BASELINE:
            continue
        own = stats.of_candidate(samples, name)
        ops = max(sum(s["ops"] for s in own), 1)
        waits = sum(s["waits"] for s in own)
        found.append(
            {
                "candidate": name + suffix,
                "rounds": len(table[name]),
                "rate": stats.quartiles(table[name].values()),
                "gain": stats.ratio(stats.paired(table, name, BASELINE)),
                "waits_per_lock": waits / ops,
                "wait_ns_per_lock": sum(s["wait_ns"] for s in own) / ops,
                "wait_ns": {
                    k: float(v)
                    for k, v in stats.quantiles(
                        (pair for s in own for pair in s["wait"]), WAITS
                    ).items()
                }
                if waits
                else None,
                **stats.cpu(own),
                **stats.switches(own),
            }
        )
    return found


def _is_near(ratio: dict) -> bool:
    """The median, and its interval not far from it. Where it is not known, or wide: no."""
    if ratio["ratio"] is None or abs(ratio["ratio"] - 1) > NEAR:
        return False
    return ratio["low"] is not None and 1 - WIDE <= ratio["low"] and ratio["high"] <= 1 + WIDE


def fidelity(samples: list[dict], plan: Plan) -> dict:
    """The rate of the original locks against that of the recording: of the time in which threads
    had a processor when they wanted one, as other programs take it, then and now."""
    own = stats.of_candidate(samples, BASELINE)
    lanes = len(plan.window.lanes)
    own = [s for s in own if s["seconds"] > 0]
    recorded = plan.rate
    off = [s["lost_ns"] + s["long_wait_ns"] for s in own]
    lost = [min(ns / (s["seconds"] * 1e9 * lanes), 0.99) for s, ns in zip(own, off, strict=True)]
    values = [
        s["ops"] / s["seconds"] / (1 - gone) / recorded for s, gone in zip(own, lost, strict=True)
    ]
    ratio = stats.ratio(values)
    spent = [s["wait_ns"] / (s["seconds"] * 1e9 * lanes) for s in own]
    return {
        **ratio,
        "near": _is_near(ratio) and plan.window.lines <= MOVING,
        "lines": plan.window.lines,
        "recorded_rate": recorded,
        "recorded_waiting": plan.window.waiting,
        "waiting": float(np.median(spent)) if spent else None,
        "recorded_lost": plan.lost,
        "lost": float(np.median(lost)) if lost else None,
    }


def ranked(rows: Iterable[dict]) -> list[dict]:
    """The original first, then by gain."""
    return sorted(rows, key=lambda r: (r["candidate"] != BASELINE, -(r["gain"]["ratio"] or 0)))
