# SPDX-License-Identifier: MIT
"""The rows of `pawl costs`: what each is called, how it is measured, what was published."""

from dataclasses import dataclass

# P. McKenney, linux.conf.au 2005.
SOURCE = "4-CPU 700 MHz Pentium III, published 2005"
GROUPS = {
    "processor": "The processor",
    "memory": "Caches and memory",
    "atomics": "On a line of one's own",
    "cores": "On a line that another core had last",
    "kernel": "With the kernel",
    "rcu": "Read-copy-update, while nobody else reads",
}


@dataclass(frozen=True)
class Row:
    id: str
    group: str
    label: str
    how: str
    source_ns: float | None = None


ROWS = (
    Row("instruction", "processor", "Instruction",
        "A long run of additions that do not depend on each other, eight at a time (four on "
        "32 bits); the time of one.", 0.7),
    Row("cycle", "processor", "Clock cycle",
        "A long chain of additions, each of which needs the one before and so takes one cycle of "
        "the core's clock.", 1.4),
    Row("cycle_counter", "processor", "Clock cycle, counted",
        "The same chain, its time divided by the cycles that the hardware's own counter "
        "(perf_event_open) gives for it."),
    Row("tsc_tick", "processor", "Tick of the time stamp counter",
        "The time between two readings of the clock divided by the ticks in between; the counter "
        "runs at a fixed rate, which is not the core's."),
    Row("l1", "memory", "L1 cache hit",
        "Reads along a random circle of lines, each of which holds the address of the next, half "
        "as large as the cache."),
    Row("l2", "memory", "L2 cache hit",
        "The same, the circle being as many times larger than the L1 as it is smaller than the "
        "L2.", 12.9),
    Row("l3", "memory", "L3 cache hit",
        "The same, the circle being at most twice as large as the L2: others may use most of an "
        "L3."),
    Row("memory", "memory", "Main memory",
        "The same, the circle being four times as large as the last cache, at least 64 MiB, on "
        "huge pages where the system grants them.", 162.4),
    Row("increment", "atomics", "Increment, not atomic",
        "A 64-bit word in memory, incremented again and again by one thread."),
    Row("atomic_increment", "atomics", "Atomic increment",
        "The same with an atomic addition whose result nobody uses.", 58.2),
    Row("cmpxchg_increment", "atomics", "Cmpxchg atomic increment",
        "The same with a read and a compare-exchange that is repeated if it fails.", 107.3),
    Row("fence", "atomics", "Full fence",
        "A store and a sequentially consistent fence after it, as the compiler makes it."),
    Row("local_lock", "atomics", "CPU-local lock",
        "Taking and dropping a pawl_spin32 for writing, again and again, by one thread.", 163.7),
    Row("rseq", "atomics", "Restartable section",
        "A counter of the current CPU incremented in a restartable section (rseq), for which the "
        "C library has registered the thread."),
    Row("atomic_increment_transfer", "cores", "Atomic increment, cache transfer",
        "The other core writes to 64 lines on pages of their own; then each is incremented "
        "atomically, in random order, and where the next one is depends on the result.", 113.2),
    Row("cmpxchg_blind", "cores", "Cmpxchg, blind cache transfer",
        "The same with a compare-exchange that expects what the other core has written, without "
        "reading it first.", 170.4),
    Row("cmpxchg_transfer_invalidate", "cores", "Cmpxchg, cache transfer and invalidate",
        "The same with a read, and a compare-exchange that cannot begin before the read has "
        "ended: the line comes, then the other copy goes.", 360.9),
    Row("system_call", "kernel", "System call",
        "getppid by syscall(), which does nothing but enter the kernel and leave it."),
    Row("membarrier_idle", "kernel", "Membarrier, others idle",
        "The private expedited membarrier while no other thread of the process runs."),
    Row("membarrier_busy", "kernel", "Membarrier, others busy",
        "The same while a thread of the process runs on every other CPU."),
    Row("futex_wake_nobody", "kernel", "Futex wake, nobody sleeps",
        "FUTEX_WAKE on a word for which nobody waits."),
    Row("futex_wake_sleeper", "kernel", "Futex wake, one sleeper",
        "FUTEX_WAKE that wakes a thread on the other CPU, which has slept for at least 30 us: "
        "what the waker pays."),
    Row("wake_latency", "kernel", "Wake-up latency",
        "The same from just before the call to the clock reading of the woken thread."),
    Row("context_switch", "kernel", "Context switch",
        "Two threads on one CPU hand a word to each other by futexes; the time from one to the "
        "other, with the calls that it takes."),
    Row("signal", "kernel", "Signal delivery",
        "pthread_kill to the thread itself: the call, the handler, the return from it."),
    Row("rcu_section", "rcu", "Section",
        "pawl_rcu_read_lock and pawl_rcu_read_unlock, again and again, by one thread."),
    Row("rcu_domain_section", "rcu", "Section of a domain",
        "The same in a domain of the program's own."),
    Row("rcu_qs_section", "rcu", "Section of an online thread",
        "The same in the domain of quiescent states: no instruction, so what shows is the loop."),
    Row("rcu_quiescent", "rcu", "Quiescent state",
        "pawl_rcu_qs_quiescent by an online thread."),
    Row("rcu_synchronize", "rcu", "Grace period",
        "pawl_rcu_synchronize while no thread reads: one membarrier, with the looks at all lines."),
    Row("rcu_domain_synchronize", "rcu", "Grace period of a domain",
        "The same in a domain of the program's own."),
    Row("rcu_qs_synchronize", "rcu", "Grace period of quiescent states",
        "The same while no thread is online."),
    Row("rcu_call", "rcu", "Callback",
        "pawl_rcu_call, 1,000 in turn: what the caller pays. The worker runs the callbacks "
        "meanwhile, and all have run before the next thousand."),
)  # fmt: skip
# What cannot cost more than the other, on any machine; with room for noise.
ORDER = (
    ("instruction", "cycle"),
    ("cycle", "l1"),
    ("l1", "l2"),
    ("l2", "l3"),
    ("l3", "memory"),
    ("increment", "atomic_increment"),
    ("atomic_increment", "local_lock"),
    ("atomic_increment", "atomic_increment_transfer"),
    ("cmpxchg_increment", "cmpxchg_blind"),
    ("cmpxchg_increment", "cmpxchg_transfer_invalidate"),
    ("cmpxchg_blind", "cmpxchg_transfer_invalidate"),
    ("l1", "atomic_increment_transfer"),
    ("rseq", "system_call"),
    ("membarrier_idle", "membarrier_busy"),
    ("system_call", "context_switch"),
    ("futex_wake_nobody", "futex_wake_sleeper"),
    ("system_call", "signal"),
    ("rcu_qs_section", "rcu_section"),
    ("rcu_section", "rcu_synchronize"),
    ("rcu_quiescent", "rcu_qs_synchronize"),
)
ROOM = 1.5
BY_ID = {row.id: row for row in ROWS}
