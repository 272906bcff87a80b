# SPDX-License-Identifier: MIT
"""What the locks have to reach under a cache, judged by the samples of `pawl bench lru`."""

from collections.abc import Callable, Iterable

from pawl.core import candidates, stats
from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Runs, Target, find_part, rate, ratio
from pawl.kinds.lru.kind import KIND
from pawl.kinds.lru.plan import has_usual_chains
from pawl.kinds.lru.record import BESIDE_PLOCK, EVIDENCE, OFF, ON, PLOCK, SLEEPING

CELLS = 18


# ---- The cells of a run -------------------------------------------------------------------------


def _is_grid(part: dict) -> bool:
    return len(part["cells"]) >= CELLS


def _is_chains(part: dict) -> bool:
    return not any(has_usual_chains(c) for c in part["cells"])


def _focus(run: dict, threads: int) -> dict:
    part = find_part(run, KIND.name, lambda p: not _is_grid(p) and not _is_chains(p))
    for cell in part["cells"]:
        if (cell["threads"], cell["hit_nominal"], cell["miss_cost"]) == (threads, 99, 100):
            return cell
    raise BadInput(
        f"the run of {run.get('started')} lacks the cell hit 99, cost 100 at "
        f"{threads} threads; record again."
    )


def _cache_ratio(theirs: str) -> Callable[[dict], Finding]:
    return lambda run: ratio(_focus(run, 2), candidates.MAIN, theirs)


def _best_pthread(cell: dict) -> str:
    """From the samples: a verdict rests on what was measured, not on what was derived."""
    return max(candidates.PTHREAD, key=lambda name: rate(cell, name))


def _grid_findings(run: dict) -> list[tuple[dict, str, Finding]]:
    cells = find_part(run, KIND.name, _is_grid)["cells"]
    found = [(c, _best_pthread(c)) for c in cells if c["threads"] == 2]
    if len(found) != CELLS:
        raise BadInput(
            f"the run of {run.get('started')} has {len(found)} of the {CELLS} cells "
            "at two threads; record again."
        )
    return [(c, best, ratio(c, candidates.MAIN, best)) for c, best in found]


def _grid_mean(run: dict) -> Finding:
    found = _grid_findings(run)
    return Finding(stats.geometric_mean([f.value for _, _, f in found]))


def _grid_worst(run: dict) -> Finding:
    """The cell whose interval ends lowest: it must not lie below the limit as a whole."""
    cell, best, worst = min(_grid_findings(run), key=lambda f: f[2].high or f[2].value)
    where = f"hit {cell['hit_nominal']:g}, cost {cell['miss_cost']}, against {best}"
    if worst.high is None:
        raise BadInput("the cells have too few rounds for an interval; record again.")
    return Finding(worst.high, worst.low, worst.high, where)


def targets() -> list[Target]:
    """Of the lock that spins, against pthread's."""
    main = candidates.MAIN
    return [
        *(
            Target(
                f"2 threads, hit 99, cost 100: {main} / {theirs}", limit, True, _cache_ratio(theirs)
            )
            for theirs, limit in ((candidates.RWLOCK, 1.40), (candidates.SPIN, 1.75))
        ),
        Target(f"18 cells: {main} / best pthread row, geometric mean", 1.0, True, _grid_mean),
        Target("18 cells: upper end of the lowest 95 % interval", 0.95, True, _grid_worst),
    ]


# ---- Beside the verdicts ------------------------------------------------------------------------


def _null_row(run: dict) -> str:
    cell = _focus(run, 1)
    alone = rate(cell, candidates.NULL)
    ours = ratio(cell, candidates.MAIN, candidates.NULL)
    return (
        f"{alone / 1e6:.3f} million lookups/s without a lock, "
        f"{candidates.MAIN} reaches {ours.show()} of it"
    )


def _chain_rows(run: dict) -> list[str]:
    """Information without a verdict: the order where the lock is held for a shorter time."""
    parts = [p for p in run["parts"] if p["kind"] == KIND.name and _is_chains(p)]
    cells = [c for p in parts for c in p["cells"]]
    lines = []
    for cell in cells:
        found = [
            f"{ratio(cell, candidates.MAIN, theirs).show()} times {theirs}"
            for theirs in candidates.PTHREAD
        ]
        lines.append(f"{cell['chains']:,} chains: " + ", ".join(found))
    return lines or ["not recorded"]


def notes(runs: Runs) -> Iterable[str]:
    yield "null lock, one thread, hit 99, cost 100:"
    for path, run in runs:
        yield f"          {path.name}: {_null_row(run)}"
    yield (
        f"shorter chains, 2 threads, hit 99, cost 100: {candidates.MAIN} reaches "
        "(information, no target):"
    )
    for path, run in runs:
        yield from (f"          {path.name}: {line}" for line in _chain_rows(run))


