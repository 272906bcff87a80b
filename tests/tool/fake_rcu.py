# SPDX-License-Identifier: MIT
"""What fake_driver.py says as pawl-bench-hash, -tree, -sem and -rcu.

The made-up numbers meet every target. Where a row is None its library is missing.
"""

import random

# Million operations a second of one thread that only searches; what a share of updates takes away.
HASH = {
    "ideal": (100, 0.5),
    "spin": (30, 0.5),
    "pthread_rwlock": (25, 0.5),
    "bucket_lock": (50, 0.5),
    "brlock": (80, 0.95),
    "refcount": (40, 0.5),
    "r+s>w/pawl_spin64": (35, 0.5),
    "pawl_lock64": (35, 0.5),
    "pawl_rcu": (97, 0.6),
    "pawl_rcu_qs": (99, 0.6),
    "urcu_memb": (90, 0.7),
    "urcu_qsbr": (92, 0.7),
    "urcu_bp": (80, 0.7),
    "ck_epoch": (60, 0.7),
    "tbb_hash_map": None,
}
# Rows that two threads share one word of do no more together than one does.
SHARED = ("spin", "pthread_rwlock", "r+s>w/pawl_spin64")
TREE = {
    "r+s>w/pawl_spin64": 20e6,
    "r+s>w/pawl_spin32": 19e6,
    "r+s>w/pawl_lock64": 18e6,
    "r+w/pthread_rwlock": 12e6,
    "r+w/std_shared_mutex": 12e6,
    "r+w/pawl_spin64": 14e6,
    "w/pthread_mutex": 10e6,
    "w/none": 25e6,
    "r+s>w/boost_upgrade_mutex": None,
    "parts/none": 1e5,
}
SEM = {
    "idtable/pawl_spin32": 30e6,
    "idtable/pawl_lock64": 28e6,
    "global/pthread_mutex": 15e6,
    "global/pthread_spin": 20e6,
    "global/pawl_lock64": 16e6,
}
# Nanoseconds that one thread spends on an operation; of call, delay and flood on a callback.
RCU = {
    "read/empty@1": 0.25, "read/lock_xadd_pair@1": 10.0, "read/lock_xadd_pair@2": 10.0,
    "read/pawl_rcu@1": 0.6, "read/pawl_rcu@2": 0.6, "read/pawl_rcu_domain@1": 0.7,
    "read/pawl_rcu_qs@1": 0.25, "read/urcu_memb@1": 0.6, "read/urcu_memb@2": 0.6,
    "read/ck_epoch@1": None, "nested/pawl_rcu@1": 0.5, "nested/urcu_memb@1": 0.5,
    "deref/plain@1": 16.0, "deref/pawl_rcu@1": 16.6, "deref/urcu_memb@1": 16.6,
    "quiet/pawl_rcu_qs@1": 1.0, "quiet/urcu_qsbr@1": 1.0,
    "sync/membarrier@1": 500.0, "sync/pawl_rcu@1": 900.0, "sync/pawl_rcu@1+readers": 2000.0,
    "sync/pawl_rcu_expedited@1": 800.0, "sync/urcu_memb@1": 2000.0,
    "sync/urcu_memb@1+readers": 4000.0,
    "busy/pawl_rcu@1+readers": 3e4, "busy/pawl_rcu_expedited@1+readers": 3e4,
    "busy/urcu_memb@1+readers": 6e4, "busy/pawl_rcu_qs@1+readers": 3e4,
    "busy/pawl_rcu_qs_expedited@1+readers": 3e4,
    "call/pawl_rcu@1": 50.0, "call/pawl_rcu@2": 60.0, "call/urcu_memb@1": 200.0,
    "call/urcu_memb@2": 300.0,
    "delay/pawl_rcu@1": 2e5, "delay/pawl_rcu@1+readers": 2e5, "delay/urcu_memb@1": 2e5,
    "delay/urcu_memb@1+readers": 2e5,
    "flood/pawl_rcu@1": 100.0, "flood/pawl_rcu@1+readers": 150.0, "flood/pawl_rcu_wait@1": 120.0,
    "flood/urcu_memb@1": 200.0, "flood/urcu_memb@1+readers": 200.0, "flood/pawl_rcu@2": 130.0,
}  # fmt: skip
OBJECT, POINTS = 64, 50


