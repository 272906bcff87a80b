# SPDX-License-Identifier: MIT
"""Fits a machine's constants by the protocol, and freezes them in its file.

The job's four constants come from the one-thread cells. The machine's come from the rows of the
spinlock, the W lock and the rwlock at miss cost 100, all together: lines move under each of them.
Both steps minimise the mean of the absolute logarithms of simulated over measured, by damped steps
of Gauss and Newton. The machine's counts the ratios to the rwlock, too: they are what people read.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import click
import numpy as np

from pawl.core import output
from pawl.sim import machine, reference, tasks
from pawl.sim.reference import Point

COUNT, WARM = 2000, 20
JOB_START = {"outside": 30.0, "step": 4.0, "again": 2.5, "round": 80.0}
LINES = {
    "transfer.cluster": 60.0,
    "copy.cluster": 45.0,
    "invalidate.cluster": 43.0,
    "keep": 9.5,
    "rmw": 5.0,
    "copy_gap": 2.1,
    "invalidate_each": 1.0,
    "smt_compute": 2.4,
    "smt_walk": 1.4,
    "smt_beside_waiter": 1.3,
}
SYSTEM = {
    "syscall": 80.0,
    "futex_wait": 400.0,
    "futex_wake": 600.0,
    "futex_hold": 50.0,
    "wake_latency": 5000.0,
    "wake_work": 1500.0,
}
PUBLISHED = 51.0  # ns: a line between two cores of this family (D. Molka and others, 2015)
PLACEMENTS = ((2, 1), (6, 1), (12, 1), (1, 2), (6, 2), (12, 2))
HITS = (50, 80, 95, 99)


def chosen(strategies: tuple[str, ...]) -> list[Point]:
    """The part of the permitted points that the fit uses."""
    return [
        p
        for p in sorted(reference.measured())
        if p.seen
        and p.strategy in strategies
        and p.hit in HITS
        and (p.cores, p.per_core) in PLACEMENTS
    ]


def _bounded(name: str, value: float) -> float:
    if name == "request":
        return min(value, 0.95)
    return max(1.0, value) if name.startswith("smt") else value


def minimise(
    start: dict[str, float],
    errors: Callable[[dict[str, float]], np.ndarray],
    rounds: int,
    say: Callable[[str], None],
) -> tuple[dict[str, float], float]:
    names = list(start)
    best = {n: _bounded(n, v) for n, v in start.items()}
    found = errors(best)
    for turn in range(rounds):
        slopes = np.zeros((len(found), len(names)))
        for i, name in enumerate(names):
            moved = best | {name: _bounded(name, best[name] * 1.12)}
            step = np.log(moved[name] / best[name])
            if step:
                slopes[:, i] = (errors(moved) - found) / step
        weight = 1 / np.sqrt(np.maximum(np.abs(found), 0.02))  # nearly the absolute values
        weighted = slopes * weight[:, None]
        tried = []
        for damping in (0.3, 1.0, 3.0, 10.0):
            move = np.linalg.solve(
                weighted.T @ weighted + damping * np.eye(len(names)), -weighted.T @ (weight * found)
            )
            there = {
                n: _bounded(n, best[n] * float(np.exp(np.clip(m, -0.5, 0.5))))
                for n, m in zip(names, move, strict=True)
            }
            there_found = errors(there)
            tried.append((float(np.mean(np.abs(there_found))), there, there_found))
        value, there, there_found = min(tried, key=lambda t: t[0])
        now = float(np.mean(np.abs(found)))
        if value > now * 0.995:
            break
        best, found = there, there_found
        say(f"step {turn + 1}: mean error {value:.3f}")
    return best, float(np.mean(np.abs(found)))


def errors_of(
    program: Path, points: list[Point], arguments: Callable[[dict], tuple], store: tasks.Store
) -> Callable[[dict], np.ndarray]:
    real = reference.measured()

    def errors(values: dict) -> np.ndarray:
        job, words = arguments(values)
        results = tasks.run(
            program, [p.task(job, COUNT, WARM) + tuple(words) for p in points], store
        )
        return np.array(
            [np.log(r["lookups_per_s"] / real[p]) for p, r in zip(points, results, strict=True)]
        )

    return errors


def with_request(values: dict[str, float]) -> dict[str, float]:
    """A line for which others wait goes on at the published price; the share of a transfer that is
    the request's way follows."""
    queued = PUBLISHED - values["keep"] - values["rmw"]
    return values | {"request": _bounded("request", 1 - queued / values["transfer.cluster"])}


