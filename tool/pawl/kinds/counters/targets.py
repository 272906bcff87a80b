# SPDX-License-Identifier: MIT
"""What counters and light locks set out to reach, judged by the rows of `pawl bench counters`."""

import statistics
from collections.abc import Callable, Iterable

from pawl.core import stats
from pawl.core.errors import BadInput
from pawl.core.groups import cell_of, group_of, times
from pawl.core.targets import Finding, Runs, Target, find_part, ratio
from pawl.kinds.counters.kind import KIND

# The reader wakes a little late now and then; with fewer reads it is another measurement.
READS_A_SECOND = 9900
EXACT = "pawl_exact_fold"


def _cell(run: dict, name: str) -> dict:
    return cell_of(find_part(run, KIND.name), run, group_of(name))


def _rate(over: str, under: str) -> Callable[[dict], Finding]:
    """Rate against rate, of all threads together."""
    return lambda run: ratio(_cell(run, over), over, under)


def _time(ours: str, theirs: str) -> Callable[[dict], Finding]:
    """Time an operation against time an operation."""
    return _rate(theirs, ours)


def _nanoseconds(run: dict, name: str) -> dict[int, float]:
    found = times(_cell(run, name)["samples"])
    if name not in found:
        raise BadInput(
            f"{name} was not measured; record again with a build and a machine that has it."
        )
    return found[name]


def _fuzzy_read(run: dict) -> Finding:
    """Against 100 ns and 10 ns a CPU, while another thread adds."""
    cpus = find_part(run, KIND.name)["machine"]["cpus"]
    found = statistics.median(_nanoseconds(run, "read/pawl_counter@1+adds").values())
    return Finding(found / (100 + 10 * cpus), note=f"{found:.1f} ns, {cpus} CPUs")


def _exact_read(run: dict) -> Finding:
    """Less a microsecond, against a membarrier while the same other thread runs."""
    ours = _nanoseconds(run, f"read/{EXACT}@1+adds")
    floor = _nanoseconds(run, "read/membarrier@1+adds")
    found = stats.ratio([(ours[n] - 1000) / floor[n] for n in ours if n in floor])
    note = (
        f"{statistics.median(ours.values()):.0f} ns, membarrier "
        f"{statistics.median(floor.values()):.0f} ns"
    )
    return Finding(found["ratio"], found["low"], found["high"], note)


def _beside_reads(run: dict) -> Finding:
    name = f"add/{EXACT}@1+reads"
    samples = stats.of_candidate(_cell(run, name)["samples"], name)
    found = _rate(name, f"add/{EXACT}@1")(run)
    reads = statistics.median(s.get("reads_per_second", 0) for s in samples)
    if reads < READS_A_SECOND:
        return Finding(0.0, note=f"only {reads:.0f} reads a second")
    return Finding(found.value, found.low, found.high, f"{reads:.0f} reads a second")


def _kill(run: dict) -> Finding:
    found = _nanoseconds(run, "ref/pawl_bigref_kill_to_release@1")
    return Finding(statistics.median(found.values()) / 1000, note="microseconds")


def targets() -> list[Target]:
    return [
        Target("statistical increment / bare thread-local ++", 2.0, False,
               _time("add/pawl_counter@1", "add/thread_local@1")),
        Target("statistical increment / atomic increment, one thread", 0.15, False,
               _time("add/pawl_counter@1", "add/atomic_shared@1")),
        Target("statistical increments / increments of a shared atomic, rate of two threads", 20.0,
               True, _rate("add/pawl_counter@2", "add/atomic_shared@2")),
        Target("fuzzy read / (100 ns + 10 ns a CPU)", 1.0, False, _fuzzy_read),
        Target("(exact read - 1 us) / membarrier, another thread adding", 1.2, False, _exact_read),
        Target("increments beside 10,000 exact reads a second / without", 0.85, True,
               _beside_reads),
        Target("sequence-lock read of 64 bytes / word-wise relaxed copy", 1.15, False,
               _time("seq/pawl_seq@1", "seq/relaxed_copy@1")),
        Target("sequence-lock readers, rate of two threads / one", 1.95, True,
               _rate("seq/pawl_seq@2", "seq/pawl_seq@1")),
        Target("big reference get+drop / atomic pair, one thread", 0.35, False,
               _time("ref/pawl_bigref@1", "ref/atomic_pair@1")),
        Target("big reference get+drop / atomic pair, rate of two threads", 15.0, True,
               _rate("ref/pawl_bigref@2", "ref/atomic_pair@2")),
        Target("big reference, microseconds from kill to release", 50.0, False, _kill),
        Target("brlock read pair / pthread_rwlock read pair, one thread", 0.7, False,
               _time("br/pawl_brlock@1", "br/pthread_rwlock@1")),
        Target("brlock readers, rate of two threads / one", 1.95, True,
               _rate("br/pawl_brlock@2", "br/pawl_brlock@1")),
    ]  # fmt: skip


# Pairs of rows that no target speaks of: what they say is information.
BESIDE = (
    ("the same row twice (noise)", "add/thread_local_again@1", "add/thread_local@1"),
    ("a registered line / a bare thread-local", "add/registered_line@1", "add/thread_local@1"),
    ("per CPU / per thread", "add/pawl_cpu_counter@1", "add/pawl_counter@1"),
    ("our copy of 64 bytes / ck_sequence's racy one", "seq/pawl_seq@1", "seq/ck_sequence_racy@1"),
    ("our big-reader pair / ck_brlock's", "br/pawl_brlock@1", "br/ck_brlock@1"),
    ("our big-reader pair / ck_bytelock's", "br/pawl_brlock@1", "br/ck_bytelock@1"),
)


def _beside(run: dict, ours: str, theirs: str) -> str:
    values = stats.paired(times(_cell(run, ours)["samples"]), ours, theirs)
    found = stats.ratio(values)
    return Finding(found["ratio"], found["low"], found["high"]).show() if values else "no row"


def notes(runs: Runs) -> Iterable[str]:
    yield "times an operation (information, no target):"
    for text, ours, theirs in BESIDE:
        yield f"          {text}: {', '.join(_beside(run, ours, theirs) for _, run in runs)}"
