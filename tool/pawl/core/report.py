# SPDX-License-Identifier: MIT
"""Draws saved results as one self-contained page or as pictures.

Everything drawn names the data it was drawn from by their digest, so that `--check` can say
whether a picture that was saved belongs to them.
"""

import base64
import hashlib
import json
from pathlib import Path

from pawl import __version__
from pawl.core import output, results, sheet, table, verdict
from pawl.core.errors import BadInput, Failure
from pawl.core.first import First
from pawl.core.kind import Kind

MARK = "pawl-source "
Found = list[tuple[Kind, dict]]


def source(found: Found) -> str:
    """Of the data alone: rows that were made of the samples change nothing."""
    text = json.dumps(
        [results.bare(result) for _, result in found], sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(text.encode()).hexdigest()


def render(package: str, name: str, **values) -> str:
    """A template that lies beside the module which shows it."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(**values)


def _facts(result: dict) -> list[tuple[str, object]]:
    machine = result["machine"]
    dirty = {True: " with uncommitted changes", False: "", None: ""}[result.get("dirty")]
    facts = [
        ("CPU", machine.get("cpu")),
        ("CPUs", f"{machine.get('cpus')} ({machine.get('cpus_allowed')} allowed), "
         f"{machine.get('cores_per_socket')} cores a socket, "
         f"{table.counted(machine.get('threads_per_core') or 1, 'thread')} a core"),
        ("Caches",
         ", ".join(f"{n.upper()} {machine[n]}" for n in ("l1d", "l2", "l3") if machine.get(n))),
        ("Hypervisor", machine.get("hypervisor")),
        ("Governor", machine.get("governor")),
        ("Memory", f"{machine.get('memory_mib')} MiB"),
        ("Kernel", result.get("kernel")),
        ("Compiler", result.get("compiler")),
        ("Flags", result.get("flags")),
        ("Commit", f"{result['commit']}{dirty}" if result.get("commit") else "unknown"),
        ("Pawl", result.get("pawl_version")),
        ("Command", result.get("command")),
        (
            "Measured",
            f"{result.get('started')} to {result.get('finished')}"
            + (f", resumed {result['resumed']} times" if result.get("resumed") else ""),
        ),
    ]  # fmt: skip
    return [(name, value) for name, value in facts if value]


def _pictures(kind: Kind, result: dict, form: str, digest: str) -> list[tuple[str, bytes]]:
    # The plotting library takes a second to load: only a drawing waits for it.
    from pawl.core import plot

    drawn = plot.draw(kind, result)
    pictures = [(caption, plot.render(figure, form, digest)) for caption, figure in drawn]
    plot.close(drawn)
    return pictures


def _uri(picture: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode()


# So many cells, and rows of each, the words beside a picture name.
ALT_CELLS, ALT_ROWS = 4, 5


def _in_words(caption: str, cells: list[dict]) -> str:
    """What a picture shows, for who cannot see it: the first rows of its cells, with numbers."""
    shown = [c for c in cells if c["label"].startswith(caption)] or cells
    said = [
        f"{c['label']}: " + ", ".join(" ".join(row["text"][1:3]) for row in c["rows"][:ALT_ROWS])
        for c in shown[:ALT_CELLS]
        if c["rows"]
    ]
    if not said:
        return f"Plot: {caption}. The tables of this page have its numbers."
    unit = shown[0]["columns"][2].replace("\n", " ").strip()
    more = "; the tables below have the rest" if len(shown) > ALT_CELLS else ""
    return f"Plot: {caption}. First rows, {unit}: {'; '.join(said)}{more}."


def _strategies(kind: Kind, cells: list[dict]) -> list[tuple[str, str]]:
    """Those strategies that a row of the page has."""
    used = {row["candidate"].split("/")[0] for cell in cells for row in cell["summary"]}
    return [(name, text) for name, text in kind.explained if name in used]


def _section(kind: Kind, result: dict, digest: str) -> dict:
    cells = kind.views(kind, result)
    return {
        "title": result["title"] or kind.title,
        "facts": _facts(result),
        "verdict": verdict.verdict(kind, result),
        "short": verdict.short(kind, result),
        "noise": verdict.noise(kind, result),
        "disturbed": verdict.disturbed(result),
        "cpu": result["machine"].get("cpu"),
        "strategies": _strategies(kind, result["cells"]),
        "pictures": [
            {"alt": _in_words(caption, cells), "uri": _uri(picture)}
            for caption, picture in _pictures(kind, result, "svg", digest)
        ],
        "body": kind.body(result),
        "cells": cells,
        "more": kind.more(result),
        "interrupted": result.get("interrupted"),
        "baseline": result["baseline"],
    }


def _top(first: First, digest: str) -> dict:
    """What stands above all sections, which are folded below it."""
    from pawl.core import plot

    drawn = first.figures()
    pictures = [
        {"alt": f"Plot: {caption}.", "uri": _uri(plot.render(figure, "svg", digest))}
        for caption, figure in drawn
    ]
    plot.close(drawn)
    return {
        "sentence": first.sentence,
        "pictures": pictures,
        "expected": first.expected,
        "next": first.next,
    }


def first_of(found: Found, simulated: Path | None) -> First:
    """The first report of the first result."""
    kind, result = found[0]
    first = kind.first(result, simulated)
    if first is None:
        raise BadInput(
            f"--first: this result of '{result['kind']}' lacks the rows of a first report; measure "
            f"with --candidates first, where pawl bench {result['kind']} --help names that group."
        )
    return first


def page(found: Found, title: str | None, first: First | None = None) -> bytes:
    digest = source(found)
    sections = [_section(kind, result, digest) for kind, result in found if result["cells"]]
    return render(
        "pawl.core",
        "report.html.j2",
        sections=sections,
        first=first and _top(first, digest),
        mark=MARK + digest,
        version=__version__,
        title=title or (sections[0]["title"] if len(sections) == 1 else "Pawl: measured locks"),
    ).encode()


def _sheet(found: Found, form: str) -> list[bytes]:
    digest = source(found)
    pictures = [
        picture for kind, result in found for _, picture in _pictures(kind, result, form, digest)
    ]
    if not pictures:
        raise Failure("nothing to draw: no cell has a complete sample.")
    return pictures


def write(
    found: Found,
    html: Path | None = None,
    png: Path | None = None,
    svg: Path | None = None,
    title: str | None = None,
    first: First | None = None,
) -> None:
    if html:
        output.write(html, page(found, title, first))
    if png:
        output.write(png, sheet.png(_sheet(found, "png")))
    if svg:
        output.write(svg, sheet.svg(_sheet(found, "svg")))


def check(found: Found, files: list[Path]) -> None:
    """A file drawn from these data carries their digest; the drawing itself is not compared."""
    wanted = (MARK + source(found)).encode()
    for path in files:
        try:
            drawn = path.read_bytes()
        except OSError as error:
            raise Failure(
                f"{path} cannot be read: {error.strerror}; "
                "draw it with the same command without --check."
            ) from error
        if wanted not in drawn:
            raise Failure(
                f"{path} is stale: it was drawn from other data; "
                "draw it again with the same command without --check."
            )
