# SPDX-License-Identifier: MIT
"""What every command shares: help with examples, options for outputs, one way to finish."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from pawl import driver, measure, output, report, results, table
from pawl.errors import Interrupted

EXIT_CODES = {
    0: "done",
    1: "something failed that another input would not have avoided",
    2: "bad input; one sentence on standard error says what to do",
    130: "interrupted; what was measured until then is saved and valid",
}


class ExampleCommand(click.Command):
    """A command whose help ends with examples that can be typed as they stand."""

    def __init__(self, *args, examples: list[tuple[str, str]], **kwargs):
        self.examples = examples
        super().__init__(*args, **kwargs)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line, meaning in self.examples:
                # Not folded: a command is there to be copied.
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
                with formatter.indentation():
                    formatter.write_text(meaning)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(c), text) for c, text in EXIT_CODES.items()])


class ExampleGroup(click.Group):
    def __init__(self, *args, examples: list[tuple[str, str]], **kwargs):
        self.examples = examples
        super().__init__(*args, **kwargs)

    format_epilog = ExampleCommand.format_epilog


class Finite(click.FloatRange):
    """A range that refuses `nan`, which no comparison does."""

    def convert(self, value, param, ctx):
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


@dataclass
class Outputs:
    json: Path | None = None
    html: Path | None = None
    png: Path | None = None
    svg: Path | None = None

    def check(self) -> None:
        """Before measuring: nobody waits an hour to hear that the disk is full."""
        for name, path in vars(self).items():
            if path:
                output.check(f"--{name}", path)

    def draw(self, found: list[dict]) -> None:
        report.write(found, html=self.html, png=self.png, svg=self.svg)

    def written(self) -> list[Path]:
        return [p for p in vars(self).values() if p]


def _path(option: str, text: str) -> Callable:
    return click.option(option, type=click.Path(path_type=Path), metavar="FILE", help=text)


REPORT_OPTIONS = (
    _path("--html", "Write one self-contained page: plots, tables, machine, command."),
    _path("--png", "Draw the plot as PNG, fit for a README."),
    _path("--svg", "Draw the plot as SVG."),
)
BENCH_OPTIONS = (
    click.option("--list", "list_only", is_flag=True,
                 help="List the candidates of this build and end."),
    _path("--json", "Save every sample; an interrupted run goes on from it."),
    *REPORT_OPTIONS,
    click.option("--title", default="", metavar="TEXT", help="A heading for tables and report."),
    click.option("--fresh", is_flag=True,
                 help="Measure anew even if the JSON file holds an unfinished run."),
    click.option("--quiet", is_flag=True, help="No progress on standard error."),
    click.option("--driver", metavar="PATH",
                 help="The measuring program or its folder; else $PAWL_BENCH_DIR, "
                 "then build/release/bench, then beside the command."),
)


def with_options(options: tuple[Callable, ...]) -> Callable:
    """Decorators apply from the bottom up; the help shows the order written here."""
    def apply(function: Callable) -> Callable:
        for option in reversed(options):
            function = option(function)
        return function
    return apply


def list_candidates(path: Path) -> None:
    for candidate in driver.candidates(path):
        note = "" if candidate["available"] else f"  (not built: {candidate['why']})"
        click.echo(candidate["name"] + note)


def start(outputs: Outputs, fresh: bool, keep_complete: bool, result: dict) -> dict:
    """The result to fill: a new one, or the unfinished one in the file."""
    if outputs.json is None or fresh:
        return result
    if keep_complete and outputs.json.exists():
        old = results.load(outputs.json)
        if old.get("plan") == result["plan"] and results.complete(old):
            return old
    return results.continue_from(outputs.json, result)


def measure_and_show(path: Path, cells: list[measure.Cell], result: dict, outputs: Outputs,
                     quiet: bool) -> None:
    def save(current: dict) -> None:
        if outputs.json:
            results.save(outputs.json, current)

    if len(result["cells"]) == len(cells) and results.complete(result):
        click.echo(f"{outputs.json} is complete already; --fresh measures anew.", err=True)
    else:
        measure.run(path, cells, result, save, quiet)
    table.show(result, console())
    if result["cells"]:
        outputs.draw([result])
    for name in outputs.written() if result["cells"] else []:
        click.echo(f"written: {name}", err=True)
    if result["interrupted"]:
        done = sum(1 for c in result["cells"] if c["complete"])
        hint = (f"; the same command goes on from {outputs.json}" if outputs.json
                else "; with --json FILE the same command could have gone on")
        raise Interrupted(f"interrupted after {done} of {len(cells)} cells{hint}.")


def console() -> Console:
    """Tables are not folded to 80 columns when they go to a file."""
    return Console() if sys.stdout.isatty() else Console(width=140)
