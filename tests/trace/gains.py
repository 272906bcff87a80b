#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ten changes really made: does the range that `pawl advise` promises hold the gain? Programs of
tests/advise, and changes.c, are recorded mended and with their fault, in turns. The first finding
with a figure is the promise of a recording; the gain is the share of the threads' time that the
mended program does not need. A promise is held where that is so in most pairs; a range wider than
twice its lower end or ten points holds nothing. It wants an idle machine and a minute or two.

    gains.py                        eleven pairs of runs for each
    gains.py --others --pairs 5     other numbers of threads, other lengths of sections"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tool"))

from pawl.advise.facts import Facts, percent  # noqa: E402
from pawl.advise.finding import Finding, find  # noqa: E402
from pawl.advise.rules import RULES  # noqa: E402
from pawl.trace import collect, store  # noqa: E402

CHANGES = {
    **{name: f"advise/{name}.c" for name in (
        "long_holds", "saturated", "convoy", "starvation", "uneven_split", "could_be_split",
        "broadcast_storm", "read_then_write",
    )},
    "hash": "trace/changes.c",
    "characters": "trace/changes.c",
}  # fmt: skip
OTHERS = {  # what of the source becomes what
    "convoy": [(", 8);\n    return", ", 3);\n    return"), ("usleep(100)", "usleep(500)")],
    "uneven_split": [
        ("fault, 2)", "fault, 4)", "(i % 4) + 4 * (size_t)number", "(i % 2) + 2 * (size_t)number"),
        ("usleep(100)", "usleep(500)"),
    ],
    "could_be_split": [("usleep(200)", "usleep(1000)"), ("usleep(200)", "usleep(50)")],
    "broadcast_storm": [
        (" 6)", f" {n})", "= 6 ", f"= {n} ", "6 * i", f"{n} * i", "r, 7)", f"r, {n + 1})")
        for n in (3, 12)
    ],
    "read_then_write": [
        ("fault, 2)", "fault, 4)"),
        (
            *("seen = value;", "seen = value; for (volatile int k = 0; k < 300; k++) {}"),
            *("  if (value", "  for (volatile int k = 0; k < 300; k++) {}\n    if (value"),
        ),
    ],
    "hash": [(" 4);", f" {n});") for n in (2, 3, 8)] + [("40000", "4000", "3000", "20000")],
}
NEAR = 0.05  # a gain that lies so far beyond the range is no miss: runs differ by as much


def recorded(words: list, build: Path) -> tuple[int, Finding | None]:
    """How long its threads ran and waited; what would gain most, if that has a figure."""
    with tempfile.TemporaryDirectory() as text:
        raw, trace = Path(text, "raw"), Path(text, "trace")
        raw.mkdir()
        under = {"LD_PRELOAD": str(build / "shim/libpawl-trace.so"), "PAWL_TRACE_DIR": str(raw)}
        subprocess.run(words, check=True, env={**os.environ, **under})
        with store.create(trace) as db:
            collect.collect(raw, db, {"processors": str(len(os.sched_getaffinity(0)))})
        with store.open_trace(trace) as db:
            facts = Facts(db)
            known = [f for f in find(facts, RULES) if not f.is_fault and not f.match.unknown]
            return facts.thread_ns, known[0] if known else None


def changed(name: str, words: tuple, folder: Path) -> Path:
    """The program, compiled with these changes of its source."""
    source, program = ROOT / "tests" / CHANGES[name], folder / name
    text = source.read_text()
    for old, new in zip(words[::2], words[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    flags = ["-O1", "-g", f"-I{ROOT}/include", "-iquote", source.parent, "-pthread"]
    subprocess.run(["gcc", *flags, "-o", program, "-xc", "-"], input=text, text=True, check=True)
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--pairs", type=int, default=11, help="runs of each program [11]")
    parser.add_argument("--others", action="store_true", help="the same with other numbers")
    given = parser.parse_args()
    rows = [(name, ()) for name in CHANGES]
    if given.others:
        rows = [(name, words) for name, several in OTHERS.items() for words in several]
    held = 0
    print(f"| change | promised | real | held, of {given.pairs} |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as text:
        for name, words in rows:
            program, more = changed(name, words, Path(text)), ["hash"] if name == "hash" else []
            pairs = []
            for _ in range(given.pairs):
                after, _ = recorded([program, "mended", *more], given.build)
                before, found = recorded([program, "fault", *more], given.build)
                low, high = found.gain if found else (0.0, 0.0)
                real = 1 - after / before
                narrow = found is not None and high <= max(2 * low + 0.001, low + 0.1)
                pairs.append((low, high, real, narrow and low - NEAR <= real <= high + NEAR))
            lows, highs, shares, holds = zip(*pairs, strict=True)
            held += sum(holds) > len(holds) / 2
            quarter, shares = len(shares) // 4, sorted(shares)
            print(
                f"| `{name}` | {percent(statistics.median(lows))} to "
                f"{percent(statistics.median(highs))} | {percent(statistics.median(shares))} "
                f"({percent(shares[quarter])} to {percent(shares[-1 - quarter])}) | {sum(holds)} |",
                flush=True,
            )
    print(f"\n{held} of {len(rows)} held")


if __name__ == "__main__":
    main()
