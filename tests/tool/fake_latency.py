# SPDX-License-Identifier: MIT
"""Speaks as pawl-bench-latency does, at once and with made-up numbers.

FAKE_MODE chooses how it misbehaves; FAKE_STOP lets it stand still (fake_pause.py); FAKE_LOG gets a
line per start.
"""

import argparse
import json
import os
import random
import signal
import sys

import fake_pause

MODE = os.environ.get("FAKE_MODE", "")
PER_NS = 2.0
NOT_BUILT = "install libnsync-dev and build again"
NO_RIGHT = "real-time scheduling is not permitted (Operation not permitted)"
# lock -> nanoseconds that signals stay blocked (usual, p99.99, longest), writes a second of each of
# two writers, a handler's longest wait.
LOCKS = {
    "pawl_sift": ((1500, 9000, 30000), (5000, 4990), 42000),
    "pthread_rwlock": ((1000000, 90000000, 95000000), (60, 50), 9000000),
    "pthread_rwlock_writer": ((1000000, 91000000, 96000000), (60, 50), 9000000),
    "pthread_rwlock_nonrecursive": ((30000, 4000000, 8000000), (900, 800), 7000000),
    "pawl_lock64": ((30000, 4100000, 9000000), (900, 850), 7000000),
    "absl_mutex": ((40000, 4200000, 9000000), (900, 850), 7000000),
    "nsync_mu": None,
    "none": ((1000, 1500, 25000), (6000, 6000), 31000),
}
# Nanoseconds of a pair.
PAIRS = {
    "floor/empty_loop": 0.3,
    "floor/cas_sub": 10.0,
    "calls/signal_mask": 300.0,
    "calls/scheduling": 900.0,
    "calls/skipped": 12.0,
    "r/pawl_sift": 10.1,
    "w/pawl_sift": 1250.0,
    "w/pawl_sift_handlers": 330.0,
    "r/pawl_sift_threads": 10.1,
    "w/pawl_sift_threads": 11.0,
    "w/pawl_sift_net": 24.0,
    "r/pthread_rwlock": 14.0,
    "w/pthread_rwlock": 22.0,
    "w/pthread_rwlock_masked": 330.0,
    "r/pthread_rwlock_nonrecursive": 14.0,
    "r/pawl_lock64": 10.2,
    "r/nsync_mu": None,
}
# scenario -> threads; "w" two writers count by the lock's own numbers.
CASTS = {
    "writer": ["writer/0"], "trylock_writer": ["trylock_writer/0"], "reader": ["reader/0"],
    "realtime_reader": ["realtime_reader/0"],
    "readers": ["reader/0", "reader/1", "realtime_reader/0", "realtime_reader/1"],
    "contention": ["writer/0", "writer/1", "trylock_writer/0", "reader/0", "reader/1",
                   "realtime_reader/0", "realtime_reader/1", "trylock_reader/0",
                   "interrupt/cpu0", "interrupt/cpu1"],
    "placed": ["writer/0", "reader/0", "reader/1", "realtime_reader/0", "realtime_reader/1",
               "trylock_reader/0", "deferred/writer0", "interrupt/writer0", "interrupt/cpu1"],
    "handlers": ["writer/0", "writer/1", "reader/0", "reader/1", "deferred/cpu1",
                 "interrupt/cpu1"],
}  # fmt: skip
interrupted = False


def say(message):
    print(json.dumps(message), flush=True)


def stop(_number, _frame):
    global interrupted
    interrupted = True


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--scenario", default="placed")
    parser.add_argument("--rounds", type=int, default=1)
    for name in (
        "--seconds",
        "--warmup",
        "--pin",
        "--slow-section",
        "--slow-every",
        "--read-section",
        "--write-section",
        "--writer-delay",
        "--trylock-delay",
        "--tries",
        "--handler-period",
        "--realtime-share",
    ):
        parser.add_argument(name)
    parser.add_argument("--realtime", default="auto")
    parser.add_argument("--candidates", default="")
    return parser.parse_args()


