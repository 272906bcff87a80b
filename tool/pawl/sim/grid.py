# SPDX-License-Identifier: MIT
"""A grid of simulations: locks by numbers of cores, in one or several groups; tables and files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
from rich.table import Table

from pawl.core import driver, options, output, ranges, table
from pawl.core.errors import BadInput
from pawl.sim import machine, page, regions, tasks

MACHINE = click.option(
    "--machine",
    "name",
    default="haswell-ep",
    show_default=True,
    metavar="NAME|FILE",
    help="A file of sim/machines, or one of your own.",
)
DRIVER = click.option("--driver", metavar="FILE", help="The program pawl-sim, if it is elsewhere.")
STORE = click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep each finished run here, and take those that it holds.",
)
QUIET = click.option("--quiet", is_flag=True, help="No progress on standard error.")
SCHEDULER = click.option(
    "--scheduler", metavar="ADDRESS", help="Hand the runs to the workers of this Dask scheduler."
)
JSON = click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the results, labelled as simulated.",
)
MOST_PER_CORE = 2  # of the published data
LEAST_MISSES = 200  # of a run; with fewer the cell stays empty
# What PAWL_BIAS is for a program, by the ending of a row. A row without an ending has "off".
BIAS = {"": "off", "_scaling": "on", "_evidence": "evidence"}
MODES = ("off", "on", "evidence")  # enum entries_mode of the library

OPTIONS = (
    MACHINE,
    click.option(
        "--cores",
        default="1:12",
        show_default=True,
        metavar="LIST",
        help="Numbers of cores: 1,2,4 or 1:12, which doubles.",
    ),
    click.option(
        "--locks",
        default=None,
        metavar="LIST",
        help="Rows to simulate, by name; all: each that there is.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0),
        default=1,
        show_default=True,
        metavar="N",
        help="The same seed gives the same result.",
    ),
    click.option(
        "--seeds",
        type=click.IntRange(1, 100),
        default=3,
        show_default=True,
        metavar="N",
        help="Seeds of each cell, from --seed on; it shows their median and range.",
    ),
    JSON,
    click.option(
        "--html",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write one self-contained page.",
    ),
    STORE,
    SCHEDULER,
    DRIVER,
    QUIET,
)


@dataclass(frozen=True)
class Group:
    """Runs that share a table: its heading, and the settings that they have in common."""

    heading: str
    settings: dict
    keys: dict = field(default_factory=dict)  # what a point says of its group


@dataclass(frozen=True)
class Job:
    """A workload of pawl-sim, with what its tables show."""

    program: str
    title: str
    unit: str  # of the rate
    rate: str  # its key in the result of a run
    waits: str = ""  # the key of a longest wait that has a table of its own; "": none


def store(keep: Path | None, program: Path) -> tasks.Store:
    if keep:
        output.check("--keep", keep)
    return tasks.Store(keep, program)


def count_for(hit: int) -> int:
    """Lookups with enough misses: the job has some 0.75 % fewer than nominal."""
    return max(2000, int(1.3 * LEAST_MISSES / max(0.001, (100 - hit - 0.75) / 100)))


def cores(text: str, most: int, name: str) -> list[int]:
    """`1,2,4`, or `1:12`, which doubles from the first and ends with the last."""
    numbers = []
    for part in text.split(","):
        first, *rest = ranges.integers(part.replace(":", ","), "--cores", 1, 10**9, "1:12")
        if len(rest) > 1:
            raise BadInput(f"--cores: '{part}' has too many colons; write first:last.")
        last = rest[0] if rest else first
        numbers += [first * n for n in ranges.doubling(last // first) if first * n < last] + [last]
    if max(numbers) > most:
        raise BadInput(
            f"--cores: {name} has {most} cores, not {max(numbers)}; name fewer, or "
            "another --machine."
        )
    return sorted(set(numbers))


def locks(text: str | None, known: dict[str, str], usual: list[str]) -> list[str]:
    chosen = usual if text is None else list(known) if text == "all" else text.split(",")
    if unknown := [lock for lock in chosen if lock not in known]:
        raise BadInput(
            f"--locks: there is no model of '{unknown[0]}'; there are {', '.join(known)}."
        )
    return list(dict.fromkeys(chosen))


def bias_of(lock: str) -> tuple[str, str]:
    """The lock of a row, and the value of PAWL_BIAS."""
    ending = next(e for e in reversed(BIAS) if lock.endswith(e))
    return lock.removesuffix(ending), BIAS[ending]


def bias(mode: str) -> dict:
    return {"library.bias": MODES.index(mode)}


def settings_of(lock: str) -> dict:
    name, mode = bias_of(lock)
    return {"lock": name, **bias(mode)}


def run(
    o: dict,
    job: Job,
    known: dict[str, str],
    usual: list[str],
    groups: list[Group],
    settings_of=settings_of,
    per_core: int = 1,
    threads: int | None = None,
) -> None:
    """Simulates all rows of all groups, shows them, and writes what was asked for."""
    there = machine.load(o["name"])
    numbers = cores(o["cores"], machine.cores(there), o["name"])
    chosen = locks(o["locks"], known, usual)
    for option, path in (("--json", o["json_path"]), ("--html", o["html"])):
        if path:
            output.check(option, path)
    program = driver.find("pawl-sim", o["driver"])
    wanted = [(g, lock, c) for g in groups for lock in chosen for c in numbers]
    seeds = range(o["seed"], o["seed"] + o["seeds"])
    found = tasks.run(
        program,
        [
            (
                job.program,
                *(f"{k}={v}" for k, v in settings_of(lock).items()),
                f"cores={c}",
                f"threads={threads or c * per_core}",
                *(f"{k}={_plain(v)}" for k, v in g.settings.items()),
                f"seed={seed}",
                *machine.words(there),
            )
            for g, lock, c in wanted
            for seed in seeds
        ],
        store(o["keep"], program),
        o["quiet"],
        scheduler=o["scheduler"],
    )
    points = []
    for i, (g, lock, c) in enumerate(wanted):
        one = _cell(job, found[i * len(seeds) : (i + 1) * len(seeds)], g.settings.get("count", 0))
        error = regions.of(o["name"], job.program, lock, g.keys.get("hit"), c)
        known_error = isinstance(error, dict) and per_core <= MOST_PER_CORE
        points.append(
            {
                "group": g.heading,
                **g.keys,
                "lock": lock,
                "model": known[lock],
                "cores": c,
                "error_p90": error["rate"] if known_error else None,
                "ratio_p90": error["ratio"] if known_error else None,
                "validated": "" if known_error else _why_not(error),
            }
            | one
        )
    known_for = regions.known_for(o["name"])
    if all(p["validated"].startswith("never") for p in points):
        known_for = points[0]["validated"]
    result = {
        "simulated": True,
        "workload": job.title,
        "machine": o["name"],
        "title": there.get("title", o["name"]),
        "unit": job.unit,
        "rate": job.rate,
        "known_for": known_for,
        "per_core": per_core,
        "seeds": list(seeds),
        "points": points,
    }
    show(result, job)
    if o["json_path"]:
        output.write(o["json_path"], dump(result).encode())
        click.echo(f"written: {o['json_path']}", err=True)
    if o["html"]:
        output.write(o["html"], page.html(result).encode())
        click.echo(f"written: {o['html']}", err=True)


def _why_not(error: dict | str) -> str:
    return error if isinstance(error, str) else "never validated with so many threads a core"


def _cell(job: Job, runs: list[dict], count: float) -> dict:
    """The run in the middle, with the least and the greatest rate of all seeds."""
    by_rate = sorted(runs, key=lambda r: r[job.rate])
    rates = [r[job.rate] for r in by_rate]
    more = {"least": rates[0], "most": rates[-1]}
    if "miss_share" in runs[0]:
        more["misses"] = round(min(r["miss_share"] for r in runs) * count)
    return by_rate[len(runs) // 2] | {job.rate: float(np.median(rates))} | more


def dump(result: dict) -> str:
    """JSON with a line for each point."""
    points = ",\n".join("  " + json.dumps(p) for p in result["points"])
    head = json.dumps({k: v for k, v in result.items() if k != "points"}, indent=1)
    return f'{head.removesuffix("}").rstrip()},\n "points": [\n{points}\n ]\n}}\n'


def _plain(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def longest_wait(point: dict, key: str) -> float:
    """In nanoseconds; a thread that still waits at the end counts."""
    return max(point.get(key, 0.0), point.get("still_waits", 0.0))


def digits(value: float) -> str:
    """Two digits, and never an exponent."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def cell(point: dict, rate: str) -> str:
    """Median and range in millions; empty if the runs were too short."""
    if point.get("misses", LEAST_MISSES) < LEAST_MISSES:
        return ""
    middle, least, most = (
        digits(v / 1e6) for v in (point[rate], point.get("least", 0), point.get("most", 0))
    )
    return middle if least == most or "least" not in point else f"{middle} ({least}-{most})"


