# SPDX-License-Identifier: MIT
"""What read-copy-update and the ID table have to reach, for runs of the set "rcu".

That the read side of the quiescent-state flavour has no instruction at all is no matter of time: a
test of the disassembly proves it, and the notes show the row beside an empty loop.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from pawl import hash as hash_bench
from pawl import rcu, record_rcu, sem, stats, table, tree
from pawl.errors import BadInput
from pawl.finding import Finding, Target, find_part, paired, ratio

MS = 1e6
# A flood of fewer is another measurement.
FLOOD = 10_000_000
FEW_UPDATES = 20
BOTH = ("@1", "@1+readers")


# ---- Readers, grace periods, callbacks ----------------------------------------------------------


def _part(run: dict) -> dict:
    return find_part(run, "rcu", lambda _: True)


def _cell(run: dict, group: str) -> dict:
    for cell in _part(run)["cells"]:
        if cell["group"] == group:
            return cell
    raise BadInput(f"the run of {run.get('started')} lacks the group {group}; record again.")


def _own(run: dict, name: str) -> list[dict]:
    own = [s for s in _cell(run, rcu.group_of(name))["samples"] if s["candidate"] == name]
    if not own:
        raise BadInput(f"{name} was not measured; record again with a build that has it.")
    return own


def _time(ours: str, theirs: str) -> Callable[[dict], Finding]:
    """Time an operation against time an operation."""
    return lambda run: paired(rcu.times(_cell(run, rcu.group_of(ours))["samples"]), ours, theirs)


def _calls(run: dict) -> Finding:
    """Rate against rate; the note says how many a second."""
    ours, theirs = "call/pawl_rcu@1", "call/urcu_memb@1"
    cell = _cell(run, "call")
    found = ratio(cell, ours, theirs)
    rates = stats.rates(cell["samples"])
    found.note = ", ".join(f"{statistics.median(rates[n].values()) / 1e6:.2f} million/s"
                           for n in (ours, theirs))
    return found


def _p99(run: dict, name: str) -> float:
    return rcu.merged(_own(run, name))["p99"]


def _delay(run: dict) -> Finding:
    found = _p99(run, "delay/pawl_rcu@1")
    theirs = _p99(run, "delay/urcu_memb@1")
    return Finding(found / MS, note=f"liburcu {table.duration(theirs)}")


def _flood(run: dict) -> Finding:
    """The largest queue over its bound, without readers and beside them."""
    if _cell(run, "flood")["flood"] < FLOOD:
        raise BadInput(f"the flood has fewer than {FLOOD:,} callbacks; record again without "
                       "--seconds.")
    found = []
    for where in BOTH:
        for sample in _own(run, f"flood/pawl_rcu{where}"):
            bound = sample["bound_bytes"]
            if not bound or sample["stopped"] or sample["ops"] < FLOOD:
                return Finding(float("inf"), note=f"flood/pawl_rcu{where} did not end by itself")
            found.append((sample["peak_bytes"] / bound, sample["peak_bytes"], bound))
    share, peak, bound = max(found)
    theirs = max((s for where in BOTH for s in _own(run, f"flood/urcu_memb{where}")),
                 key=lambda s: s["peak_bytes"])
    stopped = ", where the bench stopped it" if theirs["stopped"] else ""
    return Finding(share, note=f"{_mib(peak)} of {_mib(bound)}; liburcu "
                   f"{_mib(theirs['peak_bytes'])}{stopped}")


def _mib(count: float) -> str:
    return f"{count / rcu.MIB:,.0f} MiB"


# ---- The hash table -----------------------------------------------------------------------------


def _tables(run: dict, title: str, threads: int, most_updates: float) -> list[dict]:
    cells = [c for c in find_part(run, "hash", lambda p: p["title"] == title)["cells"]
             if c["threads"] == threads and c["updates"] <= most_updates]
    if not cells:
        raise BadInput(f"the run of {run.get('started')} has no hash table at {threads} threads; "
                       "record again on a machine that has as many CPUs.")
    return cells


def _rate(cell: dict, name: str) -> float:
    rates = stats.rates(cell["samples"]).get(name)
    if not rates:
        raise BadInput(f"{name} was not measured; record again with a build that has it.")
    return statistics.median(rates.values())


def _reading(run: dict) -> list[tuple[dict, dict]]:
    """(the cell at two threads, the same at one), for each size, when nobody writes."""
    one = {c["elements"]: c for c in _tables(run, record_rcu.READING, 1, 0)}
    return [(c, one[c["elements"]]) for c in _tables(run, record_rcu.READING, 2, 0)
            if c["elements"] in one]


def _scaling(run: dict) -> Finding:
    """Two cells are compared, measured one after the other: there are no rounds in common."""
    found = [(_rate(two, hash_bench.MAIN) / _rate(one, hash_bench.MAIN), two, one)
             for two, one in _reading(run)]
    value, two, one = min(found, key=lambda f: f[0])
    ideal = _rate(two, hash_bench.BASELINE) / _rate(one, hash_bench.BASELINE)
    return Finding(value, note=f"{hash_bench.size(two['elements'])}; "
                   f"{hash_bench.BASELINE} {ideal:.3f}")


def _of_ideal(run: dict) -> Finding:
    found = [(ratio(two, hash_bench.MAIN, hash_bench.BASELINE), two) for two, _ in _reading(run)]
    worst, cell = min(found, key=lambda f: f[0].value)
    worst.note = hash_bench.size(cell["elements"])
    return worst


def _against_urcu(run: dict, ours: str) -> list[tuple[float, str, str]]:
    found = []
    for cell in _tables(run, hash_bench.TITLE, 2, FEW_UPDATES):
        best = hash_bench.best_urcu(cell["samples"])
        if best is None:
            raise BadInput("no liburcu row was measured; record again with a build that has one.")
        found.append((ratio(cell, ours, best).value, hash_bench.workload(cell), best))
    return found


def _few_updates(run: dict) -> Finding:
    found = _against_urcu(run, hash_bench.MAIN)
    value, where, best = min(found)
    return Finding(stats.geometric_mean([max(v, 1e-9) for v, _, _ in found]),
                   note=f"{len(found)} cells; least {value:.3f}: {where}, against {best}")


# ---- Semaphores ---------------------------------------------------------------------------------


def _sem_cell(run: dict) -> dict:
    for cell in find_part(run, "sem", lambda _: True)["cells"]:
        if (cell["threads"], cell["choose"]) == (2, "disjoint"):
            return cell
    raise BadInput(f"the run of {run.get('started')} has no disjoint semaphores at two threads; "
                   "record again.")


def _sem(run: dict) -> Finding:
    return ratio(_sem_cell(run), sem.MAIN, sem.BASELINE)


def targets() -> list[Target]:
    ours = hash_bench.MAIN
    return [
        Target("read lock and unlock / liburcu-memb's, inline", 1.2, False,
               _time("read/pawl_rcu@1", "read/urcu_memb@1")),
        Target("read lock and unlock / two uncontended lock xadd", 0.1, False,
               _time("read/pawl_rcu@1", "read/lock_xadd_pair@1")),
        Target("synchronize beside idle threads / liburcu-memb's", 0.7, False,
               _time("sync/pawl_rcu@1", "sync/urcu_memb@1")),
        Target("callback delay, p99, ms", 1.5, False, _delay),
        Target("callbacks a second / liburcu's call_rcu", 2.0, True, _calls),
        Target("flood of 10 million callbacks: most queued / bound", 1.0, False, _flood),
        Target(f"hash, reading only, 2 threads: {ours} / its own one thread, worst size", 1.9,
               True, _scaling),
        Target(f"hash, reading only, 2 threads: {ours} / {hash_bench.BASELINE}, worst size", 0.9,
               True, _of_ideal),
        Target(f"hash, to {FEW_UPDATES} % updates, 2 threads: {ours} / best liburcu row, "
               "geometric mean", 1.0, True, _few_updates),
        Target(f"disjoint semaphores, 2 threads: {sem.MAIN} / {sem.BASELINE}", 3.0, True, _sem),
    ]


# ---- What no target speaks of -------------------------------------------------------------------

# That there is none is no matter of a run.
NO_INSTRUCTION = ("tests/rcu/instructions.c",
                  "reading_between_quiescent_states_executes_no_instruction")

# Pairs of rows that say something all the same; of times.
BESIDE = (
    ("read side of the quiescent-state flavour / an empty loop", "read/pawl_rcu_qs@1",
     "read/empty@1"),
    ("a domain's read side / the default domain's", "read/pawl_rcu_domain@1", "read/pawl_rcu@1"),
    ("synchronize beside a reader / liburcu-memb's", "sync/pawl_rcu@1+readers",
     "sync/urcu_memb@1+readers"),
    ("expedited synchronize, idle / liburcu-memb's", "sync/pawl_rcu_expedited@1",
     "sync/urcu_memb@1"),
    ("callback delay p99 beside a reader / liburcu's", "delay/pawl_rcu@1+readers",
     "delay/urcu_memb@1+readers"),
)


def _beside(run: dict, ours: str, theirs: str) -> str:
    try:
        return _time(ours, theirs)(run).show()
    except BadInput:
        return "no row"


def _best(run: dict) -> str:
    """Either flavour of ours against the best of theirs, like for like where both announce."""
    by_name = {n: {w: v for v, w, _ in _against_urcu(run, n)}
               for n in (hash_bench.MAIN, hash_bench.QUIESCENT)}
    best = [max(found[where] for found in by_name.values())
            for where in by_name[hash_bench.MAIN]]
    return f"{stats.geometric_mean([max(v, 1e-9) for v in best]):.3f}"


def _tree_line(cell: dict) -> str:
    found = tree.pieces(cell["samples"])
    times = (f" (seek {found['seek_ns']:.0f}, write {found['write_ns']:.0f}, read "
             f"{found['read_ns']:.0f} ns)") if found else ""
    return (f"{tree.label(cell)}: {ratio(cell, tree.MAIN, tree.BASELINE).show()} times "
            f"{tree.BASELINE}{times}")


def notes(runs: list[tuple[Path, dict]]) -> None:
    print(f"read side of the quiescent-state flavour: {': '.join(NO_INSTRUCTION)}")
    print("times an operation (information, no target):")
    for text, ours, theirs in BESIDE:
        print(f"          {text}: {', '.join(_beside(r, ours, theirs) for _, r in runs)}")
    print(f"hash, to {FEW_UPDATES} % updates, 2 threads: the better of {hash_bench.MAIN} and "
          f"{hash_bench.QUIESCENT} / best liburcu row: "
          f"{', '.join(_best(run) for _, run in runs)}")
    print("disjoint semaphores, 2 threads: the global spinlock / the global mutex: "
          f"{', '.join(ratio(_sem_cell(r), sem.SPIN, sem.BASELINE).show() for _, r in runs)}")
    print(f"tree: {tree.MAIN} reaches (information):")
    for path, run in runs:
        for cell in find_part(run, "tree", lambda _: True)["cells"]:
            print(f"          {path.name}: {_tree_line(cell)}")
