# SPDX-License-Identifier: MIT
"""Programs that this project did not write, under a bounded load on loopback, on the C library's
locks and on Pawl's in alternating runs. Each script beside this one is one program.

A run returns operations a second. The ratio is that of Pawl's runs to their neighbours of the C
library; its interval comes from the pairs (median, and the ranks of a sign test at 95 %)."""

import argparse
import contextlib
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SKIPPED = 77
LONG = 120  # seconds after which what hangs is ended

Run = Callable[[dict[str, str], float, Path], float]


def skip(reason: str):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need(program: str, package: str) -> str:
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    return found or skip(f"{program} is not installed (scripts/setup programs; Debian: {package})")


def environments(shim: Path) -> dict[str, dict[str, str]]:
    if not (shim / "libpawl-preload.so").is_file():
        skip(f"{shim}/libpawl-preload.so is not built")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    return {"libc": plain, "pawl": {**plain, "LD_PRELOAD": str(shim / "libpawl-preload.so")}}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def server(command: list[str], environment: dict[str, str], port: int) -> Iterator[None]:
    """Runs until the block ends; ready when it takes connections."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + LONG
        while True:
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{command[0]} does not serve (code {process.poll()})")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.02)
        yield
        if process.poll() is not None:
            raise SystemExit(f"{command[0]} ended with code {process.returncode} under load")
    finally:
        process.terminate()
        process.wait(timeout=LONG)


def rate_of(client: Callable, number: int, port: int, seconds: float) -> float:
    """What the clients count a second; client(port, end, counts, own) adds to counts[own]."""
    counts, begin = [0] * number, time.monotonic()
    threads = [
        threading.Thread(target=client, args=(port, begin + seconds, counts, own))
        for own in range(number)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if not all(counts):
        raise SystemExit("a client got nothing")
    return sum(counts) / (time.monotonic() - begin)


def counted(run: Run, shim: Path, folder: Path, seconds: float) -> tuple[int, int]:
    """How many read and write locks the program takes: whether there is anything to replace."""
    log = folder / "counts"
    log.write_text("")
    log.chmod(0o666)  # a server may become another user
    folder.chmod(0o711)
    run({**environments(shim)["pawl"], "PAWL_PRELOAD_STATS": str(log)}, seconds, folder)
    lines = log.read_text().splitlines() if log.exists() else []
    return tuple(
        sum(int(line.split()[0]) for line in lines if line.endswith(f"  {what}"))
        for what in ("read locks", "write locks")
    )


def interval(ratios: list[float]) -> tuple[float, float]:
    """The ranks of the sign test; all of them where there are too few."""
    n, tail, rank = len(ratios), 0.0, 0
    for k in range(n // 2):
        tail += math.comb(n, k) / 2**n
        if 2 * tail > 0.05:
            break
        rank = k
    ordered = sorted(ratios)
    return ordered[rank], ordered[-1 - rank]


def median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else sum(ordered[middle - 1 : middle + 1]) / 2


def pairs(run: Run, shim: Path, folder: Path, count: int, seconds: float) -> dict[str, list]:
    """Alternating, and the first of a pair alternates too."""
    rates: dict[str, list[float]] = {"libc": [], "pawl": []}
    made = environments(shim)
    for i in range(count):
        for name in ("libc", "pawl") if i % 2 == 0 else ("pawl", "libc"):
            rates[name].append(run(made[name], seconds, folder))
    return rates


def main(name: str, what: str, run: Run, prepare: Callable[[Path], None]) -> None:
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--pairs", type=int, default=3, help="alternating pairs of runs [3]")
    parser.add_argument("--seconds", type=float, default=1, help="length of a run [1]")
    parser.add_argument(
        "--shim",
        type=Path,
        default=ROOT / "build/release/shim",
        help="the folder of the preload libraries [build/release/shim]",
    )
    parser.add_argument("--json", type=Path, help="append the samples to this file, a line each")
    given = parser.parse_args()
    if given.pairs < 1 or not 0 < given.seconds <= 60:
        parser.error("say at least one pair, and between 0 and 60 seconds")
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        prepare(folder)
        reads, writes = counted(run, given.shim, folder, given.seconds)
        rates = pairs(run, given.shim, folder, given.pairs, given.seconds)
    ratios = [p / c for p, c in zip(rates["pawl"], rates["libc"], strict=True)]
    low, high = interval(ratios)
    print(
        f"{name:12} {median(rates['libc']):12.0f} {median(rates['pawl']):12.0f} /s   "
        f"{median(ratios):.3f} of libc's ({low:.3f} to {high:.3f}, {given.pairs} pairs)   "
        f"{reads} read and {writes} write locks in a run"
    )
    if given.json:
        with given.json.open("a", encoding="utf-8") as file:
            file.write(
                json.dumps(
                    {
                        "program": name,
                        "what": what,
                        "seconds": given.seconds,
                        "reads": reads,
                        "writes": writes,
                        **rates,
                    }
                )
                + "\n"
            )
