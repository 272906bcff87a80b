# SPDX-License-Identifier: MIT
"""How the CPUs of this machine are related: siblings, shared caches, sockets, from sysfs."""

import re
from pathlib import Path

SYSFS = Path("/sys/devices/system/cpu")
UNKNOWN = "related in a way the system does not name"
LEVELS = 3


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def cpu_list(text: str) -> list[int]:
    """The kernel's notation: `0-3,8`; an empty list for what it does not mean."""
    cpus: list[int] = []
    for part in text.split(",") if text else []:
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if not found:
            return []
        cpus.extend(range(int(found[1]), int(found[2] or found[1]) + 1))
    return cpus


def size(text: str) -> int | None:
    """`48K`, `32768K`, `1M` in bytes."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]] if found else None


def _caches(folder: Path) -> list[dict]:
    caches = []
    for index in sorted(folder.glob("cache/index*")):
        level, kind = _number(index / "level"), _text(index / "type")
        if level is not None and kind in ("Data", "Unified"):
            caches.append(
                {
                    "level": level,
                    "type": kind,
                    "bytes": size(_text(index / "size")),
                    "shared": cpu_list(_text(index / "shared_cpu_list")),
                }
            )
    return sorted(caches, key=lambda c: c["level"])


def _node(folder: Path) -> int | None:
    names = [p.name for p in folder.glob("node[0-9]*")]
    return int(names[0].removeprefix("node")) if names else None


def read(cpus: list[int], root: Path = SYSFS) -> dict:
    found = []
    for cpu in cpus:
        folder = root / f"cpu{cpu}"
        about = folder / "topology"
        found.append(
            {
                "cpu": cpu,
                "core": _number(about / "core_id"),
                "package": _number(about / "physical_package_id"),
                "node": _node(folder),
                "siblings": cpu_list(_text(about / "thread_siblings_list")),
                "caches": _caches(folder),
            }
        )
    return {"cpus": found}


def _cpu(topology: dict, cpu: int) -> dict:
    return next(c for c in topology["cpus"] if c["cpu"] == cpu)


def shared_level(topology: dict, a: int, b: int) -> int | None:
    """The smallest cache that both reach."""
    return min((c["level"] for c in _cpu(topology, a)["caches"] if b in c["shared"]), default=None)


def relation(topology: dict, a: int, b: int) -> str:
    one, other = _cpu(topology, a), _cpu(topology, b)
    if b in one["siblings"]:
        return "SMT siblings"
    if level := shared_level(topology, a, b):
        return f"share the L{level}"
    if one["package"] is None or other["package"] is None:
        return UNKNOWN
    words = "same socket" if one["package"] == other["package"] else "other socket"
    far = None not in (one["node"], other["node"]) and one["node"] != other["node"]
    return f"{words}, other NUMA node" if far else words


def nearest(topology: dict) -> int | None:
    """Whom the first CPU shares most with, an SMT sibling last: that is no other core."""
    first, *others = (c["cpu"] for c in topology["cpus"])

    def distance(other: int) -> tuple:
        level = shared_level(topology, first, other)
        same = _cpu(topology, first)["package"] == _cpu(topology, other)["package"]
        return other in _cpu(topology, first)["siblings"], level or LEVELS + 2, not same

    return min(others, key=distance, default=None)


def cache_bytes(topology: dict) -> list[int]:
    """Of the first CPU: bytes of level 1 (data), 2, 3; 0 where the system names none."""
    caches = topology["cpus"][0]["caches"]
    return [
        next((c["bytes"] or 0 for c in caches if c["level"] == level), 0)
        for level in range(1, LEVELS + 1)
    ]
