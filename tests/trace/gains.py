#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ten changes really made: does the range that `pawl advise` promises hold the gain? Programs of
tests/advise are recorded with their fault. Then they are recorded repaired and with it, in turns.
The share of the threads' time that goes is compared with the promised one. It wants an idle machine
and takes two minutes or three.

    gains.py                        eleven pairs of runs for each
    gains.py --build build/release --pairs 5"""

from __future__ import annotations

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
from pawl.advise.finding import find  # noqa: E402
from pawl.advise.rules import RULES  # noqa: E402
from pawl.trace import collect, store  # noqa: E402

CHANGES = (
    "long_holds", "saturated", "convoy", "starvation", "read_then_write", "writers_leave_early",
    "uneven_split", "could_be_split", "broadcast_storm", "wakes_before_unlock",
)  # fmt: skip
NEAR = 0.05  # a gain that lies so far beyond the range is no miss: runs differ by as much


def recorded(program: Path, word: str, build: Path) -> tuple[int, tuple[float, float] | None]:
    """How long its threads ran and waited; the gain of the rule's finding, if it has a
    figure."""
    with tempfile.TemporaryDirectory() as text:
        raw, trace = Path(text, "raw"), Path(text, "trace")
        raw.mkdir()
        under = {"LD_PRELOAD": str(build / "shim/libpawl-trace.so"), "PAWL_TRACE_DIR": str(raw)}
        subprocess.run([program, word], check=True, env={**os.environ, **under})
        with store.create(trace) as db:
            collect.collect(raw, db, {})
        with store.open_trace(trace) as db:
            facts = Facts(db)
            found = [f for f in find(facts, RULES) if f.rule == program.name]
            figure = found and not found[0].match.unknown
            return facts.thread_ns, found[0].gain if figure else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--pairs", type=int, default=11, help="runs of each program [11]")
    given = parser.parse_args()
    held = 0
    print("| change | promised | real | held |\n|---|---|---|---|")
    for name in CHANGES:
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            program, source = folder / name, ROOT / f"tests/advise/{name}.c"
            flags = ["-O1", "-g", f"-I{ROOT}/include", "-pthread"]
            subprocess.run(["gcc", *flags, "-o", program, source], check=True)
            _, gain = recorded(program, "fault", given.build)
            shares = []
            for _ in range(given.pairs):
                after, before = (recorded(program, w, given.build)[0] for w in ("mended", "fault"))
                shares.append(1 - after / before)
            shares.sort()
        real = statistics.median(shares)
        inside = gain is not None and gain[0] - NEAR <= real <= gain[1] + NEAR
        held += inside
        said = "no figure" if gain is None else f"{percent(gain[0])} to {percent(gain[1])}"
        quarter = len(shares) // 4
        spread = f"{percent(shares[quarter])} to {percent(shares[-1 - quarter])}"
        print(f"| `{name}` | {said} | {percent(real)} ({spread}) | {'yes' if inside else 'no'} |")
    print(f"\n{held} of {len(CHANGES)} held")


if __name__ == "__main__":
    main()
