# SPDX-License-Identifier: MIT
"""The speed of the simulator itself."""

import json
import resource
import subprocess
from pathlib import Path

from pawl.core.errors import Failure
from pawl.sim import fit, machine

JOBS = {
    "LRU job, 12 cores, R+S>W": (
        "lru",
        "strategy=plock_r_s_w",
        "cores=12",
        "cost=100",
        "keyspace=3232",
        "count=20000",
    ),
    "LRU job, 12 cores, W": (
        "lru",
        "strategy=plock_w",
        "cores=12",
        "cost=100",
        "keyspace=3232",
        "count=20000",
    ),
    "counters, 12 cores, one word": ("counter", "lock=atomic", "cores=12", "count=200000"),
}


WANTED = 5e6


def measure(program: Path, words: tuple[str, ...], there: dict, rounds: int) -> list[float]:
    """A second of CPU time, of each run; its start is a part of it."""
    more = (
        [f"{k}={v:.6g}" for k, v in (there.get("job") or fit.JOB_START).items()]
        if words[0] == "lru"
        else []
    )
    found = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [str(program), *words, *more, *machine.words(there)],
            capture_output=True,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise Failure(done.stderr.strip())
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append(json.loads(done.stdout)["accesses"] / seconds)
    return found


def markdown(found: dict[str, list[float]]) -> str:
    rounds = len(next(iter(found.values())))
    lines = [
        "| million *simulated* accesses a second, measured on one CPU | fastest | slowest | "
        f"wanted {WANTED / 1e6:.0f} |",
        "|---|---|---|---|",
    ]
    for what, rates in found.items():
        verdict = "reached" if min(rates) >= WANTED else "missed by the slowest"
        lines.append(
            f"| {what} | {max(rates) / 1e6:.1f} | {min(rates) / 1e6:.1f} | {verdict} in "
            f"{rounds} runs |"
        )
    return "\n".join(lines) + "\n"
