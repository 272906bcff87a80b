# SPDX-License-Identifier: MIT
"""The constants of the library's waits, one at a time, beside today's values."""

import base64
import io
import textwrap
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from rich.table import Table

from pawl.core import driver, options, output, ranges, table
from pawl.core.errors import BadInput
from pawl.sim import fit, grid, machine, regions, sections, tasks


@dataclass(frozen=True)
class Constant:
    macro: str
    today: int
    others: tuple[int, ...]
    locks: tuple[str, ...]
    about: str

    @property
    def values(self) -> list[int]:
        return sorted((self.today, *self.others))


CONSTANTS = {
    "first_pause": Constant(
        "BACKOFF_FIRST_PAUSE",
        4,
        (1, 2, 8, 16, 64),
        ("spin64", "lock64"),
        "relax hints of the first pause",
    ),
    "longest_pause": Constant(
        "PAWL_SPIN_LONGEST_PAUSE",
        256,
        (16, 32, 64, 128, 512, 1024, 2048),
        ("spin64", "lock64"),
        "relax hints of the longest pause",
    ),
    "suspect_ns": Constant(
        "PAWL_SPIN_SUSPECT_NS",
        50000,
        (5000, 20000, 200000, 1000000),
        ("spin64",),
        "wait at the longest pause, then yields",
    ),
    "reading_ns": Constant(
        "LOCK_SPIN_NS",
        50000,
        (0, 5000, 20000, 100000, 400000),
        ("lock64",),
        "reads in a loop, then joins the queue",
    ),
    "reads_on": Constant(
        "LOCK_SPINNERS", 1, (0, 2, 4, 16), ("lock64",), "waiters that read on in the queue"
    ),
    "wakes": Constant("LOCK_WAKES", 2, (1, 4, 8, 32), ("lock64",), "readers that one look wakes"),
    "handoff_ns": Constant(
        "PAWL_LOCK_HANDOFF_NS",
        600000,
        (20000, 100000, 300000, 1200000, 5000000),
        ("lock64",),
        "wait of the oldest before it has its turn",
    ),
    "brlock_spins": Constant(
        "BRLOCK_SPINS", 10, (0, 5, 20, 100), ("brlock",), "pauses of a waiter before it sleeps"
    ),
    "brlock_patience": Constant(
        "BRLOCK_PATIENCE",
        4,
        (0, 1, 16, 64),
        ("brlock",),
        "closed gates that a reader meets before it queues",
    ),
}

SECTION = {"inside": 50, "outside": 100}
CELLS = {
    "LRU, 99 % hits": (
        "lru",
        1,
        {
            "strategy": "plock_r_s_w",
            "cost": 100,
            "keyspace": 3200 * 100 // 99,
            "count": 2000,
            "warm": 20,
        },
    ),
    "readers, 1 % writes": ("section", 1, SECTION | {"write": 1, "count": 3000, "warm": 10}),
    "crowd, 4 threads a core": ("section", 4, SECTION | {"write": 100, "count": 500, "warm": 1}),
}
# The LRU job takes no big-reader lock.
WITHOUT_LRU = {"brlock"}

# A value is clearly better than today's by one of these; no cell is slower than WORST.
FASTER, WORST = 1.05, 0.95
SHORTER, AS_FAST = 0.5, 0.98


def _tasks(names: list[str], cores: list[int], seeds: list[int], there: dict) -> dict:
    """The runs by what they are. Today's is a run without a word for the constant."""
    found = {}
    words = machine.words(there)
    for name in names:
        c = CONSTANTS[name]
        for value in c.values:
            for lock in c.locks:
                for cell, (program, per_core, settings) in CELLS.items():
                    if program == "lru":
                        if lock in WITHOUT_LRU:
                            continue
                        job = there.get("job") or fit.JOB_START
                        settings = settings | {k: f"{v:.6g}" for k, v in job.items()}
                    changed = () if value == c.today else (f"library.{name}={value}",)
                    for n in cores:
                        found[name, value, lock, cell, n] = [
                            (
                                program,
                                f"lock={lock}",
                                f"cores={n}",
                                f"threads={n * per_core}",
                                *(f"{k}={v}" for k, v in settings.items()),
                                *changed,
                                f"seed={seed}",
                                *words,
                            )
                            for seed in seeds
                        ]
    return found


