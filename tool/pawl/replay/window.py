# SPDX-License-Identifier: MIT
"""The window of a trace that is done again: the one that holds most."""

import sqlite3
from collections import defaultdict
from dataclasses import dataclass, field

from pawl.core.errors import BadInput

KINDS = {"mutex": "mutex", "read": "rwlock", "write": "rwlock", "spin": "spin"}
# Pawl's own have these names of modes, too, and are not done again.
OTHERS = "(SELECT id FROM lock WHERE kind IN ('mutex', 'rwlock', 'spin'))"
FEW = 100  # locks taken; with fewer a window says nothing


@dataclass
class Event:
    """A hold with the wait before it; or, with `lock` None, a sleep on something that nobody
    holds. Times are nanoseconds since the window began."""

    lock: int | None
    mode: str
    take: int | None
    begun: int
    wait: int
    hold: int
    call: int = 0  # of the release: the lock's time, not the program's
    saved: int = 0  # of the hold: what another lock would spare (steps.py)

    @property
    def granted(self) -> int:
        return self.begun + self.wait

    @property
    def end(self) -> int:
        return self.begun + self.wait + self.hold


@dataclass
class Lane:
    """What one thread did, or several after each other."""

    events: list[Event] = field(default_factory=list)
    cpu_share: float | None = None  # of the time; None: not known
    cpu_of: int | None = None  # ns after its first hold in which that was measured; None: all
    sleeps: int | None = None  # in that time: how often it left its processor of its own accord
    known: int = 0  # in that time: waits and sleeps that were recorded
    known_ns: int = 0  # and how long they were
    kept_off: int | None = None  # ns of that time: ready to run, but without a processor
    until: int | None = None  # it waits from then on, beyond the window's end; None: it does not

    @property
    def taken(self) -> int:
        return sum(e.lock is not None for e in self.events)


@dataclass
class Window:
    program: str
    number: int
    length: int  # ns
    lanes: list[Lane]
    own: int = 0  # ns of the recorder's work in the gap before a hold without a wait
    pair_ns: int = 20  # what a pair costs, of a lock that nobody shares
    # (lock, site of the take) -> ns for which its line, and the recorder's, come from elsewhere
    moves: dict[tuple[int, int | None], float] = field(default_factory=dict)

    @property
    def holds(self) -> list[Event]:
        return [e for lane in self.lanes for e in lane.events if e.lock is not None]

    def until(self, lane: Lane) -> int:
        return self.length if lane.until is None else max(lane.until, 1)

    @property
    def lines(self) -> float:
        """Share of the threads' time in which takes wait for lines of other processors. It lies in
        front of the holds, and is done again as the program's work."""
        moved = sum(self.moves.get((e.lock, e.take), 0) for e in self.holds if not e.wait)
        return min(moved / max(sum(map(self.until, self.lanes)), 1), 1.0)

    @property
    def waiting(self) -> float:
        """Share of the threads' time."""
        return sum(e.wait for e in self.holds) / max(sum(map(self.until, self.lanes)), 1)


def _largest(db: sqlite3.Connection) -> sqlite3.Row | None:
    marks = ",".join("?" * len(KINDS))
    return db.execute(
        "SELECT w.*, count(*) AS holds FROM window w JOIN step s ON s.process = w.process AND "
        f"s.window = w.number WHERE s.mode IN ({marks}) AND s.lock IN {OTHERS} AND "
        "s.begun_ns >= w.begun_ns AND s.begun_ns + s.wait_ns + s.hold_ns <= w.end_ns "
        "GROUP BY w.process, w.number ORDER BY holds DESC LIMIT 1",
        tuple(KINDS),
    ).fetchone()


def _share(row: sqlite3.Row) -> float | None:
    if row["mixed"] or row["cpu_of_ns"] < 1000:
        return None
    return min(row["cpu_ns"] / row["cpu_of_ns"], 1.0)


