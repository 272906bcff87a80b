# SPDX-License-Identifier: MIT
"""What the crate's locks set out to reach, judged by the samples of `pawl bench crate`."""

from collections.abc import Callable, Iterable

from pawl.core.groups import cell_of, group_of
from pawl.core.targets import Finding, Runs, Target, find_part, ratio
from pawl.kinds.crate.kind import KIND
from pawl.kinds.crate.plan import GROUPS, OURS, PEER

# A take and a drop are two calls from Rust into C, where parking_lot's are inlined.
ALONE = 1.25
AGAIN = ("read/pawl_again@1", "read/pawl@1")


def _rate(over: str, under: str) -> Callable[[dict], Finding]:
    """Rate against rate, of all threads together."""
    return lambda run: ratio(cell_of(find_part(run, KIND.name), run, group_of(over)), over, under)


def _alone(group: str) -> Target:
    """Time an operation against time an operation."""
    return Target(
        f"{GROUPS[group]}, one thread: {OURS} / {PEER}, time",
        ALONE,
        False,
        _rate(f"{group}/{PEER}@1", f"{group}/{OURS}@1"),
    )


def _together(group: str) -> Target:
    return Target(
        f"{GROUPS[group]}, two threads: {OURS} / {PEER}, rate",
        1.0,
        True,
        _rate(f"{group}/{OURS}@2", f"{group}/{PEER}@2"),
    )


def targets() -> list[Target]:
    return [*map(_alone, GROUPS), *map(_together, GROUPS)]


def notes(runs: Runs) -> Iterable[str]:
    for path, run in runs:
        yield f"{path.name}: the same row twice (noise): {_rate(*AGAIN)(run).show()}"
