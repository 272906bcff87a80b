# SPDX-License-Identifier: MIT
"""The command line of `pawl diff`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.table import Table

from pawl.advise.facts import Facts, percent, time
from pawl.core import options, output, table
from pawl.core.errors import FAILED, OK, BadInput
from pawl.core.kind import Kinds
from pawl.diff import results, rows, schema, traces
from pawl.trace import store

MOST = 20
MAGIC = b"SQLite format 3\0"


def _is_trace(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read ({error.strerror}); name a trace, or a result of "
            "`pawl bench --json`."
        ) from error


def _shown(measure: str, value: float) -> str:
    if measure == "waiting":
        return percent(value)
    if measure.endswith(("_wait", "_hold")):
        return time(value)
    return f"{value:,.4g}"


def _change(row: rows.Row, measure: str) -> str:
    if measure not in row.measures:
        return ""
    before, after = row.measures[measure]
    text = f"{_shown(measure, before)} → {_shown(measure, after)}"
    ratio = row.ratio(measure)
    return text + (f" ({ratio:.2f}x)" if ratio is not None and before != after else "")


def _told(row: rows.Row) -> tuple[str, str]:
    if row.sure is None:
        return "cannot tell", ""
    return "yes" if row.sure else "no", f"{row.visible:.2f}x"


def _table(found: rows.Compared, measures: tuple[str, ...]) -> Table:
    made = Table(box=None, pad_edge=False)
    told = ("beyond chance", "could see") if "median" in measures else ()
    for head in ("", *measures, *told):
        made.add_column(head, justify="right" if head else "left")
    for row in found.rows[:MOST]:
        made.add_row(row.name, *(_change(row, m) for m in measures), *_told(row)[: len(told)])
    return made


def _show(found: rows.Compared, measures: tuple[str, ...]) -> None:
    console = table.console()
    if found.rows:
        console.print(_table(found, measures))
    else:
        table.line(console, "The two have nothing in common.")
    if len(found.rows) > MOST:
        table.line(console, f"{len(found.rows) - MOST} rows more: --json has them.")
    for head, names in (
        ("Only before", found.only_before),
        ("Only after", found.only_after),
        ("Findings that are gone", found.gone),
        ("New findings", found.new),
    ):
        if names:
            more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
            table.line(console, f"{head}: {', '.join(names[:MOST])}{more}.")


def _as_json(found: rows.Compared, of: str, before: Path, after: Path, broken: list[str]) -> dict:
    made = [
        {
            "name": r.name,
            "sure": r.sure,
            "visible": r.visible,
            "measures": {
                m: {"before": a, "after": b, "ratio": r.ratio(m)}
                for m, (a, b) in r.measures.items()
            },
        }
        for r in found.rows
    ]
    return {
        "schema": schema.VERSION,
        "kind": "diff",
        "of": of,
        "before": str(before),
        "after": str(after),
        "rows": made,
        "only_before": found.only_before,
        "only_after": found.only_after,
        "gone": found.gone,
        "new": found.new,
        "broken": broken,
    }


def command(kinds: Kinds) -> click.Command:
    @click.command(
        "diff",
        cls=options.ExampleCommand,
        examples=[
            ("pawl diff old.trace new.trace", "Which locks are waited for more, or less?"),
            (
                "pawl diff old.trace new.trace --fail-on 'name=cache.* p99_wait>1.5x'",
                "For CI: ends with 1 where the 99th percentile has grown by half.",
            ),
            (
                "pawl diff old.json new.json --fail-on 'median<0.95x'",
                "Two results of the same benchmark.",
            ),
        ],
    )
    @click.argument("before", type=click.Path(path_type=Path), metavar="BEFORE")
    @click.argument("after", type=click.Path(path_type=Path), metavar="AFTER")
    @click.option(
        "--json",
        "json_path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write all rows; diff.schema.json describes them.",
    )
    @click.option(
        "--fail-on",
        "limit",
        multiple=True,
        metavar="CONDITION",
        help="End with 1 if a measure has become more (>) or less (<) than so many times "
        "what it was: 'name=NAME MEASURE>1.5x'. May be given several times.",
    )
    def diff_command(
        before: Path, after: Path, json_path: Path | None, limit: tuple[str, ...]
    ) -> int:
        """Compare two traces, or two results of a benchmark.

        Locks of two traces are compared by program, kind and name; times are shares of the time
        that the program's threads ran, so runs may differ in length. Rows of two results are
        compared by cell and candidate: their ratios to the baseline, with intervals that are wider
        the more rows there are. For each row the command says what change it could have seen, and
        --fail-on looks at those beyond chance.
        """
        asked = [rows.parse(text) for text in limit]
        if json_path:
            output.check("--json", json_path)
        both = [_is_trace(path) for path in (before, after)]
        if both[0] != both[1]:
            raise BadInput(
                f"{before} and {after}: one is a trace and the other is not; name two of a kind."
            )
        if both[0]:
            found = traces.compare(*(Facts(store.open_trace(p)) for p in (before, after)))
            shown, of = ("waiting", "takes_per_second", "p99_wait", "p99_hold"), "traces"
        else:
            found, shown, of = results.compare(before, after, kinds), ("ratio", "median"), "results"
        broken = [text for one in asked for text in one.broken(found.rows)]
        _show(found, shown)
        if json_path:
            made = _as_json(found, of, before, after, broken)
            output.write(json_path, (json.dumps(made, indent=1) + "\n").encode())
            click.echo(f"written: {json_path}", err=True)
        for text in broken:
            click.echo(f"pawl diff: {text}.", err=True)
        return FAILED if broken else OK

    return diff_command
