#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How near `pawl replay` comes to what an upgrade gains in truth: the cache of the examples,
written naively, is recorded and replayed; in turns with that, the program with the upgrade is
measured against itself without. doc/trace.md has the figures.

    lru_gain.py                     seven recordings, 14 pairs of runs
    lru_gain.py --build build/release --recordings 3"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tool"
sys.path.insert(0, str(TOOL))

from pawl.trace import collect, store  # noqa: E402

UPGRADE = "upgrade/pawl_lock32"


def compiled(build: Path, folder: Path) -> Path:
    program = folder / "lru"
    flags = ("-std=c++17", "-O2", "-g", f"-I{ROOT}/include", f"-I{ROOT}", "-pthread")
    source = ROOT / "tests/trace/lru.cpp"
    subprocess.run(["g++", *flags, "-o", program, source, build / "libpawl.a"], check=True)
    return program


def lookups(program: Path, how: str, given: argparse.Namespace, **extra: str) -> float:
    done = subprocess.run(
        [program, how, "2", str(given.seconds)],
        check=True,
        text=True,
        capture_output=True,
        env={**os.environ, **extra},
    )
    return float(done.stdout)


def replayed(program: Path, given: argparse.Namespace, folder: Path) -> tuple[float, float]:
    """Fidelity, and the gain of the upgrade, of one recording."""
    raws = folder / "raw"
    raws.mkdir()
    recorder = str(given.build / "shim/libpawl-trace.so")
    lookups(program, "naive", given, LD_PRELOAD=recorder, PAWL_TRACE_DIR=str(raws))
    trace, answer = folder / "trace", folder / "answer.json"
    with store.create(trace) as db:
        collect.collect(raws, db, {"command": "lru naive"})
    words = ["--driver", str(given.build / "bench"), "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pawl", "replay", trace, *words, "--json", answer],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(TOOL)},
    )
    found = json.loads(answer.read_text())
    gain = next(r["gain"]["ratio"] for r in found["rows"] if r["candidate"] == UPGRADE)
    return found["fidelity"]["ratio"], gain


def line(what: str, values: list[float]) -> None:
    listed = ", ".join(f"{value:.2f}" for value in sorted(values))
    print(f"{what}: {listed}; median {statistics.median(values):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--recordings", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a run [0.7]")
    given = parser.parse_args()
    answers, gains = [], []
    with tempfile.TemporaryDirectory() as text:
        program = compiled(given.build, Path(text))
        for number in range(given.recordings):
            folder = Path(text) / str(number)
            folder.mkdir()
            answers.append(replayed(program, given, folder))
            for order in (("naive", "better"), ("better", "naive")):
                rates = {how: lookups(program, how, given) for how in order}
                gains.append(rates["better"] / rates["naive"])
    line("fidelity", [fidelity for fidelity, _ in answers])
    line(f"{UPGRADE}, times the original", [gain for _, gain in answers])
    line("the program with the upgrade, times without", gains)


if __name__ == "__main__":
    main()