def show(result: dict, job: Job) -> None:
    points = {(p["group"], p["model"], p["cores"]): p for p in result["points"]}
    numbers = list(dict.fromkeys(p["cores"] for p in result["points"]))
    models = list(dict.fromkeys(p["model"] for p in result["points"]))
    for group in dict.fromkeys(p["group"] for p in result["points"]):
        heading = f"simulated: {result['title']}, {group}"
        _table(
            f"{heading}, million {result['unit']}",
            models,
            numbers,
            lambda m, c, group=group: cell(points[group, m, c], job.rate),
            {m: row_error([points[group, m, c] for c in numbers]) for m in models},
        )
        if job.waits:
            _table(
                f"{heading}, longest wait of a writer, us",
                models,
                numbers,
                lambda m, c, group=group: digits(
                    longest_wait(points[group, m, c], job.waits) / 1000
                ),
            )
        if all("slowest_thread" in p for p in result["points"]):
            _table(
                f"{heading}, fairness: Jain's index, and a thread's sections at least and at most "
                "in percent of the mean",
                models,
                numbers,
                lambda m, c, group=group: page.fairness(points[group, m, c]),
            )
    if any(cell(p, job.rate) == "" for p in result["points"]):
        click.echo(
            f"simulated: empty cells had fewer than {LEAST_MISSES} misses; name more --count."
        )
    known = any(p["error_p90"] is not None for p in result["points"])
    within = " Error: nine of ten points were within it." if known else ""
    click.echo(f"simulated, {result['known_for']}.{within}")


