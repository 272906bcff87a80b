# SPDX-License-Identifier: MIT
"""What a take and a drop have to cost, judged by the samples of `pawl bench pairs`."""

from collections.abc import Callable

from pawl.core.targets import Finding, Target, find_part, ratio
from pawl.kinds.pairs.kind import KIND
from pawl.kinds.pairs.plan import FLOOR

WIDTHS = (32, 64)


def _time(ours: str, theirs: str) -> Callable[[dict], Finding]:
    """Time a pair against time a pair: the rates the other way round."""
    return lambda run: ratio(find_part(run, KIND.name)["cells"][0], theirs, ours)


def spinning() -> list[Target]:
    """The lock that spins, against two locked additions and against pthread's."""
    wanted = []
    for width in WIDTHS:
        for mode in "rsw":
            ours = f"{mode}/pawl_spin{width}"
            wanted.append(
                Target(f"{ours} pair / two bare lock xadd", 1.05, False, _time(ours, FLOOR))
            )
    for width in WIDTHS:
        for mode, limit in (("r", 0.95), ("w", 0.65)):
            ours, theirs = f"{mode}/pawl_spin{width}", f"{mode}/pthread_rwlock"
            wanted.append(Target(f"{ours} pair / {theirs} pair", limit, False, _time(ours, theirs)))
    return wanted


def beside_spin() -> list[Target]:
    """The lock that sleeps, undisturbed: no dearer than the one that spins."""
    return [
        Target(
            f"{mode}/pawl_lock{width} pair / {mode}/pawl_spin{width} pair",
            1.03,
            False,
            _time(f"{mode}/pawl_lock{width}", f"{mode}/pawl_spin{width}"),
        )
        for width in WIDTHS
        for mode in "rswa"
    ]
