# SPDX-License-Identifier: MIT
"""What read-copy-update has to reach, judged by the samples of `pawl bench rcu`.

That the read side of the quiescent-state flavour has no instruction at all is no matter of time: a
test of the disassembly proves it, and the notes show the row beside an empty loop.
"""

import statistics
from collections.abc import Callable, Iterable

from pawl.core import stats, table
from pawl.core.errors import BadInput
from pawl.core.groups import cell_of, group_of
from pawl.core.targets import Finding, Runs, Target, find_part, paired, ratio, samples_of
from pawl.kinds.rcu.kind import KIND
from pawl.kinds.rcu.plan import MIB
from pawl.kinds.rcu.table import merged, times

MS = 1e6
# A flood of fewer is another measurement.
FLOOD = 10_000_000
BOTH = ("@1", "@1+readers")


def _cell(run: dict, name: str) -> dict:
    return cell_of(find_part(run, KIND.name), run, group_of(name))


def _own(run: dict, name: str) -> list[dict]:
    return samples_of(_cell(run, name), name)


def _time(ours: str, theirs: str) -> Callable[[dict], Finding]:
    """Time an operation against time an operation."""
    return lambda run: paired(times(_cell(run, ours)["samples"]), ours, theirs)


def _calls(run: dict) -> Finding:
    """Rate against rate; the note says how many a second."""
    ours, theirs = "call/pawl_rcu@1", "call/urcu_memb@1"
    cell = _cell(run, ours)
    found = ratio(cell, ours, theirs)
    rates = stats.rates(cell["samples"])
    found.note = ", ".join(
        f"{statistics.median(rates[n].values()) / 1e6:.2f} million/s" for n in (ours, theirs)
    )
    return found


def _p99(run: dict, name: str) -> float:
    return merged(_own(run, name))["p99"]


def _delay(run: dict) -> Finding:
    found = _p99(run, "delay/pawl_rcu@1")
    theirs = _p99(run, "delay/urcu_memb@1")
    return Finding(found / MS, note=f"liburcu {table.duration(theirs)}")


def _flood(run: dict) -> Finding:
    """The largest queue over its bound, without readers and beside them."""
    if _cell(run, "flood/")["flood"] < FLOOD:
        raise BadInput(
            f"the flood has fewer than {FLOOD:,} callbacks; record again without --seconds."
        )
    found = []
    for where in BOTH:
        for sample in _own(run, f"flood/pawl_rcu{where}"):
            bound = sample["bound_bytes"]
            if not bound or sample["stopped"] or sample["ops"] < FLOOD:
                return Finding(float("inf"), note=f"flood/pawl_rcu{where} did not end by itself")
            found.append((sample["peak_bytes"] / bound, sample["peak_bytes"], bound))
    share, peak, bound = max(found)
    theirs = max(
        (s for where in BOTH for s in _own(run, f"flood/urcu_memb{where}")),
        key=lambda s: s["peak_bytes"],
    )
    stopped = ", where the bench stopped it" if theirs["stopped"] else ""
    return Finding(
        share, note=f"{_mib(peak)} of {_mib(bound)}; liburcu {_mib(theirs['peak_bytes'])}{stopped}"
    )


def _mib(count: float) -> str:
    return f"{count / MIB:,.0f} MiB"


def targets() -> list[Target]:
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
    ]  # fmt: skip


# ---- What no target speaks of -------------------------------------------------------------------

# That there is none is no matter of a run.
NO_INSTRUCTION = (
    "tests/rcu/instructions.c",
    "reading_between_quiescent_states_executes_no_instruction",
)

# Pairs of rows that say something all the same; of times.
BESIDE = (
    ("read side of the quiescent-state flavour / an empty loop", "read/pawl_rcu_qs@1",
     "read/empty@1"),
    ("a domain's read side / the default domain's", "read/pawl_rcu_domain@1", "read/pawl_rcu@1"),
    ("synchronize beside a reader / liburcu-memb's", "sync/pawl_rcu@1+readers",
     "sync/urcu_memb@1+readers"),
    ("expedited synchronize, idle / liburcu-memb's", "sync/pawl_rcu_expedited@1",
     "sync/urcu_memb@1"),
    ("expedited synchronize, busy machine / synchronize", "busy/pawl_rcu_expedited@1+readers",
     "busy/pawl_rcu@1+readers"),
    ("the same, quiescent-state flavour", "busy/pawl_rcu_qs_expedited@1+readers",
     "busy/pawl_rcu_qs@1+readers"),
    ("callback delay p99 beside a reader / liburcu's", "delay/pawl_rcu@1+readers",
     "delay/urcu_memb@1+readers"),
)  # fmt: skip


def _beside(run: dict, ours: str, theirs: str) -> str:
    try:
        return _time(ours, theirs)(run).show()
    except BadInput:
        return "no row"


def notes(runs: Runs) -> Iterable[str]:
    yield f"read side of the quiescent-state flavour: {': '.join(NO_INSTRUCTION)}"
    yield "times an operation (information, no target):"
    for text, ours, theirs in BESIDE:
        yield f"          {text}: {', '.join(_beside(r, ours, theirs) for _, r in runs)}"
