# SPDX-License-Identifier: MIT
"""`pawl costs`: what single operations cost here. Plans cells, and makes the costs of samples.

Other tools read a saved result with load().
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from pawl import costs_rows, costs_table, results, stats, topology
from pawl.errors import BadInput
from pawl.measure import Cell

TITLE = "What things cost on this machine"
BASELINE = "instruction"
PARTS = {"rows": "operations of one CPU, between two, and of the kernel",
         "matrix": "a line between any two CPUs", "locks": "taking and dropping each lock"}
# part -> (rounds, seconds of a sample)
FULL = {"rows": (21, 0.008), "matrix": (15, 0.01), "locks": (15, 0.003)}
QUICK = {"rows": (9, 0.004), "matrix": (7, 0.004), "locks": (7, 0.001)}
# Pairs of CPUs grow with the square: their samples get shorter, then fewer.
MATRIX_SECONDS = {True: 3.0, False: 15.0}
LEAST_SECONDS, LEAST_ROUNDS = 0.0003, 3

CELL_KEYS = {"part": str, "cpus": list, "first": int, "quick": bool}
SAMPLE_KEYS: dict = {}
ROW_KEYS: dict = {}
NESTED_KEYS: dict = {}


# ---- The plan ------------------------------------------------------------------------------------

def _effort(part: str, quick: bool, count: int) -> tuple[int, float]:
    rounds, seconds = (QUICK if quick else FULL)[part]
    if part == "matrix":
        share = MATRIX_SECONDS[quick] / max(count, 1)
        rounds = max(LEAST_ROUNDS, min(rounds, int(share / LEAST_SECONDS)))
        seconds = max(LEAST_SECONDS, min(seconds, share / rounds))
    return rounds, round(seconds, 5)


def machine_options(about: dict) -> list[str]:
    """What the driver must know of the machine, whatever it measures."""
    cpus = [c["cpu"] for c in about["cpus"]]
    near = topology.nearest(about)
    options = ["--cpus", ",".join(map(str, cpus)),
               "--caches", ",".join(map(str, topology.cache_bytes(about)))]
    return options + ([] if near is None else ["--near", str(near)])


def plan(about: dict, names: dict[str, list[str]], quick: bool) -> list[Cell]:
    """One cell a part; `names` are the rows that can be measured."""
    cpus = [c["cpu"] for c in about["cpus"]]
    near = topology.nearest(about)
    cells = []
    for part in (p for p in PARTS if names.get(p)):
        rounds, seconds = _effort(part, quick, len(names[part]))
        parameters = {
            "bench": "costs", "part": part, "threads": 1 if near is None else 2, "cpus": cpus,
            "first": cpus[0], "near": near,
            "near_relation": None if near is None else topology.relation(about, cpus[0], near),
            "caches": topology.cache_bytes(about), "quick": quick, "rounds": rounds,
            "seconds": seconds, "candidates": names[part],
        }
        options = [*machine_options(about), "--part", part, "--rounds", str(rounds),
                   "--seconds", str(seconds)]
        cells.append(Cell(parameters, options))
    return cells


def workload(cell: dict) -> str:
    return PARTS.get(cell["part"], cell["part"])


label = heading = workload


# ---- From samples to costs -----------------------------------------------------------------------

def nanoseconds(samples: list[dict], key: str = "seconds") -> dict[str, dict[int, float]]:
    """candidate -> round -> nanoseconds an operation."""
    found: dict[str, dict[int, float]] = {}
    for s in samples:
        if s["ops"] > 0 and isinstance(s.get(key), (int, float)) and s[key] > 0:
            found.setdefault(s["candidate"], {})[s["round"]] = s[key] / s["ops"] * 1e9
    return found


def _quartiles(values) -> dict:
    q1, median, q3 = np.percentile(list(values), [25, 50, 75])
    return {"median": float(median), "q1": float(q1), "q3": float(q3)}


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, in their own order: these do not compete."""
    found = nanoseconds(samples)
    rows = []
    for name in (n for n in order if n in found):
        against = stats.ratio(stats.paired(found, name, baseline))
        rows.append({"candidate": name, "rounds": len(found[name]),
                     **_quartiles(found[name].values()),
                     "ratio_to_baseline": against["ratio"], "ratio_ci95_low": against["low"],
                     "ratio_ci95_high": against["high"]})
    return rows


