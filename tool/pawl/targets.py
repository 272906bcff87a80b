# SPDX-License-Identifier: MIT
"""Decides from recorded runs whether the library reaches what it set out to reach.

Called by scripts/targets with the folder of the runs. A target is met when every run meets
it, or their median where it says so; three runs from a clean checkout are needed, five of the
set latency. Exit code 0: all met; 1: not; 2: no runs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from pawl import (
    candidates,
    measure,
    pairs,
    results,
    stats,
    targets_counters,
    targets_latency,
    targets_rcu,
    targets_wait,
)
from pawl.errors import BadInput, PawlError
from pawl.finding import Finding, Target, find_part, ratio

RUNS_NEEDED, RUNS_OF = 3, {"latency": targets_latency.RUNS_NEEDED}
WIDTHS = ("pawl_spin32", "pawl_spin64")
CELLS = 18


def _pairs_cell(run: dict) -> dict:
    return find_part(run, "pairs", lambda _: True)["cells"][0]


def _time_ratio(ours: str, theirs: str) -> Callable[[dict], Finding]:
    """Time a pair against time a pair: the rates the other way round."""
    return lambda run: ratio(_pairs_cell(run), theirs, ours)


def _is_grid(part: dict) -> bool:
    return len(part["cells"]) >= CELLS


def _is_chains(part: dict) -> bool:
    return not any(measure.has_usual_chains(c) for c in part["cells"])


def _focus(run: dict, threads: int) -> dict:
    part = find_part(run, "lru", lambda p: not _is_grid(p) and not _is_chains(p))
    for cell in part["cells"]:
        if (cell["threads"], cell["hit_nominal"], cell["miss_cost"]) == (threads, 99, 100):
            return cell
    raise BadInput(f"the run of {run.get('started')} lacks the cell hit 99, cost 100 at "
                   f"{threads} threads; record again.")


def _cache_ratio(theirs: str) -> Callable[[dict], Finding]:
    return lambda run: ratio(_focus(run, 2), candidates.MAIN, theirs)


def _best_pthread(cell: dict) -> str:
    """From the samples: a verdict rests on what was measured, not on what was derived."""
    table = stats.rates(cell["samples"])
    missing = [name for name in candidates.PTHREAD if name not in table]
    if missing:
        raise BadInput(f"{missing[0]} was not measured; record again.")
    return max(candidates.PTHREAD, key=lambda name: _median(table, name))


def _median(table: dict[str, dict[int, float]], name: str) -> float:
    return statistics.median(table[name].values())


def _grid_findings(run: dict) -> list[tuple[dict, str, Finding]]:
    cells = find_part(run, "lru", _is_grid)["cells"]
    found = [(c, _best_pthread(c)) for c in cells if c["threads"] == 2]
    if len(found) != CELLS:
        raise BadInput(f"the run of {run.get('started')} has {len(found)} of the {CELLS} cells "
                       "at two threads; record again.")
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
    wanted = []
    for lock in WIDTHS:
        for mode in "rsw":
            wanted.append(Target(f"{mode}/{lock} pair / two bare lock xadd", 1.05, False,
                                 _time_ratio(f"{mode}/{lock}", pairs.FLOOR)))
    for lock in WIDTHS:
        for mode, limit in (("r", 0.95), ("w", 0.65)):
            wanted.append(Target(f"{mode}/{lock} pair / {mode}/pthread_rwlock pair", limit, False,
                                 _time_ratio(f"{mode}/{lock}", f"{mode}/pthread_rwlock")))
    for theirs, limit in ((candidates.RWLOCK, 1.40), (candidates.SPIN, 1.75)):
        wanted.append(Target(f"2 threads, hit 99, cost 100: {candidates.MAIN} / {theirs}",
                             limit, True, _cache_ratio(theirs)))
    wanted.append(Target(f"18 cells: {candidates.MAIN} / best pthread row, geometric mean", 1.0,
                         True, _grid_mean))
    wanted.append(Target("18 cells: upper end of the lowest 95 % interval", 0.95, True,
                         _grid_worst))
    return wanted


def _null_row(run: dict) -> str:
    cell = _focus(run, 1)
    table = stats.rates(cell["samples"])
    if candidates.NULL not in table:
        raise BadInput(f"the null-lock row {candidates.NULL} was not measured; record again.")
    ours = ratio(cell, candidates.MAIN, candidates.NULL)
    return (f"{_median(table, candidates.NULL) / 1e6:.3f} million lookups/s without a lock, "
            f"{candidates.MAIN} reaches {ours.show()} of it")


def _chain_rows(run: dict) -> list[str]:
    """Information without a verdict: where the lock is held for a shorter time, who wins?"""
    cells = [c for p in run["parts"] if p["kind"] == "lru" and _is_chains(p) for c in p["cells"]]
    lines = []
    for cell in cells:
        found = [f"{ratio(cell, candidates.MAIN, theirs).show()} times {theirs}"
                 for theirs in candidates.PTHREAD]
        lines.append(f"{cell['chains']:,} chains: " + ", ".join(found))
    return lines or ["not recorded"]


def load(folder: Path) -> list[tuple[Path, dict]]:
    files = sorted(folder.glob("run*.json")) if folder.is_dir() else []
    if not files:
        raise BadInput(f"{folder} holds no run*.json; record them with "
                       "`scripts/bench --record`.")
    runs = [(path, results.load(path)) for path in files]
    for path, run in runs:
        if run["kind"] != "record":
            raise BadInput(f"{path} is not a record; write it with `scripts/bench --record`.")
    return runs


def _doubts(runs: list[tuple[Path, dict]], allow_dirty: bool) -> list[str]:
    """Why these runs cannot prove anything, whatever their numbers."""
    doubts = []
    needed = RUNS_OF.get(runs[0][1].get("set", "spin"), RUNS_NEEDED)
    if len(runs) < needed:
        doubts.append(f"{len(runs)} of {needed} runs are here")
    for path, run in runs:
        for part in run["parts"]:
            if not allow_dirty and (not part.get("commit") or part.get("dirty") is not False):
                doubts.append(f"{path.name}: not made from a clean checkout")
            if not results.complete(part):
                doubts.append(f"{path.name}: a part is incomplete")
    flags = {(p.get("compiler"), p.get("flags")) for _, r in runs for p in r["parts"]}
    if len(flags) > 1:
        doubts.append("the runs were built with different compilers or flags")
    if len({p.get("commit") for _, r in runs for p in r["parts"]}) > 1:
        doubts.append("the runs are of different commits")
    return list(dict.fromkeys(doubts))


def _spin_notes(runs: list[tuple[Path, dict]]) -> None:
    print("null lock, one thread, hit 99, cost 100:")
    for path, run in runs:
        print(f"          {path.name}: {_null_row(run)}")
    print(f"shorter chains, 2 threads, hit 99, cost 100: {candidates.MAIN} reaches "
          "(information, no target):")
    for path, run in runs:
        for line in _chain_rows(run):
            print(f"          {path.name}: {line}")


def _of_set(runs: list[tuple[Path, dict]]) -> tuple[list[Target], Callable]:
    """The targets of the recorded set, and what to say beside them; old runs name no set."""
    found = {run.get("set", "spin") for _, run in runs}
    if len(found) > 1:
        raise BadInput(f"the runs are of different sets ({', '.join(sorted(map(str, found)))}); "
                       "give each set a folder of its own.")
    name = found.pop()
    if name == "spin":
        return targets(), _spin_notes
    if name == "wait":
        return targets_wait.targets(), targets_wait.notes
    if name == "counters":
        return targets_counters.targets(), targets_counters.notes
    if name == "rcu":
        return targets_rcu.targets(), targets_rcu.notes
    if name == "latency":
        return targets_latency.targets(), targets_latency.notes
    raise BadInput(f"the runs are of a set '{name}' that this version does not know.")


def judge(folder: Path, allow_dirty: bool) -> bool:
    runs = load(folder)
    wanted, notes = _of_set(runs)
    every = True
    for target in wanted:
        found = [target.find(run) for _, run in runs]
        verdicts = target.verdicts(found)
        every = every and all(verdicts)
        print(f"{'met   ' if all(verdicts) else 'MISSED'}  {target.text()}")
        for (path, _), finding, met in zip(runs, found, verdicts, strict=True):
            note = f"  ({finding.note})" if finding.note else ""
            print(f"          {path.name}: {finding.show()} {'met' if met else 'missed'}{note}")
    notes(runs)
    doubts = _doubts(runs, allow_dirty)
    for doubt in doubts:
        print(f"does not count: {doubt}")
    part = runs[0][1]["parts"][0]
    print(f"{part['machine'].get('cpu')}; {part.get('kernel')}; {part.get('compiler')} "
          f"{part.get('flags')}; commit {part.get('commit')}")
    print("all targets met" if every and not doubts else "not all targets met")
    return every and not doubts


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/targets", description=__doc__,
        epilog="example: scripts/targets bench/results/my-cpu-2026-01-31",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds run1.json, run2.json, run3.json")
    parser.add_argument("--allow-dirty", action="store_true",
                        help="judge runs of an uncommitted tree too; they prove nothing")
    options = parser.parse_args(arguments)
    try:
        return 0 if judge(options.folder, options.allow_dirty) else 1
    except PawlError as error:
        print(f"targets: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
