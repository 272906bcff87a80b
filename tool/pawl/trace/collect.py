# SPDX-License-Identifier: MIT
"""From raw files to a trace: lanes are added up, ticks become nanoseconds, addresses names."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from operator import add
from pathlib import Path

from pawl import __version__
from pawl.core import output
from pawl.core.errors import DAMAGE
from pawl.trace import names, raw, store, symbols
from pawl.trace.structs import Row
from pawl.trace.words import MEANINGS, MODES, kind_of, mode_of

PARTS = ("takes", "shows", "notes", "drops")
SUMS = (
    "count",
    "hold_sum",
    "waits",
    "wait_sum",
    "failed",
    "timeouts",
    "handoffs",
    "overlaps",
    "beside",
    "priced",
    *PARTS,
    "kept",
    "kept_sum",
    "woke",
    "woke_sum",
)
HISTOGRAMS = ("hold", "wait")


def _kept(head: Row) -> int | None:
    """Nanoseconds for which the thread of a window was kept off its processor; None: not known."""
    first, last = head["kept_first"], head["kept_last"]
    return None if raw.NOT_KNOWN in (first, last) or last < first else last - first


class Writer:
    """Gives locks and sites of all processes their numbers."""

    def __init__(self, db: sqlite3.Connection, tool: str | None):
        self.db, self.resolver = db, symbols.Resolver(tool)
        self.locks = self.sites = self.stacks = 0

    def process(self, number: int, process: raw.Process) -> None:
        _Process(self, number, process).write()


class _Process:
    def __init__(self, writer: Writer, number: int, process: raw.Process):
        self.db, self.writer = writer.db, writer
        self.number, self.raw = number, process
        self.ns_per_tick = process.ns_per_tick
        self.lock_ids: dict[tuple[int, str], int] = {}
        self.site_ids: dict[int, int] = {}
        self.most: dict[int, tuple[int, int]] = {}  # lock -> its most frequent take, and where
        self.stack_ids = {number: writer.stacks + i for i, number in enumerate(process.stacks, 1)}
        writer.stacks += len(process.stacks)

    @property
    def latest(self) -> int:
        return max(
            [self.raw.control["ticks_seen"], *(lane.head["last"] for lane in self.raw.lanes)]
        )

    # ---- Numbers --------------------------------------------------------------------------------

    def ns(self, ticks: float) -> int:
        return round(float(ticks) * self.ns_per_tick)

    def since_begin(self, ticks: int) -> int:
        return self.ns(ticks - self.raw.control["ticks_begun"])

    def lock(self, key: int) -> int:
        name = (key & raw.ADDRESS, kind_of(key))
        if name not in self.lock_ids:
            self.writer.locks += 1
            self.lock_ids[name] = self.writer.locks
        return self.lock_ids[name]

    def site(self, address: int) -> int | None:
        if not address:
            return None
        if address not in self.site_ids:
            self.writer.sites += 1
            self.site_ids[address] = self.writer.sites
        return self.site_ids[address]

    # ---- Tables ---------------------------------------------------------------------------------

    def write(self) -> None:
        for table, rows in (
            ("use", self.uses),
            ("pool", self.pools),
            ("blame", self.blames),
            ("edge", self.edges),
            ("thread", self.threads),
            ("upgrade", self.upgrades),
            ("held", self.holds),
            ("event", self.events),
            ("step", self.steps),
            ("part", self.parts),
            ("window", self.windows),
            ("stack", self.stacks),
            ("waited", self.waited),
        ):
            store.insert(self.db, table, rows())
        self._names()
        losses = {k: v for k, v in self.raw.losses().items() if v}
        store.insert(self.db, "loss", [(self.number, k, v, MEANINGS[k]) for k, v in losses.items()])
        self._process()

    def _process(self) -> None:
        c, heads = self.raw.control, [lane.head for lane in self.raw.lanes]
        ticks, ran, latest = 0, 0, self.latest
        for head in heads:
            ticks += head["alive"]
            ran += head["ran"]
            if head["thread"]:
                last = latest if self._waits(head) else head["last"]
                ticks += max(last - head["begun"], 0)
                ran += max(head["cpu_seen"] - head["cpu_begun"], 0)
        store.insert(
            self.db,
            "process",
            [
                (
                    self.number,
                    c["pid"],
                    c["parent"],
                    c["program"].decode("utf-8", "replace"),
                    c["realtime_begun"],
                    self.since_begin(latest),
                    c["ended"],
                    c["threads"],
                    self.ns(ticks),
                    sum(h["pairs"] for h in heads),
                    sum(h["events"] for h in heads),
                    self.ns(c["own_ticks"]),
                    None if c["sandboxed"] else min(ran, self.ns(ticks)),
                    max(self.ns(int(c["takes"]) + int(c["drops"]) - 2 * int(c["looks"])), 1),
                )
            ],
        )

    @staticmethod
    def _waits(head: Row) -> bool:
        return any(h["state"] & raw.WAITING for h in head["holds"].first(head["depth"]))

    def _times(self, counts: list[int], total: int, longest: int) -> tuple[int, ...]:
        shares = [self.ns(raw.percentile(counts, p, longest)) for p in (0.5, 0.99, 0.999)]
        return (self.ns(total), *shares, self.ns(longest))

    def _histogram(self, counts: list[int]) -> str:
        return json.dumps([[self.ns(raw.EDGES[i]), n] for i, n in enumerate(counts) if n])

    def uses(self) -> list[tuple]:
        merged: dict[tuple, dict] = {}
        threads: dict[tuple, set[int]] = defaultdict(set)
        for lane in self.raw.lanes:
            for key, record in lane.uses:
                name = (key["lock"], key["take"], key["release"])
                threads[name].add(record["last_thread"])
                one = merged.setdefault(
                    name,
                    {
                        "hold_max": 0,
                        "wait_max": 0,
                        "late": 0,
                        "threads": 0,
                        **dict.fromkeys(SUMS, 0),
                        **dict.fromkeys(HISTOGRAMS, [0] * raw.BUCKETS),
                    },
                )
                for field in SUMS:
                    one[field] += record[field]
                for field in HISTOGRAMS:
                    one[field] = list(map(add, one[field], record[field]))
                for field in ("hold_max", "wait_max", "late", "threads"):
                    one[field] = max(one[field], record[field])
        rows = []
        for name, r in merged.items():
            lock, take, release = name
            seen = threads[name] - {0}
            self.most[self.lock(lock)] = max(
                self.most.get(self.lock(lock), (0, 0)), (r["count"], take)
            )
            rows.append(
                (
                    None,
                    self.lock(lock),
                    mode_of(lock),
                    self.site(take),
                    self.site(release),
                    r["count"],
                    *self._times(r["hold"], r["hold_sum"], r["hold_max"]),
                    r["waits"],
                    *self._times(r["wait"], r["wait_sum"], r["wait_max"]),
                    r["failed"],
                    r["timeouts"],
                    r["handoffs"],
                    r["overlaps"],
                    r["beside"],
                    max(len(seen), r["threads"]),
                    min(seen, default=None),
                    r["late"],
                    r["kept"],
                    self.ns(r["kept_sum"]),
                    r["woke"],
                    self.ns(r["woke_sum"]),
                    self._histogram(r["hold"]),
                    self._histogram(r["wait"]),
                    int(r["priced"]),
                    *self._prices(r),
                )
            )
        return rows

    def _prices(self, r: dict) -> list[int]:
        """Of a take, of its release, and of the recorder behind the take: how much longer they are
        than where a lock is one thread's. And the recorder before the release."""
        mean = {part: int(r[part]) / max(int(r["priced"]), 1) for part in PARTS}
        if not r["priced"]:
            return [0, 0, 0, 0]
        alone = {part: int(self.raw.control[part]) for part in PARTS}
        more = [max(mean[part] - alone[part], 0) for part in ("takes", "drops", "shows")]
        return [self.ns(round(ticks)) for ticks in (*more, mean["notes"])]

    def pools(self) -> list[tuple]:
        rows = []
        for i, mode in enumerate(MODES):
            parts = [lane.head["pool"][i] for lane in self.raw.lanes]
            sums = {
                f: sum(p[f] for p in parts)
                for f in ("count", "hold_sum", "waits", "wait_sum", "failed", "timeouts", "threads")
            }
            if mode and any(sums.values()):
                rows.append(
                    (
                        self.number,
                        mode,
                        sums["count"],
                        self.ns(sums["hold_sum"]),
                        sums["waits"],
                        self.ns(sums["wait_sum"]),
                        sums["failed"],
                        sums["timeouts"],
                        sums["threads"],
                    )
                )
        return rows

    def _added(
        self, keys: tuple[str, ...], sums: tuple[str, ...], rows_of: Callable
    ) -> dict[tuple, list[int]]:
        """Entries of all lanes under the same key, added up."""
        added: dict[tuple, list[int]] = defaultdict(lambda: [0] * len(sums))
        for lane in self.raw.lanes:
            for entry in rows_of(lane):
                one = added[tuple(entry[k] for k in keys)]
                for i, field in enumerate(sums):
                    value = entry[field]
                    one[i] = max(one[i], value) if field.endswith("_max") else one[i] + value
        return added

    def blames(self) -> list[tuple]:
        added = self._added(
            ("lock", "site", "holder"),
            ("count", "wait_sum", "wait_max", "past_sum", "inverted"),
            lambda lane: lane.blames,
        )
        return [
            (
                self.lock(lock),
                mode_of(lock),
                self.site(site),
                self.site(holder),
                count,
                self.ns(total),
                self.ns(longest),
                self.ns(past),
                inverted,
            )
            for (lock, site, holder), (count, total, longest, past, inverted) in added.items()
        ]

    def edges(self) -> list[tuple]:
        rows = []
        for number, lane in enumerate(self.raw.lanes):
            ended = raw.ended(lane.head, self.raw.lanes)
            for e in lane.edges:
                held, taken = e["held"], e["taken"]
                rows.append(
                    (
                        self.lock(held),
                        mode_of(held),
                        self.lock(taken),
                        mode_of(taken),
                        self.site(e["held_site"]),
                        self.site(e["taken_site"]),
                        number,
                        e["count"],
                        e["handed"],
                        e["held_life"],
                        e["taken_life"],
                        None if ended is None else self.since_begin(ended),
                    )
                )
        return rows

    def threads(self) -> list[tuple]:
        return [
            (
                self.number,
                number,
                lane.head["latest"],
                lane.head["kernel"],
                lane.head["threads"],
                lane.head["name"].split(b"\0")[0].decode("utf-8", "replace"),
            )
            for number, lane in enumerate(self.raw.lanes)
            if lane.head["latest"]
        ]

    def upgrades(self) -> list[tuple]:
        added = self._added(
            ("lock", "read", "write"),
            ("count", "changed", "gap_sum"),
            lambda lane: [row for row in lane.head["upgrades"] if row["count"]],
        )
        return [
            (self.lock(lock), self.site(read), self.site(write), count, changed, self.ns(gap))
            for (lock, read, write), (count, changed, gap) in added.items()
        ]

    def holds(self) -> list[tuple]:
        rows = []
        for lane in self.raw.lanes:
            for depth, h in enumerate(lane.holds if lane.head["thread"] else []):
                if not h["state"] & raw.IN_COND:
                    rows.append(
                        (
                            self.number,
                            lane.head["kernel"],
                            self.lock(h["lock"]),
                            mode_of(h["lock"]),
                            self.site(h["take"]),
                            self.since_begin(h["since"]),
                            int(h["state"] & raw.WAITING != 0),
                            depth,
                            self._stack_of(h),
                        )
                    )
        return rows

    def _stack_of(self, hold: Row) -> int | None:
        """Of a wait that has not ended."""
        waits = hold["state"] & raw.WAITING
        return self.stack_ids.get(hold["stack"]) if waits else None

    def stacks(self) -> list[tuple]:
        return [
            (
                self.stack_ids[number],
                self.number,
                int(cut),
                json.dumps([self.site(address) for address in addresses]),
            )
            for number, (addresses, cut) in self.raw.stacks.items()
        ]

    def waited(self) -> list[tuple]:
        return [
            (
                self.lock(w["lock"]),
                mode_of(w["lock"]),
                self.stack_ids[w["stack"]],
                w["count"],
                self.ns(w["wait_sum"]),
                self.ns(w["wait_max"]),
                w["taken"],
            )
            for w in self.raw.waited
        ]

    def _event(self, event: tuple[int, ...]) -> tuple:
        lock, take, release, begun, wait, hold = event
        return (
            self.lock(lock),
            mode_of(lock),
            self.site(take),
            self.site(release & (1 << raw.SITE_BITS) - 1),
            self.since_begin(begun),
            self.ns(wait),
            self.ns(hold),
        )

    def events(self) -> list[tuple]:
        return [
            (self.number, number, *self._event(e))
            for number, lane in enumerate(self.raw.lanes)
            for e in lane.events
        ]

    # ---- Windows --------------------------------------------------------------------------------

    def _windows(self) -> Iterator[tuple[int, Row, list[tuple[int, ...]]]]:
        for lane, one in enumerate(self.raw.lanes):
            for head, events in one.windows:
                if len(events):
                    yield lane, head, events

    def steps(self) -> list[tuple]:
        def call(event: tuple[int, ...]) -> int:
            return self.ns(event[2] >> raw.SITE_BITS << raw.CALL_UNIT)

        return [
            (self.number, head["number"], lane, *self._event(e), call(e))
            for lane, head, events in self._windows()
            for e in events
        ]

    def parts(self) -> list[tuple]:
        return [
            (
                self.number,
                head["number"],
                lane,
                head["missed"],
                head["mixed"],
                max(head["cpu_last"] - head["cpu_first"], 0),
                self.ns(max(head["at_last"] - head["at_first"], 0)),
                max(head["left_last"] - head["left_first"], 0),
                _kept(head),
            )
            for lane, head, _ in self._windows()
        ]

    def windows(self) -> list[tuple]:
        """Each ends when the first lane was full, with the next window, or with the recording."""
        ends: dict[int, int] = {}
        for _, head, events in self._windows():
            number = head["number"]
            end = min(raw.window_begins(number + 1), self.since_begin(self.latest))
            if head["missed"]:
                end = self.since_begin(sum(events[-1][3:]))  # begun, wait and hold
            ends[number] = min(end, ends.get(number, end))
        return [
            (self.number, number, raw.window_begins(number), end)
            for number, end in sorted(ends.items())
        ]

    # ---- Names ----------------------------------------------------------------------------------

    def _names(self) -> None:
        modules, resolve = symbols.Modules(self.raw.modules()), self.writer.resolver.resolve
        places_in_memory = {i["lock"]: i for i in self.raw.control["inits"] if i["lock"]}
        inits = {address: i["site"] for address, i in places_in_memory.items() if i["site"]}
        blocks = {
            address: names.Block(*(i[field] for field in ("offset", "size", "allocated")))
            for address, i in places_in_memory.items()
            if i["size"]
        }
        given = {
            n["lock"]: n["name"].decode("utf-8", "replace")
            for n in self.raw.control["names"]
            if n["lock"] and n["name"]
        }
        init_sites = {a: self.site(inits[a]) for a, _ in self.lock_ids if a in inits}
        around = names.Around(blocks)
        for address, _ in self.lock_ids:
            if address not in blocks and (found := around.of(address)):
                blocks[address] = found
        block_sites = {a: self.site(blocks[a].site) for a, _ in self.lock_ids if a in blocks}
        chains = {
            address: (inits[address], *(c for c in places_in_memory[address]["callers"] if c))
            for address, _ in self.lock_ids
            if address in inits
        }
        places = resolve(modules, {*self.site_ids, *(a for c in chains.values() for a in c)})
        makers = names.makers(chains, places)
        data = resolve(modules, [a for a, _ in self.lock_ids], data=True)
        store.insert(
            self.db,
            "module",
            [(self.number, m.start, m.end, m.path, m.bias is not None) for m in modules.all],
        )
        store.insert(
            self.db,
            "site",
            [
                self._site_row(number, address, places[address])
                for address, number in self.site_ids.items()
            ],
        )
        rows = []
        for (address, kind), number in self.lock_ids.items():
            init, block = makers.get(address), blocks.get(address)
            name = given.get(address) or names.lock_name(
                address, kind, data[address], init, block, block and places[block.site]
            )
            if not name:
                taken = self.most.get(number)
                name = f"{kind} taken at {places[taken[1]]}" if taken else f"{kind} {address:#x}"
            rows.append(
                (
                    number,
                    self.number,
                    address,
                    kind,
                    name,
                    address in given,
                    init_sites.get(address),
                    block_sites.get(address),
                    block and block.size,
                    block and block.offset,
                )
            )
        store.insert(self.db, "lock", rows)

    def _site_row(self, number: int, address: int, place: symbols.Place) -> tuple:
        first = place.frames[0] if place.frames else symbols.Frame("")
        frames = json.dumps([[f.function, f.file, f.line] for f in place.frames])
        return (
            number,
            self.number,
            address,
            place.module,
            place.offset,
            first.function,
            first.file,
            first.line,
            str(place),
            frames,
        )


