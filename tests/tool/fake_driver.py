# SPDX-License-Identifier: MIT
"""Speaks as the measuring programs do, at once and with made-up rates.

Started through a wrapper named pawl-bench-lru, -pairs, -wake, -crowd, -counters or -crate, or as
one of those that fake_rcu.py speaks for. FAKE_MODE chooses how it misbehaves; FAKE_STOP lets it
stand still (fake_pause.py); FAKE_LOG gets a line per start.
"""

import argparse
import json
import os
import random
import signal
import struct
import sys

import fake_pause
import fake_rcu
import fake_readers

MODE = os.environ.get("FAKE_MODE", "")
RATES = {
    "w/pthread_spin": 5.0e6,
    "r+w/pthread_rwlock": 6.0e6,
    "w/pthread_mutex": 5.5e6,
    "w/pawl_spin32": 5.2e6,
    "s/pawl_spin32": 5.4e6,
    "r+w/pawl_spin32": 8.0e6,
    "r+s>w/pawl_spin32": 1.1e7,
    "r+rs>w/pawl_spin32": 1.0e7,
    "r+rw/pawl_spin32": 9.0e6,
    "r+s>w/pawl_spin64": 1.05e7,
    "r+w/std_shared_mutex": 5.9e6,
    "w/none": 2.0e7,
    "r+w/tbb_spin_rw_mutex": None,
    "r+s>w/pawl_lock32": 1.13e7,
    "r+s>w/pawl_lock64": 1.08e7,
    "cache/pawl_cache": 2.5e7,
    "cache/std_list": 4e6,
    "cache/rocksdb_clock": None,
}
PAIR_RATES = {
    "floor/empty_loop": 1e9,
    "floor/two_lock_xadd": 1e8,
    "r/pawl_spin32": 9.9e7,
    "s/pawl_spin32": 9.9e7,
    "w/pawl_spin32": 9.9e7,
    "r/pawl_spin64": 9.9e7,
    "s/pawl_spin64": 9.9e7,
    "w/pawl_spin64": 9.9e7,
    "a/pawl_spin32": 9.9e7,
    "a/pawl_spin64": 9.9e7,
    **{f"{mode}/pawl_lock{width}": 9.9e7 for mode in "rswa" for width in (32, 64)},
    "r/pthread_rwlock": 6e7,
    "w/pthread_rwlock": 5e7,
    "w/ck_rwlock": None,
}
# Sections a second whatever the number of threads, but for the lock that spins.
CROWD_RATES = {
    "r+w/pawl_lock64": 1.0e6,
    "r+w/pawl_lock32": 1.0e6,
    "r+w/pawl_spin64": 1.0e6,
    "r+w/pthread_rwlock": 8e5,
    "r+w/std_shared_mutex": 8e5,
    "r+w/absl_mutex": 9e5,
    "r+w/nsync_mu": 8.5e5,
    "r+w/tbb_rw_mutex": None,
    "w/pthread_mutex": 7e5,
    "floor/none": 1.9e6,
}
if MODE == "scaling":
    RATES |= {f"r+s>w/pawl_lock64_{mode}": 1.25e7 for mode in ("on", "evidence")}
    RATES["r+s>w/pawl_lock64_off"] = 1.08e7
    PLOCK_RATES = {"w": 6e6, "s": 6e6, "r+w": 9e6, "r+s>w": 9.8e6, "r+rs>w": 1e7, "r+rw": 9.9e6}
    RATES |= {f"{strategy}/plock64": rate for strategy, rate in PLOCK_RATES.items()}
    CROWD_RATES |= {f"r+w/pawl_lock64_{mode}": 1.0e6 for mode in ("off", "evidence")}
