#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the recorder of `pawl trace` costs, by processor time: so other programs on the machine
disturb it less than `pawl bench record --set shim`, which goes by the clock.

    recorder_cost.py [BUILD...]     builds whose recorders are compared  [build/release]

The pairs are pawl-bench-shim-load's of the first build, alone and under each recorder, in turns.
Prints the median and the quartiles of the differences, and the least of each."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("libpawl-trace.so", "libpawl-trace-waits.so", "libpawl-trace-blocks.so")
# Percentage of writes, steps of a section: as in pawl-bench-shim.
SCENES = {"read pair": (0, 0), "write pair": (100, 0), "200,000 read pairs a second": (0, 4700)}


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sample(load: Path, scene: tuple[int, int], seconds: float, build: Path | None) -> float:
    """Nanoseconds of the processor for a pair, and what is in it and beside it: of a long run less
    a short one, as the begin and the end of a process are no part of it."""
    (short_cpu, few), (long_cpu, many) = (
        run(load, scene, length, build) for length in (seconds / 5, seconds)
    )
    return (long_cpu - short_cpu) * 1e9 / (many - few)


def run(
    load: Path, scene: tuple[int, int], seconds: float, build: Path | None
) -> tuple[float, int]:
    words = [load, "1", str(seconds), "0.001", *map(str, scene)]
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    with tempfile.TemporaryDirectory(prefix="pawl-cost-") as folder:
        if build:
            environment["LD_PRELOAD"] = ":".join(str(build / "shim" / name) for name in LIBRARIES)
            environment["PAWL_TRACE_DIR"] = folder
        before = cpu_seconds()
        done = subprocess.run(words, check=True, capture_output=True, env=environment)
        return cpu_seconds() - before, json.loads(done.stdout)["ops"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("builds", nargs="*", type=Path, default=[ROOT / "build/release"])
    parser.add_argument("--rounds", type=int, default=15, help="of each [15]")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a sample [0.3]")
    given = parser.parse_args()
    load = given.builds[0] / "bench/pawl-bench-shim-load"
    for path in [load, *(b / "shim" / name for b in given.builds for name in LIBRARIES)]:
        if not path.is_file():
            parser.error(f"{path} is not built")
    for name, scene in SCENES.items():
        found: dict[Path | None, list[float]] = {b: [] for b in (None, *given.builds)}
        for number in range(given.rounds):
            for build in list(found) if number % 2 == 0 else reversed(found):
                found[build].append(sample(load, scene, given.seconds, build))
        alone = found.pop(None)
        print(f"{name}: alone {statistics.median(alone):.1f} ns, least {min(alone):.1f}")
        for build, values in found.items():
            more = sorted(a - b for a, b in zip(values, alone, strict=True))
            part = statistics.median(a / b for a, b in zip(values, alone, strict=True))
            quarter = len(more) // 4
            print(
                f"    {build}: {statistics.median(more):.1f} ns more ({more[quarter]:.1f} to "
                f"{more[-1 - quarter]:.1f}), times {part:.3f}; least {min(values):.1f}, "
                f"{min(values) - min(alone):.1f} more, times {min(values) / min(alone):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
