# SPDX-License-Identifier: MIT
"""Plans `pawl costs`: what single operations cost here."""

from pawl.core import topology
from pawl.core.kind import Cell

DRIVER = "pawl-bench-costs"
BASELINE = "instruction"
PARTS = {
    "rows": "operations of one CPU, between two, and of the kernel",
    "matrix": "a line between any two CPUs",
    "locks": "taking and dropping each lock",
}
# part -> (rounds, seconds of a sample)
FULL = {"rows": (21, 0.008), "matrix": (15, 0.01), "locks": (15, 0.003)}
QUICK = {"rows": (9, 0.004), "matrix": (7, 0.004), "locks": (7, 0.001)}
# Pairs of CPUs grow with the square: their samples get shorter, then fewer.
MATRIX_SECONDS = {True: 3.0, False: 15.0}
LEAST_SECONDS, LEAST_ROUNDS = 0.0003, 3


def _effort(part: str, quick: bool, count: int) -> tuple[int, float]:
    rounds, seconds = (QUICK if quick else FULL)[part]
    if part == "matrix":
        share = MATRIX_SECONDS[quick] / max(count, 1)
        rounds = max(LEAST_ROUNDS, min(rounds, int(share / LEAST_SECONDS)))
        seconds = max(LEAST_SECONDS, min(seconds, share / rounds))
    return rounds, round(seconds, 5)


def machine_options(about: dict) -> list[str]:
    """What the driver must know of the machine, whatever it measures."""
    cpus = [c["cpu"] for c in about["cpus"]]
    near = topology.nearest(about)
    options = [
        "--cpus",
        ",".join(map(str, cpus)),
        "--caches",
        ",".join(map(str, topology.cache_bytes(about))),
    ]
    return options + ([] if near is None else ["--near", str(near)])


def plan(about: dict, names: dict[str, list[str]], quick: bool) -> list[Cell]:
    """One cell a part; `names` are the rows that can be measured."""
    cpus = [c["cpu"] for c in about["cpus"]]
    near = topology.nearest(about)
    cells = []
    for part in (p for p in PARTS if names.get(p)):
        rounds, seconds = _effort(part, quick, len(names[part]))
        parameters = {
            "bench": "costs",
            "part": part,
            "threads": 1 if near is None else 2,
            "cpus": cpus,
            "first": cpus[0],
            "near": near,
            "near_relation": None if near is None else topology.relation(about, cpus[0], near),
            "caches": topology.cache_bytes(about),
            "quick": quick,
            "rounds": rounds,
            "seconds": seconds,
            "candidates": names[part],
        }
        told = [
            *machine_options(about),
            "--part",
            part,
            "--rounds",
            str(rounds),
            "--seconds",
            str(seconds),
        ]
        cells.append(Cell(parameters, told))
    return cells
