# SPDX-License-Identifier: MIT
"""Makes the costs of the samples of `pawl costs`: everything that tables and pages show."""

from pawl.core import stats, topology
from pawl.core.errors import BadInput
from pawl.kinds.costs.rows import ORDER, ROOM, ROWS


def nanoseconds(samples: list[dict], key: str = "seconds") -> dict[str, dict[int, float]]:
    """candidate -> round -> nanoseconds an operation."""
    found: dict[str, dict[int, float]] = {}
    for s in samples:
        if s["ops"] > 0 and isinstance(s.get(key), (int, float)) and s[key] > 0:
            found.setdefault(s["candidate"], {})[s["round"]] = s[key] / s["ops"] * 1e9
    return found


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, in their own order: these do not compete."""
    found = nanoseconds(samples)
    return [
        {
            "candidate": name,
            "rounds": len(found[name]),
            **stats.quartiles(found[name].values()),
            **stats.against(found, name, baseline),
        }
        for name in order
        if name in found
    ]


def losses(_rows: list[dict]) -> list[dict]:
    return []


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

    return {
        "cycle_ns": ns("cycle"),
        "core_ghz": _over(1.0, ns("cycle")),
        "tsc_ghz": _over(1.0, ns("tsc_tick")),
        "instruction_ns": ns("instruction"),
    }


def _rows(result: dict, clock: dict, gone: dict[str, str]) -> list[dict]:
    cell = _part(result, "rows")
    found = _summary(cell)
    sizes = {s["candidate"]: s.get("bytes") for s in cell["samples"]} if cell else {}
    rows = []
    for text in ROWS:
        row = found.get(text.id)
        ns = row["median"] if row else None
        rows.append(
            {
                "id": text.id,
                "label": text.label,
                "group": text.group,
                "available": row is not None,
                "why": "" if row else gone.get(text.id, NOT_YET),
                **({k: row[k] for k in NOTHING} if row else NOTHING),
                "cycles": _over(ns, clock["cycle_ns"]),
                "instructions": _over(ns, clock["instruction_ns"]),
                "source_ns": text.source_ns,
                "rounds": row["rounds"] if row else 0,
                "bytes": sizes.get(text.id),
                "how": text.how,
            }
        )
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
        pairs.append(
            {
                "a": a,
                "b": b,
                **{k: row[k] for k in NOTHING},
                "relation": topology.relation(about, a, b),
            }
        )
    return {"cpus": cpus, "ns": ns, "pairs": pairs}


def _pair_cost(cell: dict, found: dict[str, dict], name: str) -> dict | None:
    if name not in found:
        return None
    parts = {}
    for part in ("take", "drop"):
        values = nanoseconds(cell["samples"], f"{part}_seconds").get(name)
        parts[part] = stats.quartiles(values.values())["median"] if values else None
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
        locks.append(
            {
                "lock": lock,
                "mode": mode,
                "available": local is not None,
                "why": "" if local else gone.get(f"local/{name}", NOT_YET),
                "local": local,
                "moved": moved,
                "sections": _sections(found, name),
                "half_local": local and local["median"],
                "half_moved": moved and moved["median"],
            }
        )
    return locks


def contradictions(ns: dict[str, float | None]) -> list[tuple[str, str]]:
    """Pairs of rows that came out the wrong way round: one of them was disturbed."""
    return [
        (less, more)
        for less, more in ORDER
        if ns.get(less) and ns.get(more) and ns[less] > ns[more] * ROOM
    ]


def derive(result: dict) -> dict:
    """Everything that tables, pages and other tools read, from nothing but the samples."""
    try:
        return _derive(result)
    except (AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise BadInput(
            "the result of pawl costs is damaged; name another file or measure again."
        ) from error


def _derive(result: dict) -> dict:
    gone = {g["candidate"]: g["why"] for g in result["unavailable"]}
    first = result["cells"][0] if result["cells"] else {}
    about = result.get("topology") or {"cpus": []}
    clock = _clock(_summary(_part(result, "rows")))
    rows = _rows(result, clock, gone)
    doubts = contradictions({row["id"]: row["median"] for row in rows})
    return {
        "quick": first.get("quick"),
        "cpus": first.get("cpus", []),
        "first": first.get("first"),
        "near": first.get("near"),
        "near_relation": first.get("near_relation"),
        "clock": clock,
        "rows": rows,
        "contradictions": [list(pair) for pair in doubts],
        "topology": about,
        "matrix": _matrix(result, about),
        "locks": _locks(result, gone),
    }