def simulate(
    program: Path,
    names: list[str],
    cores: list[int],
    seeds: list[int],
    name: str,
    store: tasks.Store,
    quiet: bool,
    scheduler: str | None,
) -> dict:
    there = machine.load(name)
    wanted = _tasks(names, cores, seeds, there)
    flat = [t for of_seeds in wanted.values() for t in of_seeds]
    done = iter(tasks.run(program, flat, store, quiet, scheduler=scheduler))
    points = []
    for (constant, value, lock, cell, n), of_seeds in wanted.items():
        results = [next(done) for _ in of_seeds]
        lru = cell.startswith("LRU")
        points.append(
            {
                "constant": constant,
                "value": value,
                "lock": lock,
                "cell": cell,
                "cores": n,
                "per_s": [r["lookups_per_s" if lru else "operations_per_s"] for r in results],
                "longest_wait_ns": []
                if lru
                else [grid.longest_wait(r, "write_wait_max") for r in results],
            }
        )
    return {
        "simulated": True,
        "machine": name,
        "title": there.get("title", name),
        "seeds": seeds,
        "cores": cores,
        "constants": {
            n: {
                "today": CONSTANTS[n].today,
                "macro": CONSTANTS[n].macro,
                "about": CONSTANTS[n].about,
            }
            for n in names
        },
        "points": points,
    }


def _mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def rows(result: dict) -> list[dict]:
    """Each value of each constant over today's: throughput and longest wait, geometric means."""
    points = {
        (p["constant"], p["value"], p["lock"], p["cell"], p["cores"]): p for p in result["points"]
    }
    found = []
    for name, value in dict.fromkeys(k[:2] for k in points):
        today = result["constants"][name]["today"]
        rates, waits, cells = {}, {}, []
        longest = 0.0
        for key, p in points.items():
            if key[:2] != (name, value):
                continue
            other = points[name, today, *key[2:]]
            ratio = _mean(p["per_s"]) / _mean(other["per_s"])
            rates.setdefault(key[4], []).append(ratio)
            cells.append(ratio)
            if p["longest_wait_ns"]:
                waits.setdefault(key[4], []).append(
                    _mean(p["longest_wait_ns"]) / _mean(other["longest_wait_ns"])
                )
                longest = max(longest, *p["longest_wait_ns"])
        found.append(
            {
                "constant": name,
                "value": value,
                "today": value == today,
                "worst": min(cells),
                "rate": _mean(cells),
                "wait": _mean([w for of in waits.values() for w in of]),
                "longest_ns": longest,
                "rates": {n: _mean(r) for n, r in rates.items()},
                "waits": {n: _mean(w) for n, w in waits.items()},
            }
        )
    return found


def spread(result: dict) -> float:
    """How far today's throughput is apart between seeds: the median over cells."""
    apart = [
        max(p["per_s"]) / min(p["per_s"]) - 1
        for p in result["points"]
        if p["value"] == result["constants"][p["constant"]]["today"]
    ]
    return float(np.median(apart))


def better(row: dict) -> bool:
    return (
        not row["today"]
        and row["worst"] >= WORST
        and (
            (row["rate"] >= FASTER and row["wait"] <= 1)
            or (row["wait"] <= SHORTER and row["rate"] >= AS_FAST)
        )
    )


def verdict(result: dict) -> str:
    found = [r for r in rows(result) if better(r)]
    if not found:
        return "No other value is clearly better, so today's hold."
    return (
        "Clearly better, simulated and natively unmeasured: "
        + "; ".join(
            f"{r['constant']} {r['value']} ({100 * r['rate']:.0f} % of the throughput, "
            f"{100 * r['wait']:.0f} % of the longest wait)"
            for r in found
        )
        + "."
    )


