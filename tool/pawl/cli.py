# SPDX-License-Identifier: MIT
"""The command line: `pawl bench lru|pairs|record` and `pawl report`."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from pawl import __version__, candidates, command, driver, lru, pairs, ranges, report, results
from pawl import keys as key_files
from pawl import record as records
from pawl.choose_command import choose_command
from pawl.costs_command import costs_command
from pawl.counters_command import counters_command
from pawl.crowd_command import crowd_command
from pawl.errors import BAD_INPUT, FAILED, INTERRUPTED, BadInput, PawlError
from pawl.hash_command import hash_command
from pawl.latency_command import latency_command
from pawl.rcu_command import rcu_command
from pawl.sem_command import sem_command
from pawl.tree_command import tree_command
from pawl.wake_command import wake_command
from pawl.watchdog import watchdog_group

CPUS = len(os.sched_getaffinity(0))


def number(name: str, metavar: str, kind: click.ParamType, default, text: str):
    return click.option(name, metavar=metavar, type=kind, default=default, show_default=True,
                        help=text)


ROUNDS = click.IntRange(1, 10000)
SECONDS = command.Finite(0.001, 3600)
WARMUP = command.Finite(0, 60)


@click.group(cls=command.ExampleGroup, context_settings={"help_option_names": ["-h", "--help"]},
             examples=[
                 ("pawl bench lru", "Which lock serves a cache best on this machine?"),
                 ("pawl bench pairs", "What does each lock cost one thread alone?"),
                 ("pawl report run.json --html run.html", "Draw a report from saved results.")])
@click.version_option(__version__, prog_name="pawl")
def cli() -> None:
    """Measures locks on your own machine and shows what they are worth there."""


@cli.group(cls=command.ExampleGroup, examples=[
    ("pawl bench lru --hit 99 --threads 1:4", "The published cache at 99 % hits."),
    ("pawl bench pairs", "Take and drop, one thread.")])
def bench() -> None:
    """Measure locks against each other."""


LRU_EXAMPLES = [
    ("pawl bench lru", "The published cell (hit 99, cost 100) for all locks of this build."),
    ("pawl bench lru --keys access.log --field 1 --size 25%",
     "Your own log: addresses in the first field, a cache for a quarter of them."),
    ("zcat dump.gz | pawl bench lru --keys - --words --size 10% --html cache.html",
     "Every word of standard input is a key; the result as a page."),
    ("pawl bench lru --grid --threads 1:8:1 --candidates published --json grid.json",
     "The source's 18 cells; after an interrupt the same command goes on."),
    ("pawl bench lru --candidates 'r+s>w/*,pthread' --threads 1,2,4 --pin 0-3",
     "Some rows only, pinned to the first four CPUs."),
    ("pawl bench lru --chains 16,64,3200 --candidates pthread,pawl --threads 2",
     "Does the order hold when the lock is held for a shorter time?"),
]


@bench.command("lru", cls=command.ExampleCommand, examples=LRU_EXAMPLES)
@click.option("--threads", default=f"1:{CPUS}", metavar="RANGE", show_default="1 to all CPUs",
              help="Thread counts: 4, 1,2,8 or first:last:step.")
@click.option("--size", default="3200", show_default=True, metavar="N|P%",
              help="Entries the cache keeps; P% is a share of the distinct keys.")
@click.option("--keyspace", type=click.IntRange(2, lru.MAX_ENTRIES), metavar="N",
              help="Number of different keys; instead of --hit.")
@click.option("--hit", metavar="P,...", help="Nominal hit ratio in percent: key space = "
              "size * 100 / P.  [default: 99]")
@click.option("--miss-cost", metavar="N,...", default=None,
              help="Rounds of snprintf that a miss costs.  [default: 100]")
@click.option("--chains", metavar="N,...", default="0", show_default="0: by the kind of keys",
              help="Chains of the cache's hash table; fewer chains are longer, and the lock is "
              "held longer. 0: one for each 200 entries with random keys, as published, and "
              "one for each entry with --keys.")
@number("--seconds", "SECONDS", SECONDS, 0.1, "Length of one sample.")
@click.option("--budget", type=command.Finite(0.1, 1e6), metavar="SECONDS",
              help="Choose --seconds so that all samples together take about this long.")
@number("--rounds", "N", ROUNDS, 9, "Samples of each candidate; an interval needs at least 6.")
@number("--warmup", "SECONDS", WARMUP, 0.02, "Seconds each sample runs before it counts.")
@click.option("--pin", default="auto", show_default=True, metavar="auto|none|CPUS",
              help="auto: thread i on the i-th allowed CPU; or a list such as 0,2,4-7.")
@number("--seed", "N", click.IntRange(0, 2**63), 1, "Seed of the random keys.")
@click.option("--dist", metavar="uniform|zipf", type=click.Choice(["uniform", "zipf"]),
              default="uniform", show_default=True,
              help="How random keys are drawn; uniform is the published way.")
@number("--zipf-s", "S", command.Finite(0.01, 10), 0.99, "Exponent of --dist zipf.")
@click.option("--keys", "key_names", multiple=True, metavar="FILE",
              help="Real keys instead of random ones, one a line: a file, folder, pattern or - "
              "for standard input; gz, xz, bz2 and zst are unpacked. May be repeated.")
@click.option("--field", type=click.IntRange(1, 10000), metavar="N",
              help="With --keys: the N-th field of a line is the key.")
@click.option("--delimiter", metavar="TEXT", help="With --field: what separates fields, "
              "instead of blanks.")
@click.option("--words", is_flag=True, help="With --keys: every word of a line is a key.")
@click.option("--max-keys", metavar="N", type=click.IntRange(1, 2**31), default=key_files.MAX_KEYS,
              show_default=True, help="Refuse longer key streams.")
@click.option("--grid", is_flag=True, help="The published 18 cells: hit 50,80,90,95,98,99 x "
              "cost 30,100,300.")
@click.option("--candidates", "names", default="all", show_default=True, metavar="NAME,...",
              help="strategy/lock names, lock names, patterns, or the groups all, published, "
              "pthread, peers, pawl.")
@click.option("--latency", is_flag=True, help="Also time each lookup and show quantiles; this "
              "slows all rows down.")
@command.with_options(command.BENCH_OPTIONS)
def bench_lru(**o) -> None:
    """Which lock serves a cache best?

    A cache of fixed size under one lock: look a key up; if it is missing compute its value
    outside the lock and insert it if it is still missing. All candidates are measured in turn,
    round by round, and compared with pthread_rwlock in the same round. Hits do not reorder the
    cache and eviction is round-robin, as published.
    """
    outputs = _outputs(o)
    path = driver.find(driver.LRU, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    request = _request(o)
    offered = driver.candidates(path)
    choice = candidates.with_baseline(candidates.choose(o["names"], offered),
                                      candidates.RWLOCK, offered)
    outputs.check()
    trace = _trace(o)
    with _scratch(trace) as trace_path:
        cells = lru.plan(request, choice, trace, trace_path)
        plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
        fresh = results.new("lru", o["title"], plan, candidates.RWLOCK, choice.missing)
        result = command.start(outputs, o["fresh"], o["grid"], fresh)
        command.measure_and_show(path, cells, result, outputs, o["quiet"])


@bench.command("pairs", cls=command.ExampleCommand, examples=[
    ("pawl bench pairs", "Nanoseconds of every take and drop beside their floors."),
    ("pawl bench pairs --candidates '*spin32*' --rounds 21 --json pairs.json",
     "One lock, more rounds, saved.")])
@number("--seconds", "SECONDS", SECONDS, 0.05, "Length of one sample.")
@number("--rounds", "N", ROUNDS, 12, "Samples of each candidate; an interval needs at least 6.")
@number("--warmup", "SECONDS", WARMUP, 0.01, "Seconds each sample runs before it counts.")
@click.option("--pin", default="auto", show_default=True, metavar="auto|none|CPU",
              help="The CPU to measure on.")
@click.option("--candidates", "names", default="all", show_default=True, metavar="NAME,...",
              help="Names or patterns, see --list.")
@command.with_options(command.BENCH_OPTIONS)
def bench_pairs(**o) -> None:
    """What does each lock cost one thread alone?

    Takes and drops each lock in every mode with nobody else about. The floor is two locked
    additions on a line of their own: what no lock of this kind can do without.
    """
    outputs = _outputs(o)
    path = driver.find(driver.PAIRS, o["driver"])
    if o["list_only"]:
        command.list_candidates(path)
        return
    pin = o["pin"] if o["pin"] in ("auto", "none") else str(ranges.cpu_list(o["pin"])[0])
    offered = driver.candidates(path)
    choice = candidates.with_baseline(candidates.choose(o["names"], offered),
                                      pairs.FLOOR, offered)
    outputs.check()
    cells = pairs.plan(choice.names, o["seconds"], o["rounds"], o["warmup"], pin)
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    fresh = results.new("pairs", o["title"], plan, pairs.FLOOR, choice.missing)
    result = command.start(outputs, o["fresh"], False, fresh)
    command.measure_and_show(path, cells, result, outputs, o["quiet"])


@bench.command("record", cls=command.ExampleCommand, examples=[
    ("pawl bench record bench/results/my-cpu-2026-01-31", "Three runs, about ten minutes."),
    ("pawl bench record --set wait bench/results/my-cpu-2026-01-31-wait",
     "The sleeping lock, about a quarter of an hour."),
    ("pawl bench record --set counters bench/results/my-cpu-2026-01-31-counters",
     "Counters and light locks, about three minutes."),
    ("pawl bench record --set rcu bench/results/my-cpu-2026-01-31-rcu",
     "Read-copy-update, the ID table and what they serve, about twelve minutes."),
    ("pawl bench record --set latency bench/results/my-cpu-2026-01-31-latency",
     "The lock that handlers read, five runs in less than eight minutes; as root."),
    ("scripts/targets bench/results/my-cpu-2026-01-31", "Then: what do they reach?")])
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--runs", metavar="N", type=click.IntRange(1, 20),
              help="How many runs; each is one file.  [default: 3; of the set latency 5]")
@number("--seconds", "SECONDS", command.Finite(0.001, 10), 0.06,
        "Length of one sample in the cache grid; all other lengths go with it.")
@click.option("--set", "which", type=click.Choice(list(records.SETS)), default="spin",
              show_default=True, metavar="spin|wait|counters|rcu|latency",
              help="What to measure: the locks that spin and their peers, the lock that sleeps, "
              "counters and light locks, read-copy-update, or the lock that handlers read.")
@click.option("--driver", metavar="FOLDER", help="The folder of the measuring programs.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
def bench_record(folder: Path, runs: int | None, seconds: float, which: str,
                 driver: str | None, quiet: bool) -> None:
    """Measure what the project's published results consist of.

    Each run of the set spin measures the one-thread pairs, the cell of 99 % hits and miss cost
    100 at one and two threads, the 18 published cells at two threads, and the first of these
    cells again with shorter chains in the hash table, and becomes FOLDER/runN.json.
    Each run of the set wait measures the sleeping lock: its pairs and the 18 cells beside those
    of the spinning one, the grid of pawl bench crowd, the writer in a flood, and the wakes.
    Each run of the set counters measures all rows of pawl bench counters.
    Each run of the set rcu measures all rows of pawl bench rcu, hash, tree and sem, at one and two
    threads.
    Each run of the set latency measures all scenarios of pawl bench latency; without the right to
    real-time scheduling its targets cannot be judged.
    Files that are there already are kept, so that the command goes on after an interrupt.
    """
    records.record(folder, runs, seconds, driver, quiet, which)


@cli.command("report", cls=command.ExampleCommand, examples=[
    ("pawl report run.json", "The tables in the terminal."),
    ("pawl report text.json published.json --html both.html --png both.png",
     "Several results on one page."),
    ("pawl report run.json --html run.html --check",
     "Ends with 1 if run.html was drawn from other data."),
    ("pawl report run1.json --part 2 --png cell.png",
     "The second part of a recorded run, for a README.")])
@click.argument("files", nargs=-1, required=True, metavar="FILE.json...",
                type=click.Path(path_type=Path))
@command.with_options(command.REPORT_OPTIONS)
@click.option("--title", default=None, metavar="TEXT", help="A heading for the page.")
@click.option("--part", type=click.IntRange(1), metavar="N",
              help="Only the N-th of the results that the files hold together.")
@click.option("--check", is_flag=True, help="Draw nothing; say whether the files named with "
              "--html, --png, --svg were drawn from these data.")
def report_command(files: tuple[Path, ...], html: Path | None, png: Path | None,
                   svg: Path | None, title: str | None, part: int | None, check: bool) -> None:
    """Draw a report from saved results."""
    found = [one for name in files for one in results.parts(results.load(name))]
    if part is not None:
        if part > len(found):
            raise BadInput(f"--part: there are only {len(found)} results; name one of them.")
        found = [found[part - 1]]
    if not any(one["cells"] for one in found):
        raise BadInput(f"{files[0]} holds no measured cell; run the bench again.")
    outputs = command.Outputs(None, html, png, svg)
    if check:
        report.check(found, outputs.written())
        return
    outputs.check()
    report.write(found, html=html, png=png, svg=svg, title=title)
    if not outputs.written():
        for one in found:
            command.table.show(one, command.console(), most=10**6)
    for name in outputs.written():
        click.echo(f"written: {name}", err=True)


cli.add_command(choose_command)
cli.add_command(costs_command)
cli.add_command(watchdog_group)
bench.add_command(counters_command)
bench.add_command(crowd_command)
bench.add_command(hash_command)
bench.add_command(latency_command)
bench.add_command(rcu_command)
bench.add_command(sem_command)
bench.add_command(tree_command)
bench.add_command(wake_command)


def _outputs(o: dict) -> command.Outputs:
    return command.Outputs(o["json"], o["html"], o["png"], o["svg"])


def _request(o: dict) -> lru.Request:
    if o["grid"] and (o["hit"] or o["miss_cost"] or o["keyspace"] or o["key_names"]):
        raise BadInput("--grid: the grid sets hit ratios and miss costs itself; leave out "
                       "--hit, --miss-cost, --keyspace and --keys, or leave out --grid.")
    if sum(bool(x) for x in (o["hit"], o["keyspace"], o["key_names"])) > 1:
        raise BadInput("--hit, --keyspace and --keys each fix the keys; give one of them.")
    if not o["key_names"] and (o["field"] or o["delimiter"] or o["words"]):
        raise BadInput("--field, --delimiter and --words say how to read --keys; name a file.")
    if o["words"] and (o["field"] or o["delimiter"]):
        raise BadInput("--words takes every word, --field one field; give one of them.")
    if o["delimiter"] is not None and (not o["delimiter"] or not o["field"]):
        raise BadInput("--delimiter: give a text that separates fields, and --field N.")
    hits = lru.GRID_HITS if o["grid"] else ranges.percents(o["hit"] or "99")
    costs = lru.GRID_COSTS if o["grid"] else ranges.integers(
        o["miss_cost"] or "100", "--miss-cost", 0, 1_000_000)
    chains = ranges.integers(o["chains"], "--chains", 0, lru.MAX_ENTRIES, "64,3200 or 0")
    same = ("size", "keyspace", "seconds", "rounds", "warmup", "pin", "seed", "dist", "zipf_s",
            "budget", "latency")
    return lru.Request(threads=ranges.threads(o["threads"]), hits=hits, miss_costs=costs,
                       chains=chains, **{name: o[name] for name in same})


def _trace(o: dict) -> key_files.Trace | None:
    if not o["key_names"]:
        return None
    delimiter = os.fsencode(o["delimiter"]) if o["delimiter"] else None
    split = key_files.Split(o["field"], delimiter, o["words"])
    trace = key_files.read(o["key_names"], split, o["max_keys"])
    if trace.skipped_lines:
        click.echo(f"pawl: {trace.skipped_lines:,} lines without field {o['field']} "
                   "were left out", err=True)
    return trace


@contextlib.contextmanager
def _scratch(trace: key_files.Trace | None) -> Iterator[str | None]:
    """The driver reads real keys from a file that lives as long as the measurement."""
    if trace is None:
        yield None
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="pawl-")
    except OSError as error:
        raise BadInput(f"--keys: no place for a temporary file: {error.strerror}; "
                       "set TMPDIR to a folder you may write in.") from error
    with folder as name:
        path = Path(name) / "keys.trace"
        trace.write(path)
        yield str(path)


def _usage_sentence(error: click.UsageError) -> str:
    where = error.ctx.command_path if error.ctx else "pawl"
    return f"{error.format_message().rstrip('.')}; see `{where} --help`."


def main(arguments: list[str] | None = None) -> int:
    try:
        return cli.main(args=arguments, prog_name="pawl", standalone_mode=False) or 0
    except click.UsageError as error:
        message, code = _usage_sentence(error), BAD_INPUT
    except PawlError as error:
        message, code = str(error), error.exit_code
    except (KeyboardInterrupt, click.Abort):
        message, code = "interrupted before anything was measured.", INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (head, less); Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    print(f"pawl: {message}", file=sys.stderr)
    return code