def _add(lane: Lane, row: sqlite3.Row, begun: int, length: int) -> None:
    """A wait or a hold may begin before the window, and last beyond it."""
    granted, ended = begun + row["wait_ns"], begun + row["wait_ns"] + row["hold_ns"]
    holds = row["mode"] in KINDS
    if lane.until is not None:
        return
    if holds and granted >= length:
        lane.until = max(begun, 0)
        for e in lane.events:  # what is held around it
            e.hold = min(e.hold, max(lane.until - e.granted, 0))
            e.call = e.call if e.end < lane.until else 0
        return
    begun, granted = max(begun, 0), max(granted, 0)
    lane.events.append(
        Event(
            row["lock"] if holds else None,
            row["mode"],
            row["take"],
            begun,
            min(granted, length) - begun,
            max(min(ended, length) - granted, 0),
            row["call_ns"] if ended <= length else 0,
        )
    )


def _end(row: sqlite3.Row) -> int:
    return row["begun_ns"] + row["wait_ns"] + row["hold_ns"]


def _known(rows: list[sqlite3.Row], span: int | None) -> tuple[int, int]:
    """How many waits and sleeps, and how long: of the time that was measured, from the first end
    on; it may go beyond the window's end."""
    since = min(map(_end, rows))
    waits = [
        r["wait_ns"]
        for r in rows
        if (r["wait_ns"] or r["mode"] not in KINDS)
        and r["begun_ns"] + r["wait_ns"] <= since + (span or 0)
    ]
    inside = [
        r["wait_ns"]
        for r in rows
        if since <= r["begun_ns"] and r["begun_ns"] + r["wait_ns"] <= since + (span or 0)
    ]
    return len(waits), sum(inside)


def _moves(db: sqlite3.Connection) -> dict[tuple[int, int | None], float]:
    return {
        (r["lock"], r["take"]): r["ns"]
        for r in db.execute(
            "SELECT lock, take, 1.0 * sum(priced * (take_ns + own_ns)) / sum(priced) AS ns "
            "FROM use WHERE priced > 0 GROUP BY lock, take"
        )
    }


def largest(db: sqlite3.Connection) -> Window:
    chosen = _largest(db)
    if chosen is None or chosen["holds"] < FEW:
        raise BadInput(
            f"no window of this trace holds {FEW} locks that were taken and dropped, so "
            "there is nothing to do again; record for longer, or under load."
        )
    process = db.execute("SELECT * FROM process WHERE id = ?", (chosen["process"],)).fetchone()
    key = (chosen["process"], chosen["number"])
    every: dict[int, list[sqlite3.Row]] = defaultdict(list)
    for r in db.execute(
        "SELECT * FROM step s WHERE process = ? AND window = ? AND (s.mode NOT IN "
        f"('read', 'seek', 'write', 'atomic') OR s.lock IN {OTHERS}) ORDER BY lane, begun_ns",
        key,
    ):
        every[r["lane"]].append(r)
    inside = {
        number: [
            r for r in rows if r["begun_ns"] < chosen["end_ns"] and _end(r) > chosen["begun_ns"]
        ]
        for number, rows in every.items()
    }
    start = max(min(r["begun_ns"] for rows in inside.values() for r in rows), chosen["begun_ns"])
    length = chosen["end_ns"] - start
    measured = {
        r["lane"]: (_share(r), r["cpu_of_ns"], r["sleeps"], r["kept_ns"])
        for r in db.execute("SELECT * FROM part WHERE process = ? AND window = ?", key)
    }
    lanes = []
    for number, rows in inside.items():
        share, span, sleeps, kept = measured.get(number, (None,) * 4)
        lane = Lane([], share, span, sleeps, kept_off=kept)
        lane.known, lane.known_ns = _known(every[number], lane.cpu_of)
        for r in rows:
            _add(lane, r, r["begun_ns"] - start, length)
        if lane.events:
            lanes.append(lane)
    return Window(
        process["program"], chosen["number"], length, lanes,
        process["own_ns"], process["pair_ns"], _moves(db),
    )  # fmt: skip
