# SPDX-License-Identifier: MIT
"""Plots of `pawl bench lru`: throughput over threads as the source drew it, and ranked rows with
quartiles."""

from collections.abc import Callable

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pawl.core import candidates, plot
from pawl.core.table import counted
from pawl.kinds.lru import first
from pawl.kinds.lru.table import measured_hits, workload

# Two points are no curve: two rankings say more.
CURVE_POINTS = 3
# One hue for our strategies from dark to light; pthread in a warm one.
LINES = {
    candidates.MAIN: ("#0b6e99", "-"),
    "r+rs>w/pawl_spin32": ("#2fa4c9", "-"),
    "r+rw/pawl_spin32": ("#3b8f5c", "-"),
    "r+w/pawl_spin32": ("#7b61a8", "-"),
    "s/pawl_spin32": ("#7a8896", "--"),
    "w/pawl_spin32": ("#7a8896", ":"),
    candidates.RWLOCK: ("#c4561a", "-"),
    candidates.SPIN: ("#d69c2f", "-"),
    candidates.MUTEX: ("#a8323e", "-"),
}
# The same strategy on other locks, where a run compares these. Curves have no room for them.
WIDER = LINES | {
    "r+s>w/pawl_spin64": ("#2fa4c9", "--"),
    "r+s>w/pawl_lock32": ("#3b8f5c", "-"),
    "r+s>w/pawl_lock64": ("#7b61a8", "-"),
}


# ---- Labels at the ends of lines ----------------------------------------------------------------


