# SPDX-License-Identifier: MIT
"""How far the predictions are from the measurements: what is worst comes first."""

from __future__ import annotations

import csv
import io
import textwrap
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import stats

from pawl.core import output
from pawl.core.errors import Failure
from pawl.sim import fit, machine, reference, tasks
from pawl.sim.reference import STRATEGIES, Point

COUNT, WARM = 2000, 60
WANTED = {"median": 0.07, "p90": 0.15, "tau": 0.9, "headline": 0.10}
HEADLINES = (("9.48x over the spinlock", 99, 30, 12, 2, "spin"),
             ("4.79x over the rwlock", 99, 100, 11, 2, "rwlock"))


def path_of(name: str) -> Path:
    return machine.folder() / "reference" / f"predicted-{name}.csv"


def predict(program: Path, name: str, store: tasks.Store, quiet: bool,
            points: list[Point] | None = None) -> dict[Point, float]:
    there = machine.load(name)
    points = points or sorted(reference.measured())
    found = tasks.run(program, [p.task(there["job"], COUNT, WARM) + tuple(machine.words(there))
                                for p in points], store, quiet)
    return {p: r["lookups_per_s"] for p, r in zip(points, found, strict=True)}


def save(name: str, predicted: dict[Point, float]) -> Path:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["hit_pct", "miss_cost", "cores", "threads_per_core", "threads", *STRATEGIES])
    for p in sorted({(p.hit, p.cost, p.cores, p.per_core) for p in predicted}):
        writer.writerow([*p, p[2] * p[3],
                         *(f"{predicted[Point(*p, s)]:.0f}" for s in STRATEGIES)])
    output.write(path_of(name), out.getvalue().encode())
    return path_of(name)


def load(name: str) -> dict[Point, float]:
    path = path_of(name)
    if not path.is_file():
        raise Failure(f"{path} is not there; make it with: pawl sim predict.")
    rows = csv.DictReader(path.read_text().splitlines())
    return {Point(int(r["hit_pct"]), int(r["miss_cost"]), int(r["cores"]),
                  int(r["threads_per_core"]), s): float(r[s]) for r in rows for s in STRATEGIES}


def _errors(points: list[Point], predicted: dict, real: dict) -> np.ndarray:
    return np.array([abs(predicted[p] / real[p] - 1) for p in points])


def _taus(predicted: dict, real: dict) -> list[float]:
    """Rank order of the strategies for each cell and placement of more than one thread."""
    groups = defaultdict(list)
    for p in predicted:
        if not p.job:
            groups[p.hit, p.cost, p.cores, p.per_core].append(p)
    return [float(stats.kendalltau([predicted[p] for p in g], [real[p] for p in g]).statistic)
            for g in groups.values() if len(g) == len(STRATEGIES)]


def _headlines(predicted: dict, real: dict) -> list[dict]:
    def best(values, hit, cost, cores, per_core, base):
        rates = {s: values[Point(hit, cost, cores, per_core, s)] for s in STRATEGIES}
        return max(rates.values()) / rates[base]
    return [{"name": name, "measured": best(real, *where), "simulated": best(predicted, *where)}
            for name, *where in HEADLINES
            if all(Point(*where[:4], s) in predicted for s in STRATEGIES)]


def summary(predicted: dict[Point, float]) -> dict:
    real = reference.measured()
    unseen = [p for p in predicted if p.unseen]
    errors = _errors(unseen, predicted, real)
    taus = _taus(predicted, real)

    def group(key):
        found = defaultdict(list)
        for p, e in zip(unseen, errors, strict=True):
            found[key(p)].append(e)
        return [{"name": name, "points": len(e), "median": float(np.median(e)),
                 "p90": float(np.percentile(e, 90))} for name, e in found.items()]
    return {
        "unseen": len(unseen), "fitted": sum(p.seen and not p.job for p in predicted),
        "median": float(np.median(errors)), "p90": float(np.percentile(errors, 90)),
        "worst": float(errors.max()), "within_15": float(np.mean(errors <= 0.15)),
        "tau_mean": float(np.mean(taus)), "tau_median": float(np.median(taus)),
        "tau_share": float(np.mean([t >= WANTED["tau"] for t in taus])),
        "headlines": _headlines(predicted, real),
        "by_strategy": sorted(group(lambda p: p.strategy), key=lambda g: -g["median"]),
        "by_hit": sorted(group(lambda p: f"{p.hit} % hits"), key=lambda g: -g["median"]),
        "by_placement": sorted(group(
            lambda p: f"{'one thread' if p.per_core == 1 else 'two threads'} a core, "
                      f"{'1 to 4' if p.cores < 5 else '5 to 8' if p.cores < 9 else '9 to 12'} "
                      "cores"), key=lambda g: -g["median"]),
    }


def _verdict(value: float, wanted: float, more: bool = False) -> str:
    if value >= wanted if more else value <= wanted:
        return "reached"
    return (f"missed by {wanted - value:.2f}" if more
            else f"missed by {100 * (value - wanted):.1f} points")


def markdown(name: str, s: dict) -> str:
    split = machine.load(name).get("fit", {})
    verdicts = [("median error", f"{100 * s['median']:.1f} %", "7 %",
                 _verdict(s["median"], WANTED["median"])),
                ("90th percentile", f"{100 * s['p90']:.1f} %", "15 %",
                 _verdict(s["p90"], WANTED["p90"])),
                ("rank order, mean Kendall tau", f"{s['tau_mean']:.2f}", "0.9",
                 _verdict(s["tau_mean"], WANTED["tau"], more=True))]
    for h in s["headlines"]:
        off = abs(h["simulated"] / h["measured"] - 1)
        verdicts.append((h["name"], f"{h['simulated']:.2f}x ({100 * off:.1f} % off)", "10 %",
                         _verdict(off, WANTED["headline"])))
    verdicts.sort(key=lambda v: v[3] == "reached")  # what was missed comes first
    lines = ["| *simulated*, unseen points | value | wanted | |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(v)} |" for v in verdicts]
    about = (f"{s['unseen']:,} points are unseen. The fit used {split.get('points')} of the "
             f"{s['fitted']:,} points that it may see ({', '.join(split.get('rows', []))}; miss "
             f"cost {split.get('miss_cost')}), and {split.get('one_thread_points')} one-thread "
             f"points for the job. {100 * s['within_15']:.0f} % of the unseen points are within "
             f"15 %; the worst is {100 * s['worst']:.0f} % off. The strategies of "
             f"{100 * s['tau_share']:.0f} % of the cells and placements have a tau of 0.9 or more.")
    lines += ["", *textwrap.wrap(about, 100), "", "Where the model is wrong, the worst first:", "",
              "| *simulated* | points | median error | 90th percentile |", "|---|---|---|---|"]
    for part in ("by_strategy", "by_hit", "by_placement"):
        lines += [f"| {g['name']} | {g['points']} | {100 * g['median']:.1f} % | "
                  f"{100 * g['p90']:.1f} % |" for g in s[part]]
    return "\n".join(lines) + "\n"


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