def million(pair):
    return None if pair is None else pair[0] * 1e6


RATES = {"hash": {n: million(p) for n, p in HASH.items()}, "tree": TREE, "sem": SEM, "rcu": RCU}
OPTIONS = (
    "--updates",
    "--elements",
    "--nodes",
    "--inserts",
    "--lookups",
    "--semaphores",
    "--choose",
    "--groups",
    "--callbacks",
    "--bound",
    "--most",
)


def noise(*words):
    return random.Random(" ".join(map(str, words))).uniform(0.99, 1.01)


def line(o, name, number, rate):
    return {
        "type": "sample",
        "candidate": name,
        "round": number,
        "threads": o.threads,
        "ops": int(rate * noise(name, number) * 0.01),
        "seconds": 0.01,
        "cpu_seconds": 0.01,
        "ctx_voluntary": 0,
        "ctx_involuntary": 1,
    }


def hash_sample(o, name, number):
    search, kept = HASH[name]
    share = float(o.updates) / 100
    rate = search * 1e6 * (1 - share + share * kept) * (1 if name in SHARED else o.threads)
    owed = 0.002 * share if "rcu" in name or name == "ck_epoch" else 0
    own = line(o, name, number, rate)
    return own | {
        "updates": int(own["ops"] * share),
        "found": own["ops"],
        "absent": 0,
        "drain_seconds": owed,
    }


def tree_sample(o, name, number):
    own = line(o, name, number, TREE[name] * (1 + 0.5 * (o.threads - 1)))
    if name == "parts/none":
        own |= {
            "threads": 1,
            "read_ns": 40 * noise(number),
            "seek_ns": 595 * noise(number),
            "write_ns": 5 * noise(number),
        }
    return own | {"inserts": own["ops"] // 100, "lookups": own["ops"]}


def sem_sample(o, name, number):
    shared = name.startswith("global") or o.choose == "same"
    own = line(o, name, number, SEM[name] * (0.5 if shared and o.threads > 1 else o.threads))
    return own | {"refused": own["ops"] // 1000}


def delays(name, number):
    """Most callbacks of liburcu wait for ten milliseconds, ours for a tenth of one."""
    usual = 1e7 if "urcu" in name else 1e5
    pairs = [[int(usual * noise(name, number)), 950], [int(usual * 1.1), 49], [int(usual * 3), 1]]
    return {
        "ops": 1000,
        "seconds": 0.2,
        "delays_ns": pairs,
        "delay_ns": {
            "p50": usual,
            "p99": usual * 1.1,
            "p99.9": usual * 3,
            "p99.99": usual * 3,
            "max": pairs[-1][0] + 7,
        },
    }


def flood(o, name, count):
    bounded = "pawl" in name
    bound = int(o.bound)
    most = min(count * OBJECT, int(o.most))
    peak = int(bound * 0.98) if bounded else most
    stopped = not bounded and most < count * OBJECT
    ops = most // OBJECT if stopped else count
    held = [
        [n / 100, int(peak * min(1, n / 10 if bounded else n / POINTS))] for n in range(POINTS + 1)
    ]
    return {
        "ops": ops,
        "seconds": ops * RCU[name] / 1e9,
        "held": held,
        "peak_bytes": peak,
        "rss_peak_bytes": peak + 1000000,
        "bound_bytes": bound if bounded else None,
        "stopped": stopped,
    }


def rcu_sample(o, name, number):
    threads = int(name.split("@")[1].split("+")[0])
    own = {
        "type": "sample",
        "candidate": name,
        "round": number,
        "threads": threads,
        "ops": int(threads * 0.01e9 / RCU[name] * noise(name, number)),
        "seconds": 0.01,
    }
    group = name.split("/")[0]
    if group == "call":
        count = int(o.callbacks) * threads
        own |= {
            "ops": count,
            "seconds": count * RCU[name] / threads / 1e9 * noise(name, number),
            "call_ns": RCU[name] / 2,
        }
    elif group == "delay":
        own |= delays(name, number)
    elif group == "flood":
        # --flood of pawl-bench-crowd is a flag and has no number; this one has.
        own |= flood(o, name, int(o.flood))
    return own


SAMPLES = {"hash": hash_sample, "tree": tree_sample, "sem": sem_sample, "rcu": rcu_sample}