def series(count, usual, most, tail=None):
    """Durations given in nanoseconds, told in cycles."""
    tail = most if tail is None else tail
    return {
        "count": count,
        "min": int(usual * PER_NS / 2),
        "avg": int(usual * PER_NS),
        "p50": int(usual * PER_NS),
        "p99": int(usual * PER_NS * 2),
        "p99.9": int(tail * PER_NS),
        "p99.99": int(tail * PER_NS),
        "max": int(most * PER_NS),
    }


def writes(name, who, seconds):
    rates = LOCKS[name][1]
    return int(rates[int(who[-1])] * seconds)


def row(o, name, who):
    (usual, tail, most), _, handler = LOCKS[name]
    role, seconds = who.split("/")[0], float(o.seconds)
    count = writes(name, who, seconds) if role == "writer" else int(100 * seconds) + 1
    line = {
        "who": who,
        "context": role if role in ("deferred", "interrupt") else "thread",
        "iterations": count,
        "failed": 7 if "trylock" in role else 0,
        "slow": 0,
        "lock": series(count, usual, handler if role in ("deferred", "interrupt") else most),
        "unlock": series(count, 100, 5000),
        "deferred": None,
        "interrupt": None,
        "raised": None,
    }
    if role in ("writer", "trylock_writer"):
        line["deferred"] = line["interrupt"] = series(count, usual, most, tail)
        line["blocked"] = [
            [int(usual * PER_NS), 9989],
            [int(tail * PER_NS), 10],
            [int(most * PER_NS), 1],
        ]
        if name == "pawl_sift":
            line["raised"] = series(count, usual * 3, most * 3)
    return line


def sample(o, name, number):
    noise = random.Random(f"{name} {number}").uniform(0.995, 1.005)
    line = {
        "type": "sample",
        "candidate": name,
        "round": number,
        "scenario": o.scenario,
        "realtime_error": NO_RIGHT if MODE == "no-right" else "",
        "counter": {"name": "rdtsc", "per_ns": PER_NS, "own": 30, "cost": series(1000, 15, 900)},
    }
    if o.scenario == "pairs":
        return line | {"threads": 1, "ops": int(1e9 / PAIRS[name] * noise), "seconds": 1.0}
    rows = [row(o, name, who) for who in CASTS[o.scenario]]
    line["rescued"] = 2 if MODE == "spins" and name == "pawl_lock64" else 0
    return line | {
        "threads": len(rows),
        "ops": sum(r["iterations"] for r in rows),
        "seconds": float(o.seconds),
        "rows": rows,
    }


def listed(o):
    known = PAIRS if o.scenario == "pairs" else LOCKS
    why = {n: "" if v else NOT_BUILT for n, v in known.items()}
    if MODE == "no-right" and o.scenario == "pairs":
        why["calls/scheduling"] = NO_RIGHT
    return [
        {"name": n, "available": not w, "why": w, "baseline": n == "pthread_rwlock"}
        for n, w in why.items()
    ]


def main():
    o = options()
    if MODE == "bad-list":
        print("no JSON")
        return 0
    if o.list:
        say(listed(o))
        return 0
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a") as out:
            out.write(json.dumps(vars(o)) + "\n")
    if MODE == "hangs":
        say({"type": "error", "message": "The scenario did not end within 20 s."})
        return 1
    signal.signal(signal.SIGINT, stop)
    say({"type": "start", "compiler": "fake 1.0", "flags": "-O2", "pinned": True, "pin_error": ""})
    said = 0
    for number in range(o.rounds):
        for name in o.candidates.split(","):
            fake_pause.stand_still(said, lambda: interrupted)
            if interrupted:
                say({"type": "end", "interrupted": True})
                return 130
            say(sample(o, name, number))
            said += 1
            if MODE == "garbage":
                print("Segmentation fault", flush=True)
            if MODE == "crash":
                os.kill(os.getpid(), signal.SIGABRT)
    say({"type": "end"})
    return 0


sys.exit(main())