def _spread(places: list[float], gap: float) -> list[float]:
    """Moves labels apart, both ways, by as little as keeps them legible.

    Least squares: neighbours that would overlap form a block around their common middle.
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    blocks: list[list[float]] = []
    for rank, index in enumerate(order):
        blocks.append([places[index] - rank * gap])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    flat = [_mean(block) for block in blocks for _ in block]
    moved = [0.0] * len(places)
    for rank, index in enumerate(order):
        moved[index] = flat[rank] + rank * gap
    return moved


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _hue(name: str) -> str:
    return WIDER[name][0]


def _label_ends(
    axes: Axes, ends: list[tuple[str, float, float]], size: float, hue: Callable[[str], str] = _hue
) -> None:
    top = axes.get_ylim()[1]
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    gap = top * (size + 2) / max(height, 1)
    spread = _spread([y for _, _, y in ends], gap)
    shift = max(0.0, gap / 2 - min(spread))
    for (name, x, y), place in zip(ends, spread, strict=True):
        axes.annotate(
            name,
            xy=(x, y),
            xycoords="data",
            xytext=(1.04, (place + shift) / top),
            textcoords="axes fraction",
            color=hue(name),
            fontsize=size,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": plot.MUTED,
                "lw": 0.5,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def curves(axes: Axes, cells: list[dict], title: str, labels: bool, size: float = 8) -> None:
    """Median throughput over threads, quartiles as bars, lines from zero."""
    threads = [c["threads"] for c in cells]
    ends, top = [], 0.0
    for name, (hue, dash) in LINES.items():
        points = [(c["threads"], r) for c in cells for r in c["summary"] if r["candidate"] == name]
        if not points:
            continue
        xs, ys = [x for x, _ in points], [r["median"] / 1e6 for _, r in points]
        errors = [
            [(r["median"] - r["q1"]) / 1e6 for _, r in points],
            [(r["q3"] - r["median"]) / 1e6 for _, r in points],
        ]
        axes.plot(
            xs,
            ys,
            color=hue,
            linestyle=dash,
            marker="o",
            markersize=3.5,
            linewidth=1.8 if name == candidates.MAIN else 1.2,
        )
        axes.errorbar(xs, ys, yerr=errors, fmt="none", ecolor=hue, elinewidth=0.8, alpha=0.35)
        ends.append((name, xs[-1], ys[-1]))
        top = max(top, *(r["q3"] / 1e6 for _, r in points))
    axes.set_ylim(0, top * 1.08 or 1)
    axes.set_xlim(min(threads) - 0.15, max(threads) + 0.15)
    axes.set_xticks(threads if len(threads) <= 8 else threads[:: -(-len(threads) // 8)])
    axes.set_title(title)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.grid(axis="y", color=plot.FAINT, linewidth=0.6)
    if labels:
        _label_ends(axes, ends, size)


# ---- Rankings and curves of one workload --------------------------------------------------------


def _with_hits(text: str, cell: dict) -> str:
    hits = measured_hits(cell)
    return text if hits is None else f"{text}; measured hits {hits * 100:.1f} %"


def _ranked(axes: Axes, cell: dict, baseline: str) -> None:
    rows = [
        {
            "candidate": r["candidate"],
            "value": r["median"] / 1e6,
            "low": r["q1"] / 1e6,
            "high": r["q3"] / 1e6,
            "ratio": r["ratio_to_baseline"],
        }
        for r in cell["summary"]
    ]
    plot.bars(
        axes,
        rows,
        baseline,
        counted(cell["threads"], "thread"),
        "million lookups/s: median, quartiles; x: times " + baseline.split("/")[-1],
    )


def workload_figure(result: dict, name: str, cells: list[dict]) -> Figure:
    """Ranked rows; beside them curves, or the other thread count where a curve has two points."""
    last, drawn = cells[-1], any(r["candidate"] in LINES for r in cells[-1]["summary"])
    height = max(3.4, 0.2 * max(len(c["summary"]) for c in cells) + 1.75)
    figure = pyplot.figure(figsize=(11, height))
    bottom, top = 0.78 / height, 1 - 0.75 / height
    high = top - bottom
    if len(cells) >= CURVE_POINTS and drawn:
        left = figure.add_axes((0.045, bottom, 0.29, high))
        curves(left, cells, "million lookups a second over threads", labels=True)
        left.set_xlabel("threads (published strategies; 32-bit lock)")
        panels = [((0.615, bottom, 0.37, high), last)]
    elif len(cells) == 2:
        panels = [((0.165, bottom, 0.325, high), cells[0]), ((0.665, bottom, 0.325, high), last)]
    else:
        panels = [((0.17, bottom, 0.815, high), last)]
    for place, cell in panels:
        _ranked(figure.add_axes(place), cell, result["baseline"])
    plot.framed(figure, result, _with_hits(name, cells[-1]))
    plot.sides(figure, height)
    return figure


# ---- The first report ---------------------------------------------------------------------------


def _first_bars(result: dict, cell: dict) -> Figure:
    rows = [
        {
            "candidate": row["name"],
            "hue": plot.colour(row["candidate"]),
            "value": row["median"] / 1e6,
            "low": row["q1"] / 1e6,
            "high": row["q3"] / 1e6,
            "ratio": row["ratio_to_baseline"],
        }
        for row in first.bars(cell)
    ]
    height = 0.3 * len(rows) + 1.5
    figure = pyplot.figure(figsize=(9.5, height))
    axes = figure.add_axes((0.19, 0.78 / height, 0.79, 1 - 1.45 / height))
    label = "million lookups/s: median, quartiles; x: times pthread_rwlock"
    plot.bars(axes, rows, first.named({"candidate": result["baseline"]}), "", label)
    plot.headline(
        figure,
        {"title": ""},
        f"The best lock of each library, {counted(cell['threads'], 'thread')}",
    )
    plot.footer(figure, result)
    return figure


def _first_curves(result: dict, cells: list[dict]) -> Figure:
    """The same rows over the number of threads."""
    figure = pyplot.figure(figsize=(9.5, 3.6))
    axes = figure.add_axes((0.06, 0.19, 0.66, 0.66))
    ends = []
    for row in first.bars(cells[-1]):
        points = [
            (place, r["median"] / 1e6)
            for place, c in enumerate(cells)
            for r in c["summary"]
            if r["candidate"] == row["candidate"]
        ]
        hue = plot.colour(row["candidate"])
        wide = 2.2 if row["candidate"] == first.OURS else 1.1
        axes.plot(*zip(*points, strict=True), color=hue, marker="o", markersize=3.5, linewidth=wide)
        ends.append((row["name"], *points[-1]))
    axes.set_xticks(range(len(cells)), [c["threads"] for c in cells])
    axes.set_ylim(0, None)
    axes.set_xlabel("threads")
    axes.grid(axis="y", color=plot.FAINT, linewidth=0.6)
    _label_ends(axes, ends, 8, lambda name: plot.OURS if name.startswith("Pawl") else plot.INK)
    plot.headline(figure, {"title": ""}, "Million lookups a second over the number of threads")
    plot.footer(figure, result)
    return figure


def first_figures(result: dict, cells: list[dict]) -> list[tuple[str, Figure]]:
    with matplotlib.rc_context(plot.STYLE):
        drawn = [("the best lock of each library", _first_bars(result, cells[-1]))]
        if len(cells) > 1:
            drawn.append(("the same over threads", _first_curves(result, cells)))
    return drawn


# ---- The grid -----------------------------------------------------------------------------------


def grid_figure(result: dict, cells: list[dict]) -> Figure:
    """The source's graphs: a row a miss cost, a column a hit ratio."""
    hits = sorted({c["hit_nominal"] for c in cells})
    costs = sorted({c["miss_cost"] for c in cells})
    figure, grid = pyplot.subplots(
        len(costs),
        len(hits),
        squeeze=False,
        figsize=(2.1 * len(hits) + 1.6, 2.1 * len(costs) + 0.9),
    )
    figure.subplots_adjust(
        left=0.03,
        right=0.9,
        top=1 - 0.75 / (2.1 * len(costs) + 0.9),
        bottom=0.62 / (2.1 * len(costs) + 0.9),
        wspace=0.3,
        hspace=0.45,
    )
    for row, cost in enumerate(costs):
        for column, hit in enumerate(hits):
            axes = grid[row][column]
            here = sorted(
                (c for c in cells if (c["hit_nominal"], c["miss_cost"]) == (hit, cost)),
                key=lambda c: c["threads"],
            )
            if here:
                curves(
                    axes,
                    here,
                    f"hit {hit:g} %, cost {cost}",
                    labels=column == len(hits) - 1,
                    size=6.5,
                )
            else:
                axes.set_axis_off()
            axes.tick_params(labelsize=7)
            if row == len(costs) - 1:
                axes.set_xlabel("threads", fontsize=7)
    return plot.framed(figure, result, "million lookups a second over threads")


