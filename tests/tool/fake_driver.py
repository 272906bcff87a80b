# SPDX-License-Identifier: MIT
"""Speaks as the measuring programs do, at once and with made-up rates.

Started through a wrapper named pawl-bench-lru or pawl-bench-pairs. FAKE_MODE chooses how it
misbehaves; FAKE_DELAY is the time of a sample; FAKE_LOG gets a line per start.
"""

import argparse
import json
import os
import random
import signal
import struct
import sys
import time

MODE = os.environ.get("FAKE_MODE", "")
RATES = {
    "w/pthread_spin": 5.0e6, "r+w/pthread_rwlock": 6.0e6, "w/pthread_mutex": 5.5e6,
    "w/pawl_spin32": 5.2e6, "s/pawl_spin32": 5.4e6, "r+w/pawl_spin32": 8.0e6,
    "r+s>w/pawl_spin32": 1.1e7, "r+rs>w/pawl_spin32": 1.0e7, "r+rw/pawl_spin32": 9.0e6,
    "r+s>w/pawl_spin64": 1.05e7, "r+w/std_shared_mutex": 5.9e6, "w/none": 2.0e7,
    "r+w/tbb_spin_rw_mutex": None,
}
PAIR_RATES = {
    "floor/empty_loop": 1e9, "floor/two_lock_xadd": 1e8,
    "r/pawl_spin32": 9.9e7, "s/pawl_spin32": 9.9e7, "w/pawl_spin32": 9.9e7,
    "r/pawl_spin64": 9.9e7, "s/pawl_spin64": 9.9e7, "w/pawl_spin64": 9.9e7,
    "r/pthread_rwlock": 6e7, "w/pthread_rwlock": 5e7, "w/ck_rwlock": None,
}
interrupted = False


def say(message):
    print(json.dumps(message), flush=True)


def listed(rates):
    return [{"name": n, "strategy": n.split("/")[0], "lock": n.split("/")[1],
             "available": r is not None, "why": "" if r else "install libtbb-dev and build again",
             "baseline": False} for n, r in rates.items()]


def stop(_number, _frame):
    global interrupted
    interrupted = True


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--size", type=int)
    parser.add_argument("--keyspace", type=int)
    for name in ("--miss-cost", "--seconds", "--warmup", "--seed", "--dist", "--zipf-s",
                 "--trace", "--pin", "--chains"):
        parser.add_argument(name)
    parser.add_argument("--candidates", default="")
    parser.add_argument("--latency", action="store_true")
    return parser.parse_args()


def trace_hit_ratio(path):
    with open(path, "rb") as source:
        magic, distinct, count = struct.unpack("<8sQQ", source.read(24))
        ids = struct.unpack(f"<{count}I", source.read())
    assert magic == b"PAWLTRC1" and set(ids) == set(range(distinct))
    return 0.75


def sample(o, rates, name, number, hits):
    noise = random.Random(f"{name} {number}").uniform(0.98, 1.02)
    ops = int(rates[name] * noise * (1 + 0.1 * (o.threads - 1)) * 0.01)
    line = {"type": "sample", "candidate": name, "round": number, "threads": o.threads,
            "ops": ops, "seconds": 0.01}
    if rates is RATES:
        line |= {"hits": int(ops * hits), "misses": ops - int(ops * hits), "cpu_seconds": 0.01,
                 "ctx_voluntary": 0, "ctx_involuntary": 1}
    if o.latency:
        line["latency_ns"] = {"p50": 80, "p99": 130, "p99.9": 900, "p99.99": 5000,
                              "max": 40000 + number}
    say(line)


def main():
    rates = PAIR_RATES if sys.argv[1] == "pairs" else RATES
    del sys.argv[1]
    o = options()
    if MODE == "bad-list":
        print("no JSON")
        return 0
    if o.list:
        say(listed(rates))
        return 0
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a") as out:
            out.write(json.dumps(vars(o)) + "\n")
    if MODE == "bad-input":
        say({"type": "error", "message": "--size is odd; make it even."})
        return 2
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    unpinned = MODE == "unpinned"
    say({"type": "start", "compiler": "fake 1.0", "flags": "-O2", "pinned": not unpinned,
         "pin_error": "Operation not permitted" if unpinned else ""})
    hits = trace_hit_ratio(o.trace) if o.trace else 0.9976
    names = o.candidates.split(",")
    for number in range(o.rounds):
        for name in names if number % 2 == 0 else reversed(names):
            time.sleep(float(os.environ.get("FAKE_DELAY", "0")))
            if interrupted:
                say({"type": "end", "interrupted": True})
                return 130
            sample(o, rates, name, number, hits)
            if MODE == "garbage":
                print("Segmentation fault", flush=True)
            if MODE == "crash":
                print("assertion failed: word == 0", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGABRT)
            if MODE == "broken-lock":
                say({"type": "error", "message": "the lock failed."})
                return 1
    say({"type": "end"})
    return 0


sys.exit(main())
