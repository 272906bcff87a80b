# SPDX-License-Identifier: MIT
"""The commands that are made of the kinds and the sets: bench with all below it, and report."""

from pathlib import Path

import click

from pawl.core import bench, options, report, results, table
from pawl.core import record as records
from pawl.core.errors import BadInput
from pawl.core.first import in_terminal
from pawl.core.kind import Kinds
from pawl.core.record import Sets

Examples = list[tuple[str, str]]


def _chosen(files: tuple[Path, ...], part: int | None, kinds: Kinds) -> report.Found:
    found = [one for name in files for one in results.parts(name, kinds)]
    if part is not None:
        if part > len(found):
            raise BadInput(f"--part: there are only {len(found)} results; name one of them.")
        found = [found[part - 1]]
    if not any(result["cells"] for _, result in found):
        raise BadInput(f"{files[0]} holds no measured cell; run the bench again.")
    return found


def report_command(kinds: Kinds) -> click.Command:
    @click.command(
        "report",
        cls=options.ExampleCommand,
        examples=[
            ("pawl report run.json", "The tables in the terminal."),
            (
                "pawl report text.json published.json --html both.html --png both.png",
                "Several results on one page.",
            ),
            (
                "pawl report run.json --html run.html --check",
                "Ends with 1 if run.html was drawn from other data.",
            ),
            (
                "pawl report text.json --first --html first.html",
                "One sentence and two plots; tables are folded.",
            ),
            (
                "pawl report run1.json.xz --part 2 --png cell.png",
                "The second part of a recorded run, for a README.",
            ),
        ],
    )
    @click.argument(
        "files", nargs=-1, required=True, metavar="FILE.json...", type=click.Path(path_type=Path)
    )
    @options.with_options(options.REPORT_OPTIONS)
    @click.option("--title", default=None, metavar="TEXT", help="A heading for the page.")
    @click.option(
        "--part",
        type=click.IntRange(1),
        metavar="N",
        help="Only the N-th of the results that the files hold together.",
    )
    @click.option(
        "--first",
        is_flag=True,
        help="Begin with one sentence and the best row of each library; fold the rest.",
    )
    @click.option(
        "--simulated",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="With --first: what more cores are expected to do, saved by pawl sim with --json.",
    )
    @click.option(
        "--check",
        is_flag=True,
        help="Draw nothing; say whether the files named with "
        "--html, --png, --svg were drawn from these data.",
    )
    def command(
        files: tuple[Path, ...],
        html: Path | None,
        png: Path | None,
        svg: Path | None,
        title: str | None,
        part: int | None,
        first: bool,
        simulated: Path | None,
        check: bool,
    ) -> None:
        """Draw a report from saved results.

        Files are read as they are or compressed: .json, .json.xz, .json.gz.
        """
        found = _chosen(files, part, kinds)
        outputs = options.Outputs(None, html, png, svg)
        if check:
            report.check(found, outputs.written())
            return
        outputs.check()
        if simulated and not first:
            raise BadInput("--simulated: it belongs to a first report; add --first.")
        top = report.first_of(found, simulated) if first else None
        report.write(found, html=html, png=png, svg=svg, title=title, first=top)
        if top:
            for text in in_terminal(top):
                click.echo(text)
        elif not outputs.written():
            for kind, result in found:
                kind.show(kind, result, table.console(), most=10**6)
        for name in outputs.written():
            click.echo(f"written: {name}", err=True)

    return command


def _record_help(sets: Sets) -> str:
    about = "\n".join(one.help for one in sets.values())
    return f"""Measure what the project's published results consist of.

    Each run becomes FOLDER/runN.json.xz.
    {about}
    Files that are there already are kept, so that the command goes on after an interrupt.
    """


def _record_examples(sets: Sets) -> Examples:
    folder = "bench/results/my-cpu-2026-01-31"
    first, *others = sets.values()
    return [
        (f"pawl bench record {folder}", first.example),
        *(
            (f"pawl bench record --set {one.name} {folder}-{one.name}", one.example)
            for one in others
        ),
        (f"scripts/targets {folder}", "Then: what do they reach?"),
    ]


def _usual_runs(sets: Sets) -> str:
    usual = next(iter(sets.values())).runs
    others = [f"; of the set {s.name} {s.runs}" for s in sets.values() if s.runs != usual]
    return f"{usual}{''.join(others)}"


def _record_command(kinds: Kinds, sets: Sets) -> click.Command:
    def command(
        folder: Path, runs: int | None, seconds: float, which: str, driver: str | None, quiet: bool
    ) -> None:
        records.record(folder, sets[which], runs, seconds, driver, quiet, kinds, sets)

    command.__doc__ = _record_help(sets)
    described = [one.what for one in sets.values()]
    made = options.with_options(
        (
            click.argument("folder", type=click.Path(path_type=Path)),
            click.option(
                "--runs",
                metavar="N",
                type=click.IntRange(1, 20),
                help=f"How many runs; each is one file.  [default: {_usual_runs(sets)}]",
            ),
            options.number(
                "--seconds",
                "SECONDS",
                options.Finite(0.001, 10),
                records.USUAL_SECONDS,
                "Length of one sample in the cache grid; all other lengths go with it.",
            ),
            click.option(
                "--set",
                "which",
                type=click.Choice(list(sets)),
                default=next(iter(sets)),
                show_default=True,
                metavar="SET",
                help=f"Measures one of these: {', '.join(described[:-1])}, or {described[-1]}.",
            ),
            click.option(
                "--driver", metavar="FOLDER", help="The folder of the measuring programs."
            ),
            click.option("--quiet", is_flag=True, help="No progress on standard error."),
        )
    )(command)
    return click.command("record", cls=options.ExampleCommand, examples=_record_examples(sets))(
        made
    )


def benches(kinds: Kinds, sets: Sets, examples: Examples) -> click.Group:
    @click.group("bench", cls=options.ExampleGroup, examples=examples)
    def made() -> None:
        """Measure locks against each other."""

    for kind in kinds.values():
        if kind.command and not kind.command.top:
            made.add_command(bench.command(kind, kinds))
    made.add_command(_record_command(kinds, sets))
    return made
