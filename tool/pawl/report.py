# SPDX-License-Identifier: MIT
"""Draws saved results as one self-contained page or as pictures.

Everything drawn names the data it was drawn from by their digest, so that `--check` can say
whether a committed picture is stale.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

from pawl import __version__, candidates, kinds, measure, output, sheet, stats, table
from pawl.errors import Failure

MARK = "pawl-source "


def source(found: list[dict]) -> str:
    text = json.dumps(found, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _uri(picture: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode()


def _best(rows: list[dict], test) -> dict | None:
    return next((r for r in rows if test(r["candidate"])), None)


def headline(cell: dict) -> dict | None:
    """The one line a reader wants first: our main strategy against the best pthread row."""
    ours = _best(cell["summary"], lambda n: n == candidates.MAIN) or _best(
        cell["summary"], lambda n: "pawl" in n)
    theirs = _best(cell["summary"], lambda n: n in candidates.PTHREAD)
    if not ours or not theirs:
        return None
    values = stats.paired(stats.rates(cell["samples"]), ours["candidate"], theirs["candidate"])
    return {"ours": ours["candidate"], "theirs": theirs["candidate"], **stats.ratio(values)}


def _cell_view(result: dict, cell: dict) -> dict:
    kind = result["kind"]
    lost = {id(r) for r in table.losses(kind, cell["summary"])}
    latency = table.timed(cell)
    rows = [{"text": table.cells(kind, rank, row, latency, cell),
             "ours": "pawl" in row["candidate"],
             "lost": id(row) in lost,
             "baseline": row["candidate"] == result["baseline"]}
            for rank, row in enumerate(cell["summary"], 1)]
    return {"heading": table.heading(cell).split("\n"), "label": measure.label(cell),
            "rows": rows, "unavailable": table.unavailable(result, cell),
            "headline": headline(cell) if kind == "lru" else None,
            "losses": [r["candidate"] for r in cell["summary"] if id(r) in lost],
            "columns": table.columns(kind, result["baseline"], latency, cell)}


def _facts(result: dict) -> list[tuple[str, object]]:
    machine = result["machine"]
    dirty = {True: " with uncommitted changes", False: "", None: ""}[result.get("dirty")]
    facts = [
        ("CPU", machine.get("cpu")),
        ("CPUs", f"{machine.get('cpus')} ({machine.get('cpus_allowed')} allowed), "
                 f"{machine.get('cores_per_socket')} cores a socket, "
                 f"{machine.get('threads_per_core')} threads a core"),
        ("Caches", ", ".join(f"{n.upper()} {machine[n]}" for n in ("l1d", "l2", "l3")
                             if machine.get(n))),
        ("Hypervisor", machine.get("hypervisor")), ("Governor", machine.get("governor")),
        ("Memory", f"{machine.get('memory_mib')} MiB"), ("Kernel", result.get("kernel")),
        ("Compiler", result.get("compiler")), ("Flags", result.get("flags")),
        ("Commit", f"{result['commit']}{dirty}" if result.get("commit") else "unknown"),
        ("Pawl", result.get("pawl_version")), ("Command", result.get("command")),
        ("Measured", f"{result.get('started')} to {result.get('finished')}"
         + (f", resumed {result['resumed']} times" if result.get("resumed") else "")),
    ]
    return [(name, value) for name, value in facts if value]


def _plot():
    """The plotting library takes a second to load: only who draws waits for it."""
    from pawl import plot

    return plot


def _title(kind: str) -> str:
    if view := kinds.of(kind):
        return view.TITLE
    return {"lru": "Cache lookups under each lock", "pairs": "One thread alone"}[kind]


def _section(result: dict, digest: str) -> dict:
    plot = _plot()
    drawn = plot.figures(result)
    pictures = [{"alt": name, "uri": _uri(plot.render(figure, "svg", digest))}
                for name, figure in drawn]
    plot.close(drawn)
    own = kinds.own_tables(result["kind"])
    return {"title": result["title"] or _title(result["kind"]),
            "kind": result["kind"], "pictures": pictures, "facts": _facts(result),
            "own": own and own.section(result),
            "cells": [] if own else [_cell_view(result, c) for c in result["cells"]],
            "more": kinds.more(result),
            "interrupted": result.get("interrupted"), "baseline": result["baseline"],
            "unavailable": result.get("unavailable", [])}


def page(found: list[dict], title: str | None) -> bytes:
    import jinja2

    digest = source(found)
    environment = jinja2.Environment(loader=jinja2.PackageLoader("pawl"), autoescape=True,
                                     trim_blocks=True, lstrip_blocks=True)
    sections = [_section(r, digest) for r in found if r["cells"]]
    text = environment.get_template("report.html.j2").render(
        title=title or (sections[0]["title"] if len(sections) == 1 else "Pawl: measured locks"),
        sections=sections, mark=MARK + digest, version=__version__)
    return text.encode()


def _pictures(found: list[dict], form: str) -> list[bytes]:
    plot, digest = _plot(), source(found)
    pictures = []
    for result in found:
        drawn = plot.figures(result)
        pictures += [plot.render(figure, form, digest) for _, figure in drawn]
        plot.close(drawn)
    if not pictures:
        raise Failure("nothing to draw: no cell has a complete sample.")
    return pictures


def write(found: list[dict], html: Path | None = None, png: Path | None = None,
          svg: Path | None = None, title: str | None = None) -> None:
    if html:
        output.write(html, page(found, title))
    if png:
        output.write(png, sheet.png(_pictures(found, "png")))
    if svg:
        output.write(svg, sheet.svg(_pictures(found, "svg")))


def check(found: list[dict], files: list[Path]) -> None:
    """A file drawn from these data carries their digest; the drawing itself is not compared."""
    wanted = (MARK + source(found)).encode()
    for path in files:
        try:
            drawn = path.read_bytes()
        except OSError as error:
            raise Failure(f"{path} cannot be read: {error.strerror}; "
                          "draw it with the same command without --check.") from error
        if wanted not in drawn:
            raise Failure(f"{path} is stale: it was drawn from other data; "
                          "draw it again with the same command without --check.")
