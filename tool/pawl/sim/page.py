# SPDX-License-Identifier: MIT
"""One self-contained page of a simulation."""

from __future__ import annotations

import base64
import io

import jinja2
from matplotlib.figure import Figure

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>simulated: {{ r.title }}</title>
<style>body{font:16px sans-serif;max-width:70em;margin:2em auto}td,th{padding:.2em .8em;
text-align:right}td:first-child,th:first-child{text-align:left}</style>
<h1>Simulated: the published LRU job on {{ r.title }}</h1>
<p>Nothing here was measured. {% if r.error_p90 is not none %}Nine of ten validated points were
within {{ "%.0f" | format(100 * r.error_p90) }} % of the measurement.{% else %}No measurement of
this machine is known, so neither is the error.{% endif %}</p>
{% for hit, image in images.items() %}<h2>{{ hit }} % hits (simulated)</h2>
<img alt="simulated lookups per second by cores" src="data:image/png;base64,{{ image }}">
<table><tr><th>lock (simulated)<th>cores<th>million lookups/s</tr>
{% for p in r.points if p.hit == hit %}<tr><td>{{ p.model }}<td>{{ p.cores }}
<td>{{ "%.3f" | format(p.lookups_per_s / 1e6) }}</tr>
{% endfor %}</table>{% endfor %}</html>
"""


def _plot(result: dict, hit: int) -> str:
    figure = Figure(figsize=(9, 5), dpi=100)
    axes = figure.subplots()
    for model in dict.fromkeys(p["model"] for p in result["points"]):
        points = [p for p in result["points"] if p["model"] == model and p["hit"] == hit]
        x = [p["cores"] for p in points]
        y = [p["lookups_per_s"] / 1e6 for p in points]
        (line,) = axes.plot(x, y, marker="o", label=model)
        if result["error_p90"] is not None:
            e = result["error_p90"]
            axes.fill_between(x, [v * (1 - e) for v in y], [v * (1 + e) for v in y], alpha=0.12,
                              color=line.get_color())
    axes.set_xlabel("cores")
    axes.set_ylabel("million lookups/s (simulated)")
    axes.set_title(f"simulated: {result['title']}, {hit} % hits")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return base64.b64encode(out.getvalue()).decode()


def html(result: dict) -> str:
    images = {hit: _plot(result, hit) for hit in dict.fromkeys(p["hit"] for p in result["points"])}
    return jinja2.Environment(autoescape=True).from_string(_PAGE).render(r=result, images=images)
