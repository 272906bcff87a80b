# SPDX-License-Identifier: MIT
"""Plans `pawl bench pairs`: what taking and dropping each lock costs one thread alone."""

from dataclasses import dataclass

from pawl.core.kind import Cell

DRIVER = "pawl-bench-pairs"
# A take and a drop need two locked additions at least.
FLOOR = "floor/two_lock_xadd"


@dataclass
class Request:
    """The options of the command."""

    seconds: float = 0.05
    rounds: int = 12
    warmup: float = 0.01
    pin: str = "auto"


def plan(request: Request, names: list[str]) -> list[Cell]:
    parameters = {"threads": 1, **vars(request), "candidates": names}
    return [Cell.of(parameters, "threads")]
