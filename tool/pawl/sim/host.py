# SPDX-License-Identifier: MIT
"""Holds the simulator against the host: the same workloads by pawl-sim-native and by pawl-sim."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pawl.core import output
from pawl.core.errors import BadInput, Failure
from pawl.sim import fit, grid, machine, tasks, workloads

WANTED = 0.15
ABOUT = "rows: 'simulated' beside 'measured', operations/s; samples: measured"
# What the machine's file lacks: fitted on counters, so no lock is seen.
START = {"keep": 9.3, "request": 0.51, "copy_gap": 2.5, "window": 30.0}
CALIBRATED_ON = [
    ("counter", {"lock": lock, "outside": outside}, threads)
    for lock in ("atomic", "cas")
    for outside in (0, 20, 60)
    for threads in (1, 2)
]
SETTINGS = {"section": {"write": 10, "inside": 50, "outside": 100}}
THREADS = (1, 2)
# Models with the lock that each stands for; pawl-sim-native runs both.
LIBRARIES = {
    "spin": "pthread_spin_lock",
    "low_level_lock": "pthread_mutex_lock",
    "rwlock": "pthread_rwlock",
    "ticket": "ck_spinlock_ticket",
    "phase_fair": "ck_pflock",
    "bravo": "BRAVO over pthread_rwlock",
}
LIBRARY = "library_"

Run = tuple[str, dict, int]  # workload, settings, threads


def runs() -> list[Run]:
    """Every lock, and the libraries that have models; one thread and two."""
    return [
        ("section", {"lock": lock, **SETTINGS["section"]}, n)
        for lock in (*workloads.SECTION, *(LIBRARY + lock for lock in LIBRARIES))
        for n in THREADS
    ]


def compare(
    program: Path,
    native: Path,
    name: str,
    calibrate_first: bool,
    rounds: int,
    seconds: float,
    store: tasks.Store,
    say: Callable[[str], None],
) -> dict:
    """Measures and simulates all runs. No lock is used for the calibration, so each is unseen."""
    wanted = [*(CALIBRATED_ON if calibrate_first else []), *runs()]
    real = measure(native, wanted, rounds, seconds, say)
    if calibrate_first:
        write_calibrated(name, prices(native), "measured")
        values, left = calibrate(program, name, real, store)
        to_file = write_calibrated(name, values, "fitted on counters")
        say(f"written: {to_file} (mean error on counters {100 * left:.1f} %)")
    there = machine.load(name)
    found = rows(real, simulate(program, runs(), machine.words(there), store))
    return {"simulated": True, "about": ABOUT, "machine": there, "rows": found, "samples": real}


def _words(run: Run, count: int) -> list[str]:
    program, settings, threads = run
    words = grid.settings_of(settings["lock"]) | {k: v for k, v in settings.items() if k != "lock"}
    return [
        program,
        *(f"{k}={v}" for k, v in words.items()),
        f"cores={threads}",
        f"threads={threads}",
        f"count={count}",
    ]


def _native(run: Run, seconds: float) -> tuple[list[str], dict]:
    """The arguments, and the environment: there readers scale by PAWL_BIAS."""
    words = [w for w in _words(run, 1000) if not w.startswith("library.")]
    _, mode = grid.bias_of(run[1]["lock"])
    return [*words, f"seconds={seconds}"], os.environ | {"PAWL_BIAS": mode}


def measure(
    native: Path, wanted: list[Run], rounds: int, seconds: float, say: Callable[[str], None]
) -> dict[str, list[float]]:
    """Operations per second: all runs in turn, that many times, so that a drift meets all."""
    found: dict[str, list[float]] = {}
    for turn in range(rounds):
        for run in wanted:
            words, environment = _native(run, seconds)
            done = subprocess.run(
                [str(native), *words],
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
                env=environment,
            )
            if done.returncode == 2:
                raise BadInput(done.stderr.strip().removeprefix("pawl-sim-native: "))
            if done.returncode:
                raise Failure(f"{native} {' '.join(words)}: {done.stderr.strip()}")
            rate = json.loads(done.stdout)["operations_per_s"]
            if rate <= 0:
                raise Failure(
                    f"{run[1]['lock']} with {run[2]} threads did nothing in {seconds} s; "
                    "name longer --seconds, or a time at which the machine is idle."
                )
            found.setdefault(json.dumps(run), []).append(rate)
        say(f"measured: round {turn + 1} of {rounds}")
    return found


def prices(native: Path) -> dict[str, float]:
    """What the costs of the machine have no row for: a relax hint, and a look at the clock."""
    done = subprocess.run([str(native), "prices"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{native} prices: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return {name: float(found[name]) for name in ("relax", "clock")}


def simulate(program: Path, wanted: list[Run], words: list[str], store: tasks.Store) -> list[float]:
    found = tasks.run(program, [(*_words(run, 4000), "warm=100", *words) for run in wanted], store)
    return [r["operations_per_s"] for r in found]


def calibrate(
    program: Path, name: str, real: dict[str, list[float]], store: tasks.Store
) -> tuple[dict[str, float], float]:
    there = machine.words(machine.load(name))
    rates = [float(np.median(real[json.dumps(run)])) for run in CALIBRATED_ON]

    def errors(values: dict) -> np.ndarray:
        words = [w for w in there if w.split("=")[0].removeprefix("machine.") not in values]
        words += [f"machine.{k}={v:.6g}" for k, v in values.items()]
        return np.log(np.array(simulate(program, CALIBRATED_ON, words, store)) / rates)

    return fit.minimise(START, errors, 8, lambda _: None)


def write_calibrated(name: str, values: dict[str, float], source: str) -> Path:
    """Puts the values in the place of those that the file assumes."""
    path = machine.path_of(name)
    text = path.read_text()
    for key, value in values.items():
        line = f"{key} = {value:.4g} # pawl sim dev native: {source}"
        text, done = re.subn(rf"^{re.escape(key)} = .*$", line, text, flags=re.M)
        if not done:
            text = text.replace("[values]\n", f"[values]\n{line}\n", 1)
    output.write(path, text.encode())
    return path


def rows(real: dict[str, list[float]], simulated: list[float]) -> list[dict]:
    """The worst first; `noise`: the relative distance of the quartiles of the measurement."""
    found = []
    for run, there in zip(runs(), simulated, strict=True):
        all_ = real[json.dumps(run)]
        low, middle, high = (float(np.percentile(all_, p)) for p in (25, 50, 75))
        found.append(
            {
                "lock": run[1]["lock"],
                "threads": run[2],
                "measured": middle,
                "simulated": there,
                "error": abs(there / middle - 1),
                "noise": (high - low) / middle,
            }
        )
    return sorted(found, key=lambda r: -r["error"])


def markdown(found: list[dict]) -> str:
    locks = [r for r in found if not r["lock"].startswith(LIBRARY)]
    lines = [
        "| *simulated* and measured | threads | measured, million/s | simulated | error | "
        "spread of the measurement |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {workloads.SECTION[r['lock']]} | {r['threads']} | {r['measured'] / 1e6:.2f} | "
        f"{r['simulated'] / 1e6:.2f} | {100 * r['error']:.0f} % | {100 * r['noise']:.0f} % |"
        for r in locks
    ]
    inside = {n: [r["error"] <= WANTED for r in locks if r["threads"] == n] for n in THREADS}
    lines += [
        "",
        f"With one thread {sum(inside[1])} of {len(inside[1])} rows are within 15 %, "
        f"with two {sum(inside[2])} of {len(inside[2])}.",
    ]
    if len(locks) < len(found):
        lines += ["", *_peers(found)]
    return "\n".join(lines) + "\n"


def recorded() -> dict:
    return json.loads((machine.folder() / "reference" / "native-intel-xeon.json").read_text())


def _peers(found: list[dict]) -> list[str]:
    """Each model beside the lock that it stands for: run natively, and simulated."""
    at = {(r["lock"], r["threads"]): r for r in found}
    lines = [
        "| the library, measured | threads | million/s | its model, run natively | error | "
        "its model, *simulated* | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for lock, name in LIBRARIES.items():
        for n in THREADS:
            real, model = at[LIBRARY + lock, n], at[lock, n]
            off = abs(model["measured"] / real["measured"] - 1)
            lines.append(
                f"| {name} | {n} | {real['measured'] / 1e6:.2f} | {model['measured'] / 1e6:.2f} | "
                f"{100 * off:.0f} % | {real['simulated'] / 1e6:.2f} | {100 * real['error']:.0f} % |"
            )
    return lines
