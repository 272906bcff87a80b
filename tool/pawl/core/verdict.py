# SPDX-License-Identifier: MIT
"""What a result says, in words: who is ahead, how much of it is noise, what disturbed the run."""

from collections import defaultdict

import numpy as np

from pawl.core import compare, stats
from pawl.core.kind import Kind
from pawl.core.table import counted

# An interval whose ends differ by more than this factor says little.
WIDE = 1.3
# A round in which the usual row falls below this share of its own usual rate was disturbed.
DISTURBED = 0.8


def _short(name: str) -> str:
    return name.split("/")[-1]


def _sure(row: dict) -> bool:
    return row.get("ratio_ci95_low") is not None


def _factor(kind: Kind, row: dict) -> float:
    """Times as good as the baseline, whichever way the kind counts."""
    found = row["ratio_to_baseline"]
    return 1 / found if kind.less_is_better else found


def _bounds(kind: Kind, row: dict) -> tuple[float, float]:
    low, high = row["ratio_ci95_low"], row["ratio_ci95_high"]
    return (1 / high, 1 / low) if kind.less_is_better else (low, high)


def _rows(cell: dict, kind: Kind, baseline: str) -> list[dict]:
    """The rows that compete: no baseline, and no row without a lock."""
    return [
        r
        for r in cell["summary"]
        if r["candidate"] not in (baseline, kind.floor) and r.get("ratio_to_baseline")
    ]


def _ours(row: dict) -> bool:
    return "pawl" in row["candidate"]


# ---- Who is ahead -------------------------------------------------------------------------------


def _named(kind: Kind, row: dict) -> str:
    """The row with what its strategy does, where the kind explains it."""
    what = dict(kind.explained).get(row["candidate"].split("/")[0])
    return row["candidate"] + (f" ({what})" if what and "/" in row["candidate"] else "")


def _said(kind: Kind, row: dict, than: str = "") -> str:
    low, high = _bounds(kind, row)
    return f"{_factor(kind, row):.2f} times as fast{than} ({low:.2f} to {high:.2f})"


def _as(kind: Kind, baseline: str) -> str:
    """The second half of `as fast`: a row that takes no lock is called so."""
    return " as " + ("without any lock" if baseline == kind.floor else _short(baseline))


def _chosen(kind: Kind, ours: list[dict]) -> dict:
    """The kind's main row: the best of many is partly chance. Without one, the best."""
    main = [r for r in ours if r["candidate"] == kind.main]
    return main[0] if main else max(ours, key=lambda r: _factor(kind, r))


def _ahead(kind: Kind, cell: dict, baseline: str) -> str:
    """One cell: our row beside the baseline and beside the best of the others."""
    rows = _rows(cell, kind, baseline)
    ours = [r for r in rows if _ours(r) and _sure(r)]
    if not ours:
        return "too few rounds for a verdict; six are needed"
    best = _chosen(kind, ours)
    low, high = _bounds(kind, best)
    if low <= 1 <= high:
        said = f"{_named(kind, best)} does not differ from {_short(baseline)} beyond noise"
    else:
        said = f"{_named(kind, best)} is {_said(kind, best, _as(kind, baseline))}"
    behind = [r["candidate"] for r in ours if _bounds(kind, r)[1] < 1]
    if behind:
        said += f"; behind it are {len(behind)} of {counted(len(ours), 'row')} of Pawl"
    others = [r for r in rows if not _ours(r) and _sure(r)]
    if others:
        peer = max(others, key=lambda r: _factor(kind, r))
        said += (
            f"; the best row of another library is {_short(peer['candidate'])}, {_said(kind, peer)}"
        )
    return said


def _of_many_unsure(kind: Kind, cells: list[dict], baseline: str) -> str:
    """A grid of few rounds: no cell has an interval, and yet all together say something."""
    best = [
        _chosen(kind, ours)
        for cell in cells
        if (ours := [r for r in _rows(cell, kind, baseline) if _ours(r)])
    ]
    if not best:
        return "no row of Pawl was measured"
    factors = [_factor(kind, row) for row in best]
    return (
        f"in {counted(len(factors), 'workload')} {kind.main or 'the best row of Pawl'} is in the "
        f"geometric mean {stats.geometric_mean(factors):.2f} times as fast"
        f"{_as(kind, baseline)}, and is the faster one in {sum(f > 1 for f in factors)}; fewer "
        "than six rounds, so no intervals"
    )


