# SPDX-License-Identifier: MIT
"""What a target is, how one is judged from recorded runs, and what is said of a folder of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pawl.core import results, schema, stats
from pawl.core.errors import BadInput
from pawl.core.kind import Kinds

if TYPE_CHECKING:
    from pawl.core.record import Sets

# The file of a run, and what it holds.
Runs = list[tuple[Path, dict]]


@dataclass
class Finding:
    """One run's answer: the value compared with the limit, its interval, what else to say."""

    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""

    def show(self) -> str:
        interval = "" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{interval}"


@dataclass
class Target:
    name: str
    limit: float
    at_least: bool
    find: Callable[[dict], Finding]
    # Judged by the median of the runs: of each run alone otherwise.
    middle: bool = False
    # Whether a run can be judged: not if it was recorded before a row existed.
    applies: Callable[[dict], bool] = lambda _: True

    def met(self, found: Finding) -> bool:
        return found.value >= self.limit if self.at_least else found.value <= self.limit

    def verdicts(self, found: list[Finding]) -> list[bool]:
        """Of each run; a target of the median gives all runs that one's."""
        if not self.middle:
            return [self.met(f) for f in found]
        return [self.met(Finding(statistics.median(f.value for f in found)))] * len(found)

    def text(self) -> str:
        of = ", median of the runs" if self.middle else ""
        return f"{self.name}{of} {'>=' if self.at_least else '<='} {self.limit:.2f}"


@dataclass(frozen=True)
class Judging:
    """The targets of a set, and lines that say more about the runs, without a verdict."""

    targets: list[Target]
    notes: Callable[[Runs], Iterable[str]]


@dataclass(frozen=True)
class Verdict:
    """A target with what the runs found."""

    target: Target
    found: list[Finding]
    met: list[bool]


# ---- What findings are made of ------------------------------------------------------------------


def paired(table: Mapping[str, dict[int, float]], over: str, under: str) -> Finding:
    """How many times `under` the candidate `over` has, round by round."""
    values = stats.paired(table, over, under)
    if not values:
        missing = over if over not in table else under
        raise BadInput(f"{missing} was not measured; record again with a build that has it.")
    found = stats.ratio(values)
    return Finding(found["ratio"], found["low"], found["high"])


def ratio(cell: dict, over: str, under: str) -> Finding:
    return paired(stats.rates(cell["samples"]), over, under)


def rate(cell: dict, name: str) -> float:
    rates = stats.rates(cell["samples"]).get(name)
    if not rates:
        raise BadInput(f"{name} was not measured; record again with a build that has it.")
    return statistics.median(rates.values())


def samples_of(cell: dict, name: str) -> list[dict]:
    own = stats.of_candidate(cell["samples"], name)
    if not own:
        raise BadInput(f"{name} was not measured; record again with a build that has it.")
    return own


def find_part(run: dict, kind: str, test: Callable[[dict], bool] = lambda _: True) -> dict:
    for one in run["parts"]:
        if one["kind"] == kind and one["cells"] and test(one):
            return one
    raise BadInput(f"the run of {run.get('started')} lacks a part of kind {kind}; record again.")


# ---- A folder of runs ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """What the runs of a folder reach."""

    runs: Runs
    set_name: str
    verdicts: list[Verdict]
    notes: list[str]
    # Why these runs cannot prove anything, whatever their numbers.
    doubts: list[str]

    @property
    def met(self) -> bool:
        return all(all(v.met) for v in self.verdicts) and not self.doubts

    @property
    def first_part(self) -> dict:
        return self.runs[0][1]["parts"][0]


def load(folder: Path, kinds: Kinds) -> Runs:
    from pawl.core.record import files_of

    files = files_of(folder) if folder.is_dir() else []
    if not files:
        raise BadInput(f"{folder} holds no run*.json; record them with `scripts/bench --record`.")
    runs = [(path, results.load(path, kinds)) for path in files]
    for path, run in runs:
        if run["kind"] != schema.RECORD:
            raise BadInput(f"{path} is not a record; write it with `scripts/bench --record`.")
    return runs


def _doubts(runs: Runs, needed: int, allow_dirty: bool) -> list[str]:
    doubts = []
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


def _set_name(runs: Runs, sets: Sets) -> str:
    from pawl.core.record import set_of

    found = {set_of(run, sets) for _, run in runs}
    if len(found) > 1:
        raise BadInput(
            f"the runs are of different sets ({', '.join(sorted(map(str, found)))}); "
            "give each set a folder of its own."
        )
    name = found.pop()
    if name not in sets:
        raise BadInput(f"the runs are of a set '{name}' that this version does not know.")
    return name


def judge(folder: Path, kinds: Kinds, sets: Sets, allow_dirty: bool = False) -> Judged:
    runs = load(folder, kinds)
    which = sets[_set_name(runs, sets)]
    judging = which.judging()
    verdicts = []
    notes = []
    for target in judging.targets:
        if not all(target.applies(run) for _, run in runs):
            notes.append(f"not judged, as the runs are older than a row of it: {target.name}")
            continue
        found = [target.find(run) for _, run in runs]
        verdicts.append(Verdict(target, found, target.verdicts(found)))
    return Judged(
        runs,
        which.name,
        verdicts,
        [*judging.notes(runs), *notes],
        _doubts(runs, which.runs, allow_dirty),
    )


def show(judged: Judged) -> Iterable[str]:
    for verdict in judged.verdicts:
        yield f"{'met   ' if all(verdict.met) else 'MISSED'}  {verdict.target.text()}"
        for (path, _), finding, met in zip(judged.runs, verdict.found, verdict.met, strict=True):
            note = f"  ({finding.note})" if finding.note else ""
            yield f"          {path.name}: {finding.show()} {'met' if met else 'missed'}{note}"
    yield from judged.notes
    for doubt in judged.doubts:
        yield f"does not count: {doubt}"
    part = judged.first_part
    yield (
        f"{part['machine'].get('cpu')}; {part.get('kernel')}; {part.get('compiler')} "
        f"{part.get('flags')}; commit {part.get('commit')}"
    )
    yield "all targets met" if judged.met else "not all targets met"
