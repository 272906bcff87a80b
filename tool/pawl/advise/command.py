# SPDX-License-Identifier: MIT
"""The command line of `pawl advise`."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import click

from pawl.advise import export, limits, page, remarks, replayed, schema
from pawl.advise.facts import Facts, percent, time
from pawl.advise.finding import WORTH, Finding, NoGains, find
from pawl.advise.rules import RULES, heaviest, most_held
from pawl.core import options, output
from pawl.core.errors import FAILED, OK
from pawl.trace import store

WIDTH = 96
LONG_WORD, MOST_NAMES = 60, 4
LONG_TRACE = 16 << 20  # bytes; reading a shorter one is over before a bar is of use


def _width() -> int:
    """Of the terminal; lines that go elsewhere have always the same."""
    if not sys.stdout.isatty():
        return WIDTH
    return min(max(shutil.get_terminal_size((WIDTH, 24)).columns, 40), 120)


# Of a name of C++: what stands in brackets, with others in them.
BRACKETS = re.compile(
    r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>|(?<=[\w>])\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
)
LONG_BRACKETS = 24


def _bare(text: str) -> str:
    return BRACKETS.sub(
        lambda m: m[0] if len(m[0]) < LONG_BRACKETS else f"{m[0][0]}…{m[0][-1]}", text
    )


def _short(word: str) -> str:
    """Long names of C++ lose their middle."""
    return word if len(word) <= LONG_WORD else f"{word[: LONG_WORD // 2]}…{word[-LONG_WORD // 2 :]}"


def _fold(text: str, indent: str = "") -> str:
    return textwrap.fill(
        " ".join(map(_short, _bare(text).split())),
        _width(),
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
    )


def _say(text: str) -> None:
    click.echo(_fold(text))


def _shown(number: int, f: Finding, replay: dict | None) -> str:
    names = [lock.name for lock in f.match.locks]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    head = f"{', '.join(names[:MOST_NAMES])}{more}: {f.title}"
    found = replayed.best(f, replay)
    worth = "a fault" if f.is_fault else replayed.expected(f, found)
    lines = [click.style(_fold(head, f"{number}. "), bold=True, fg="red" if f.is_fault else None)]
    lines += [_fold(f"{worth}; confidence {f.match.confidence}", "   ")]
    if found:
        lines.append(_fold(replayed.said(found) + ".", "   Replayed: "))
    if f.gains:
        lines.append(_fold(f.gains.said + ".", "   Readers that scale: "))
    lines += [_fold(line, "   - ") for line in f.match.evidence]
    lines += [_fold(chain, "   at ") for chain in dict.fromkeys(s.chain for s in f.match.sites)]
    lines += [_fold(stack.said, "   - ") for stack in f.stacks]
    lines += [
        _fold(f.texts["instead"], "   Instead: "),
        _fold(f.texts["why"], "   Why: "),
        _fold(f.texts["against"], "   Against it: "),
    ]
    lines += [
        textwrap.indent(f.sketch.rstrip(), "     | ", lambda _: True),
        f"   Read: doc/{f.texts['page']}",
    ]
    return "\n".join(lines) + "\n"


def _terminal(facts: Facts, findings: list[Finding], replay: dict | None) -> None:
    _say(
        f"{facts.program}: processes {len(facts.processes)}; threads ran or waited for "
        f"locks for {time(facts.thread_ns)} in all, of which they waited {time(facts.wait_ns)} "
        f"({percent(facts.wait_ns / max(facts.thread_ns, 1))})."
    )
    if facts.when:
        _say(f"Recorded {facts.when}: {facts.command}")
    for line in remarks.first(facts):
        _say(line)
    click.echo()
    for number, finding in enumerate(findings, 1):
        click.echo(_shown(number, finding, replay))
    if lines := remarks.nothing(facts, findings):
        click.echo("\n".join([_fold(lines[0]), *(_fold(line, "  - ") for line in lines[1:])]))
    click.echo()
    for line in remarks.most(facts):
        _say(line)
    locks = heaviest(facts, 5)
    if locks:
        click.echo("\nThe heaviest locks:")
        for lock in locks:
            every = lock.all
            said = (
                f"{lock.name} ({lock.kind}): {every.count:,} takes, "
                f"{every.sum('waits'):,} waits, waited {time(every.sum('wait_ns'))}, "
                f"held {time(every.sum('hold_ns'))}"
            )
            click.echo(_fold(said, "  "))


def as_json(
    facts: Facts, findings: list[Finding], broken: list[str], replay: dict | None = None
) -> dict:
    locks = [
        {
            "name": k.name,
            "kind": k.kind,
            "count": k.all.count,
            "waits": k.all.sum("waits"),
            "wait_ns": k.all.sum("wait_ns"),
            "hold_ns": k.all.sum("hold_ns"),
            "wait_p99_ns": k.all.percentile("wait", 0.99),
            "wait_max_ns": k.all.max("wait_max"),
            "hold_p99_ns": k.all.percentile("hold", 0.99),
            "hold_max_ns": k.all.max("hold_max"),
            "held_share": k.held,
            "waited_share": k.wait_ns / max(facts.wait_ns, 1),
        }
        for k in dict.fromkeys([*heaviest(facts, 100), *most_held(facts)])
    ]
    return {
        "schema": schema.VERSION,
        "kind": "advice",
        "command": facts.command,
        "thread_ns": facts.thread_ns,
        "wait_ns": facts.wait_ns,
        "worth": WORTH,
        "locks": locks,
        "broken": broken,
        "findings": [f.as_json() | {"replayed": replayed.best(f, replay)} for f in findings],
        "lost": [{"count": count, "meaning": meaning} for count, meaning in facts.losses],
    }


@contextlib.contextmanager
def _bar(trace: Path, locks: int) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """Two functions that say how far it is: locks read, the rule that begins. On a terminal
    and for a long trace they move a bar."""
    long = trace.stat().st_size >= LONG_TRACE and sys.stderr.isatty()
    if not long or find_spec("rich") is None:
        yield lambda _: None, lambda _: None
        return
    from rich.console import Console  # takes long; only here
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    step = max(locks // len(RULES), 1)  # all rules take about as long as reading
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=Console(stderr=True, force_terminal=True),
        transient=True,
    ) as bar:
        task = bar.add_task("reading the locks", total=locks + step * len(RULES))

        def rule(name: str) -> None:
            done = locks + step * list(RULES).index(name)
            bar.update(task, description=f"rule {name}", completed=done)

        yield lambda rows: bar.advance(task, rows), rule
        bar.update(task, completed=locks + step * len(RULES))


def _costs(path: Path):
    from pawl.kinds.costs import saved  # needs numpy; only here

    return saved.load(path)


def _found(trace: Path, costs: Path | None) -> tuple[Facts, list[Finding]]:
    db = store.open_trace(trace)
    locks = db.execute("SELECT max(id) FROM lock").fetchone()[0] or 0
    with _bar(trace, locks) as (rows, rule):
        facts = Facts(db, rows)
        facts.costs = costs and _costs(costs)
        return facts, find(facts, RULES, rule)


def _path(name: str, text: str):
    return click.option(f"--{name}", type=click.Path(path_type=Path), metavar="FILE", help=text)


def _gains(facts, finding):
    """Of readers that scale. Needs packages that the rest of the advice does without."""
    try:
        from pawl.advise import simulated
    except ModuleNotFoundError as error:
        return NoGains(f"not simulated: {sys.executable} has no {error.name}")
    return simulated.gains(facts, finding, quiet=not sys.stderr.isatty())


@click.command(
    "advise",
    cls=options.ExampleCommand,
    examples=[
        ("pawl advise", "Findings in the terminal, the one that would save most first."),
        (
            "pawl advise pawl.trace --html locks.html --json locks.json",
            "One page with a timeline and histograms; the same for programs.",
        ),
        (
            "pawl advise pawl.trace --fail-on 'lock=cache.map p99_wait>2ms' --fail-on "
            "rule=lock_order",
            "For CI: ends with 1 where a lock waits for so long, or an order is reversed.",
        ),
    ],
)
@options.trace()
@_path("json", "Write the findings; advise.schema.json describes them.")
@_path("html", "Write one self-contained page.")
@_path("folded", "Write stacks of waiting for flamegraph.pl or speedscope.")
@_path("pprof", "Write a profile for pprof: contentions and delay.")
@_path("chrome", "Write the last events of each thread for Perfetto or chrome://tracing.")
@click.option(
    "--replay",
    "replay_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Quote what `pawl replay --json FILE` measured, and rank by it.",
)
@click.option(
    "--costs",
    "costs_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the price of a line from a file written by pawl costs --json on that machine.",
)
@click.option(
    "--fail-on",
    "limit",
    multiple=True,
    metavar="CONDITION",
    help="End with 1 if it holds: 'lock=NAME p99_wait>2ms', 'rule=NAME' or 'finding'. "
    "May be given several times.",
)
def advise_command(
    trace: Path,
    json: Path | None,
    html: Path | None,
    folded: Path | None,
    pprof: Path | None,
    chrome: Path | None,
    replay_path: Path | None,
    costs_path: Path | None,
    limit: tuple[str, ...],
) -> int:
    """Say what would be better than the locks of a traced program, and why.

    Each finding has its evidence with call sites, what to use instead, what speaks against that,
    and how much of the threads' time it would save. That is an estimate from the lost time
    in the trace. `pawl replay` measures it; --replay quotes that, and ranks the findings by it.
    Where many readers share lines, their gain on more cores is simulated, in at most 20 s or so.
    """
    asked = [limits.parse(text, tuple(RULES)) for text in limit]
    files = {"json": json, "html": html, "folded": folded, "pprof": pprof, "chrome": chrome}
    for name, path in files.items():
        if path:
            output.check(f"--{name}", path)
    replay = replayed.load(replay_path) if replay_path else None
    facts, findings = _found(trace, costs_path)
    findings = replayed.ranked(findings, replay)
    for finding in findings:
        if finding.rule == "many_short_reads":
            finding.gains = _gains(facts, finding)
    broken = [line for one in asked for line in one.broken(facts, findings)]
    _terminal(facts, findings, replay)
    made = {
        "json": lambda: _dumped(as_json(facts, findings, broken, replay)),
        "html": lambda: page.render(facts, findings, replay).encode(),
        "folded": lambda: export.folded(facts),
        "pprof": lambda: export.pprof(facts),
        "chrome": lambda: export.chrome(facts),
    }
    for name, path in files.items():
        if path:
            output.write(path, made[name]())
            click.echo(f"written: {path}", err=True)
    for line in broken:
        click.echo(f"pawl advise: {line}.", err=True)
    return FAILED if broken else OK


def _dumped(value: dict) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()
