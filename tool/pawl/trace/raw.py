# SPDX-License-Identifier: MIT
"""The raw file of a traced process: the structs of tool/trace/format.h, read with numpy.

A process may have been killed in the middle of a line, so nothing here trusts a value: sizes and
indexes that make no sense are left out.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MAGIC, FORMAT = 0x3152544C57415021, 7
BUCKETS, HOLDS, UPGRADES, WAYS, MODES = 168, 64, 16, 4, 16
SMALL, LARGE = (1024, 68 << 10), (64, 1280 << 10)  # how many lanes, and bytes of each
ADDRESS = (1 << 56) - 1
ADDRESS_BITS, MODE_BITS = 56, 5
HELD, WAITING, IN_COND = 1, 2, 4
NOT_KNOWN = (1 << 64) - 1
SITE_BITS, CALL_UNIT = 48, 4
FRAMES, STACKS, WAITED, CHAINS = 30, 1024, 2048, 4
THERE, NO_ROOM, NO_LIBRARY = 1, 2, 3  # enum trace_stacks_state

U32, U64 = "<u4", "<u8"


def _u64(names: str) -> list[tuple]:
    return [(name, U64) for name in names.split()]


def _u32(names: str) -> list[tuple]:
    return [(name, U32) for name in names.split()]


KEY = np.dtype(_u64("lock take release"))
RECORD = np.dtype(
    _u64("count hold_sum hold_max waits wait_sum wait_max first_wait")
    + _u32("failed timeouts handoffs overlaps threads last_thread late beside kept woke")
    + _u64("kept_sum woke_sum")
    + [("hold", U32, BUCKETS), ("wait", U32, BUCKETS)]
)
HOLD = np.dtype(_u64("lock take since begun waited") + _u32("state writes stack unused"))
EDGE = np.dtype(_u64("held taken held_site taken_site count handed") + _u32("held_life taken_life"))
BLAME = np.dtype(_u64("lock site holder count wait_sum wait_max past_sum inverted"))
UPGRADE = np.dtype(_u64("lock read write count changed gap_sum"))
EVENT = np.dtype(_u64("lock take release begun wait hold"))
WINDOW = np.dtype(
    _u64("number count missed mixed cpu_first cpu_last at_first at_last left_first left_last")
    + _u64("kept_first kept_last")
)
CHAIN = np.dtype(_u64("site frame") + _u32("depth stack") + [("at", U64, FRAMES)])
STACK = np.dtype(_u64("hash") + _u32("depth cut") + [("frame", U64, FRAMES)])
WAIT = np.dtype(_u64("hash lock stack count wait_sum wait_max taken"))
LANE = np.dtype(
    _u32("thread kernel threads depth")
    + _u64("begun last alive ran cpu_begun cpu_seen events pairs")
    + _u32("deep strange reentered lost_edges lost_blames lost_upgrades sets edges blames ring")
    + _u64("random window window_next")
    + [("windows", WINDOW, 2)]
    + [("chains", CHAIN, CHAINS), ("holds", HOLD, HOLDS)]
    + [("upgrades", UPGRADE, UPGRADES), ("pool", RECORD, MODES)]
)
MODULE = np.dtype(_u64("from to file_offset inode") + _u32("path unused"))
NAME = np.dtype([("lock", U64), ("name", "S48")])
INIT = np.dtype(_u64("lock site offset size allocated") + [("callers", U64, 2)])
SLOT = np.dtype(
    _u64("lock holder")
    + _u32("cpu writes readers seekers")
    + _u64("reader")
    + _u32("waiters lives")
)
CONTROL = np.dtype(
    _u64("magic")
    + _u32("format control_bytes lane_bytes record_bytes pid parent enabled is_tsc")
    + _u64("ticks_begun ns_begun ticks_seen ns_seen realtime_begun")
    + _u32(
        "small_lanes large_lanes threads without_lane no_room busy lost_names lost_modules "
        "modules paths_used maps_read ended stacks stack_every lost_stacks own_ticks seccomp "
        "sandboxed"
    )
    + [
        ("program", "S256"),
        ("paths", "V32768"),
        ("module", MODULE, 256),
        ("names", NAME, 1024),
        ("inits", INIT, 4096),
        ("slots", SLOT, 4096),
    ]
)
ENABLED_AT = CONTROL.fields["enabled"][1]


@dataclass
class Lane:
    head: np.void
    keys: np.ndarray
    records: np.ndarray
    edges: np.ndarray
    blames: np.ndarray
    events: np.ndarray  # in the order in which they were written
    windows: list[tuple[np.void, np.ndarray]]  # its head and its events

    @property
    def holds(self) -> np.ndarray:
        return self.head["holds"][: min(int(self.head["depth"]), HOLDS)]


@dataclass
class Process:
    path: Path
    control: np.void
    lanes: list[Lane]
    stacks: dict[int, tuple[tuple[int, ...], bool]]  # number: addresses from the site out, cut
    waited: np.ndarray

    @property
    def ns_per_tick(self) -> float:
        c = self.control
        ticks = int(c["ticks_seen"]) - int(c["ticks_begun"])
        return (int(c["ns_seen"]) - int(c["ns_begun"])) / ticks if ticks > 0 else 1.0

    def modules(self) -> list[tuple[int, int, str, int]]:
        """(from, to, path, inode), sorted."""
        paths = bytes(self.control["paths"])
        found = []
        for m in self.control["module"][: min(int(self.control["modules"]), 256)]:
            start = min(int(m["path"]), len(paths) - 1)
            text = paths[start : paths.find(b"\0", start)].decode("utf-8", "replace")
            found.append((int(m["from"]), int(m["to"]), text, int(m["inode"])))
        return sorted(found)

    def losses(self) -> dict[str, int]:
        heads = [lane.head for lane in self.lanes]
        sums = {
            name: sum(int(h[name]) for h in heads)
            for name in (
                "deep",
                "strange",
                "reentered",
                "lost_edges",
                "lost_blames",
                "lost_upgrades",
            )
        }
        return (
            sums
            | {
                name: int(self.control[name])
                for name in (
                    "without_lane",
                    "no_room",
                    "busy",
                    "lost_names",
                    "lost_modules",
                    "lost_stacks",
                    "sandboxed",
                )
            }
            | {
                "stacks_no_room": int(int(self.control["stacks"]) == NO_ROOM),
                "stacks_no_library": int(int(self.control["stacks"]) == NO_LIBRARY),
            }
        )


class _Bytes:
    """A file as an array of bytes. It is read, not mapped: what is cut off meanwhile is zeros."""

    def __init__(self, file: int):
        self.file, self.size = file, os.fstat(file).st_size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> np.ndarray:
        size = part.stop - part.start
        return np.frombuffer(os.pread(self.file, size, part.start).ljust(size, b"\0"), np.uint8)


def open_file(path: Path, flags: int, owners: set[int] | None = None) -> int:
    """A descriptor of a raw file. Others may put things into root's folder: so it is a plain file
    with this name alone, and of one of these users. OSError says what it is instead."""
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(file)
        raise OSError(errno.EINVAL, "it is no plain file")
    if owners is not None and found.st_uid not in owners:
        os.close(file)
        raise OSError(errno.EPERM, "no traced process was of its user")
    return file


def _lane(data: _Bytes, offset: int, limit: int) -> Lane | None:
    head = data[offset : offset + LANE.itemsize].view(LANE)[0]
    counts = {
        "keys": int(head["sets"]) * WAYS,
        "records": int(head["sets"]) * WAYS,
        "edges": int(head["edges"]),
        "blames": int(head["blames"]),
        "events": int(head["ring"]),
        "first": int(head["ring"]),
        "second": int(head["ring"]),
    }
    types = {
        "keys": KEY,
        "records": RECORD,
        "edges": EDGE,
        "blames": BLAME,
        "events": EVENT,
        "first": EVENT,
        "second": EVENT,
    }
    needed = LANE.itemsize + sum(counts[name] * types[name].itemsize for name in types)
    if not head["ring"] or needed > limit:
        return None
    parts, at = {}, offset + LANE.itemsize
    for name, dtype in types.items():
        size = counts[name] * dtype.itemsize
        parts[name] = np.array(data[at : at + size]).view(dtype)
        at += size
    written, ring = int(head["events"]), counts["events"]
    if written > ring:
        parts["events"] = np.roll(parts["events"], -(written % ring))
    else:
        parts["events"] = parts["events"][:written]
    used = parts["keys"]["lock"] != 0
    parts["keys"], parts["records"] = parts["keys"][used], parts["records"][used]
    parts["edges"] = parts["edges"][parts["edges"]["count"] != 0]
    parts["blames"] = parts["blames"][parts["blames"]["count"] != 0]
    windows = [
        (head["windows"][i], part[: min(int(head["windows"][i]["count"]), ring)])
        for i, part in enumerate((parts.pop("first"), parts.pop("second")))
    ]
    return Lane(np.array(head), **parts, windows=windows)


def _stacks(
    data: _Bytes, there: bool, at: int
) -> tuple[dict[int, tuple[tuple[int, ...], bool]], np.ndarray]:
    """Whole ones: a thread that was killed may have left a part."""
    half, end = at + STACKS * STACK.itemsize, at + STACKS * STACK.itemsize + WAITED * WAIT.itemsize
    if not there or end > len(data):
        return {}, np.zeros(0, WAIT)
    rows, waited = np.array(data[at:half]).view(STACK), np.array(data[half:end]).view(WAIT)
    whole = np.flatnonzero((rows["depth"] > 0) & (rows["depth"] <= FRAMES))
    stacks = {
        int(i) + 1: (tuple(rows[i]["frame"][: rows[i]["depth"]].tolist()), bool(rows[i]["cut"]))
        for i in whole
    }
    return stacks, waited[(waited["lock"] != 0) & np.isin(waited["stack"], list(stacks))]


def read(path: Path, owners: set[int] | None = None) -> Process | str:
    """The process, or in a few words why there is none."""
    try:
        file = open_file(path, os.O_RDONLY, owners)
    except OSError as error:
        return f"its raw file is not read ({error.strerror})"
    try:
        return _read(path, _Bytes(file))
    finally:
        os.close(file)


def _read(path: Path, data: _Bytes) -> Process | str:
    if len(data) < CONTROL.itemsize:
        return "its raw file is too short"
    control = np.array(data[0 : CONTROL.itemsize]).view(CONTROL)[0]
    if int(control["magic"]) != MAGIC:
        return "it ended before the recorder was set up"
    sizes = (int(control["format"]), int(control["lane_bytes"]), int(control["record_bytes"]))
    if sizes != (FORMAT, LANE.itemsize, RECORD.itemsize):
        return f"its recorder is of another version (format {sizes[0]}, here {FORMAT})"
    lanes, base = [], int(control["control_bytes"])
    for (most, size), name in ((SMALL, "small_lanes"), (LARGE, "large_lanes")):
        for i in range(min(int(control[name]), most)):
            if base + (i + 1) * size <= len(data) and (one := _lane(data, base + i * size, size)):
                lanes.append(one)
        base += most * size
    return Process(path, control, lanes, *_stacks(data, int(control["stacks"]) == THERE, base))


# ---- Histograms ----------------------------------------------------------------------------------


def window_begins(number: int) -> int:
    """Nanoseconds after the recording; `trace_window_begins` of tool/trace/record.c."""
    return 0 if number == 0 else 1_000_000 << (number - 1)


def lower_edges() -> np.ndarray:
    """The smallest number of ticks that falls into each bucket, and the end of the last one."""
    edges = [0, 1, 2, 3]
    edges += [(4 + part) << (exponent - 2) for exponent in range(2, 44) for part in range(4)]
    return np.array(edges[: BUCKETS + 1], dtype=np.float64)


def percentile(counts: np.ndarray, share: float, longest: float) -> float:
    """Ticks below which `share` of the values lie; half of the values of a bucket lie in its
    lower half. Never above the longest value."""
    total = counts.sum()
    if not total:
        return 0.0
    edges = lower_edges()
    upto = np.cumsum(counts)
    i = int(np.searchsorted(upto, share * total))
    i = min(i, BUCKETS - 1)
    before = upto[i] - counts[i]
    inside = (share * total - before) / counts[i] if counts[i] else 0.0
    value = edges[i] + inside * (edges[i + 1] - edges[i])
    return float(min(value, longest))
