# SPDX-License-Identifier: MIT
"""One self-contained page of a simulation."""

import base64
import io

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>simulated: {{ r.title }}</title>
<style>body{font:16px sans-serif;max-width:70em;margin:2em auto}td,th{padding:.2em .8em;
text-align:right}td:first-child,th:first-child{text-align:left}</style>
<h1>Simulated: {{ r.workload }} on {{ r.title }}</h1>
<p>Nothing here was measured. The model is {{ r.known_for }}. Cells show the median and the range of
{{ r.seeds | length }} seeds, and so do the bands.</p>
{% for group, image in images.items() %}<h2>{{ group }} (simulated)</h2>
<img alt="simulated {{ r.unit }} by cores" src="data:image/png;base64,{{ image }}">
<table><tr><th>lock (simulated)<th>cores<th>million {{ r.unit }}<th>error
{% if fair %}<th>Jain's index, and a thread's sections in percent of the mean{% endif %}</tr>
{% for p in r.points if p.group == group %}<tr><td>{{ p.model }}<td>{{ p.cores }}
<td>{{ cell(p, r.rate) }}<td>{{ error([p]) }}
{% if fair %}<td>{{ fairness(p) }}{% endif %}</tr>
{% endfor %}</table>{% endfor %}</html>
"""


def fairness(point: dict) -> str:
    return (
        f"{point['fairness']:.2f} {100 * point['slowest_thread']:.0f}-"
        f"{100 * point['fastest_thread']:.0f}"
    )


def _plot(result: dict, group: str) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), dpi=100)
    axes = figure.subplots()
    for model in dict.fromkeys(p["model"] for p in result["points"]):
        points = [p for p in result["points"] if p["model"] == model and p["group"] == group]
        x = [p["cores"] for p in points]
        (line,) = axes.plot(x, [p[result["rate"]] / 1e6 for p in points], marker="o", label=model)
        axes.fill_between(
            x,
            [p["least"] / 1e6 for p in points],
            [p["most"] / 1e6 for p in points],
            alpha=0.12,
            color=line.get_color(),
        )
    axes.set_xlabel("cores")
    axes.set_ylabel(f"million {result['unit']} (simulated)")
    axes.set_title(f"simulated: {result['title']}, {group}")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return base64.b64encode(out.getvalue()).decode()


def html(result: dict) -> str:
    import jinja2

    from pawl.sim import grid

    images = {
        group: _plot(result, group) for group in dict.fromkeys(p["group"] for p in result["points"])
    }
    return (
        jinja2.Environment(autoescape=True)
        .from_string(_PAGE)
        .render(
            r=result,
            images=images,
            fair=all("slowest_thread" in p for p in result["points"]),
            fairness=fairness,
            cell=grid.cell,
            error=grid.row_error,
        )
    )


_RESIDUALS = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>simulated: residuals of {{ title }}</title>
<style>body{font:16px sans-serif;max-width:80em;margin:2em auto}</style>
<h1>Simulated over measured: {{ title }}</h1>
<p>Each point is one of the unseen points. 1.0: the simulation says what was measured.</p>
{% for name, image in images.items() %}<h2>{{ name }} (simulated)</h2>
<img alt="simulated over measured, {{ name }}" src="data:image/png;base64,{{ image }}">
{% endfor %}</html>
"""


def _residual_plot(points: list, predicted: dict, real: dict, strategy: str) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), dpi=100)
    both = figure.subplots(1, 2, sharey=True)
    for axes, per_core in zip(both, (1, 2), strict=True):
        for hit in sorted({p.hit for p in points}):
            chosen = [
                p
                for p in points
                if p.hit == hit and p.per_core == per_core and p.strategy == strategy
            ]
            axes.plot(
                [p.cores for p in chosen],
                [predicted[p] / real[p] for p in chosen],
                ".",
                label=f"{hit} % hits",
                alpha=0.7,
            )
        axes.axhspan(0.85, 1.15, alpha=0.1)
        axes.axhline(1, linewidth=0.8)
        axes.set_xlabel(f"cores, {'one thread' if per_core == 1 else 'two threads'} each")
    both[0].set_ylabel("simulated / measured")
    both[1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return base64.b64encode(out.getvalue()).decode()


def residuals(title: str, predicted: dict, real: dict) -> str:
    """A page with a pair of plots for each strategy."""
    import jinja2

    points = sorted(p for p in predicted if p.unseen)
    images = {
        s: _residual_plot(points, predicted, real, s)
        for s in dict.fromkeys(p.strategy for p in points)
    }
    return (
        jinja2.Environment(autoescape=True)
        .from_string(_RESIDUALS)
        .render(title=title, images=images)
    )