def _of_many(kind: Kind, cells: list[dict], baseline: str) -> str:
    """A grid: in how many cells our row is ahead, even or behind."""
    counts = dict.fromkeys(("ahead", "even", "behind"), 0)
    factors = []
    if not any(_sure(r) for c in cells for r in _rows(c, kind, baseline)):
        return _of_many_unsure(kind, cells, baseline)
    for cell in cells:
        ours = [r for r in _rows(cell, kind, baseline) if _ours(r) and _sure(r)]
        if not ours:
            continue
        best = _chosen(kind, ours)
        low, high = _bounds(kind, best)
        counts["ahead" if low > 1 else "behind" if high < 1 else "even"] += 1
        factors.append(_factor(kind, best))
    if not factors:
        return "too few rounds for a verdict; six are needed"
    return (
        f"in {counted(len(factors), 'workload')} {kind.main or 'the best row of Pawl'} is "
        f"ahead of {_short(baseline)} in {counts['ahead']}, even in {counts['even']}, "
        f"behind in {counts['behind']}; geometric mean {stats.geometric_mean(factors):.2f}x"
    )


def _start(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def ahead(kind: Kind, result: dict) -> list[str]:
    """A sentence for each number of threads."""
    groups = defaultdict(list)
    for cell in result["cells"]:
        if any(r.get("ratio_to_baseline") for r in cell["summary"]):
            groups[cell["threads"]].append(cell)
    found = []
    for threads, cells in sorted(groups.items()):
        said = (
            _ahead(kind, cells[0], result["baseline"])
            if len(cells) == 1
            else _of_many(kind, cells, result["baseline"])
        )
        found.append(f"At {counted(threads, 'thread')} {said}.")
    return found


def verdict(kind: Kind, result: dict) -> list[str]:
    """Who is ahead, where the rows compete; else what the kind compares."""
    if kind.competes:
        return ahead(kind, result)
    return compare.sentences(kind.comparisons(result))


def short(kind: Kind, result: dict) -> list[str]:
    """The same in few words, for the top of a page of many parts."""
    return ahead(kind, result) if kind.competes else compare.short(kind.comparisons(result))


# ---- Noise --------------------------------------------------------------------------------------


def _wide(result: dict) -> str | None:
    rows = [r for c in result["cells"] for r in c["summary"] if _sure(r)]
    wide = [r for r in rows if r["ratio_ci95_high"] > WIDE * r["ratio_ci95_low"]]
    if not wide:
        return None
    return (
        f"noise: {len(wide)} of {counted(len(rows), 'interval')} span more than "
        f"{WIDE}x from end to end; smaller differences mean nothing in these rows"
    )


def _beaten(kind: Kind, result: dict) -> str | None:
    """A lock that is faster than no lock at all is noise, and tells how much there is."""
    worst = 1.0
    for cell in result["cells"]:
        rates = stats.rates(cell["samples"])
        for name in rates.keys() - {kind.floor}:
            values = stats.paired(rates, name, kind.floor)
            if values:
                worst = max(worst, float(np.median(values)))
    if worst <= 1:
        return None
    return (
        f"noise: {kind.floor} takes no lock, and yet a row beats it by "
        f"{(worst - 1) * 100:.1f} %; that much is chance or the placing of code"
    )


def _same_again(kind: Kind, result: dict, again: str, first: str) -> str | None:
    """The same row twice: whatever differs is noise."""
    found = []
    for cell in result["cells"]:
        values = stats.paired(kind.per_round(cell["samples"]), again, first)
        if values:
            found.append(abs(float(np.median(values)) - 1))
    if not found:
        return None
    usual = f"by {float(np.median(found)) * 100:.1f} %"
    if len(found) > 1:
        usual += (
            f" in the middle one of {len(found)} workloads, by {max(found) * 100:.1f} % at most"
        )
    return f"noise: {again} is {first} once more, and differs from it {usual}"


def noise(kind: Kind, result: dict) -> list[str]:
    found = [_wide(result), _beaten(kind, result) if kind.floor else None]
    found += [_same_again(kind, result, again, first) for first, again in kind.nulls]
    return [_start(text) for text in found if text]


# ---- Disturbances -------------------------------------------------------------------------------


def slow_rounds(samples: list[dict]) -> tuple[int, int]:
    """Rounds in which the rows together ran well below their usual rates; and all rounds."""
    shares = defaultdict(list)
    for rounds in stats.rates(samples).values():
        usual = float(np.median(list(rounds.values())))
        for number, rate in rounds.items():
            if usual > 0:
                shares[number].append(rate / usual)
    return sum(float(np.median(s)) < DISTURBED for s in shares.values()), len(shares)


def disturbed(result: dict) -> list[str]:
    """Warnings: what else used the machine, as far as the samples tell."""
    found = []
    slow, every = map(sum, zip(*(slow_rounds(c["samples"]) for c in result["cells"]), strict=True))
    if slow:
        found.append(
            f"in {slow} of {counted(every, 'round')} most rows ran below {DISTURBED} of "
            "their usual rate: something else used the machine; measure again when it "
            "is idle"
        )
    loose = [c for c in result["cells"] if c.get("pin_error")]
    if loose:
        found.append(
            f"threads could not be pinned in {counted(len(loose), 'cell')}: {loose[0]['pin_error']}"
        )
    return [_start(text) for text in found]
