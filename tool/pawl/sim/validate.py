# SPDX-License-Identifier: MIT
"""How far the predictions are from the measurements: what is worst comes first."""

import itertools
import textwrap
from collections import defaultdict
from pathlib import Path

import numpy as np

from pawl.core.errors import Failure
from pawl.sim import fit, labelled, machine, reference, tasks
from pawl.sim.reference import STRATEGIES, Point

COUNT, WARM = 2000, 20
WANTED = {"median": 0.07, "p90": 0.15, "tau": 0.9, "headline": 0.10}
HEADLINES = (
    ("9.48x over the spinlock", 99, 30, 12, 2, "spin"),
    ("4.79x over the rwlock", 99, 100, 11, 2, "rwlock"),
)


def path_of(name: str) -> Path:
    return machine.folder() / "reference" / f"predicted-{name}.csv"


def predict(
    program: Path, name: str, store: tasks.Store, quiet: bool, points: list[Point] | None = None
) -> dict[Point, float]:
    there = machine.load(name)
    points = points or sorted(reference.measured())
    found = tasks.run(
        program,
        [p.task(there["job"], COUNT, WARM) + tuple(machine.words(there)) for p in points],
        store,
        quiet,
    )
    return {p: r["lookups_per_s"] for p, r in zip(points, found, strict=True)}


def save(name: str, predicted: dict[Point, float]) -> Path:
    return labelled.write(
        path_of(name),
        "lookups per second as pawl sim dev predict says; no measurement",
        ["hit_pct", "miss_cost", "cores", "threads_per_core", "threads", *STRATEGIES],
        (
            [*p, p[2] * p[3], *(f"{predicted[Point(*p, s)]:.0f}" for s in STRATEGIES)]
            for p in sorted({(p.hit, p.cost, p.cores, p.per_core) for p in predicted})
        ),
    )


def load(name: str) -> dict[Point, float]:
    path = path_of(name)
    if not path.is_file():
        raise Failure(f"{path} is not there; make it with: pawl sim dev predict.")
    rows = labelled.read(path)
    return {
        Point(
            int(r["hit_pct"]), int(r["miss_cost"]), int(r["cores"]), int(r["threads_per_core"]), s
        ): float(r[s])
        for r in rows
        for s in STRATEGIES
    }


def _errors(points: list[Point], predicted: dict, real: dict) -> np.ndarray:
    return np.array([abs(predicted[p] / real[p] - 1) for p in points])


def _groups(predicted: dict) -> list[list[Point]]:
    """The strategies of each cell and placement of more than one thread."""
    groups = defaultdict(list)
    for p in predicted:
        if not p.job:
            groups[p.hit, p.cost, p.cores, p.per_core].append(p)
    return [g for g in groups.values() if len(g) == len(STRATEGIES)]


def _taus(predicted: dict, real: dict) -> list[float]:
    from scipy import stats  # a second to load, for this command alone

    return [
        float(stats.kendalltau([predicted[p] for p in g], [real[p] for p in g]).statistic)
        for g in _groups(predicted)
    ]


def noise() -> float:
    """The relative standard deviation of a measured value, from the values themselves: along the
    cores a curve is smooth, so second differences of its logarithm are mostly noise."""
    series = defaultdict(dict)
    for p, rate in reference.measured().items():
        series[p.hit, p.cost, p.per_core, p.strategy][p.cores] = np.log(rate)
    bent = np.concatenate([np.diff([s[c] for c in sorted(s)], 2) for s in series.values()])
    return float(1.4826 * np.median(np.abs(bent)) / np.sqrt(6))


def _taus_beyond(predicted: dict, real: dict, least: float) -> list[float]:
    """The same, over the pairs that the measurement tells apart: they differ by more than
    `least`. The others are ties, whose order nobody knows."""
    found = []
    for g in _groups(predicted):
        right = wrong = 0
        for a, b in itertools.combinations(g, 2):
            there = np.log(real[a] / real[b])
            if abs(there) > least:
                same = there * np.log(predicted[a] / predicted[b]) > 0
                right, wrong = right + same, wrong + (not same)
        if right + wrong:
            found.append((right - wrong) / (right + wrong))
    return found


