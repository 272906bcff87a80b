# SPDX-License-Identifier: MIT
"""The options of `pawl bench lru`, and the plan that they make."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from pawl.core import candidates, keys, options, ranges
from pawl.core.errors import BadInput
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.lru import plan
from pawl.kinds.lru.plan import Request

CPUS = len(os.sched_getaffinity(0))

HELP = """Which lock serves a cache best?

A cache of fixed size under one lock: look a key up; if it is missing compute its value
outside the lock and insert it if it is still missing. All candidates are measured in turn,
round by round, and compared with pthread_rwlock in the same round. Hits do not reorder the
cache and eviction is round-robin, as published.
"""
EXAMPLES = [
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
]  # fmt: skip
OPTIONS = (
    click.option("--threads", default=f"1:{CPUS}", metavar="RANGE", show_default="1 to all CPUs",
                 help="Thread counts: 4, 1,2,8 or first:last:step."),
    click.option("--size", metavar="N|P%",
                 help="Entries the cache keeps; P% is a share of the distinct keys.  "
                 f"[default: {plan.SIZE}; with --keys: {plan.SIZE_OF_REAL_KEYS}]"),
    click.option("--keyspace", type=click.IntRange(2, plan.MAX_ENTRIES), metavar="N",
                 help="Number of different keys; instead of --hit."),
    click.option("--hit", metavar="P,...", help="Nominal hit ratio in percent: key space = "
                 f"size * 100 / P.  [default: {options.listed(plan.HITS)}]"),
    click.option(
        "--miss-cost",
        metavar="N,...",
        default=None,
        help=f"Rounds of snprintf that a miss costs.  [default: {options.listed(plan.COSTS)}]",
    ),
    click.option("--chains", metavar="N,...", default="0", show_default="0: by the kind of keys",
                 help="Chains of the cache's hash table; fewer chains are longer, and the lock "
                 "is held longer. 0: one for each 200 entries with random keys, as published, "
                 "and one for each entry with --keys."),
    options.seconds(Request.seconds),
    click.option("--budget", type=options.BUDGET, metavar="SECONDS",
                 help="Choose --seconds so that all samples together take about this long."),
    options.rounds(Request.rounds, of="candidate"),
    options.warmup(Request.warmup),
    click.option("--pin", default=Request.pin, show_default=True, metavar="auto|none|CPUS",
                 help="auto: thread i on the i-th allowed CPU; or a list such as 0,2,4-7."),
    options.number("--seed", "N", click.IntRange(0, 2**63), Request.seed,
                   "Seed of the random keys."),
    click.option(
        "--dist",
        metavar="uniform|zipf|scan",
        type=click.Choice(["uniform", "zipf", "scan"]),
        default=Request.dist,
        show_default=True,
        help="How random keys are drawn; uniform is the published way; scan: as zipf, and every "
        "other key is the next of all.",
    ),
    options.number("--zipf-s", "S", options.Finite(0.01, 10), Request.zipf_s,
                   "Exponent of --dist zipf and scan."),
    click.option("--keys", "key_names", multiple=True, metavar="FILE",
                 help="Real keys instead of random ones, one a line: a file, folder, pattern or "
                 "- for standard input; gz, xz, bz2 and zst are unpacked. May be repeated."),
    click.option("--field", type=click.IntRange(1, 10000), metavar="N",
                 help="With --keys: the N-th field of a line is the key."),
    click.option("--delimiter", metavar="TEXT",
                 help="With --field: what separates fields, instead of blanks."),
    click.option("--words", is_flag=True, help="With --keys: every word of a line is a key."),
    click.option("--max-keys", metavar="N", type=click.IntRange(1, 2**31), default=keys.MAX_KEYS,
                 show_default=True, help="Refuse longer key streams."),
    click.option("--grid", is_flag=True,
                 help="The published 18 cells: hit 50,80,90,95,98,99 x cost 30,100,300."),
    options.rows("strategy/lock names, lock names, patterns, or the groups all, first, "
                 "published, pthread, peers, pawl."),
    click.option("--latency", is_flag=True,
                 help="Also time each lookup and show quantiles; this slows all rows down."),
)  # fmt: skip


def _refuse_contradictions(o: Call) -> None:
    if o["grid"] and (o["hit"] or o["miss_cost"] or o["keyspace"] or o["key_names"]):
        raise BadInput(
            "--grid: the grid sets hit ratios and miss costs itself; leave out "
            "--hit, --miss-cost, --keyspace and --keys, or leave out --grid."
        )
    if sum(bool(x) for x in (o["hit"], o["keyspace"], o["key_names"])) > 1:
        raise BadInput("--hit, --keyspace and --keys each fix the keys; give one of them.")
    if not o["key_names"] and (o["field"] or o["delimiter"] or o["words"]):
        raise BadInput("--field, --delimiter and --words say how to read --keys; name a file.")
    if o["words"] and (o["field"] or o["delimiter"]):
        raise BadInput("--words takes every word, --field one field; give one of them.")
    if o["delimiter"] is not None and (not o["delimiter"] or not o["field"]):
        raise BadInput("--delimiter: give a text that separates fields, and --field N.")


def request_of(o: Call) -> Request:
    _refuse_contradictions(o)
    given = o.given(
        "size",
        "keyspace",
        "seconds",
        "rounds",
        "warmup",
        "pin",
        "seed",
        "dist",
        "zipf_s",
        "budget",
        "latency",
    )
    if o["grid"]:
        given |= {"hits": plan.GRID_HITS, "miss_costs": plan.GRID_COSTS}
    if o["hit"]:
        given["hits"] = ranges.percents(o["hit"])
    if o["miss_cost"]:
        given["miss_costs"] = ranges.integers(o["miss_cost"], "--miss-cost", 0, 1_000_000)
    chains = ranges.integers(o["chains"], "--chains", 0, plan.MAX_ENTRIES, "64,3200 or 0")
    return Request(threads=ranges.threads(o["threads"]), chains=chains, **given)


def _trace(o: Call) -> keys.Trace | None:
    if not o["key_names"]:
        return None
    delimiter = os.fsencode(o["delimiter"]) if o["delimiter"] else None
    split = keys.Split(o["field"], delimiter, o["words"])
    trace = keys.read(o["key_names"], split, o["max_keys"])
    if trace.skipped_lines:
        click.echo(
            f"pawl: {trace.skipped_lines:,} lines without field {o['field']} were left out",
            err=True,
        )
    return trace


@contextlib.contextmanager
def _scratch(trace: keys.Trace | None) -> Iterator[str | None]:
    """The driver reads real keys from a file that lives as long as the measurement."""
    if trace is None:
        yield None
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="pawl-")
    except OSError as error:
        raise BadInput(
            f"--keys: no place for a temporary file: {error.strerror}; "
            "set TMPDIR to a folder you may write in."
        ) from error
    with folder as name:
        path = Path(name) / "keys.trace"
        trace.write(path)
        yield str(path)


def _plan(o: Call) -> Plan:
    return planned(o, request_of(o), candidates.RWLOCK)


def planned(o: Call, request: Request, baseline: str) -> Plan:
    choice = o.choose(baseline)
    trace = _trace(o)
    path = o.held.enter_context(_scratch(trace))
    return Plan(
        plan.plan(request, choice, trace, path),
        choice.missing,
        keeps_complete=o["grid"],
        here_only="--keys" if trace else "",
    )


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"seconds": 0.02, "rounds": 6})