def losses(_rows: list[dict]) -> list[dict]:
    return []


def sound(_sample: dict) -> bool:
    return True


NOT_YET = "the run was interrupted before it was measured"
NOTHING = {"median": None, "q1": None, "q3": None}


def _part(result: dict, part: str) -> dict | None:
    return next((c for c in result["cells"] if c["part"] == part), None)


def _summary(cell: dict | None) -> dict[str, dict]:
    return {r["candidate"]: r for r in cell["summary"]} if cell else {}


def _over(value: float | None, unit: float | None) -> float | None:
    return value / unit if value is not None and unit else None


def _clock(found: dict[str, dict]) -> dict:
    def ns(name: str) -> float | None:
        return found[name]["median"] if name in found else None
    return {"cycle_ns": ns("cycle"), "core_ghz": _over(1.0, ns("cycle")),
            "tsc_ghz": _over(1.0, ns("tsc_tick")), "instruction_ns": ns("instruction")}


def _rows(result: dict, clock: dict, gone: dict[str, str]) -> list[dict]:
    cell = _part(result, "rows")
    found = _summary(cell)
    sizes = {s["candidate"]: s.get("bytes") for s in cell["samples"]} if cell else {}
    rows = []
    for text in costs_rows.ROWS:
        row = found.get(text.id)
        ns = row["median"] if row else None
        rows.append({
            "id": text.id, "label": text.label, "group": text.group, "available": row is not None,
            "why": "" if row else gone.get(text.id, NOT_YET),
            **({k: row[k] for k in NOTHING} if row else NOTHING),
            "cycles": _over(ns, clock["cycle_ns"]),
            "instructions": _over(ns, clock["instruction_ns"]), "source_ns": text.source_ns,
            "rounds": row["rounds"] if row else 0, "bytes": sizes.get(text.id), "how": text.how,
        })
    return rows


def _matrix(result: dict, about: dict) -> dict | None:
    cell = _part(result, "matrix")
    if not cell:
        return None
    cpus, found = cell["cpus"], _summary(cell)
    place = {cpu: n for n, cpu in enumerate(cpus)}
    ns: list[list[float | None]] = [[None] * len(cpus) for _ in cpus]
    pairs = []
    for name, row in found.items():
        a, b = (int(n) for n in name.split("-"))
        ns[place[a]][place[b]] = ns[place[b]][place[a]] = row["median"]
        pairs.append({"a": a, "b": b, **{k: row[k] for k in NOTHING},
                      "relation": topology.relation(about, a, b)})
    return {"cpus": cpus, "ns": ns, "pairs": pairs}


def _pair_cost(cell: dict, found: dict[str, dict], name: str) -> dict | None:
    if name not in found:
        return None
    parts = {}
    for part in ("take", "drop"):
        values = nanoseconds(cell["samples"], f"{part}_seconds").get(name)
        parts[part] = _quartiles(values.values())["median"] if values else None
    return {**parts, **{k: found[name][k] for k in NOTHING}}


def _sections(found: dict[str, dict], name: str) -> list[dict]:
    """Sections of the same work with and without the lock."""
    sections = []
    for bare in (n for n in found if n.startswith("section/w/none/")):
        whole = f"section/{name}/{bare.rsplit('/', 1)[1]}"
        if whole in found:
            tc, total = found[bare]["median"], found[whole]["median"]
            sections.append({"tc": tc, "total": total, "efficiency": tc / total})
    return sorted(sections, key=lambda s: s["tc"])