def with_ratios(
    points: list[Point], errors: Callable[[dict], np.ndarray]
) -> Callable[[dict], np.ndarray]:
    """The errors, and those of each point's ratio to the rwlock beside it."""
    place = {p: i for i, p in enumerate(points)}
    pairs = [
        (i, place[replace(p, strategy="rwlock")])
        for p, i in place.items()
        if p.strategy != "rwlock"
    ]

    def both(values: dict) -> np.ndarray:
        found = errors(values)
        return np.concatenate([found, [found[a] - found[b] for a, b in pairs]])

    return both


def digest_of(points: list[Point]) -> str:
    text = json.dumps([asdict(p) for p in sorted(points)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fit(
    program: Path, name: str, rounds: int, say: Callable[[str], None], store: tasks.Store
) -> dict:
    there = machine.load(name)
    before = machine.words({k: v for k, v in there.items() if k != "fitted"})
    one_thread = [
        p
        for p in sorted(reference.measured())
        if p.job and p.strategy in ("plock_r_s_w", *reference.FITTED_STRATEGIES)
    ]
    say(f"The job: {len(JOB_START)} constants, {len(one_thread)} one-thread points.")
    job, job_error = minimise(
        JOB_START, errors_of(program, one_thread, lambda v: (v, before), store), rounds, say
    )
    points = chosen(reference.FITTED_STRATEGIES)
    start = LINES | SYSTEM
    start |= {k: v for k, v in machine.flat(there.get("fitted", {})).items() if k in start}
    say(
        f"The machine: {len(start)} constants, {len(points)} points of "
        f"{', '.join(reference.FITTED_STRATEGIES)} at miss cost {reference.FITTED_COST}."
    )
    errors = errors_of(
        program,
        points,
        lambda v: (job, machine.words({"values": {}, "fitted": with_request(v)}) + before),
        store,
    )
    got, _ = minimise(start, with_ratios(points, errors), rounds, say)
    left = dict(zip(points, np.abs(errors(got)), strict=True))

    def left_of(strategy: str) -> float:
        return round(float(np.mean([left[p] for p in points if p.strategy == strategy])), 4)

    return {
        "job": job,
        "fitted": with_request(got),
        "fit": {
            "rows": list(reference.FITTED_STRATEGIES),
            "miss_cost": reference.FITTED_COST,
            "hits": list(HITS),
            "placements": [list(p) for p in PLACEMENTS],
            "points": len(points),
            "points_digest": digest_of(points),
            "one_thread_points": len(one_thread),
            "mean_error_job": round(job_error, 4),
            **{f"mean_error_{s}": left_of(s) for s in reference.FITTED_STRATEGIES},
        },
    }


def _toml(section: str, values: dict) -> str:
    lines = [f"[{section}]"]
    for key, value in values.items():
        shown = json.dumps(value) if not isinstance(value, float) else f"{value:.6g}"
        lines.append(f"{key} = {shown}")
    return "\n".join(lines) + "\n"


def freeze(name: str, found: dict) -> Path:
    """Replaces the fitted sections of the machine's file."""
    path = machine.path_of(name)
    head = re.split(r"^\[(?:fitted|job|fit)\]$", path.read_text(), maxsplit=1, flags=re.M)[0]
    text = (
        head.rstrip()
        + "\n\n"
        + "\n".join(_toml(section, found[section]) for section in ("fitted", "job", "fit"))
    )
    output.write(path, text.encode())
    click.echo(f"written: {path}", err=True)
    return path
