# SPDX-License-Identifier: MIT
"""What fake_driver.py says as pawl-bench-readers. The made-up numbers meet every target."""

import os
import random

# Nanoseconds of the reader's pair at one thread; whether readers share a line that they write.
TIMES = {
    "r+w/pawl_lock64": (10.0, True),
    "r+w/pawl_lock64_again": (10.0, True),
    "r+w/pawl_lock32": (10.0, True),
    "r+w/pawl_lock64_on": (5.5, False),
    "r+w/pawl_lock64_off": (10.0, True),
    "r+w/pawl_lock64_evidence": (5.5, False),
    "r+w/pawl_spin64": (10.0, True),
    "r+w/pawl_brlock": (1.5, False),
    "r+w/pthread_rwlock": (14.0, True),
    "r+w/tbb_spin_rw_mutex": (10.5, True),
    "r+w/ck_brlock": (6.0, False),
    "r+w/parking_lot": (12.0, True),
    "floor/pawl_rcu": (0.9, False),
    "floor/two_lock_xadd": (9.8, True),
    "floor/none": (0.3, False),
    "r+w/absl_mutex": None,
}
if os.environ.get("FAKE_MODE") == "no-bias":
    TIMES |= {f"r+w/pawl_lock64_{mode}": None for mode in ("on", "off", "evidence")}
OPTIONS = ("--scene", "--locks", "--registered")


def sample(o, name, number):
    pair, shared = TIMES[name]
    noise = random.Random(f"{name} {number}").uniform(0.99, 1.01)
    pair *= 2.6 if shared and o.threads > 1 else 1
    threads = 1 if o.scene == "seek" else o.threads
    ops = int(threads * 0.01e9 / (pair + 1000 * float(o.section)) * noise)
    writes = int(ops * float(o.writes) / 100)
    if o.scene == "write":
        ops = int(0.01e9 / (60 + (20 + 2 * int(o.registered) if name.endswith("_on") else 0)))
    elif o.scene == "seek":
        ops = int(0.01e9 / 20 * noise)
    elif o.scene == "flood":
        writes = 10
    longest = 800 if name.endswith("_on") else 900
    return {
        "type": "sample",
        "candidate": name,
        "round": number,
        "threads": o.threads,
        "ops": ops,
        "seconds": 0.01,
        "writes": writes,
        "cpu_seconds": 0.01,
        "wait_ns": {"p50": 50, "p99": 400, "p99.9": longest, "max": longest + number},
        "ctx_voluntary": 0,
        "ctx_involuntary": 1,
    }