# ---- The lock that sleeps beside the one that spins ---------------------------------------------


def _cells(run: dict, over: str, under: str) -> list[tuple[dict, Finding]]:
    cells = [c for c in find_part(run, KIND.name)["cells"] if c["threads"] == 2]
    if len(cells) != CELLS:
        raise BadInput(
            f"the run of {run.get('started')} has {len(cells)} of the {CELLS} "
            "cells at two threads; record again."
        )
    return [(c, ratio(c, over, under)) for c in cells]


def _cells_mean(over: str, under: str) -> Callable[[dict], Finding]:
    """A lock under which nothing was done counts as next to nothing, not as minus infinity."""
    return lambda run: Finding(
        stats.geometric_mean([max(f.value, 1e-9) for _, f in _cells(run, over, under)])
    )


def _cells_worst(over: str, under: str) -> Callable[[dict], Finding]:
    """The cell whose interval ends lowest: it must not lie below the limit as a whole."""

    def find(run: dict) -> Finding:
        found = _cells(run, over, under)
        if any(f.high is None for _, f in found):
            raise BadInput("the cells have too few rounds for an interval; record again.")
        cell, worst = min(found, key=lambda f: f[1].high)
        where = f"hit {cell['hit_nominal']:g}, cost {cell['miss_cost']}"
        return Finding(worst.high, worst.low, worst.high, where)

    return find


def beside_spin() -> list[Target]:
    wanted = []
    for ours, theirs in SLEEPING.values():
        wanted += [
            Target(
                f"18 cells, 2 threads: {ours} / {theirs}, geometric mean",
                1.0,
                True,
                _cells_mean(ours, theirs),
            ),
            Target(
                f"18 cells, 2 threads: {ours} / {theirs}, upper end of the lowest 95 % interval",
                0.97,
                True,
                _cells_worst(ours, theirs),
            ),
        ]
    return wanted


# ---- Readers that scale -------------------------------------------------------------------------


def _published(run: dict) -> Finding:
    """The cell that the source published first."""
    for cell, found in _cells(run, EVIDENCE, OFF):
        if (cell["hit_nominal"], cell["miss_cost"]) == (99, 100):
            return found
    raise BadInput("the run lacks the cell hit 99, cost 100; record again.")


def scaling() -> list[Target]:
    return [
        Target(f"18 cells, 2 threads: {EVIDENCE} / {OFF}, geometric mean", 1.05, True,
               _cells_mean(EVIDENCE, OFF), middle=True),
        Target(f"2 threads, hit 99, cost 100: {EVIDENCE} / {OFF}", 1.10, True, _published,
               middle=True),
        Target(f"18 cells, 2 threads: {EVIDENCE} / {OFF}, upper end of the lowest 95 % interval",
               0.97, True, _cells_worst(EVIDENCE, OFF)),
    ]  # fmt: skip


def scaling_note(run: dict) -> str:
    """Readers that always scale, and the null row: the same lock outside a module."""
    always, null = (_cells_mean(name, OFF)(run).value for name in (ON, SLEEPING[64][0]))
    return f"18 cells, geometric means: {ON} {always:.3f} times {OFF}; {SLEEPING[64][0]} {null:.3f}"


# ---- Beside the published lock ------------------------------------------------------------------


def _best_plock(run: dict) -> str:
    """The strategy of the published lock that is the fastest over all cells."""
    return max(PLOCK, key=lambda name: _cells_mean(name, PLOCK[0])(run).value)


def _over_plock(ours: str) -> Callable[[dict], Finding]:
    def find(run: dict) -> Finding:
        best = _best_plock(run)
        found = _cells_mean(ours, best)(run)
        return Finding(found.value, note=f"against {best}")

    return find


def ancestor() -> list[Target]:
    return [
        Target(
            f"18 cells, 2 threads: {ours} / the best plock64, geometric mean",
            limit,
            True,
            _over_plock(ours),
            middle=True,
        )
        for ours, limit in ((EVIDENCE, 1.05), (SLEEPING[64][1], 1.0))
    ]


def ancestor_notes(runs: Runs) -> Iterable[str]:
    """All of ours over the best of the published lock; the last of them are null rows."""
    for path, run in runs:
        best = _best_plock(run)
        found = ", ".join(f"{o} {_cells_mean(o, best)(run).value:.3f}" for o in BESIDE_PLOCK)
        yield f"{path.name}: 18 cells, geometric means, times {best}: {found}"
