# SPDX-License-Identifier: MIT
"""What read-copy-update has to bring a hash table, judged by the samples of `pawl bench hash`."""

from collections.abc import Iterable

from pawl.core import stats
from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Runs, Target, find_part, rate, ratio
from pawl.kinds.hash.kind import KIND
from pawl.kinds.hash.plan import BASELINE, MAIN, QUIESCENT
from pawl.kinds.hash.record import READING
from pawl.kinds.hash.table import best_urcu, size, workload

FEW_UPDATES = 20


def _tables(run: dict, title: str, threads: int, most_updates: float) -> list[dict]:
    cells = [
        c
        for c in find_part(run, KIND.name, lambda p: p["title"] == title)["cells"]
        if c["threads"] == threads and c["updates"] <= most_updates
    ]
    if not cells:
        raise BadInput(
            f"the run of {run.get('started')} has no hash table at {threads} threads; "
            "record again on a machine that has as many CPUs."
        )
    return cells


def _reading(run: dict) -> list[tuple[dict, dict]]:
    """(the cell at two threads, the same at one), for each size, when nobody writes."""
    one = {c["elements"]: c for c in _tables(run, READING.title, 1, 0)}
    return [
        (c, one[c["elements"]]) for c in _tables(run, READING.title, 2, 0) if c["elements"] in one
    ]


def _scaling(run: dict) -> Finding:
    """Two cells are compared, measured one after the other: there are no rounds in common."""
    found = [(rate(two, MAIN) / rate(one, MAIN), two, one) for two, one in _reading(run)]
    value, two, one = min(found, key=lambda f: f[0])
    ideal = rate(two, BASELINE) / rate(one, BASELINE)
    return Finding(value, note=f"{size(two['elements'])}; {BASELINE} {ideal:.3f}")


def _of_ideal(run: dict) -> Finding:
    found = [(ratio(two, MAIN, BASELINE), two) for two, _ in _reading(run)]
    worst, cell = min(found, key=lambda f: f[0].value)
    worst.note = size(cell["elements"])
    return worst


def _against_urcu(run: dict, ours: str) -> list[tuple[float, str, str]]:
    found = []
    for cell in _tables(run, KIND.title, 2, FEW_UPDATES):
        best = best_urcu(cell["samples"])
        if best is None:
            raise BadInput("no liburcu row was measured; record again with a build that has one.")
        found.append((ratio(cell, ours, best).value, workload(cell), best))
    return found


def _few_updates(run: dict) -> Finding:
    found = _against_urcu(run, MAIN)
    value, where, best = min(found)
    return Finding(
        stats.geometric_mean([max(v, 1e-9) for v, _, _ in found]),
        note=f"{len(found)} cells; least {value:.3f}: {where}, against {best}",
    )


def targets() -> list[Target]:
    return [
        Target(
            f"hash, reading only, 2 threads: {MAIN} / its own one thread, worst size",
            1.9,
            True,
            _scaling,
        ),
        *beside_others(),
    ]


def beside_others() -> list[Target]:
    return [
        Target(
            f"hash, reading only, 2 threads: {MAIN} / {BASELINE}, worst size", 0.9, True, _of_ideal
        ),
        Target(
            f"hash, to {FEW_UPDATES} % updates, 2 threads: {MAIN} / best liburcu row, "
            "geometric mean",
            1.0,
            True,
            _few_updates,
        ),
    ]


def _best(run: dict) -> str:
    """Either flavour of ours against the best of theirs, like for like where both announce."""
    by_name = {n: {w: v for v, w, _ in _against_urcu(run, n)} for n in (MAIN, QUIESCENT)}
    best = [max(found[where] for found in by_name.values()) for where in by_name[MAIN]]
    return f"{stats.geometric_mean([max(v, 1e-9) for v in best]):.3f}"


def notes(runs: Runs) -> Iterable[str]:
    yield (
        f"hash, to {FEW_UPDATES} % updates, 2 threads: the better of {MAIN} and {QUIESCENT} / "
        f"best liburcu row: {', '.join(_best(run) for _, run in runs)}"
    )
