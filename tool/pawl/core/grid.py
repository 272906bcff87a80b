# SPDX-License-Identifier: MIT
"""What the benches of data structures share: a grid of cells, each with all its rows, in a given
time."""

from collections.abc import Callable
from dataclasses import dataclass

import click

from pawl.core import options, ranges
from pawl.core.kind import Call, Cell, Plan
from pawl.core.table import counted

LEAST_SECONDS = 0.005
# What a sample takes beside its length: threads that are told to begin and waited for.
SAMPLE_OVERHEAD = 0.002
CELL_OVERHEAD = 0.05


@dataclass
class Effort:
    """How long and where; what is measured is told beside it."""

    rounds: int = 9
    seconds: float | None = None
    warmup: float = 0.005
    budget: float = 60
    pin: str = "auto"
    seed: int = 1


def _seconds(effort: Effort, setup: float, samples: int) -> float:
    """As told, or what the budget leaves each sample once every cell is set up."""
    if effort.seconds is not None:
        return effort.seconds
    share = (effort.budget - setup) / max(samples, 1)
    return round(max(LEAST_SECONDS, share - effort.warmup - SAMPLE_OVERHEAD), 4)


def word(value: object) -> str:
    """A number as a person would type it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def plan(
    bench: str,
    points: list[dict],
    names: Callable[[dict], list[str]],
    effort: Effort,
    setup: Callable[[dict], float],
) -> list[Cell]:
    """A cell for each point; a point's keys are the driver's options of the same names."""
    rows = [names(point) for point in points]
    samples = sum(map(len, rows)) * effort.rounds
    length = _seconds(effort, sum(setup(p) + CELL_OVERHEAD for p in points), samples)
    same = {
        "seconds": length,
        "rounds": effort.rounds,
        "warmup": effort.warmup,
        "seed": effort.seed,
        "pin": effort.pin,
    }
    cells = []
    for point, own in zip(points, rows, strict=True):
        told = point | same
        texts = [text for key, value in told.items() for text in (f"--{key}", word(value))]
        cells.append(
            Cell(
                {"bench": bench, **told, "candidates": own}, [*texts, "--candidates", ",".join(own)]
            )
        )
    return cells


def expected_seconds(cells: list[Cell], setup: Callable[[dict], float]) -> float:
    return sum(
        CELL_OVERHEAD
        + setup(c.parameters)
        + c.sample_count * (c.parameters["seconds"] + c.parameters["warmup"] + SAMPLE_OVERHEAD)
        for c in cells
    )


def threads(cell: dict) -> str:
    return counted(cell["threads"], "thread")


# ---- The options --------------------------------------------------------------------------------

THREADS = click.option(
    "--threads",
    metavar="RANGE",
    help="Thread counts: 4, 1,2,8 or first:last:step.  [default: 1,2,4 and so on up to all CPUs]",
)


def effort_options(request: type[Effort], quick: str) -> tuple:
    """The defaults are those of the request."""
    return (
        click.option("--quick", is_flag=True, help=f"{quick}; what is given besides still counts."),
        click.option("--seconds", type=options.SECONDS, metavar="SECONDS",
                     help="Length of one sample; instead of --budget."),
        click.option("--budget", type=options.BUDGET, metavar="SECONDS",
                     help="Choose --seconds so that all samples together take about this long.  "
                     f"[default: {request.budget:g}]"),
        options.rounds(request.rounds),
        click.option("--warmup", type=options.WARMUP, metavar="SECONDS",
                     help="Seconds each sample runs before it counts."),
        click.option("--pin", default=request.pin, show_default=True, metavar="auto|none|CPUS",
                     help="auto: thread i on the i-th allowed CPU; or a list such as 0,2,4-7."),
        click.option("--seed", type=click.IntRange(0, 2**62), default=request.seed,
                     show_default=True, metavar="N", help="Seed of what is done to what."),
        options.rows(),
    )  # fmt: skip


def from_call(call: Call, request: type[Effort], quick: dict, own: dict) -> Effort:
    """The request that a call asks for: what was given, then --quick, then the defaults."""
    options.one_length(call.options, "seconds", "budget")
    counts = (
        ranges.threads(call["threads"])
        if call["threads"]
        else ranges.doubling(len(ranges.allowed_cpus()))
    )
    return request(
        **(quick if call["quick"] else {})
        | own
        | call.given("seconds", "budget", "warmup", "rounds", "seed")
        | {"threads": counts, "pin": options.pin(call["pin"])}
    )


def planned(cells: list[Cell], missing: list[dict], setup: Callable[[dict], float]) -> Plan:
    return Plan(cells, missing, expected_seconds(cells, setup), keeps_complete=True)
