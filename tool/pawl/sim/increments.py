# SPDX-License-Identifier: MIT
"""The second published source: one counter, incremented by 1 to 16 threads of three machines.

Per machine four constants are fitted on one and two threads; more threads are unseen.
"""

import csv
from pathlib import Path

import numpy as np

from pawl.core.errors import Failure
from pawl.sim import fit, labelled, machine, tasks

START = {"rmw": 6.0, "load": 4.0, "transfer.cluster": 40.0, "keep": 12.0}
# Of a transfer, as an earlier fit found for sim/machines/haswell-ep.toml; so are the next two.
COPY_SHARE, INVALIDATE_SHARE = 0.73, 0.52
# Assumed, and not fitted: `failed`, a branch foretold wrongly, some 16 cycles.
OTHERS = {"request": 0.51, "copy_gap": 2.5, "store": 0.4, "plain": 0.8, "failed": 5.0}
FITTED_CORES, COUNT, WANTED = 2, 3000, 0.20
NAMES = {
    "skl": "Intel Skylake, 4 cores",
    "icl": "Intel Ice Lake, 4 cores",
    "g2": "AWS Graviton2, 16 cores",
}

Key = tuple[str, str, int]  # machine, implementation, cores


def _path(name: str) -> Path:
    return machine.folder() / "reference" / name


def measured() -> dict[Key, float]:
    """Nanoseconds that a thread takes for an increment."""
    try:
        rows = list(csv.DictReader(_path("increments.csv").read_text().splitlines()))
    except OSError as error:
        raise Failure(
            f"{error.filename}: {error.strerror}; this command needs a checkout."
        ) from None
    return {
        (r["machine"], r["implementation"], int(r["cores"])): float(
            r["ns_per_increment_of_a_thread"]
        )
        for r in rows
    }


def seen(key: Key) -> bool:
    return key[2] <= FITTED_CORES


def _task(key: Key, values: dict[str, float]) -> tuple[str, ...]:
    _, implementation, cores = key
    moved = values["transfer.cluster"]
    made = (
        OTHERS
        | values
        | {
            "copy.cluster": COPY_SHARE * moved,
            "invalidate.cluster": INVALIDATE_SHARE * moved,
            "cores": 16,
        }
    )
    return (
        "counter",
        f"lock={implementation}",
        f"cores={cores}",
        f"count={COUNT}",
        "warm=20",
        *(f"machine.{k}={v:.6g}" for k, v in made.items()),
    )


def _simulate(program: Path, keys: list[Key], values: dict, store: tasks.Store) -> list[float]:
    found = tasks.run(program, [_task(k, values) for k in keys], store)
    return [k[2] * 1e9 / r["operations_per_s"] for k, r in zip(keys, found, strict=True)]


def predict(program: Path, store: tasks.Store, rounds: int = 12) -> dict[Key, float]:
    real, found = measured(), {}
    for name in dict.fromkeys(k[0] for k in real):
        keys = [k for k in real if k[0] == name]
        fitted = [k for k in keys if seen(k)]

        def errors(values: dict, fitted=fitted) -> np.ndarray:
            return np.log(
                [
                    s / real[k]
                    for k, s in zip(fitted, _simulate(program, fitted, values, store), strict=True)
                ]
            )

        values, _ = fit.minimise(START, errors, rounds, lambda _: None)
        found |= dict(zip(keys, _simulate(program, keys, values, store), strict=True))
    return found


def save(found: dict[Key, float]) -> Path:
    return labelled.write(
        _path("predicted-increments.csv"),
        "as pawl sim dev increments says; no measurement",
        ["machine", "implementation", "cores", "ns_per_increment_of_a_thread"],
        ([*key, f"{value:.1f}"] for key, value in found.items()),
    )


def load() -> dict[Key, float]:
    path = _path("predicted-increments.csv")
    if not path.is_file():
        raise Failure(f"{path} is not there; make it with: pawl sim dev increments.")
    return {
        (r["machine"], r["implementation"], int(r["cores"])): float(
            r["ns_per_increment_of_a_thread"]
        )
        for r in labelled.read(path)
    }


def summary(found: dict[Key, float]) -> list[dict]:
    """Errors of the unseen points, the worst first."""
    real, groups = measured(), {}
    for key, value in found.items():
        if not seen(key):
            groups.setdefault(key[:2], []).append(abs(value / real[key] - 1))
    rows = [
        {
            "machine": m,
            "implementation": i,
            "points": len(e),
            "median": float(np.median(e)),
            "worst": float(max(e)),
            "within": float(np.mean([x <= WANTED for x in e])),
        }
        for (m, i), e in groups.items()
    ]
    return sorted(rows, key=lambda r: -r["worst"])


def markdown(rows: list[dict]) -> str:
    words = {"atomic": "atomic addition", "cas": "compare-exchange"}
    lines = [
        "| *simulated*, unseen points | points | median error | worst | wanted 20 % |",
        "|---|---|---|---|---|",
    ]
    for r in rows:
        over = 100 * (r["worst"] - WANTED)
        verdict = "reached" if over <= 0 else f"missed by {over:.1f} points"
        lines.append(
            f"| {NAMES[r['machine']]}, {words[r['implementation']]} | {r['points']} | "
            f"{100 * r['median']:.1f} % | {100 * r['worst']:.1f} % | {verdict} |"
        )
    return "\n".join(lines) + "\n"