SHIM_RATES = {
    "r+w/libc": 1.0e6,
    "r+w/libc_again": 1.0e6,
    "r+w/pawl_preload": 1.2e6,
    "r+w/pawl_preload_scaling": 3.5e6,
}
# Nanoseconds from the signal to the woken thread.
WAKES = {
    "spin": 200,
    "pawl_wait": 20200,
    "futex": 20000,
    "futex_again": 20100,
    "pthread_cond": 23000,
    "semaphore": 22500,
    "absl_cond": None,
}
# Nanoseconds that one thread spends on an operation.
COUNTER_TIMES = {
    "add/thread_local@1": 0.25, "add/thread_local@2": 0.25, "add/thread_local_again@1": 0.25,
    "add/registered_line@1": 0.3, "add/atomic_shared@1": 5.0, "add/atomic_shared@2": 40.0,
    "add/pawl_counter@1": 0.3, "add/pawl_counter@2": 0.3, "add/pawl_cpu_counter@1": 0.6,
    "add/pawl_exact_fold@1": 0.5, "add/pawl_exact_fold@1+reads": 0.52,
    "add/pawl_exact_locks@1": 9.0, "add/tbb_combinable@1": None,
    "read/membarrier@1": 400.0, "read/membarrier@1+adds": 900.0, "read/pawl_counter@1+adds": 12.0,
    "read/pawl_exact_fold@1": 500.0, "read/pawl_exact_fold@1+adds": 1600.0,
    "seq/relaxed_copy@1": 2.0, "seq/relaxed_copy@2": 2.0, "seq/pawl_seq@1": 2.1,
    "seq/pawl_seq@2": 2.1, "seq/ck_sequence_racy@1": 0.8,
    "ref/atomic_pair@1": 10.0, "ref/atomic_pair@2": 80.0, "ref/pawl_bigref@1": 2.4,
    "ref/pawl_bigref@2": 2.4, "ref/pawl_bigref_kill_to_release@1": 1000.0,
    "br/pthread_rwlock@1": 12.0, "br/pthread_rwlock@2": 80.0, "br/pawl_brlock@1": 2.5,
    "br/pawl_brlock@2": 2.5, "br/ck_brlock@1": 5.2, "br/ck_bytelock@1": 5.2,
}  # fmt: skip
# The same, of the locks of the Rust crate.
CRATE_TIMES = {
    f"{group}/{lock}@{threads}": times[lock] * (1 if threads == 1 else 8)
    for group, times in {
        "read": {
            "pawl": 11.0,
            "pawl_again": 11.0,
            "pawl_counted": 12.0,
            "parking_lot": 10.0,
            "std": 9.5,
        },
        "write": {"pawl": 11.0, "parking_lot": 10.0, "std": 9.0},
        "upgrade": {"pawl": 18.0, "parking_lot": 20.0},
        "mix": {"pawl": 11.0, "parking_lot": 10.2},
        "mutex": {"pawl": 11.0, "parking_lot": 9.8, "std": 9.0},
    }.items()
    for lock in times
    for threads in (1, 2)
}
CRATE_TIMES |= {f"{group}/pawl@2": 60.0 for group in ("read", "write", "upgrade", "mix", "mutex")}
FUNCTION_TIMES = {
    "floor/empty_loop@1": 0.25, "floor/atomic_add@1": 5.0,
    "lock/pawl_lock64_take_write@1": 5.4, "lock/pawl_lock64_seek_to_write@1": 5.2,
    "lock/pawl_lock64_take_write_until@1": 9.0, "lock/pawl_lock64_is_free@1": 0.5,
    "wait/pawl_wake_one@1": 8.0,
}  # fmt: skip
TIMES = {"counters": COUNTER_TIMES, "crate": CRATE_TIMES, "functions": FUNCTION_TIMES}
interrupted = False


def say(message):
    print(json.dumps(message), flush=True)


def listed(rates):
    return [
        {
            "name": n,
            "strategy": n.split("/")[0],
            "lock": n.split("/")[-1],
            "available": r is not None,
            "why": "" if r else "install libtbb-dev and build again",
            "baseline": False,
        }
        for n, r in rates.items()
    ]


def stop(_number, _frame):
    global interrupted
    interrupted = True


def options(kind):
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--size", type=int)
    parser.add_argument("--keyspace", type=int)
    for name in (
        "--miss-cost",
        "--seconds",
        "--warmup",
        "--seed",
        "--dist",
        "--zipf-s",
        "--trace",
        "--pin",
        "--chains",
        "--delay",
        "--wakes",
        "--section",
        "--outside",
        "--writes",
        "--period",
        "--cpus",
        "--busy",
        "--deadline",
        "--case",
        *fake_rcu.OPTIONS,
        *fake_readers.OPTIONS,
    ):
        parser.add_argument(name)
    parser.add_argument("--hog", action="store_true")
    # A writer in a flood of readers, or so many callbacks.
    parser.add_argument("--flood", **({} if kind == "rcu" else {"action": "store_true"}))
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
    if MODE == "disturbed" and number == 3:
        noise /= 2
    ops = int(rates[name] * noise * (1 + 0.1 * (o.threads - 1)) * 0.01)
    line = {
        "type": "sample",
        "candidate": name,
        "round": number,
        "threads": o.threads,
        "ops": ops,
        "seconds": 0.01,
    }
    if rates is RATES:
        line |= {
            "hits": int(ops * hits),
            "misses": ops - int(ops * hits),
            "cpu_seconds": 0.01,
            "ctx_voluntary": 0,
            "ctx_involuntary": 1,
        }
    if o.latency:
        line["latency_ns"] = {
            "p50": 80,
            "p99": 130,
            "p99.9": 900,
            "p99.99": 5000,
            "max": 40000 + number,
        }
    say(line)


