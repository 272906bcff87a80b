# SPDX-License-Identifier: MIT
"""The raw file of a traced process: the structs of tool/trace/format.h, read with structs.

A process may have been killed in the middle of a line, so nothing here trusts a value: sizes and
indexes that make no sense are left out.
"""

import errno
import os
import stat
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from pawl.trace.structs import U32, U64, Row, Rows, Struct

MAGIC, FORMAT = 0x3152544C57415021, 9
BUCKETS, HOLDS, UPGRADES, WAYS, MODES = 168, 64, 16, 4, 16
SMALL, LARGE = (1024, 68 << 10), (64, 1280 << 10)  # how many lanes, and bytes of each
ADDRESS = (1 << 56) - 1
ADDRESS_BITS, MODE_BITS = 56, 5
HELD, WAITING, IN_COND = 1, 2, 4
NOT_KNOWN = (1 << 64) - 1
SITE_BITS, CALL_UNIT = 48, 4
FRAMES, STACKS, WAITED, CHAINS = 30, 1024, 2048, 4
THERE, NO_ROOM, NO_LIBRARY = 1, 2, 3  # enum trace_stacks_state


def _u64(names: str) -> list[tuple]:
    return [(name, U64) for name in names.split()]


def _u32(names: str) -> list[tuple]:
    return [(name, U32) for name in names.split()]


KEY = Struct(_u64("lock take release"))
RECORD = Struct(
    _u64("count hold_sum hold_max waits wait_sum wait_max first_wait")
    + _u32("failed timeouts handoffs overlaps threads last_thread late beside kept woke")
    + _u64("kept_sum woke_sum priced takes shows notes drops")
    + [("hold", U32, BUCKETS), ("wait", U32, BUCKETS)]
)
HOLD = Struct(_u64("lock take since begun waited") + _u32("state writes stack unused"))
EDGE = Struct(_u64("held taken held_site taken_site count handed") + _u32("held_life taken_life"))
BLAME = Struct(_u64("lock site holder count wait_sum wait_max past_sum inverted"))
UPGRADE = Struct(_u64("lock read write count changed gap_sum"))
EVENT = Struct(_u64("lock take release begun wait hold"))
WINDOW = Struct(
    _u64("number count missed mixed cpu_first cpu_last at_first at_last left_first left_last")
    + _u64("kept_first kept_last")
)
CHAIN = Struct(_u64("site frame") + _u32("depth stack") + [("at", U64, FRAMES)])
STACK = Struct(_u64("hash") + _u32("depth cut") + [("frame", U64, FRAMES)])
WAIT = Struct(_u64("hash lock stack count wait_sum wait_max taken"))
LANE = Struct(
    _u32("thread kernel threads depth")
    + _u64("begun last alive ran cpu_begun cpu_seen events pairs")
    + _u32("deep strange reentered lost_edges lost_blames lost_upgrades sets edges blames ring")
    + _u32("latest unused")
    + [("name", "16s")]
    + _u64("random window window_next")
    + [("windows", WINDOW, 2)]
    + [("chains", CHAIN, CHAINS), ("holds", HOLD, HOLDS)]
    + [("upgrades", UPGRADE, UPGRADES), ("pool", RECORD, MODES)]
)
MODULE = Struct(_u64("from to file_offset inode") + _u32("path unused"))
NAME = Struct([("lock", U64), ("name", "48s")])
INIT = Struct(_u64("lock site offset size allocated") + [("callers", U64, 2)])
SLOT = Struct(
    _u64("lock holder")
    + _u32("cpu writes readers seekers")
    + _u64("reader")
    + _u32("waiters lives")
)
CONTROL = Struct(
    _u64("magic")
    + _u32("format control_bytes lane_bytes record_bytes pid parent enabled is_tsc")
    + _u64("ticks_begun ns_begun ticks_seen ns_seen realtime_begun")
    + _u32(
        "small_lanes large_lanes threads without_lane no_room busy lost_names lost_modules "
        "modules paths_used maps_read ended stacks stack_every lost_stacks own_ticks "
        "takes shows notes drops looks unused seccomp sandboxed"
    )
    + [
        ("program", "256s"),
        ("paths", "32768s"),
        ("module", MODULE, 256),
        ("names", NAME, 1024),
        ("inits", INIT, 4096),
        ("slots", SLOT, 4096),
    ]
)
ENABLED_AT = CONTROL.fields["enabled"][1]


@dataclass
class Lane:
    head: Row
    uses: list[tuple[Row, Row]]  # key and record
    edges: list[Row]
    blames: list[Row]
    events: list[tuple[int, ...]]  # in the order in which they were written
    windows: list[tuple[Row, list[tuple[int, ...]]]]  # its head and its events

    @property
    def holds(self) -> Rows:
        return self.head["holds"].first(self.head["depth"])


@dataclass
class Process:
    path: Path
    control: Row
    lanes: list[Lane]
    stacks: dict[int, tuple[tuple[int, ...], bool]]  # number: addresses from the site out, cut
    waited: list[Row]

    @property
    def ns_per_tick(self) -> float:
        c = self.control
        ticks = c["ticks_seen"] - c["ticks_begun"]
        return (c["ns_seen"] - c["ns_begun"]) / ticks if ticks > 0 else 1.0

    def modules(self) -> list[tuple[int, int, str, int]]:
        """(from, to, path, inode), sorted."""
        paths = self.control["paths"] + b"\0"
        found = []
        for m in self.control["module"].first(self.control["modules"]):
            start = min(m["path"], len(paths) - 1)
            text = paths[start : paths.find(b"\0", start)].decode("utf-8", "replace")
            found.append((m["from"], m["to"], text, m["inode"]))
        return sorted(found)

    def losses(self) -> dict[str, int]:
        heads = [lane.head for lane in self.lanes]
        sums = {
            name: sum(h[name] for h in heads)
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
                name: self.control[name]
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
                "stacks_no_room": int(self.control["stacks"] == NO_ROOM),
                "stacks_no_library": int(self.control["stacks"] == NO_LIBRARY),
            }
        )


