# SPDX-License-Identifier: MIT
"""Plots of `pawl bench latency`: how the times are distributed, and what pairs cost."""

from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pawl.core import plot, stats
from pawl.kinds.latency import samples as latency_samples
from pawl.kinds.latency.plan import PAIRS
from pawl.kinds.latency.samples import QUANTILES
from pawl.kinds.latency.table import workload

LOOKS = {
    "pawl_sift": ("#0b6e99", "-", 2.0),
    "pthread_rwlock": ("#c4561a", "-", 1.2),
    "pthread_rwlock_writer": ("#d69c2f", "--", 1.2),
    "pthread_rwlock_nonrecursive": ("#a8323e", "-", 1.2),
    "pawl_lock64": ("#2fa4c9", "-", 1.2),
    "absl_mutex": ("#3b8f5c", "-", 1.2),
    "nsync_mu": ("#8aa63a", "-", 1.2),
    "none": ("#9aa3ad", ":", 1.2),
}
# The place of the maximum above p99.99.
TOP = 5.0
# What is drawn of a scenario: heading, measure, whose rows; None: blocked signals of all threads.
PANELS = (
    ("signals blocked", None, ""),
    ("a writer's wait", "lock", "writer/"),
    ("a handler's wait", "lock", "interrupt/"),
)


def _series(samples: list[dict], measure: str | None, who: str) -> dict | None:
    if measure is None:
        return latency_samples.blocked(samples)
    return latency_samples.together(
        [row[measure] for s in samples for row in s["rows"] if row["who"].startswith(who)]
    )


def _found(cell: dict, measure: str | None, who: str) -> dict[str, dict]:
    """lock -> series, in nanoseconds."""
    found = {}
    for name in cell["candidates"]:
        samples = stats.of_candidate(cell["samples"], name)
        if samples and (series := _series(samples, measure, who)):
            per_ns = latency_samples.per_ns(samples)
            found[name] = {k: series[k] / per_ns for k in (*QUANTILES, "max")}
    return found


def _scenario(result: dict, cell: dict) -> Figure | None:
    panels = [
        (title, found) for title, measure, who in PANELS if (found := _found(cell, measure, who))
    ]
    if not panels:
        return None
    width = 3.3 * len(panels) + 2.4
    figure, axes = pyplot.subplots(1, len(panels), squeeze=False, figsize=(width, 3.5))
    figure.subplots_adjust(
        left=0.55 / width, right=1 - 2.15 / width, top=0.8, bottom=0.2, wspace=0.25
    )
    for place, (title, found) in zip(axes[0], panels, strict=True):
        plot.distribution(place, found, QUANTILES, TOP, LOOKS, least=1)
        place.set_title(title, fontsize=9)
        place.set_xlabel("ns, log scale", fontsize=8)
    names = [n for n in cell["candidates"] if any(n in found for _, found in panels)]
    figure.legend(
        [Line2D([], [], **plot.look(n, LOOKS)) for n in names],
        names,
        loc="center right",
        fontsize=7.5,
        frameon=False,
    )
    return plot.framed(figure, result, workload(cell))


def _pairs(result: dict, cell: dict) -> Figure:
    rows = cell["summary"]
    height = 0.24 * len(rows) + 1.5
    figure = pyplot.figure(figsize=(9.5, height))
    axes = figure.add_axes((0.27, 0.75 / height, 0.66, 1 - 1.3 / height))
    plot.dots(axes, rows)
    plot.rows(
        axes,
        [r["candidate"] for r in rows],
        [f"{r['median']:.1f} ns" for r in rows],
        "ns of a pair, log scale: median, quartiles",
    )
    return plot.framed(figure, result, workload(cell))


def figures(result: dict) -> list[tuple[str, Figure]]:
    drawn = [
        (workload(c), (_pairs if c["scenario"] == PAIRS else _scenario)(result, c))
        for c in result["cells"]
    ]
    return [(caption, figure) for caption, figure in drawn if figure is not None]
