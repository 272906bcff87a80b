# SPDX-License-Identifier: MIT
"""What the lock for handlers set out to reach, judged by the samples of `pawl bench latency`.

Of the first two and of the last one the median of the runs counts: a maximum is of one moment.
"""

import statistics
from collections.abc import Callable, Iterable

from pawl.core import table
from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Runs, Target, find_part, paired
from pawl.kinds.latency import samples as latency_samples
from pawl.kinds.latency.kind import KIND
from pawl.kinds.latency.plan import BASELINE, FLOOR, OURS, PAIR_FLOOR, PAIRS, PTHREAD
from pawl.kinds.latency.samples import blocked, of_lock, per_ns, rows

MIXES = ("contention", "placed", "handlers")


def _cell(run: dict, scenario: str) -> dict:
    for cell in find_part(run, KIND.name)["cells"]:
        if cell["scenario"] != scenario:
            continue
        why = next((s["realtime_error"] for s in cell["samples"] if s["realtime_error"]), "")
        if why:
            raise BadInput(
                f"the run of {run.get('started')} had no real-time threads ({why}); "
                "record again with the right to them."
            )
        return cell
    raise BadInput(f"the run of {run.get('started')} lacks the scenario {scenario}; record again.")


# ---- Signals blocked -----------------------------------------------------------------------------


def _blocked(cell: dict, name: str, key: str) -> float:
    """Nanoseconds."""
    samples = of_lock(cell, name)
    found = blocked(samples)
    if found is None:
        raise BadInput(
            f"{name} blocked no signals in the scenario {cell['scenario']}: nobody "
            "wrote; record again."
        )
    return found[key] / per_ns(samples)


def _shorter(key: str) -> Callable[[dict], Finding]:
    """How many times shorter than the best of the three kinds."""

    def find(run: dict) -> Finding:
        cell = _cell(run, "placed")
        best = min(PTHREAD, key=lambda name: _blocked(cell, name, key))
        theirs, ours = _blocked(cell, best, key), _blocked(cell, OURS, key)
        return Finding(
            theirs / max(ours, 1.0), note=f"{table.duration(ours)}, {best} {table.duration(theirs)}"
        )

    return find


# ---- Shares of writers ---------------------------------------------------------------------------


def _writers(cell: dict, name: str) -> list[int]:
    found = [r["iterations"] for r in rows(of_lock(cell, name)) if r["who"].startswith("writer/")]
    if not found:
        raise BadInput(f"{name} has no writers in the scenario {cell['scenario']}; record again.")
    return found


def _share(found: list[int]) -> float:
    return min(found) / max(max(found), 1)


def _alike(run: dict) -> Finding:
    """Two threads that pause do not come back alike even without a lock: that stands beside it."""
    cell = _cell(run, "contention")
    found = _writers(cell, OURS)
    return Finding(
        _share(found),
        note=" and ".join(f"{n:,}" for n in found)
        + f"; without a lock {_share(_writers(cell, FLOOR)):.3f}",
    )


def _fewest(run: dict) -> Finding:
    """Of every writer of every mix, a second: none is left with nothing."""
    found = []
    for scenario in MIXES:
        cell = _cell(run, scenario)
        found += [(n / cell["seconds"], scenario) for n in _writers(cell, OURS)]
    fewest, where = min(found)
    return Finding(fewest, note=where)


def _slowest_writer(run: dict) -> Finding:
    cell = _cell(run, "contention")
    ours, theirs = min(_writers(cell, OURS)), min(_writers(cell, BASELINE))
    return Finding(ours / max(theirs, 1), note=f"{ours:,}, {BASELINE} {theirs:,}")


# ---- Pairs ---------------------------------------------------------------------------------------


def _times(run: dict) -> dict[str, dict[int, float]]:
    return latency_samples.nanoseconds(_cell(run, PAIRS)["samples"])


def _pair(ours: str, theirs: str) -> Callable[[dict], Finding]:
    return lambda run: paired(_times(run), ours, theirs)


