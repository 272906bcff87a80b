# SPDX-License-Identifier: MIT
"""`pawl bench rcu`: what readers, grace periods and callbacks cost. Plans cells, makes the rows.

A row is named group/what@threads+beside, as in `pawl bench counters`. Each group is a cell, and all
its rows are measured in turn by one process. Its columns are in rcu_table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from pawl import candidates, grid, machine, rcu_table, stats
from pawl.counters import at_one_thread, group_of, threads_of
from pawl.errors import BadInput
from pawl.measure import Cell

TITLE = "Read-copy-update: readers, grace periods, callbacks"
DRIVER = "pawl-bench-rcu"
GROUPS = {"read": "taking and dropping the read lock",
          "nested": "the same inside a reader",
          "deref": "following 16 pointers inside a reader",
          "quiet": "announcing a quiescent state",
          "sync": "waiting for a grace period",
          "call": "callbacks, from the first call to the end of the last",
          "delay": "from a call until its callback runs",
          "flood": "calling as fast as it goes"}
# Each group is compared with liburcu's usual flavour, announcing with the one that announces.
PEERS = {group: f"{group}/urcu_memb" for group in GROUPS} | {"quiet": "quiet/urcu_qsbr"}
# What a result names as its baseline, although each group has its own.
BASELINE = PEERS["read"] + "@1"
# What a sample costs beside its length: threads that are told to begin and waited for.
OVERHEAD, START = 0.0006, 0.05
# Guesses for samples that last until they are done, seconds a callback.
CALL_SECONDS, FLOOD_SECONDS = 2e-7, 3e-7
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
MIB = 1 << 20
QUICK = {"rounds": 6, "delay_seconds": 0.3, "callbacks": 100_000, "flood": 1_000_000}

NUMBER, MAYBE = (int, float), (int, float, type(None))
CELL_KEYS = {"group": str, "seconds": NUMBER, "flood": int, "bound": int}
SAMPLE_KEYS = {"threads": int}
ROW_KEYS = {"threads": int, "million_per_second": NUMBER, "scaling": MAYBE}
NESTED_KEYS: dict = {}  # what only some groups have is looked at by sound()


@dataclass
class Request:
    """The options of the command."""

    groups: tuple[str, ...] = tuple(GROUPS)
    seconds: float = 0.02
    rounds: int = 12
    warmup: float = 0.003
    pin: str = "auto"
    callbacks: int = 1_000_000
    call_rounds: int = 6
    delay_seconds: float = 1.0
    delay_rounds: int = 3
    period_us: float = 200
    flood: int = 10_000_000
    bound: int = 64 * MIB
    most: int = 2048 * MIB

    def rounds_of(self, group: str) -> int:
        """Samples that last long are fewer, of a flood one."""
        most = {"call": self.call_rounds, "delay": self.delay_rounds, "flood": 1}
        return min(self.rounds, most.get(group, self.rounds))

    def seconds_of(self, group: str) -> float:
        return self.delay_seconds if group == "delay" else self.seconds


def most_bytes(mebibytes: int) -> int:
    """An unbounded queue may not take more than a quarter of the machine's memory."""
    return min(mebibytes, max(machine.describe()["memory_mib"] // 4, 1)) * MIB


def baseline_of(name: str) -> str:
    """Of the same group, at as many threads, beside the same."""
    return f"{PEERS[group_of(name)]}@{name.split('@')[1]}"


def with_baselines(choice: candidates.Choice, offered: list[dict]) -> list[str]:
    """The chosen rows, and what they are compared with, in the order of the driver."""
    wanted = set(choice.names) | {baseline_of(n) for n in choice.names}
    wanted |= {n for name in choice.names if (n := at_one_thread(name))}
    return [c["name"] for c in offered if c["name"] in wanted and c["available"]]


def _cell(request: Request, group: str, own: list[str]) -> Cell:
    parameters = {
        "bench": "rcu", "group": group, "threads": max(map(threads_of, own)),
        "seconds": request.seconds_of(group), "rounds": request.rounds_of(group),
        "warmup": request.warmup, "pin": request.pin, "callbacks": request.callbacks,
        "period": request.period_us, "flood": request.flood, "bound": request.bound,
        "most": request.most, "candidates": own}
    told = ("seconds", "rounds", "warmup", "pin", "callbacks", "period", "flood", "bound", "most")
    options = [text for key in told for text in (f"--{key}", grid.word(parameters[key]))]
    return Cell(parameters, [*options, "--groups", group, "--candidates", ",".join(own)])


def plan(request: Request, names: list[str]) -> list[Cell]:
    unknown = [n for n in names if group_of(n) not in GROUPS or "@" not in n]
    if unknown:
        raise BadInput(f"--driver: it offers '{unknown[0]}', which this command does not know; "
                       "build both from the same sources.")
    cells = []
    for group in (g for g in GROUPS if g in request.groups):
        if own := [n for n in names if group_of(n) == group]:
            cells.append(_cell(request, group, own))
    return cells


def _length(cell: Cell) -> float:
    about = cell.parameters
    if about["group"] == "call":
        return about["callbacks"] * CALL_SECONDS
    if about["group"] == "flood":
        return about["flood"] * FLOOD_SECONDS
    return about["seconds"] + about["warmup"]


def expected_seconds(cells: list[Cell]) -> float:
    return sum(START + c.sample_count * (_length(c) + OVERHEAD) for c in cells)


def workload(cell: dict) -> str:
    return GROUPS[cell["group"]]


label = workload


def heading(cell: dict) -> str:
    text = f"{workload(cell)}\n{rcu_table.explain(cell)}"
    return text + (f"\nnot pinned: {cell['pin_error']}" if cell.get("pin_error") else "")


# ---- From samples to rows -----------------------------------------------------------------------


def times(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> nanoseconds that one thread spends on an operation.

    Of the group delay it is how long 99 of 100 callbacks waited at most.
    """
    delays = [s for s in samples if group_of(s["candidate"]) == "delay"]
    found = {name: {n: threads_of(name) * 1e9 / rate for n, rate in rounds.items() if rate > 0}
             for name, rounds in stats.rates(
                 [s for s in samples if group_of(s["candidate"]) != "delay"]).items()}
    for sample in delays:
        if sample["delays_ns"]:
            found.setdefault(sample["candidate"], {})[sample["round"]] = max(
                1.0, merged([sample])["p99"])
    return found


def merged(samples: list[dict]) -> dict:
    """Quantiles of the delays of all rounds together, each within its bucket's width."""
    counts: Counter = Counter()
    for sample in samples:
        for ns, count in sample["delays_ns"]:
            counts[ns] += count
    total, ordered = sum(counts.values()), sorted(counts)
    found = {}
    for name, share in ({"p25": 0.25, "p75": 0.75} | QUANTILES).items():
        below, value = 0, 0
        for value in ordered:
            below += counts[value]
            if below >= share * total:
                break
        found[name] = value
    longest = max((s["delay_ns"]["max"] for s in samples), default=0)
    return found | {"max": longest}


def _scaling(rates: dict, name: str) -> float | None:
    """How many times the rate of one thread several have together."""
    one = at_one_thread(name)
    return stats.ratio(stats.paired(rates, name, one))["ratio"] if one in rates else None


def _held(samples: list[dict]) -> dict:
    """Of the largest round: what was queued at most, how the process grew, what bounded it."""
    worst = max(samples, key=lambda s: s["peak_bytes"])
    return {key: worst[key] for key in ("peak_bytes", "rss_peak_bytes", "bound_bytes", "stopped")}


def _own(name: str, samples: list[dict]) -> dict:
    """What rows of this group have beside the others."""
    if group_of(name) == "delay":
        delay = merged(samples)
        return {"median": delay["p50"], "q1": delay["p25"], "q3": delay["p75"],
                "delay_ns": delay}
    if group_of(name) == "flood":
        return _held(samples)
    if group_of(name) == "call":
        return {"call_ns": float(np.median([s["call_ns"] for s in samples]))}
    return {}


def _row(name: str, samples: list[dict], found: dict, rates: dict) -> dict:
    q1, median, q3 = np.percentile(list(found[name].values()), [25, 50, 75])
    against = stats.ratio(stats.paired(found, name, baseline_of(name)))
    return {
        "candidate": name, "rounds": len(found[name]), "threads": threads_of(name),
        "median": float(median), "q1": float(q1), "q3": float(q3),
        "million_per_second": float(np.median(list(rates[name].values()))) / 1e6,
        "scaling": _scaling(rates, name), "ratio_to_baseline": against["ratio"],
        "ratio_ci95_low": against["low"], "ratio_ci95_high": against["high"],
        **_own(name, [s for s in samples if s["candidate"] == name]),
    }


def summarise(samples: list[dict], _baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate: one thread first, the quickest first."""
    found, rates = times(samples), stats.rates(samples)
    rows = [_row(name, samples, found, rates) for name in order if found.get(name)]
    return sorted(rows, key=lambda r: (r["threads"], "+" in r["candidate"], r["median"]))


def _pairs(found: object) -> bool:
    return isinstance(found, list) and all(
        isinstance(pair, list) and len(pair) == 2
        and all(isinstance(n, NUMBER) for n in pair) for pair in found)


# What samples and rows of these groups have beside the others.
OWN_KEYS = {
    "call": {"call_ns": NUMBER}, "delay": {"delay_ns": dict},
    "flood": {"peak_bytes": NUMBER, "rss_peak_bytes": NUMBER, "bound_bytes": MAYBE,
              "stopped": bool},
}
CURVES = {"delay": "delays_ns", "flood": "held"}


def _has(thing: dict, keys: dict) -> bool:
    return all(key in thing and isinstance(thing[key], kind) for key, kind in keys.items())


def _known(thing: dict) -> bool:
    group = group_of(thing["candidate"])
    return "@" in thing["candidate"] and group in GROUPS and _has(thing, OWN_KEYS.get(group, {}))


def sound(sample: dict) -> bool:
    curve = CURVES.get(group_of(sample["candidate"]))
    return _known(sample) and (curve is None or _pairs(sample.get(curve))) and (
        curve != "delays_ns" or _has(sample["delay_ns"], {"max": NUMBER}))


def sound_row(row: dict) -> bool:
    return _known(row) and (group_of(row["candidate"]) != "delay" or _has(
        row["delay_ns"], dict.fromkeys((*QUANTILES, "max"), NUMBER)))


def belongs(cell: dict, name: str) -> bool:
    """Whether a row that was not built would have been in this cell."""
    return group_of(name) == cell["group"]


def losses(rows: list[dict]) -> list[dict]:
    """Our rows whose whole interval lies above liburcu's: slower beyond the noise."""
    return [r for r in rows if "/pawl_" in r["candidate"]
            and r["ratio_ci95_low"] is not None and r["ratio_ci95_low"] > 1]


# ---- The table: other columns in other groups ---------------------------------------------------

face = rcu_table.face


def columns(_baseline: str) -> list[str]:
    return rcu_table.TIMED.heads


def cells(rank: int, row: dict) -> list[str]:
    return rcu_table.of_group(group_of(row["candidate"])).cells(rank, row)


def shown(width: int) -> list[int]:
    return rcu_table.TIMED.shown(width)
