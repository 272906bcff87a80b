# SPDX-License-Identifier: MIT
"""The part of `pawl bench record --set counters`: all rows of `pawl bench counters`, longer.

Three runs together take about three minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pawl import candidates, counters, driver, part

# At the record's usual --seconds 0.06 a sample takes 0.04 s.
SHARE = 2 / 3
ROUNDS = 15
PROGRAMS = (counters.DRIVER,)


def _counters(path: Path, seconds: float, quiet: bool) -> dict:
    choice = candidates.choose("all", driver.candidates(path))
    request = counters.Request(seconds=round(seconds * SHARE, 4), rounds=ROUNDS)
    return part.measured("counters", counters.TITLE, path,
                         counters.plan(request, choice.names), counters.BASELINE,
                         choice.missing, quiet)


def parts(programs: dict[str, Path], seconds: float, quiet: bool) -> list[Callable[[], dict]]:
    return [lambda: _counters(programs[counters.DRIVER], seconds, quiet)]
