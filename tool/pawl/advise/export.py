# SPDX-License-Identifier: MIT
"""The trace for other programs: folded stacks, pprof, Chrome's trace events."""

from __future__ import annotations

import gzip
import json

from pawl.advise import stacks
from pawl.advise.facts import Facts, Site


def folded(facts: Facts) -> bytes:
    """A line a stack: lock, frames, nanoseconds waited; for flamegraph.pl and speedscope."""
    lines = []
    for lock, stack in stacks.waiting(facts):
        words = [f"{lock.name} ({stack.mode})", *stacks.names(stack)]
        lines.append(";".join(w.replace(";", ":") for w in words) + f" {stack.wait_ns}\n")
    return "".join(lines).encode()


def chrome(facts: Facts) -> bytes:
    """Holds and waits of the window at the end of each thread; for Perfetto, chrome://tracing."""
    db = facts.db
    names = dict(db.execute("SELECT id, name FROM lock").fetchall())
    sites = dict(db.execute("SELECT id, text FROM site").fetchall())
    rows = []
    for e in db.execute("SELECT * FROM event"):
        common = {
            "ph": "X",
            "pid": e["process"],
            "tid": e["lane"],
            "args": {"mode": e["mode"], "at": sites.get(e["take"], "?")},
        }
        name, begun = names.get(e["lock"], "?"), e["begun_ns"] / 1000
        if e["wait_ns"]:
            rows.append(
                {
                    "name": f"wait {name}",
                    "cat": "wait",
                    "ts": begun,
                    "dur": e["wait_ns"] / 1000,
                    **common,
                }
            )
        if e["release"] is not None:
            rows.append(
                {
                    "name": name,
                    "cat": "hold",
                    "ts": begun + e["wait_ns"] / 1000,
                    "dur": e["hold_ns"] / 1000,
                    **common,
                }
            )
    for t in db.execute("SELECT process, lane FROM thread"):
        number, name = facts.thread(t["process"], "lane", t["lane"])
        of = {"ph": "M", "pid": t["process"], "tid": t["lane"]}
        rows.append({"name": "thread_name", "args": {"name": name}, **of})
        rows.append({"name": "thread_sort_index", "args": {"sort_index": number}, **of})
    for p in db.execute("SELECT id, pid, program FROM process"):
        rows.append(
            {
                "ph": "M",
                "name": "process_name",
                "pid": p["id"],
                "args": {"name": f"{p['program']} ({p['pid']})"},
            }
        )
    return json.dumps({"traceEvents": rows, "displayTimeUnit": "ns"}).encode()


# ---- pprof: protocol buffers of profile.proto, of which six messages are needed ------------------


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int(field: int, value: int) -> bytes:
    return _number(field << 3) + _number(value) if value else b""


def _bytes(field: int, data: bytes) -> bytes:
    return _number(field << 3 | 2) + _number(len(data)) + data


def _packed(field: int, values: list[int]) -> bytes:
    return _bytes(field, b"".join(map(_number, values)))


class _Profile:
    def __init__(self):
        self.strings: dict[str, int] = {"": 0}
        self.functions: dict[tuple[str, str], int] = {}
        self.locations: dict[Site, int] = {}
        self.parts: list[bytes] = []

    def text(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def function(self, name: str, file: str) -> int:
        if (name, file) not in self.functions:
            number = self.functions[name, file] = len(self.functions) + 1
            self.parts.append(
                _bytes(
                    5,
                    _int(1, number)
                    + _int(2, self.text(name))
                    + _int(3, self.text(name))
                    + _int(4, self.text(file)),
                )
            )
        return self.functions[name, file]

    def location(self, site: Site) -> int:
        if site not in self.locations:
            number = self.locations[site] = len(self.locations) + 1
            frames = site.frames or ((site.text, "", 0),)
            lines = b"".join(
                _bytes(4, _int(1, self.function(name, file)) + _int(2, line))
                for name, file, line in frames
            )
            self.parts.append(_bytes(4, _int(1, number) + lines))
        return self.locations[site]

    def kind(self, name: str, unit: str) -> None:
        self.parts.append(_bytes(1, _int(1, self.text(name)) + _int(2, self.text(unit))))

    def sample(self, sites: tuple[Site, ...], values: list[int], labels: dict[str, str]) -> None:
        """The innermost site first."""
        said = b"".join(
            _bytes(3, _int(1, self.text(k)) + _int(2, self.text(v))) for k, v in labels.items()
        )
        places = [self.location(site) for site in sites]
        self.parts.append(_bytes(2, _packed(1, places) + _packed(2, values) + said))

    def whole(self) -> bytes:
        table = b"".join(_bytes(6, text.encode()) for text in self.strings)
        return gzip.compress(b"".join(self.parts) + table, mtime=0)


def pprof(facts: Facts) -> bytes:
    """As Go's profile of mutexes: contentions, and how long they took."""
    profile = _Profile()
    profile.kind("contentions", "count")
    profile.kind("delay", "nanoseconds")
    for lock, stack in stacks.waiting(facts):
        profile.sample(
            stack.frames, [stack.count, stack.wait_ns], {"lock": lock.name, "mode": stack.mode}
        )
    return profile.whole()
