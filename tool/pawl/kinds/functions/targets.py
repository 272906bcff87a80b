# SPDX-License-Identifier: MIT
"""What the functions set out to cost, and whether a recording is steady enough to be quoted."""

import re
from collections.abc import Iterable

import numpy as np

from pawl.core import groups, stats
from pawl.core.targets import Finding, Runs, Target, find_part
from pawl.kinds.functions.kind import KIND
from pawl.kinds.functions.plan import BASELINE, function_of

# lock.h: each take, drop and move is one atomic read-modify-write, and a test of what it found.
MOVE = re.compile(
    r"pawl_lock(32|64)_((take|try|drop)_(read|seek|write|atomic)|claim_\w+|\w+_to_\w+)(?<!_until)"
)
DEAREST = 1.3
# A row is steady if half of its rounds lie so near the median, upwards and downwards.
STEADY, SHARE = 0.1, 0.9


def _rows(run: dict) -> dict[str, dict]:
    """function -> median and quartiles of its rounds"""
    found: dict[str, dict] = {}
    for cell in find_part(run, KIND.name)["cells"]:
        for name, rounds in groups.times(cell["samples"]).items():
            found[function_of(name)] = stats.quartiles(rounds.values())
    return found


def _dearest(run: dict) -> Finding:
    rows = _rows(run)
    addition = rows[function_of(BASELINE)]["median"]
    name, row = max(
        ((n, r) for n, r in rows.items() if MOVE.fullmatch(n)), key=lambda nr: nr[1]["median"]
    )
    return Finding(row["median"] / addition, note=name)


def _off(row: dict) -> float:
    """How far the farther quartile lies from the median, as a share of it."""
    return max(row["q3"] / row["median"] - 1, 1 - row["q1"] / row["median"])


def _steady(run: dict) -> Finding:
    return Finding(float(np.mean([_off(row) <= STEADY for row in _rows(run).values()])))


def targets() -> list[Target]:
    return [
        Target("the dearest take, drop or move of lock.h / an atomic addition", DEAREST, False,
               _dearest, middle=True),
        Target(f"functions whose quartiles lie within {STEADY:.0%} of the median, share", SHARE,
               True, _steady),
    ]  # fmt: skip


def notes(runs: Runs) -> Iterable[str]:
    for path, run in runs:
        spreads = sorted(map(_off, _rows(run).values()))
        half, most = (spreads[int(len(spreads) * share)] for share in (0.5, 0.9))
        yield (
            f"{path.name}: {len(spreads)} rows; their quartiles lie within {half:.0%} of the "
            f"median in half of them, within {most:.0%} in nine of ten"
        )