def ratio_figure(result: dict, cells: list[dict]) -> Figure:
    """The grid at one number of threads: times pthread_rwlock over the hit ratio."""
    costs = sorted({c["miss_cost"] for c in cells})
    figure, grid = pyplot.subplots(
        1, len(costs), squeeze=False, sharey=True, figsize=(3.3 * len(costs) + 1.6, 3.9)
    )
    figure.subplots_adjust(left=0.06, right=0.84, top=0.81, bottom=0.2, wspace=0.12)
    # Medians set the scale; the interval of a disturbed cell may leave the panel at the top.
    top = (
        max(
            [
                1.0,
                *(
                    r["ratio_to_baseline"] or 1
                    for c in cells
                    for r in c["summary"]
                    if r["candidate"] in WIDER
                ),
            ]
        )
        * 1.15
    )
    for axes, cost in zip(grid[0], costs, strict=True):
        here = sorted((c for c in cells if c["miss_cost"] == cost), key=lambda c: c["hit_nominal"])
        _ratio_lines(axes, here, top, last=cost == costs[-1])
        axes.set_title(f"miss cost {cost}")
        axes.set_xlabel("nominal hit ratio, %")
    grid[0][0].set_ylabel("times " + result["baseline"].split("/")[-1])
    threads = cells[0]["threads"]
    return plot.framed(
        figure,
        result,
        f"throughput against {result['baseline']}, {threads} threads (lines: 95 % intervals)",
    )


def _ratio_lines(axes: Axes, cells: list[dict], top: float, last: bool) -> None:
    hits = [c["hit_nominal"] for c in cells]
    ends = []
    axes.axhline(1, color=LINES[candidates.RWLOCK][0], linewidth=0.8)
    for name, (hue, dash) in WIDER.items():
        points = [
            (place, r)
            for place, c in enumerate(cells)
            for r in c["summary"]
            if r["candidate"] == name and r["ratio_to_baseline"]
        ]
        if not points:
            continue
        xs, ys = [p for p, _ in points], [r["ratio_to_baseline"] for _, r in points]
        axes.plot(
            xs,
            ys,
            color=hue,
            linestyle=dash,
            marker="o",
            markersize=3.5,
            linewidth=1.8 if name == candidates.MAIN else 1.1,
        )
        bars = [(p, r) for p, r in points if r["ratio_ci95_low"] is not None]
        axes.vlines(
            [p for p, _ in bars],
            [r["ratio_ci95_low"] for _, r in bars],
            [r["ratio_ci95_high"] for _, r in bars],
            color=hue,
            linewidth=0.8,
        )
        ends.append((name, xs[-1], ys[-1]))
    axes.set_xticks(range(len(hits)), [f"{h:g}" for h in hits])
    axes.set_ylim(0, top)
    axes.grid(axis="y", color=plot.FAINT, linewidth=0.6)
    if last and ends:
        _label_ends(axes, ends, 8)


def figures(result: dict) -> list[tuple[str, Figure]]:
    groups: dict[str, list[dict]] = {}
    for cell in sorted(result["cells"], key=lambda c: c["threads"]):
        groups.setdefault(workload(cell), []).append(cell)
    if len(groups) <= 3:
        return [(name, workload_figure(result, name, cells)) for name, cells in groups.items()]
    several = len({c["threads"] for c in result["cells"]}) > 1
    return [("all cells", (grid_figure if several else ratio_figure)(result, result["cells"]))]