LEFT = "what a process does that goes on after the program's end; start a daemon in front"


class Gathering:
    """Takes raw files into a trace, one by one. A bad one is said, and does not end the rest."""

    def __init__(self, db: sqlite3.Connection, owners: set[int] | None = None):
        tool = symbols.program()
        self.db, self.writer, self.owners = db, Writer(db, tool), owners
        self.said = [] if tool else [symbols.MISSING]
        self.number = 0

    def add(self, path: Path) -> None:
        db = self.db
        db.execute("SAVEPOINT process")
        try:
            process = raw.read(path, self.owners)
            if not isinstance(process, str) and any(lane.head["threads"] for lane in process.lanes):
                self.writer.process(self.number + 1, process)
                self.number += 1
        except sqlite3.OperationalError:  # the disk of the trace
            raise
        except DAMAGE as error:
            db.execute("ROLLBACK TO process")
            process = f"its raw file is damaged ({type(error).__name__})"
        db.execute("RELEASE process")
        if isinstance(process, str):
            self.said.append(
                f"process {output.shown(path.name.split('.')[0])} is not in the trace: {process}."
            )

    def finish(self, meta: dict[str, str], left: int = 0) -> list[str]:
        """What is to be said about it. `left`: so many processes go on unrecorded."""
        if left:
            store.insert(self.db, "loss", [(0, "left", left, LEFT)])
        rows = {"version": __version__, **meta, "processes": str(self.number), "finished": "yes"}
        store.insert(self.db, "meta", list(rows.items()))
        return self.said


def in_order(folder: Path) -> list[Path]:
    """The raw files, the oldest first."""
    return sorted(folder.glob("*.raw"), key=lambda p: (p.name.split(".")[1], p.name))


def collect(folder: Path, db: sqlite3.Connection, meta: dict[str, str]) -> list[str]:
    """All processes whose raw files lie there; what is to be said about it."""
    gathering = Gathering(db)
    for path in in_order(folder):
        gathering.add(path)
    return gathering.finish(meta)
