# SPDX-License-Identifier: MIT
"""Plans `pawl bench pairs`: what taking and dropping each lock costs one thread alone."""

from __future__ import annotations

from pawl.measure import Cell

# Two locked additions are what a take and a drop cannot do without.
FLOOR = "floor/two_lock_xadd"


def plan(names: list[str], seconds: float, rounds: int, warmup: float, pin: str) -> list[Cell]:
    parameters = {"threads": 1, "seconds": seconds, "rounds": rounds, "warmup": warmup,
                  "pin": pin, "candidates": names}
    options = ["--seconds", seconds, "--rounds", rounds, "--warmup", warmup, "--pin", pin,
               "--candidates", ",".join(names)]
    return [Cell(parameters, [str(o) for o in options])]
