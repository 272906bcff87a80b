# SPDX-License-Identifier: MIT
"""How soon a sleeper has to run again, judged by the samples of `pawl bench wake`: with the CPU
idle."""

from collections.abc import Callable

from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Target, find_part, paired
from pawl.kinds.wake.kind import KIND
from pawl.kinds.wake.plan import DELAYS
from pawl.kinds.wake.table import latencies


def _woken(run: dict, delay: float, hog: bool, ours: str, theirs: str) -> Finding:
    for cell in find_part(run, KIND.name)["cells"]:
        if (cell["delay_ms"], cell["hog"]) == (delay, hog):
            return paired(latencies(cell["samples"]), ours, theirs)
    raise BadInput(
        f"the run of {run.get('started')} lacks the delay of {delay:g} ms; record again."
    )


def _wake(delay: float, ours: str, theirs: str) -> Callable[[dict], Finding]:
    return lambda run: _woken(run, delay, False, ours, theirs)


WAKES = (("pawl_wait", "futex", 1.1),)


def targets() -> list[Target]:
    return [
        Target(
            f"asleep for {delay:g} ms: {ours} / {theirs}", limit, False, _wake(delay, ours, theirs)
        )
        for ours, theirs, limit in WAKES
        for delay in DELAYS
    ]


def lines(run: dict) -> list[str]:
    """Noise, and the rows with a busy CPU: information without a verdict."""
    lines = []
    for hog in (False, True):
        for delay in DELAYS:
            noise = _woken(run, delay, hog, "futex_again", "futex")
            shown = [f"futex_again / futex {noise.show()}"]
            if hog:
                shown += [
                    f"{ours} / {theirs} {_woken(run, delay, hog, ours, theirs).show()}"
                    for ours, theirs, _ in WAKES
                ]
            busy = ", CPU busy" if hog else ""
            lines.append(f"asleep for {delay:g} ms{busy}: " + ", ".join(shown))
    return lines