def _net_writer(run: dict) -> Finding:
    """Less the calls, round by round: a writer whose calls return at once, less calls that do."""
    times = _times(run)
    for name in ("w/pawl_sift_net", "calls/skipped", f"w/{BASELINE}"):
        if name not in times:
            raise BadInput(f"{name} was not measured; record again with a build that has it.")
    ours, calls = times["w/pawl_sift_net"], times["calls/skipped"]
    net = {n: ours[n] - calls[n] for n in ours if n in calls}
    found = paired({"net": net, BASELINE: times[f"w/{BASELINE}"]}, "net", BASELINE)
    found.note = (
        f"{statistics.median(net.values()):.1f} ns; with its calls "
        f"{statistics.median(times['w/pawl_sift'].values()):.0f} ns"
        if "w/pawl_sift" in times
        else ""
    )
    return found


# ---- Handlers ------------------------------------------------------------------------------------


def _longest_handler(cell: dict, name: str) -> float:
    """Nanoseconds."""
    samples = of_lock(cell, name)
    found = [
        r["lock"]["max"]
        for r in rows(samples)
        if r["who"].startswith(("interrupt/", "deferred/")) and r["lock"]
    ]
    if not found:
        raise BadInput(f"{name} was read by no handler in the scenario handlers; record again.")
    return max(found) / per_ns(samples)


def _handler(run: dict) -> Finding:
    """Microseconds beyond a write section and what the machine takes from a handler that passes as
    much time without any lock."""
    cell = _cell(run, "handlers")
    ours, floor = _longest_handler(cell, OURS), _longest_handler(cell, FLOOR)
    least = max(floor, cell["write_section_us"] * 1000)
    return Finding(
        (ours - least) / 1000,
        note=f"{table.duration(ours)}, without a lock {table.duration(floor)}",
    )


def targets() -> list[Target]:
    return [
        Target(f"signals blocked, p99.99: best {BASELINE} kind / {OURS}", 100.0, True,
               _shorter("p99.99"), middle=True),
        Target(f"signals blocked, longest: best {BASELINE} kind / {OURS}", 20.0, True,
               _shorter("max"), middle=True),
        Target("writers under contention, fewest iterations / most", 0.99, True, _alike),
        Target("fewest iterations a second of any writer in any mix", 1.0, True, _fewest),
        Target(f"slowest writer under contention / {BASELINE}'s slowest", 50.0, True,
               _slowest_writer),
        Target("read pair / bare compare-exchange and subtraction", 1.05, False,
               _pair(f"r/{OURS}", PAIR_FLOOR)),
        Target(f"read pair / {BASELINE} read pair", 0.95, False,
               _pair(f"r/{OURS}", f"r/{BASELINE}")),
        Target(f"write pair, no handlers / {BASELINE} write pair", 0.65, False,
               _pair(f"w/{OURS}_threads", f"w/{BASELINE}")),
        Target(f"write pair with handlers less its system calls / {BASELINE} write pair", 0.65,
               False, _net_writer),
        Target("a handler's longest wait beyond a write section and the floor, us", 50.0, False,
               _handler, middle=True),
    ]  # fmt: skip


# ---- Beside the verdicts -------------------------------------------------------------------------


def _time(cell: dict, name: str, key: str) -> str:
    return table.duration(_blocked(cell, name, key))


def _calls(run: dict) -> str:
    times = _times(run)
    return ", ".join(
        f"{name.split('/')[1]} {statistics.median(found.values()):.0f} ns"
        for name, found in times.items()
        if name.startswith("calls/")
    )


def _longest(cell: dict) -> str:
    names = [
        n for n in (OURS, *PTHREAD, FLOOR) if any(s["candidate"] == n for s in cell["samples"])
    ]
    return "; ".join(f"{n} {_time(cell, n, 'p99.99')} {_time(cell, n, 'max')}" for n in names)


def notes(runs: Runs) -> Iterable[str]:
    yield "signals blocked, p99.99 and longest (the oversubscribed mix has no target):"
    for path, run in runs:
        for scenario in ("placed", "contention"):
            yield f"          {path.name}, {scenario}: {_longest(_cell(run, scenario))}"
    yield "system calls of a writer:"
    for path, run in runs:
        yield f"          {path.name}: {_calls(run)}"
