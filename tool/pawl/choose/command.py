# SPDX-License-Identifier: MIT
"""The command line of `pawl choose`."""

import json
from pathlib import Path

import click

from pawl.choose import page, walk
from pawl.core import options, output
from pawl.core.errors import BadInput


def _costs(path: Path | None):
    if path is None:
        return None
    from pawl.kinds.costs import saved

    return saved.load(path)


def _write_pages(
    decisions: walk.Decisions,
    costs,
    costs_path: Path | None,
    html: Path | None,
    markdown: Path | None,
) -> None:
    pages = {"--html": html, "--markdown": markdown}
    for option, path in pages.items():
        if path:
            output.check(option, path)
    if markdown:
        text = page.markdown(decisions, markdown, costs, costs_path)
        output.write(markdown, text.encode())
    if html:
        output.write(html, page.html(decisions, html, costs))
    for path in filter(None, pages.values()):
        click.echo(f"written: {path}", err=True)


@click.command(
    "choose",
    cls=options.ExampleCommand,
    examples=[
        ("pawl choose", "Asks, and ends at the tool for the job."),
        (
            "pawl choose --answer what=number --answer updates=common",
            "Two answers are given; the rest is asked.",
        ),
        ("printf '%s\\n' number rare one | pawl choose", "The answers as lines."),
        (
            "pawl choose --json --answer what=lifetime",
            "The trees, the path so far and what is open, for another program.",
        ),
        (
            "pawl choose --costs costs.json --html choosing.html",
            "The whole page with what things cost on your machine; costs.json is made by `pawl "
            "costs`.",
        ),
    ],
)
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="QUESTION=ANSWER",
    help="Answer a question without being asked; may be repeated.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the trees, the answers, the path and its leaf with links as JSON; ask nothing.",
)
@click.option(
    "--costs",
    "costs_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Fill in what things cost on a machine: a file written by pawl costs --json.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all trees as one self-contained page; ask nothing.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all trees as Markdown; ask nothing. doc/choosing.md is made so.",
)
def choose_command(
    answers: tuple[str, ...],
    as_json: bool,
    costs_path: Path | None,
    html: Path | None,
    markdown: Path | None,
) -> None:
    """Which lock, counter or design does the job?

    Asks a few questions about what your threads share and ends at the simplest design that does
    the job, with what it costs, where it is described and an example that runs. Answers are
    numbers or words; a question mark explains the question.
    """
    decisions = walk.load()
    given = walk.parse(answers, decisions)
    if given and (html or markdown):
        raise BadInput(
            "--answer: a page shows all answers; leave out --answer, or leave out "
            "--html and --markdown."
        )
    if as_json and (html or markdown):
        raise BadInput(
            "--json: prints instead of writing a page; leave out --json, or leave out "
            "--html and --markdown."
        )
    costs = _costs(costs_path)
    if html or markdown:
        _write_pages(decisions, costs, costs_path, html, markdown)
        return
    steps = walk.Walk(decisions)
    steps.follow(given)
    if as_json:
        steps.refuse_unused(given)
        click.echo(json.dumps(walk.as_json(steps, given, costs), indent=2))
        return
    asker = walk.Asker(walk.console())
    asker.lead(steps, given)
    steps.refuse_unused(given)
    walk.show(steps, costs, asker.console)