def _headlines(predicted: dict, real: dict) -> list[dict]:
    def best(values, hit, cost, cores, per_core, base):
        rates = {s: values[Point(hit, cost, cores, per_core, s)] for s in STRATEGIES}
        return max(rates.values()) / rates[base]

    def off(*where):
        point = Point(*where)
        return predicted[point] / real[point] - 1

    return [
        {
            "name": name,
            "measured": best(real, *where),
            "simulated": best(predicted, *where),
            "base": where[-1],
            "base_off": off(*where),
        }
        for name, *where in HEADLINES
        if all(Point(*where[:4], s) in predicted for s in STRATEGIES)
    ]


def _misses(unseen: list[Point], errors: np.ndarray, predicted: dict, real: dict) -> dict:
    """Where the points beyond the wanted 90th percentile are: the rows that have most of them."""
    beyond = [p for p, e in zip(unseen, errors, strict=True) if e > WANTED["p90"]]
    found = defaultdict(list)
    for p in unseen:
        found[p.strategy, p.per_core].append(p)
    rows = sorted(
        (
            {
                "strategy": s,
                "per_core": n,
                "share": sum(p.strategy == s and p.per_core == n for p in beyond)
                / max(len(beyond), 1),
                "ratio": float(np.median([predicted[p] / real[p] for p in points])),
            }
            for (s, n), points in found.items()
        ),
        key=lambda r: -r["share"],
    )
    return {"beyond": len(beyond), "rows": rows[:3]}


def _pairs_in_wrong_order(predicted: dict, real: dict, least: float) -> dict:
    """How many pairs have the wrong order, and which share of them the data cannot tell apart."""
    wrong = ties = pairs = 0
    for g in _groups(predicted):
        for a, b in itertools.combinations(g, 2):
            there = np.log(real[a] / real[b])
            pairs += 1
            if there * np.log(predicted[a] / predicted[b]) < 0:
                wrong += 1
                ties += abs(there) <= least
    return {"pairs": pairs, "wrong": wrong, "ties": ties / max(wrong, 1)}


def summary(predicted: dict[Point, float]) -> dict:
    real = reference.measured()
    unseen = [p for p in predicted if p.unseen]
    errors = _errors(unseen, predicted, real)
    taus = _taus(predicted, real)
    least = 2 * np.sqrt(2) * noise()
    beyond = _taus_beyond(predicted, real, least)

    return {
        "unseen": len(unseen),
        "fitted": sum(p.seen and not p.job for p in predicted),
        "median": float(np.median(errors)),
        "p90": float(np.percentile(errors, 90)),
        "worst": float(errors.max()),
        "within_15": float(np.mean(errors <= 0.15)),
        "tau_mean": float(np.mean(taus)),
        "tau_median": float(np.median(taus)),
        "noise": noise(),
        "tie": float(least),
        "tau_beyond": float(np.mean(beyond)),
        "tau_share": float(np.mean([t >= WANTED["tau"] for t in taus])),
        "headlines": _headlines(predicted, real),
        "misses": _misses(unseen, errors, predicted, real),
        "order": _pairs_in_wrong_order(predicted, real, least),
    }


def _verdict(value: float, wanted: float, more: bool = False) -> str:
    if value >= wanted if more else value <= wanted:
        return "reached"
    return (
        f"missed by {wanted - value:.2f}"
        if more
        else f"missed by {100 * (value - wanted):.1f} points"
    )


