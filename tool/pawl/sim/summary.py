# SPDX-License-Identifier: MIT
"""A saved grid as one table for a page: a row a lock, a column a group, all numbers of cores."""

import json
import textwrap
from pathlib import Path

from pawl.core.errors import BadInput
from pawl.sim import grid


def load(path: Path) -> dict:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path} is no result of pawl sim: {error}; name a file written with --json."
        ) from None
    if not isinstance(found, dict) or not found.get("simulated") or "points" not in found:
        raise BadInput(f"{path} is no result of pawl sim; name a file written with --json.")
    return found


def markdown(result: dict) -> str:
    points = {(p["model"], p["group"], p["cores"]): p for p in result["points"]}
    models = list(dict.fromkeys(p["model"] for p in result["points"]))
    groups = list(dict.fromkeys(p["group"] for p in result["points"]))
    cores = list(dict.fromkeys(p["cores"] for p in result["points"]))
    seeds = len(result.get("seeds", [1]))
    about = (
        f"*Simulated*, not measured: {result['title']}. Million {result['unit']} on "
        f"{', '.join(map(str, cores[:-1]))} and {cores[-1]} cores: median (and range) by seeds: "
        f"{seeds}. A cell with fewer than {grid.LEAST_MISSES} misses is empty. The simulator was "
        f"{result.get('known_for', 'never validated on this machine')}."
    )
    lines = [
        *textwrap.wrap(about, 100),
        "",
        f"| *simulated* | {' | '.join(groups)} |",
        f"|---|{'---|' * len(groups)}",
    ]
    for model in models:
        cells = [
            " / ".join(grid.cell(points[model, g, c], result["rate"]) or "–" for c in cores)
            for g in groups
        ]
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def waits(result: dict) -> str:
    """The longest wait of a writer: a row a lock, a column a number of cores."""
    if not any("write_wait_max" in p for p in result["points"]):
        raise BadInput(
            "--waits: the file has no waits of writers; name one that pawl sim readers wrote."
        )
    points = {
        (p["model"], p["group"], p["cores"]): grid.longest_wait(p, "write_wait_max") / 1000
        for p in result["points"]
    }
    cores = list(dict.fromkeys(p["cores"] for p in result["points"]))
    lines = []
    for group in dict.fromkeys(p["group"] for p in result["points"]):
        lines += [
            *([""] if lines else []),
            f"| *simulated*, {result['title']}, {group}: us | "
            f"{' | '.join(map(str, cores))} cores |",
            f"|---|{'---|' * len(cores)}",
        ]
        for model in dict.fromkeys(p["model"] for p in result["points"]):
            shown = [points[model, group, c] for c in cores]
            cells = [f"{v:.1f}" if v < 10 else f"{v:.0f}" for v in shown]
            lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def fairness(result: dict) -> str:
    """Near and far cores: a row a lock, a column a group and number of cores."""
    if not all("slowest_cluster" in p for p in result["points"]):
        raise BadInput(
            "--fairness: the file does not say who was slow; name one of pawl sim fairness."
        )
    points = {(p["model"], p["group"], p["cores"]): p for p in result["points"]}
    known = dict.fromkeys((p["cores"], p["group"]) for p in result["points"])
    columns = sorted(known, key=lambda column: column[0])
    heads = [f"{cores} cores, {group}" for cores, group in columns]
    lines = [
        f"| *simulated*, {result['title']} | {' | '.join(heads)} |",
        f"|---|{'---|' * len(columns)}",
    ]
    for model in dict.fromkeys(p["model"] for p in result["points"]):
        cells = []
        for cores, group in columns:
            p = points[model, group, cores]
            cells.append(
                f"{p['fairness']:.2f} / {100 * p['slowest_thread']:.0f} / "
                f"{100 * p['slowest_cluster']:.0f}"
            )
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


# The names of one lock whose readers never scale, always, and by evidence.
BY_BIAS = {
    "pawl_lock64": ("pawl_lock64", "pawl_lock64, readers scale", "pawl_lock64, by evidence"),
    **{
        f"pawl_lock64, {how}": (
            f"pawl_lock64, {how}",
            f"pawl_lock64, readers scale, {how}",
            f"pawl_lock64, by evidence, {how}",
        )
        for how in ("R+W", "R+S>W")
    },
}


def evidence(result: dict) -> str:
    """What scaling always and by evidence make of the rate that the lock has without."""
    points = {(p["model"], p["group"], p["cores"]): p[result["rate"]] for p in result["points"]}
    groups = list(dict.fromkeys(p["group"] for p in result["points"]))
    cores = list(dict.fromkeys(p["cores"] for p in result["points"]))
    models = {p["model"] for p in result["points"]}
    shown = [names for names in BY_BIAS.values() if models.issuperset(names)]
    if not shown:
        raise BadInput("--evidence: the file has no lock in all three modes.")
    lines = [
        f"| *simulated*, {result['workload']}, {result['title']}: percent of off, on / evidence | "
        f"{' | '.join(map(str, cores))} cores |",
        f"|---|{'---|' * len(cores)}",
    ]
    for off, on, by in shown:
        for group in groups:
            cells = [
                " / ".join(
                    f"{100 * points[m, group, c] / points[off, group, c]:.0f}" for m in (on, by)
                )
                for c in cores
            ]
            lines.append(f"| {off}, {group} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
