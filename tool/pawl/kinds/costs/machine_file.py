# SPDX-License-Identifier: MIT
"""Makes a model for `pawl sim` of what was measured. What the table has no row for is assumed, and
the file says so."""

import re
from collections.abc import Callable

from pawl.core import topology
from pawl.core.errors import BadInput, Failure
from pawl.kinds.costs.derive import derive

# Where the table says nothing; of a transfer, the shares fitted for sim/machines/haswell-ep.toml.
ASSUMED = {
    "relax": 15.0,
    "clock": 20.0,
    "copy_gap": 2.5,
    "request": 0.51,
    "keep": 9.3,
    "invalidate_each": 1.0,
    "futex_hold": 60.0,
    "futex_wait": 400.0,
    "smt_compute": 1.7,
    "smt_walk": 1.4,
    "smt_beside_waiter": 1.3,
    "rmw": 6.0,
    "load": 1.5,
    "store": 0.4,
    "fence": 10.0,
    "memory": 100.0,
    "syscall": 100.0,
    "futex_wake": 900.0,
    "wake_latency": 5000.0,
    "context": 1500.0,
    "interrupt": 800.0,
    "membarrier": 1500.0,
}
COPY_SHARE, INVALIDATE_SHARE, TRANSFER = 0.73, 0.52, 60.0
LEVELS = ("pair", "cluster", "socket", "far")


def _counts(about: dict) -> dict[str, int]:
    """Sockets, clusters a socket, cores a cluster, threads a core; each socket must be alike."""
    cpus = about["cpus"]
    cores = {c["siblings"][0] if c["siblings"] else c["cpu"]: c for c in cpus}
    last = {
        core: tuple(max(c["caches"], key=lambda k: k["level"])["shared"])
        if c["caches"]
        else (core,)
        for core, c in cores.items()
    }
    packages = {c["package"] for c in cores.values()}
    clusters = {(cores[core]["package"], group) for core, group in last.items()}
    if len(cores) % len(packages) or len(cores) % len(clusters) or len(clusters) % len(packages):
        raise Failure(
            "--machine: the sockets of these CPUs are not alike; name some that are with --cpus."
        )
    return {
        "sockets": len(packages),
        "clusters": len(clusters) // len(packages),
        "cores": len(cores) // len(clusters),
        "pair": 1,
        "smt": len(cpus) // len(cores),
    }


def _level(about: dict, a: int, b: int) -> str | None:
    cpus = {c["cpu"]: c for c in about["cpus"]}
    if b in cpus[a]["siblings"]:
        return None
    if topology.shared_level(about, a, b):
        return "cluster"
    return "socket" if cpus[a]["package"] == cpus[b]["package"] else "far"


def _middle(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


class _Values:
    """Collects values with where each comes from."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, float, str]] = []
        self.found: dict[str, float] = {}

    def add(self, name: str, value: float | None, source: str, assumed: float) -> float:
        if value is None or value <= 0:
            value, source = assumed, "assumed"
        value = float(f"{value:.4g}")
        self.lines.append((name, value, source))
        self.found[name] = value
        return value


def values(result: dict) -> list[tuple[str, float, str]]:
    """(name, nanoseconds, source) of each value of the model."""
    costs = derive(result)
    rows = {r["id"]: r["median"] for r in costs["rows"]}
    made = _Values()

    def take(name: str, source: str, of: Callable[[], float]) -> float:
        try:
            value = of()
        except TypeError:  # a row that was not measured
            value = None
        return made.add(name, value, source, ASSUMED[name])

    load = take("load", "pawl costs: l1", lambda: rows["l1"])
    take("store", "pawl costs: cycle", lambda: rows["cycle"])
    made.add("plain", load / 2, "half a load", load / 2)
    rmw = take("rmw", "pawl costs: atomic_increment", lambda: rows["atomic_increment"])
    take("fence", "pawl costs: fence", lambda: rows["fence"])
    take("memory", "pawl costs: memory", lambda: rows["memory"])
    syscall = take("syscall", "pawl costs: system_call", lambda: rows["system_call"])
    take(
        "futex_wake",
        "pawl costs: futex_wake_sleeper less system_call",
        lambda: rows["futex_wake_sleeper"] - syscall,
    )
    take(
        "wake_latency",
        "pawl costs: wake_latency less futex_wake_sleeper",
        lambda: max(rows["wake_latency"] - rows["futex_wake_sleeper"], 1.0),
    )
    take(
        "context",
        "pawl costs: context_switch less two system calls",
        lambda: rows["context_switch"] - 2 * syscall,
    )
    take(
        "membarrier",
        "pawl costs: membarrier_busy less system_call",
        lambda: rows["membarrier_busy"] - syscall,
    )
    take("interrupt", "half of pawl costs: membarrier_busy", lambda: rows["membarrier_busy"] / 2)
    _distances(result["topology"], costs, made, rmw)
    for name in ASSUMED:
        if name not in made.found:
            made.add(name, None, "", ASSUMED[name])
    return made.lines


def _distances(about: dict, costs: dict, made: _Values, rmw: float) -> None:
    rows = {r["id"]: r["median"] for r in costs["rows"]}
    pairs: dict[str, list[float]] = {}
    for pair in (costs["matrix"] or {"pairs": []})["pairs"]:
        level = _level(about, pair["a"], pair["b"])
        if level and pair["median"]:
            pairs.setdefault(level, []).append(pair["median"])
    nearest = next((level for level in LEVELS if level in pairs), "cluster")
    moved = rows.get("atomic_increment_transfer")
    invalidates = None
    if moved and rows.get("cmpxchg_transfer_invalidate"):
        invalidates = rows["cmpxchg_transfer_invalidate"] - moved
    first = made.add(
        f"transfer.{nearest}",
        moved - rmw if moved else None,
        "pawl costs: atomic_increment_transfer less atomic_increment",
        _middle(pairs[nearest]) if nearest in pairs else TRANSFER,
    )
    transfer = {nearest: first}
    for level in LEVELS:
        if level in pairs and level != nearest:
            ratio = _middle(pairs[level]) / _middle(pairs[nearest])
            transfer[level] = made.add(
                f"transfer.{level}",
                max(1.0, ratio) * first,
                "as much more as in the matrix of pawl costs",
                first,
            )
    for level, ns in transfer.items():
        made.add(f"copy.{level}", None, "", COPY_SHARE * ns)
        share = invalidates / first if invalidates and invalidates > 0 else None
        made.add(
            f"invalidate.{level}",
            share and share * ns,
            "pawl costs: cmpxchg_transfer_invalidate less atomic_increment_transfer",
            INVALIDATE_SHARE * ns,
        )


def _refuse_unoptimised(flags: str | None) -> None:
    """The last option counts."""
    if re.findall(r"-O\S*", flags or "")[-1:] == ["-O0"]:
        raise BadInput(
            "--machine: nothing was written: pawl-bench-costs was built with -O0 (the preset dev), "
            "and no program pays such prices; name that of `make build` with --driver."
        )


def text(result: dict) -> str:
    _refuse_unoptimised(result["flags"])
    about = result["machine"]
    name = str(about.get("cpu", "unknown CPU")).replace('"', "'").replace("\\", "/")
    shape = _counts(result["topology"])
    lines = [
        "# Written by pawl costs --machine. Times in nanoseconds.",
        f'title = "{name}"',
        "",
        "[topology]",
        *(f"{k} = {v}" for k, v in shape.items()),
        "",
        "[values]",
    ]
    lines += [f"{k} = {v:g} # {source}" for k, v, source in values(result)]
    return "\n".join(lines) + "\n"