def markdown(name: str, s: dict) -> str:
    split = machine.load(name).get("fit", {})
    verdicts = [
        ("median error", f"{100 * s['median']:.1f} %", "7 %",
         _verdict(s["median"], WANTED["median"])),
        ("90th percentile", f"{100 * s['p90']:.1f} %", "15 %", _verdict(s["p90"], WANTED["p90"])),
        ("rank order, mean Kendall tau", f"{s['tau_mean']:.2f}", "0.9",
         _verdict(s["tau_mean"], WANTED["tau"], more=True)),
        ("rank order of what the data tell apart, mean tau", f"{s['tau_beyond']:.2f}", "0.9",
         _verdict(s["tau_beyond"], WANTED["tau"], more=True)),
    ]  # fmt: skip
    for h in s["headlines"]:
        off = abs(h["simulated"] / h["measured"] - 1)
        verdicts.append(
            (
                h["name"],
                f"{h['simulated']:.2f}x ({100 * off:.1f} % off)",
                "10 %",
                _verdict(off, WANTED["headline"]),
            )
        )
    verdicts.sort(key=lambda v: v[3] == "reached")  # what was missed comes first
    lines = ["| *simulated*, unseen points | value | wanted | |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(v)} |" for v in verdicts]
    about = (
        f"{s['unseen']:,} points are unseen. The fit used {split.get('points')} of the "
        f"{s['fitted']:,} points that it may see ({', '.join(split.get('rows', []))}; miss "
        f"cost {split.get('miss_cost')}), and {split.get('one_thread_points')} one-thread "
        f"points for the job. {100 * s['within_15']:.0f} % of the unseen points are within "
        f"15 %; the worst is {100 * s['worst']:.0f} % off. The strategies of "
        f"{100 * s['tau_share']:.0f} % of the cells and placements have a tau of 0.9 or more. "
        f"A measured value has a noise of {100 * s['noise']:.1f} %, estimated from how curves "
        f"bend along the cores. Two strategies within {100 * s['tie']:.1f} % are a tie."
    )
    lines += [*_why(s), "", *textwrap.wrap(about, 100)]
    return "\n".join(lines) + "\n"


def _too(ratio: float) -> str:
    return f"{100 * abs(ratio - 1):.0f} % too {'fast' if ratio > 1 else 'slow'}"


def _why(s: dict) -> list[str]:
    """Where what was missed comes from."""
    m, order, told = s["misses"], s["order"], []
    if s["p90"] > WANTED["p90"]:
        rows = "; ".join(
            f"{r['strategy']} with {('one thread', 'two threads')[r['per_core'] - 1]} a core "
            f"({100 * r['share']:.0f} %; {_too(r['ratio'])} at the median)"
            for r in m["rows"]
        )
        told += [
            f"The 90th percentile: {m['beyond']} points are beyond "
            f"{100 * WANTED['p90']:.0f} %. The rows that have most of them: {rows}."
        ]
    if s["tau_mean"] < WANTED["tau"]:
        told += [
            f"The rank order: {order['wrong']:,} of {order['pairs']:,} pairs are in the wrong "
            f"one. The data cannot tell {100 * order['ties']:.0f} % of these apart."
        ]
    told += [
        f"{h['name']}: the simulated {h['base']} is {_too(1 + h['base_off'])} at that point."
        for h in s["headlines"]
        if abs(h["simulated"] / h["measured"] - 1) > WANTED["headline"]
    ]
    return (
        [
            "",
            *(
                line
                for text in told
                for line in textwrap.wrap(text, 100, initial_indent="- ", subsequent_indent="  ")
            ),
        ]
        if told
        else []
    )


def frozen_was_fitted_on_more(name: str) -> str:
    """Why the frozen file's split is not the protocol's; "" if it is."""
    split = machine.load(name).get("fit", {})
    if set(split.get("rows", [])) != set(reference.FITTED_STRATEGIES):
        return f"it was fitted on the rows {split.get('rows')}"
    if split.get("miss_cost") != reference.FITTED_COST:
        return f"it was fitted on miss cost {split.get('miss_cost')}"
    points = fit.chosen(reference.FITTED_STRATEGIES)
    if not all(p.seen for p in points) or split.get("points_digest") != fit.digest_of(points):
        return "its points are not those of the protocol"
    return ""
