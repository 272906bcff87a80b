# SPDX-License-Identifier: MIT
"""The part of `pawl bench record --set latency`: all scenarios of `pawl bench latency`.

Five runs together take less than eight minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pawl import candidates, driver, latency, part

# At --seconds 0.06, which is usual for a record, a sample of the scenario placed takes so long.
USUAL_SECONDS, PLACED_SECONDS = 0.06, 4.2
RUNS = 5
PROGRAMS = (latency.DRIVER,)


def _latency(path: Path, seconds: float, quiet: bool) -> dict:
    request = latency.Request(seconds=round(PLACED_SECONDS * seconds / USUAL_SECONDS, 4))
    offered = driver.candidates(path)
    choice = candidates.choose("all", offered)
    pairs = driver.candidates(path, latency.pair_options(request))
    rows = latency.rows_of_pairs(pairs, [c["name"] for c in offered], choice.names)
    return part.measured("latency", latency.TITLE, path,
                         latency.plan(request, choice.names, rows), latency.BASELINE,
                         choice.missing, quiet)


def parts(programs: dict[str, Path], seconds: float, quiet: bool) -> list[Callable[[], dict]]:
    return [lambda: _latency(programs[latency.DRIVER], seconds, quiet)]