RULE = (
    f"Clearly better means: at least {100 * (FASTER - 1):.0f} % more throughput and no longer "
    f"wait, or at most half the longest wait and at least {100 * AS_FAST:.0f} % of the "
    f"throughput. No cell may lose more than {100 * (1 - WORST):.0f} %."
)


def _cells(row: dict, cores: list[int]) -> list[str]:
    return [f"{100 * row['rates'][n]:.0f} / {100 * row['waits'][n]:.0f}" for n in cores]


def _value(row: dict) -> str:
    return f"{row['value']}, today's" if row["today"] else f"{row['value']}"


def markdown(result: dict) -> str:
    cores = result["cores"]
    lines = [
        f"| *simulated*, {result['title']} | {' | '.join(f'{n} cores' for n in cores)} | "
        "slowest cell | longest wait |",
        f"|---|{'---|' * (len(cores) + 2)}",
    ]
    for r in rows(result):
        what = result["constants"][r["constant"]]["macro"]
        lines.append(
            f"| `{what}` {_value(r)} | {' | '.join(_cells(r, cores))} | "
            f"{100 * r['worst']:.0f} | {r['longest_ns'] / 1e6:.1f} ms |"
        )
    told = (
        f"Each cell: percent of today's throughput / percent of today's longest wait of a "
        f"writer, geometric means over workloads, locks and {len(result['seeds'])} seeds. "
        f"Today's throughput varies by {100 * spread(result):.0f} % between seeds."
    )
    for paragraph in (told, RULE, verdict(result)):
        lines += ["", *textwrap.wrap(paragraph, 100)]
    return "\n".join(lines) + "\n"


