# SPDX-License-Identifier: MIT
"""Plans `pawl bench functions`: each function of the library, called by a thread that is alone."""

DRIVER = "pawl-bench-functions"
FLOOR = "floor"
GROUPS = {
    FLOOR: "floors: the loop around the calls, an atomic addition",
    "spin": "functions of spin.h",
    "lock": "functions of lock.h",
    "pshared": "functions of pshared.h",
    "robust": "functions of robust.h",
    "brlock": "functions of brlock.h",
    "seq": "functions of seq.h, seq_latch.h and counter_seq.h",
    "counter": "functions of counter.h, counter_exact.h and counter_limit.h",
    "bigref": "functions of bigref.h",
    "bitlock": "functions of bitlock.h",
    "cond": "functions of cond.h",
    "rcu": "functions of rcu.h and rcu_pointer.h",
    "rcu_call": "functions of rcu_call.h",
    "list": "functions of rcu_list.h",
    "idtable": "functions of idtable.h",
    "sift": "functions of sift.h",
    "wait": "functions of wait.h",
    "name": "functions of name.h",
}
# A call takes nanoseconds: short samples, many of them.
SECONDS, ROUNDS, WARMUP = 0.003, 15, 0.0003
# What a result names as its baseline; rows are compared with nothing.
BASELINE = f"{FLOOR}/atomic_add@1"


def baseline_of(_name: str) -> None:
    return None


def function_of(name: str) -> str:
    return name.split("/")[1].split("@")[0]
