# SPDX-License-Identifier: MIT
"""What each part of the model is worth: the errors without it, on a part of the unseen points."""

import json
from pathlib import Path

import numpy as np

from pawl.core import output
from pawl.core.errors import Failure
from pawl.sim import machine, reference, tasks, validate

WITHOUT = {
    "the whole model": {},
    "without the queue of a line": {"queue": 0},
    "without the moment that a core keeps a line": {"keep": 0},
    "without the way of a request that waits": {"request": 0},
    "without the time of a relax hint (back-off)": {"relax": 0},
    "without the factors of two threads on a core": {
        "smt_compute": 1,
        "smt_walk": 1,
        "smt_beside_waiter": 1,
    },
}
EVERY = 29  # of the unseen points in their order: a prime, so that it meets all kinds


def points() -> list[reference.Point]:
    return [p for p in sorted(reference.measured()) if p.unseen][::EVERY]


def path() -> Path:
    return machine.folder() / "reference" / "ablation.json"


def run(program: Path, name: str, store: tasks.Store, quiet: bool) -> list[dict]:
    there, real = machine.load(name), reference.measured()
    words = machine.words(there)
    chosen = points()
    all_tasks = [
        p.task(there["job"], validate.COUNT, validate.WARM)
        + tuple(w for w in words if w.split("=")[0].removeprefix("machine.") not in less)
        + tuple(f"machine.{k}={v}" for k, v in less.items())
        for less in WITHOUT.values()
        for p in chosen
    ]
    found = [r["lookups_per_s"] for r in tasks.run(program, all_tasks, store, quiet)]
    rows = []
    for i, what in enumerate(WITHOUT):
        part = found[i * len(chosen) : (i + 1) * len(chosen)]
        errors = np.abs(np.array(part) / [real[p] for p in chosen] - 1)
        rows.append(
            {
                "what": what,
                "points": len(chosen),
                "median": float(np.median(errors)),
                "p90": float(np.percentile(errors, 90)),
            }
        )
    return rows


def save(rows: list[dict]) -> Path:
    text = json.dumps({"simulated": True, "rows": rows}, indent=1) + "\n"
    output.write(path(), text.encode())
    return path()


def load() -> list[dict]:
    if not path().is_file():
        raise Failure(f"{path()} is not there; make it with: pawl sim dev ablate.")
    return json.loads(path().read_text())["rows"]


def markdown(rows: list[dict]) -> str:
    lines = [
        f"| *simulated*, {rows[0]['points']} of the unseen points | median error | "
        "90th percentile |",
        "|---|---|---|",
    ]
    lines += [f"| {r['what']} | {100 * r['median']:.1f} % | {100 * r['p90']:.1f} % |" for r in rows]
    return "\n".join(lines) + "\n"
