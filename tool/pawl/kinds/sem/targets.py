# SPDX-License-Identifier: MIT
"""What the ID table has to bring many semaphores, judged by the samples of `pawl bench sem`."""

from collections.abc import Callable, Iterable

from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Runs, Target, find_part, ratio
from pawl.kinds.sem.kind import KIND
from pawl.kinds.sem.plan import BASELINE, MAIN, SPIN


def _cell(run: dict) -> dict:
    for cell in find_part(run, KIND.name)["cells"]:
        if (cell["threads"], cell["choose"]) == (2, "disjoint"):
            return cell
    raise BadInput(
        f"the run of {run.get('started')} has no disjoint semaphores at two threads; record again."
    )


def _against_one_lock(name: str) -> Callable[[dict], Finding]:
    return lambda run: ratio(_cell(run), name, BASELINE)


def targets() -> list[Target]:
    return [
        Target(
            f"disjoint semaphores, 2 threads: {MAIN} / {BASELINE}",
            3.0,
            True,
            _against_one_lock(MAIN),
        )
    ]


def notes(runs: Runs) -> Iterable[str]:
    found = ", ".join(_against_one_lock(SPIN)(run).show() for _, run in runs)
    yield f"disjoint semaphores, 2 threads: the global spinlock / the global mutex: {found}"