def show(result: dict) -> None:
    found, cores = rows(result), result["cores"]
    for name, c in result["constants"].items():
        shown = Table(
            title=f"simulated: {result['title']}, {c['macro']} ({c['about']}), percent "
            "of today's throughput / longest wait",
            title_justify="left",
        )
        shown.add_column("value (simulated)")
        for n in cores:
            shown.add_column(f"{n} cores" if n > 1 else "1 core", justify="right")
        shown.add_column("slowest cell", justify="right")
        shown.add_column("longest wait, us", justify="right")
        for r in (r for r in found if r["constant"] == name):
            shown.add_row(
                _value(r),
                *_cells(r, cores),
                f"{100 * r['worst']:.0f}",
                f"{r['longest_ns'] / 1000:.1f}",
            )
        table.console().print(shown)
    click.echo(f"simulated: {verdict(result)} {RULE}")
    click.echo(f"simulated, {regions.known_for(result['machine'])}.")


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>simulated: constants of waits</title>
<style>body{font:16px sans-serif;max-width:70em;margin:2em auto}td,th{padding:.2em .8em;
text-align:right}td:first-child,th:first-child{text-align:left}</style>
<h1>Simulated: constants of waits on {{ r.title }}</h1>
<p>Nothing here was measured. The model is {{ known_for }}.</p>
<p>{{ verdict }} {{ rule }}</p>
{% for name, c in r.constants.items() %}<h2>{{ c.macro }}: {{ c.about }} (simulated)</h2>
<img alt="simulated throughput over today's by value"
src="data:image/png;base64,{{ images[name] }}">
<table><tr><th>value{% for n in r.cores %}<th>{{ n }} cores{% endfor %}
<th>slowest cell<th>longest wait</tr>
{% for row in rows if row.constant == name %}<tr><td>{{ row.value }}{{ ", today's" if row.today }}
{% for text in cells(row, r.cores) %}<td>{{ text }}{% endfor %}
<td>{{ "%.0f" | format(100 * row.worst) }}
<td>{{ "%.1f" | format(row.longest_ns / 1000) }} us</tr>
{% endfor %}</table>{% endfor %}
<p>Percent of today's throughput / of today's longest wait of a writer.</p></html>
"""


def _plot(name: str, found: list[dict], cores: list[int]) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), dpi=100)
    axes = figure.subplots()
    chosen = [r for r in found if r["constant"] == name]
    for n in cores:
        axes.plot(
            [str(r["value"]) for r in chosen],
            [100 * r["rates"][n] for r in chosen],
            marker="o",
            label=f"{n} cores",
        )
    axes.axhline(100, linewidth=0.8)
    axes.set_xlabel(name)
    axes.set_ylabel("percent of today's throughput (simulated)")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return base64.b64encode(out.getvalue()).decode()


def html(result: dict) -> str:
    import jinja2

    found = rows(result)
    return (
        jinja2.Environment(autoescape=True)
        .from_string(_PAGE)
        .render(
            r=result,
            rows=found,
            cells=_cells,
            verdict=verdict(result),
            rule=RULE,
            known_for=regions.known_for(result["machine"]),
            images={n: _plot(n, found, result["cores"]) for n in result["constants"]},
        )
    )


def _chosen(text: str) -> list[str]:
    names = list(CONSTANTS) if text == "all" else text.split(",")
    if unknown := [n for n in names if n not in CONSTANTS]:
        raise BadInput(
            f"--constants: the waits have no constant '{unknown[0]}'; there are "
            f"{', '.join(CONSTANTS)}."
        )
    return list(dict.fromkeys(names))


def add_to(group: click.Group) -> None:
    """The command."""

    @click.option(
        "--machine",
        "name",
        default="milan",
        show_default=True,
        metavar="NAME|FILE",
        help="A file of sim/machines, or one of your own.",
    )
    @click.option(
        "--constants",
        default="all",
        show_default=True,
        metavar="LIST",
        help=f"Of {', '.join(CONSTANTS)}.",
    )
    @click.option(
        "--cores",
        default="12,24,48,128",
        show_default=True,
        metavar="LIST",
        help="Numbers of cores: 1,2,4 or 1:12, which doubles.",
    )
    @click.option(
        "--seeds",
        default="1,2,3",
        show_default=True,
        metavar="LIST",
        help="Each run is made with each of these seeds.",
    )
    @click.option(
        "--page",
        "to",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write the table between the markers of this page.",
    )
    @grid.JSON
    @click.option(
        "--html",
        "html_path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write one self-contained page.",
    )
    @grid.STORE
    @grid.SCHEDULER
    @grid.DRIVER
    @grid.QUIET
    def backoff(**o) -> None:
        """Give constants of the waits other values, one at a time, and compare with today's.

        Back-off, reading in a loop, wakes and hand-offs: throughput and a writer's longest wait.
        """
        names = _chosen(o["constants"])
        cores = grid.cores(o["cores"], machine.cores(machine.load(o["name"])), o["name"])
        seeds = ranges.integers(o["seeds"], "--seeds", 0, 10**9, "1,2,3")
        for option, path in (("--json", o["json_path"]), ("--html", o["html_path"])):
            if path:
                output.check(option, path)
        program = driver.find("pawl-sim", o["driver"])
        result = simulate(
            program,
            names,
            cores,
            seeds,
            o["name"],
            grid.store(o["keep"], program),
            o["quiet"],
            o["scheduler"],
        )
        show(result)
        if o["json_path"]:
            output.write(o["json_path"], grid.dump(result).encode())
            click.echo(f"written: {o['json_path']}", err=True)
        if o["html_path"]:
            output.write(o["html_path"], html(result).encode())
            click.echo(f"written: {o['html_path']}", err=True)
        if o["to"]:
            sections.write(o["to"], "backoff", markdown(result))

    group.command(
        "backoff",
        cls=options.ExampleCommand,
        examples=[
            ("pawl sim dev backoff --keep kept.json", "All constants; goes on where it ended."),
            (
                "pawl sim dev backoff --constants longest_pause --cores 12,48 --html pause.html",
                "One constant, as a page.",
            ),
        ],
    )(backoff)
