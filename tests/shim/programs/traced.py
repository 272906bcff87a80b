#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that this project did not write, traced and advised, and re-enacted with other locks;
then measured on our read-write locks. doc/trace.md says what was found, and what their sources say.

    traced.py                       all five, three seconds each
    traced.py memcached slapd       these
    traced.py --json FILE           the answers for programs, a line each

Needs the preload libraries, the recorder and pawl-bench-replay of one build (--build), and the
packages of `scripts/setup programs`."""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import programs

sys.path.insert(0, str(programs.ROOT / "tool"))

NAMES = {
    "libssl": "tls",
    "memcached": "memcached",
    "pigz": "pigz",
    "slapd": "slapd",
    "unbound": "unbound",
}
RECORDER = ("libpawl-trace.so", "libpawl-trace-waits.so", "libpawl-trace-blocks.so")


def record(name: str, run: programs.Run, shim: Path, folder: Path, seconds: float) -> Path:
    from pawl.trace import collect, store

    raw, trace = folder / "raw", folder / f"{name}.trace"
    raw.mkdir()
    raw.chmod(0o1733)  # a server may become another user
    folder.chmod(0o711)
    run(
        {
            **programs.environments(shim)["libc"],
            "PAWL_TRACE_DIR": str(raw),
            "LD_PRELOAD": ":".join(str(shim / library) for library in RECORDER),
        },
        seconds,
        folder,
    )
    with store.create(trace) as db:
        for said in collect.collect(raw, db, {"command": name}):
            print(f"{name}: {said}")
    return trace


def pawl(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "pawl", *words],
        check=False,
        text=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(programs.ROOT / "tool")},
    )


def replay(trace: Path, build: Path, seconds: float) -> dict | None:
    """None where the trace has too little to do again; a sentence says so."""
    path = trace.with_suffix(".json")
    done = pawl(
        "replay",
        str(trace),
        "--driver",
        str(build / "bench"),
        "--quiet",
        "--seconds",
        str(seconds / 10),
        "--json",
        str(path),
    )
    if done.returncode:
        print(f"{trace.stem}: {done.stderr.strip()}")
        return None
    return json.loads(path.read_text())


def advise(trace: Path, answer: dict | None) -> dict:
    path = trace.with_name("advice.json")
    words = ["--replay", str(trace.with_suffix(".json"))] if answer else []
    done = pawl("advise", str(trace), "--json", str(path), *words)
    if done.returncode:
        raise SystemExit(f"{trace.stem}: {done.stderr.strip()}")
    print(done.stdout)
    return json.loads(path.read_text())


def of_replay(answer: dict | None) -> dict | None:
    if not answer:
        return None
    rows = {r["candidate"]: r["gain"]["ratio"] for r in answer["rows"]}
    best = max(rows, key=lambda name: rows[name] or 0)
    fidelity = answer["fidelity"]
    print(
        f"replay: the original locks take {fidelity['ratio'] or 0:.3f} times as many locks a "
        f"second as the recording; best {best} with {rows[best] or 0:.3f} times the original"
    )
    return {"fidelity": fidelity, "replaced": answer["replaced"], "rows": rows}


def go(name: str, given: argparse.Namespace) -> dict:
    module = importlib.import_module(NAMES[name])
    shim = given.build / "shim"
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        module.prepare(folder)
        trace = record(name, module.run, shim, folder, given.seconds)
        answer = replay(trace, given.build, given.seconds)
        advice = advise(trace, answer)
        if given.keep:
            given.keep.mkdir(exist_ok=True)
            (given.keep / trace.name).write_bytes(trace.read_bytes())
        rates = programs.pairs(module.run, shim, folder, given.pairs, given.seconds)
    ratios = [p / c for p, c in zip(rates["pawl"], rates["libc"], strict=True)]
    low, high = programs.interval(ratios)
    print(
        f"{name}: on our read-write locks {programs.median(ratios):.3f} of libc's "
        f"({low:.3f} to {high:.3f}, {given.pairs} pairs)\n"
    )
    return {"program": name, "advice": advice, "replay": of_replay(answer), "measured": rates}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help=", ".join(NAMES))
    parser.add_argument("--seconds", type=float, default=3, help="length of a run [3]")
    parser.add_argument("--pairs", type=int, default=3, help="alternating pairs of runs [3]")
    parser.add_argument(
        "--build",
        type=Path,
        default=programs.ROOT / "build/release",
        help="the folder of the build [build/release]",
    )
    parser.add_argument("--json", type=Path, help="append the answers to this file, a line each")
    parser.add_argument("--keep", type=Path, help="keep the traces in this folder")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(
            f"there is no program {', '.join(sorted(unknown))}; choose among {', '.join(NAMES)}"
        )
    if given.pairs < 1 or not 0 < given.seconds <= 60:
        parser.error("say at least one pair, and between 0 and 60 seconds")
    for library in RECORDER:
        if not (given.build / "shim" / library).is_file():
            programs.skip(f"{given.build}/shim/{library} is not built")
    for name in given.names or NAMES:
        made = go(name, given)
        if given.json:
            with given.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