def crowd_sample(o, name, number):
    """Waits grow with the threads; the lock that spins has a fifth left under eight or more."""
    share = 0.2 if "spin" in name and o.threads >= 8 else 1
    noise = random.Random(f"{name} {number}").uniform(0.98, 1.02)
    seconds = float(o.seconds)
    ops = int(CROWD_RATES[name] * share * noise * seconds)
    longest = 100000 * o.threads + (50000 if name == "floor/none" else 90000)
    line = {
        "type": "sample",
        "candidate": name,
        "round": number,
        "threads": o.threads,
        "ops": ops,
        "seconds": seconds,
        "writes": ops // 10,
        "cpu_seconds": 2 * seconds,
        "ctx_voluntary": 3,
        "ctx_involuntary": 2,
    }
    line["wait_ns"] = {
        "p10": 20,
        "p50": 30,
        "p90": 45,
        "p99": 900,
        "p99.9": 60000,
        "p99.99": 100000,
        "max": longest,
    }
    line |= {
        "wait_mean_ns": 500 * o.threads,
        "waits": [[40, 900], [5000, 99], [longest, 1]],
        "overruns": [],
        "expired": 0,
    }
    if float(o.deadline or 0):
        line |= {"overruns": [[60000, 999], [90000, 1]], "expired": 1000}
    if o.flood:
        line["late_ns"] = line["wait_ns"]
    else:
        whole = [0.5, 0.9 if seconds >= 0.1 else None, 0.99 if seconds >= 1 else None]
        line["jain"] = dict(zip(("10ms", "100ms", "1s"), whole, strict=True))
    say(line)


def wake_sample(o, name, number):
    noise = random.Random(f"{name} {number} {o.delay}")
    wakes = [int(WAKES[name] * noise.uniform(0.99, 1.01)) for _ in range(int(o.wakes))]
    delay = float(o.delay) * 1e6
    busy = delay if name == "spin" else 9000
    say(
        {
            "type": "sample",
            "candidate": name,
            "round": number,
            "ops": len(wakes),
            "seconds": delay * len(wakes) / 1e9,
            "wakes_ns": wakes,
            "cpu_ns": int(busy * len(wakes)),
            "waited_ns": int(delay * len(wakes)),
        }
    )


def timed_sample(times, name, number):
    threads = int(name.split("@")[1].split("+")[0])
    noise = random.Random(f"{name} {number}").uniform(0.99, 1.01)
    line = {
        "type": "sample",
        "candidate": name,
        "round": number,
        "threads": threads,
        "ops": int(threads * 0.01e9 / times[name] * noise),
        "seconds": 0.01,
    }
    if name.endswith("+reads"):
        line["reads_per_second"] = float(os.environ.get("FAKE_READS", "9999.5"))
    say(line)


def measure(kind, o, rates, name, number, hits):
    if kind == "crowd":
        crowd_sample(o, name, number)
    elif kind == "wake":
        wake_sample(o, name, number)
    elif kind in TIMES:
        timed_sample(TIMES[kind], name, number)
    elif kind == "readers":
        say(fake_readers.sample(o, name, number))
    elif kind in fake_rcu.SAMPLES:
        say(fake_rcu.SAMPLES[kind](o, name, number))
    else:
        sample(o, rates, name, number, hits)


def main():
    kind = sys.argv.pop(1)
    rates = {
        "pairs": PAIR_RATES,
        "wake": WAKES,
        "crowd": CROWD_RATES,
        "readers": fake_readers.TIMES,
        "shim": SHIM_RATES,
        **TIMES,
        **fake_rcu.RATES,
    }.get(kind, RATES)
    o = options(kind)
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
    say(
        {
            "type": "start",
            "compiler": "fake 1.0",
            "flags": "-O2",
            "pinned": not unpinned,
            "pin_error": "Operation not permitted" if unpinned else "",
        }
    )
    hits = trace_hit_ratio(o.trace) if o.trace else 0.9976
    names = o.candidates.split(",")
    said = 0
    for number in range(o.rounds):
        for name in names if number % 2 == 0 else reversed(names):
            fake_pause.stand_still(said, lambda: interrupted)
            if interrupted:
                say({"type": "end", "interrupted": True})
                return 130
            measure(kind, o, rates, name, number, hits)
            said += 1
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