def row_error(points: list[dict]) -> str:
    """The errors of a row's cells in words: of rates, and of ratios to the rwlock."""
    if why := [p["validated"] for p in points if p["error_p90"] is None]:
        return ", ".join(dict.fromkeys(why))

    def span(key: str) -> str:
        values = [100 * p[key] for p in points if p[key] is not None]
        low, high = f"{min(values):.0f}", f"{max(values):.0f}"
        return f"{low} %" if low == high else f"{low} to {high} %"

    ratio = f", ratios {span('ratio_p90')}" if points[0]["ratio_p90"] is not None else ""
    return f"±{span('error_p90')}{ratio}"


def _table(
    title: str, models: list[str], numbers: list[int], cell, errors: dict[str, str] | None = None
) -> None:
    shown = Table(title=title, title_justify="left")
    shown.add_column("lock (simulated)")
    for c in numbers:
        shown.add_column(f"{c} cores" if c > 1 else "1 core", justify="right")
    if errors:
        shown.add_column("error", justify="right")
    for model in models:
        shown.add_row(
            model, *(cell(model, c) for c in numbers), *([errors[model]] if errors else [])
        )
    table.console().print(shown)


def command(group: click.Group, name: str, examples: list, extra: tuple, body) -> None:
    """Adds a command with the options that all grids have."""
    made = options.with_options((*extra, *OPTIONS))(body)
    group.command(name, cls=options.ExampleCommand, examples=examples)(made)
