# SPDX-License-Identifier: MIT
"""Speaks as pawl-bench-costs does, at once and with made-up times.

FAKE_SLOW=NAME,... makes those rows a thousand times slower; FAKE_STOP lets it stand still
(fake_pause.py); FAKE_LOG gets a line per measurement. FAKE_FLAGS: what it was built with.
"""

import argparse
import itertools
import json
import os
import signal
import sys

import fake_pause

# Nanoseconds; None: cannot be measured.
ROWS = {
    "instruction": 0.1, "cycle": 0.4, "cycle_counter": None, "tsc_tick": 0.5, "l1": 1.6, "l2": 6,
    "l3": 20, "memory": 100, "increment": 1, "atomic_increment": 5, "cmpxchg_increment": 6,
    "fence": 5, "local_lock": 10, "rseq": None, "atomic_increment_transfer": 40,
    "cmpxchg_blind": 45, "cmpxchg_transfer_invalidate": 60, "system_call": 80,
    "membarrier_idle": 300, "membarrier_busy": 2000, "futex_wake_nobody": 120,
    "futex_wake_sleeper": 2000, "wake_latency": 5000, "context_switch": 1500, "signal": 1200,
    "rcu_section": 1, "rcu_domain_section": 1, "rcu_qs_section": 0.3, "rcu_quiescent": 0.7,
    "rcu_synchronize": 400, "rcu_domain_synchronize": 400, "rcu_qs_synchronize": 400,
    "rcu_call": 20,
}  # fmt: skip
BETWEEN = (
    "atomic_increment_transfer",
    "cmpxchg_blind",
    "cmpxchg_transfer_invalidate",
    "membarrier_busy",
    "futex_wake_sleeper",
    "wake_latency",
)
LOCKS = {
    "r/pawl_spin32": (10, 50),
    "w/pawl_spin32": (10, 50),
    "w/pthread_mutex": (12, 60),
    "r/pthread_rwlock": (14, 70),
}
LENGTHS = (16, 64, 256)
NEEDS_TWO = "it needs two CPUs, and one was given"
interrupted = False


def say(message):
    print(json.dumps(message), flush=True)


def stop(_number, _frame):
    global interrupted
    interrupted = True


def times(o):
    """name -> nanoseconds, and why not."""
    cpus = [int(c) for c in o.cpus.split(",")]
    if o.part == "matrix":
        return {f"{a}-{b}": (50 + a + b, "") for a, b in itertools.combinations(cpus, 2)}
    if o.part == "locks":
        found = {f"section/w/none/{n}": (n / 4, "") for n in LENGTHS}
        for name, (local, moved) in LOCKS.items():
            found[f"local/{name}"] = (local, "")
            found[f"moved/{name}"] = (moved, "") if len(cpus) > 1 else (None, NEEDS_TWO)
            found |= {f"section/{name}/{n}": (n / 4 + local, "") for n in LENGTHS}
        return found | {"local/w/absl_mutex": (None, "install libabsl-dev and build again")}
    found = {n: (ns, "" if ns else "the test says so") for n, ns in ROWS.items()}
    if len(cpus) == 1:
        found |= dict.fromkeys(BETWEEN, (None, NEEDS_TWO))
    return found


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    for name in ("--part", "--cpus", "--caches", "--near", "--seconds"):
        parser.add_argument(name)
    return parser.parse_args()


def sample(name, number, ns):
    slow = 1000 if name in os.environ.get("FAKE_SLOW", "").split(",") else 1
    # 0.99, 1, 1.01, 0.99, ...: the median is exact.
    seconds = ns * slow * (0.99 + 0.01 * (number % 3)) * 1e-9 * 100
    line = {"type": "sample", "candidate": name, "round": number, "ops": 100, "seconds": seconds}
    if name in ("l1", "l2", "l3", "memory"):
        line["bytes"] = 4096
    if name.startswith(("local/", "moved/")):
        line |= {"take_seconds": seconds * 0.75, "drop_seconds": seconds * 0.25}
    say(line)


def main():
    o = options()
    found = times(o)
    if o.list:
        say(
            [{"name": n, "available": ns is not None, "why": why} for n, (ns, why) in found.items()]
        )
        return 0
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a") as out:
            out.write(json.dumps(vars(o)) + "\n")
    signal.signal(signal.SIGINT, stop)
    flags = os.environ.get("FAKE_FLAGS", "-O2")
    say({"type": "start", "compiler": "fake 1.0", "flags": flags, "pinned": True, "pin_error": ""})
    said = 0
    for number in range(o.rounds):
        for name in (n for n, (ns, _) in found.items() if ns is not None):
            fake_pause.stand_still(said, lambda: interrupted)
            if interrupted:
                say({"type": "end", "interrupted": True})
                return 130
            sample(name, number, found[name][0])
            said += 1
    say({"type": "end"})
    return 0


sys.exit(main())
