# SPDX-License-Identifier: MIT
"""What commands share: help with examples, and options that several of them have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pawl.core import output, ranges
from pawl.core.errors import BadInput

if TYPE_CHECKING:
    from pawl.core import report

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
                # To be copied: folded as a shell reads it.
                margin = f"{'':{formatter.current_indent}}"
                lines = [margin + line.split(" --", 1)[0]]
                for word in line.split(" --")[1:]:
                    if len(f"{lines[-1]} --{word} \\") > 80:
                        lines.append(f"{margin}   ")
                    lines[-1] += f" --{word}"
                formatter.write(" \\\n".join(lines) + "\n")
                with formatter.indentation():
                    formatter.write_text(meaning)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(c), text) for c, text in EXIT_CODES.items()])


class ExampleGroup(click.Group):
    def __init__(self, *args, examples: list[tuple[str, str]], **kwargs):
        self.examples = examples
        super().__init__(*args, **kwargs)

    format_epilog = ExampleCommand.format_epilog

    def told_commands(self) -> list[tuple[str, str]]:
        """Each with the first line of its help."""
        names = self.list_commands(None)
        return [(n, self.get_command(None, n).help.strip().split("\n")[0]) for n in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # whole lines, folded
            formatter.write_dl(self.told_commands())


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

    @classmethod
    def of(cls, options: dict) -> Outputs:
        return cls(*(options[name] for name in ("json", "html", "png", "svg")))

    def check(self) -> None:
        """Before measuring, which may take an hour: is there a folder, and room on the disk?"""
        for name, path in vars(self).items():
            if path:
                output.check(f"--{name}", path)

    def draw(self, found: report.Found) -> None:
        from pawl.core import report  # with all that draws

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
    click.option(
        "--list", "list_only", is_flag=True, help="List the candidates of this build and end."
    ),
    _path("--json", "Save every sample; an interrupted run goes on from it."),
    *REPORT_OPTIONS,
    click.option("--title", default="", metavar="TEXT", help="A heading for tables and report."),
    click.option(
        "--fresh", is_flag=True, help="Measure anew even if the JSON file holds an unfinished run."
    ),
    click.option("--quiet", is_flag=True, help="No progress on standard error."),
    click.option(
        "--driver",
        metavar="PATH",
        help="The measuring program or its folder; else $PAWL_BENCH_DIR, "
        "then build/release/bench, then beside the command.",
    ),
)
FLEET_OPTIONS = (
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Measure on the workers of this Dask scheduler: one on each machine of a "
        "fleet, a cell at a time on each.",
    ),
)


def with_options(options: tuple[Callable, ...]) -> Callable:
    """Decorators apply from the bottom up; the help shows the order written here."""

    def apply(function: Callable) -> Callable:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


# ---- Options that several benches have ----------------------------------------------------------


def number(name: str, metavar: str, kind: click.ParamType, default, text: str) -> Callable:
    return click.option(
        name, metavar=metavar, type=kind, default=default, show_default=True, help=text
    )


SECONDS, WARMUP, BUDGET = Finite(0.001, 3600), Finite(0, 60), Finite(0.1, 1e6)
ROUNDS = click.IntRange(1, 10000)
TRACE = Path("pawl.trace")  # what `pawl trace` writes, and what is read where none is named


def trace() -> Callable:
    return click.argument(
        "trace", type=click.Path(path_type=Path), default=TRACE, metavar=f"[{TRACE}]"
    )


def seconds(default: float, text: str = "Length of one sample.") -> Callable:
    return number("--seconds", "SECONDS", SECONDS, default, text)


def rounds(default: int, of: str = "row", more: str = "") -> Callable:
    return number(
        "--rounds",
        "N",
        ROUNDS,
        default,
        f"Samples of each {of}; an interval needs at least 6.{more}",
    )


def warmup(default: float) -> Callable:
    return number(
        "--warmup", "SECONDS", WARMUP, default, "Seconds each sample runs before it counts."
    )


def rows(text: str = "Names or patterns, see --list; pawl: the library's own.") -> Callable:
    return click.option(
        "--candidates", "names", default="all", show_default=True, metavar="NAME,...", help=text
    )


HOGS = {"no": [False], "yes": [True], "both": [False, True]}
HOG = click.Choice(list(HOGS))


# ---- What options mean --------------------------------------------------------------------------


def pin(text: str) -> str:
    return text if text in ("auto", "none") else ",".join(map(str, ranges.cpu_list(text)))


def pinned(text: str, why: str, otherwise: str = "none") -> str:
    """Where threads must have CPUs of their own, `none` is refused."""
    if text == "none":
        raise BadInput(f"--pin none: {why}; name CPUs, or say auto.")
    return (
        text if text == "auto" else ",".join(map(str, ranges.cpu_list(text, otherwise=otherwise)))
    )


def words(
    text: str, option: str, known: tuple[str, ...] | dict[str, object], what: str = ""
) -> list[str]:
    """Some of the known words, in the order given, each once."""
    chosen = [part.strip() for part in text.split(",")]
    for name in chosen:
        if name not in known:
            raise BadInput(
                f"{option}: there is no {what}'{name}'; choose among {', '.join(known)}."
            )
    return list(dict.fromkeys(chosen))


def listed(values: Iterable[float]) -> str:
    """A default list as one would type it."""
    return ",".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)


def one_length(options: dict, *names: str) -> None:
    if all(options[name] for name in names):
        both = " and ".join(f"--{name}" for name in names)
        raise BadInput(f"{both} each fix the length; give one of them.")