def _locks(result: dict, gone: dict[str, str]) -> list[dict]:
    cell = _part(result, "locks")
    found = _summary(cell)
    planned = cell["candidates"] if cell else []
    names = [n.removeprefix("local/") for n in (*planned, *gone) if n.startswith("local/")]
    locks = []
    for name in dict.fromkeys(names):
        mode, lock = name.split("/", 1)
        local = _pair_cost(cell, found, f"local/{name}") if cell else None
        moved = _pair_cost(cell, found, f"moved/{name}") if cell else None
        locks.append({
            "lock": lock, "mode": mode, "available": local is not None,
            "why": "" if local else gone.get(f"local/{name}", NOT_YET),
            "local": local, "moved": moved, "sections": _sections(found, name),
            "half_local": local and local["median"], "half_moved": moved and moved["median"],
        })
    return locks


def contradictions(ns: dict[str, float | None]) -> list[tuple[str, str]]:
    """Pairs of rows that came out the wrong way round: one of them was disturbed."""
    return [(less, more) for less, more in costs_rows.ORDER
            if ns.get(less) and ns.get(more) and ns[less] > ns[more] * costs_rows.ROOM]


def derive(result: dict) -> dict:
    """Everything that tables, pages and other tools read, from nothing but the samples."""
    try:
        return _derive(result)
    except (AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise BadInput("the result of pawl costs is damaged; name another file or measure "
                       "again.") from error


def _derive(result: dict) -> dict:
    gone = {g["candidate"]: g["why"] for g in result["unavailable"]}
    first = result["cells"][0] if result["cells"] else {}
    about = result.get("topology") or {"cpus": []}
    clock = _clock(_summary(_part(result, "rows")))
    rows = _rows(result, clock, gone)
    doubts = contradictions({row["id"]: row["median"] for row in rows})
    return {
        "quick": first.get("quick"), "cpus": first.get("cpus", []), "first": first.get("first"),
        "near": first.get("near"), "near_relation": first.get("near_relation"), "clock": clock,
        "rows": rows, "contradictions": [list(pair) for pair in doubts], "topology": about,
        "matrix": _matrix(result, about), "locks": _locks(result, gone),
    }


def show(result: dict, console: Console) -> None:
    if result["cells"]:
        costs_table.show(derive(result), console)


def section(result: dict) -> dict:
    return costs_table.section(derive(result))


# ---- For other tools -----------------------------------------------------------------------------

@dataclass(frozen=True)
class Costs:
    """A saved measurement. Times are medians in nanoseconds; None is what was not measured."""

    raw: dict
    costs: dict

    @property
    def rows(self) -> dict[str, dict]:
        return {row["id"]: row for row in self.costs["rows"]}

    @property
    def locks(self) -> list[dict]:
        return self.costs["locks"]

    @property
    def clock(self) -> dict:
        return self.costs["clock"]

    @property
    def matrix(self) -> dict | None:
        return self.costs["matrix"]

    @property
    def machine(self) -> dict:
        return self.raw["machine"]

    def _row(self, name: str) -> dict:
        try:
            return self.rows[name]
        except KeyError:
            raise KeyError(f"pawl costs has no row '{name}'") from None

    def ns(self, name: str) -> float | None:
        return self._row(name)["median"]

    def why(self, name: str) -> str:
        """Why the row was not measured; empty if it was."""
        return self._row(name)["why"]

    def lock(self, lock: str, mode: str) -> dict | None:
        return next((x for x in self.locks if (x["lock"], x["mode"]) == (lock, mode)), None)

    def efficiency(self, lock: str, mode: str, tc: float, moved: bool = False) -> float | None:
        """Tc / (Tc + Ta + Tr) of a section of `tc` nanoseconds."""
        found = self.lock(lock, mode)
        cost = found and found["moved" if moved else "local"]
        return tc / (tc + cost["median"]) if cost else None


def load(path: Path | str) -> Costs:
    """A file written by `pawl costs --json`; its costs are made of its samples anew."""
    result = results.load(Path(path))
    if result["kind"] != "costs":
        raise BadInput(f"{path} holds a result of kind {result['kind']}; "
                       "name a file written with pawl costs --json.")
    return Costs(result, derive(result))
