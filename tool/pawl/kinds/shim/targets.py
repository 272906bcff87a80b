# SPDX-License-Identifier: MIT
"""What the preload library has to reach in programs that know nothing of it."""

from collections.abc import Callable, Iterable

from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Runs, Target, find_part, rate, ratio
from pawl.kinds.shim.kind import KIND
from pawl.kinds.shim.plan import (
    AGAIN,
    BASELINE,
    CROWDS,
    MAIN,
    PREFER,
    PROGRAMS,
    RECORDED,
    SCALING,
    SCENES,
)


def _cell(run: dict, scene: str, kind: str = KIND.name) -> dict:
    for cell in find_part(run, kind)["cells"]:
        if cell["scene"] == scene:
            return cell
    raise BadInput(f"the run of {run.get('started')} has no scene {scene}; record again.")


def _time(scene: str) -> Callable[[dict], Finding]:
    """Time a pair against time a pair: the rates the other way round."""
    return lambda run: ratio(_cell(run, scene), BASELINE, MAIN)


def _rate(scene: str, name: str) -> Callable[[dict], Finding]:
    return lambda run: ratio(_cell(run, scene), name, BASELINE)


def _recorder_ns(scene: str) -> Callable[[dict], Finding]:
    """What the recorder adds to a pair, in nanoseconds."""

    def find(run: dict) -> Finding:
        with_it, without = (1e9 / rate(_cell(run, scene), name) for name in (RECORDED, BASELINE))
        return Finding(with_it - without, note=f"{with_it:.0f} ns, {without:.0f} without")

    return find


def _upper_end(scene: str) -> Callable[[dict], Finding]:
    """The upper end of the interval: slower by its whole interval is what must not be."""

    def find(run: dict) -> Finding:
        found = ratio(_cell(run, scene), MAIN, BASELINE)
        return Finding(
            found.value if found.high is None else found.high, note=f"ratio {found.show()}"
        )

    return find


def targets() -> list[Target]:
    return [
        Target(f"read pair: {MAIN} / {BASELINE}, time", 1.0, False, _time("pair-read")),
        Target(f"write pair: {MAIN} / {BASELINE}, time", 0.7, False, _time("pair-write")),
        Target(
            f"read only, 2 threads: {SCALING} / {BASELINE}", 3.0, True, _rate("read-only", SCALING)
        ),
        *(
            Target(
                f"32 threads, {SCENES[scene].words}: {MAIN} / {BASELINE}",
                1.0,
                True,
                _rate(scene, MAIN),
            )
            for scene in CROWDS
        ),
        *(
            Target(
                f"{SCENES[scene].words}: {MAIN} / {BASELINE}, upper end",
                0.97,
                True,
                _upper_end(scene),
            )
            for scene in PROGRAMS
        ),
        *(
            Target(
                f"{words} pair under the recorder: ns more",
                50.0,
                False,
                _recorder_ns(f"pair-{words}"),
            )
            for words in ("read", "write")
        ),
        Target(
            f"{SCENES['paced'].words}, under the recorder: time",
            1.05,
            False,
            lambda run: ratio(_cell(run, "paced"), BASELINE, RECORDED),
        ),
    ]


def notes(runs: Runs) -> Iterable[str]:
    """The mode for locks that are mostly read, where writers come too."""
    for path, run in runs:
        found = ", ".join(
            f"{scene} {_rate(scene, SCALING)(run).show()}"
            for scene in ("pair-read", "pair-write", *CROWDS, "unbound")
        )
        yield f"{path.name}: {SCALING} / {BASELINE} (information): {found}"


# ---- Where a lock may collapse ------------------------------------------------------------------


def _job(job: str, name: str) -> Callable[[dict], Finding]:
    return lambda run: ratio(_cell(run, job, "case"), name, BASELINE)


def collapse() -> list[Target]:
    busy = "crowd-busy-2"
    return [
        Target(
            f"preload library, {SCENES[busy].threads} threads beside 2 busy processes on each "
            f"CPU: {MAIN} / {BASELINE}",
            1.0,
            True,
            _rate(busy, MAIN),
        ),
        *(
            Target(f"RocksDB, one lock, 4 threads, {what}: {name} / {BASELINE}", 1.0, True, find)
            for what, name, job in (
                ("reads and writes beside a writer", MAIN, "one-lock"),
                ("reads beside a writer", PREFER, "one-lock-reads"),
                ("reads, nobody writing", MAIN, "one-lock-alone"),
            )
            for find in (_job(job, name),)
        ),
    ]


def collapse_note(run: dict) -> str:
    noise = [_rate("crowd-busy-2", AGAIN)(run)]
    noise += [_job(job, AGAIN)(run) for job in ("one-lock", "one-lock-reads", "one-lock-alone")]
    return f"the C library twice, in the same order: {', '.join(f.show() for f in noise)}"