class _Bytes:
    """A file as bytes. It is read, not mapped: what is cut off meanwhile is zeros."""

    def __init__(self, file: int):
        self.file, self.size = file, os.fstat(file).st_size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> bytes:
        size = part.stop - part.start
        return os.pread(self.file, size, part.start).ljust(size, b"\0")


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
    head = Row(LANE, data[offset : offset + LANE.itemsize])
    sets, ring, written = head["sets"] * WAYS, head["ring"], head["events"]
    needed = {
        "keys": (KEY, sets),
        "records": (RECORD, sets),
        "edges": (EDGE, head["edges"]),
        "blames": (BLAME, head["blames"]),
        "events": (EVENT, ring),
        "first": (EVENT, ring),
        "second": (EVENT, ring),
    }
    size = sum(kind.itemsize * count for kind, count in needed.values())
    if not ring or LANE.itemsize + size > limit:
        return None
    rest = data[offset + LANE.itemsize : offset + LANE.itemsize + size]
    parts, at = {}, 0
    for name, (kind, count) in needed.items():
        parts[name] = Rows(kind, rest, at, count)
        at += kind.itemsize * count
    uses = zip(parts["keys"], parts["records"], strict=True)
    events, turn = parts["events"].tuples(), written % ring
    return Lane(
        head,
        [(key, record) for key, record in uses if key["lock"]],
        [row for row in parts["edges"] if row["count"]],
        [row for row in parts["blames"] if row["count"]],
        events[turn:] + events[:turn] if written > ring else events[:written],
        [
            (window, parts[name].first(window["count"]).tuples())
            for window, name in zip(head["windows"], ("first", "second"), strict=True)
        ],
    )


def _stacks(
    data: _Bytes, there: bool, at: int
) -> tuple[dict[int, tuple[tuple[int, ...], bool]], list[Row]]:
    """Whole ones: a thread that was killed may have left a part."""
    half, end = at + STACKS * STACK.itemsize, at + STACKS * STACK.itemsize + WAITED * WAIT.itemsize
    if not there or end > len(data):
        return {}, []
    stacks = {
        i: (row["frame"][: row["depth"]], bool(row["cut"]))
        for i, row in enumerate(Rows(STACK, data[at:half]), 1)
        if 0 < row["depth"] <= FRAMES
    }
    waited = Rows(WAIT, data[half:end])
    return stacks, [row for row in waited if row["lock"] and row["stack"] in stacks]


def ended(head: Row, lanes: list[Lane]) -> int | None:
    """When the last thread of a lane ended, there or in the larger lane that it went on in. None:
    it has not, or where it went is not known."""
    if head["thread"]:
        return None
    small = min(lane.head["ring"] for lane in lanes)
    large = [lane.head for lane in lanes if lane.head["ring"] != small]
    for moved in large if head["ring"] == small else []:
        if head["threads"] != 1 or moved["threads"] != 1:
            return None
        if moved["begun"] == head["last"]:
            return ended(moved, lanes)
    return head["last"]


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
    control = Row(CONTROL, data[0 : CONTROL.itemsize])
    if control["magic"] != MAGIC:
        return "it ended before the recorder was set up"
    sizes = (control["format"], control["lane_bytes"], control["record_bytes"])
    if sizes != (FORMAT, LANE.itemsize, RECORD.itemsize):
        return f"its recorder is of another version (format {sizes[0]}, here {FORMAT})"
    lanes, base = [], control["control_bytes"]
    for (most, size), name in ((SMALL, "small_lanes"), (LARGE, "large_lanes")):
        for i in range(min(control[name], most)):
            if base + (i + 1) * size <= len(data) and (one := _lane(data, base + i * size, size)):
                lanes.append(one)
        base += most * size
    return Process(path, control, lanes, *_stacks(data, control["stacks"] == THERE, base))


# ---- Histograms ----------------------------------------------------------------------------------


def window_begins(number: int) -> int:
    """Nanoseconds after the recording; `trace_window_begins` of tool/trace/record.c."""
    return 0 if number == 0 else 1_000_000 << (number - 1)


def lower_edges() -> list[int]:
    """The smallest number of ticks that falls into each bucket, and the end of the last one."""
    edges = [0, 1, 2, 3]
    edges += [(4 + part) << (exponent - 2) for exponent in range(2, 44) for part in range(4)]
    return edges[: BUCKETS + 1]


EDGES = lower_edges()


def percentile(counts: list[int], share: float, longest: float) -> float:
    """Ticks below which `share` of the values lie; half of the values of a bucket lie in its
    lower half. Never above the longest value."""
    upto = list(accumulate(counts))
    total = upto[-1]
    if not total:
        return 0.0
    i = min(bisect_left(upto, share * total), BUCKETS - 1)
    before = upto[i] - counts[i]
    inside = (share * total - before) / counts[i] if counts[i] else 0.0
    value = EDGES[i] + inside * (EDGES[i + 1] - EDGES[i])
    return float(min(value, longest))
