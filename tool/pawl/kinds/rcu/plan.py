# SPDX-License-Identifier: MIT
"""Plans `pawl bench rcu`: what readers, grace periods and callbacks cost."""

from dataclasses import dataclass

from pawl.core import grid, machine
from pawl.core.groups import group_of, refuse_unknown, threads_of
from pawl.core.kind import Cell

DRIVER = "pawl-bench-rcu"
GROUPS = {
    "read": "taking and dropping the read lock",
    "nested": "the same inside a reader",
    "deref": "following 16 pointers inside a reader",
    "quiet": "announcing a quiescent state",
    "sync": "waiting for a grace period",
    "busy": "waiting for a grace period while other processes want the CPUs",
    "call": "callbacks, from the first call to the end of the last",
    "delay": "from a call until its callback runs",
    "flood": "calling as fast as it goes",
}
# Each group is compared with liburcu's usual flavour, announcing with the one that announces.
PEERS = {group: f"{group}/urcu_memb" for group in GROUPS} | {"quiet": "quiet/urcu_qsbr"}
# What a result names as its baseline, although each group has its own.
BASELINE = PEERS["read"] + "@1"
# What a sample costs beside its length: threads that are told to begin and waited for.
OVERHEAD, START = 0.0006, 0.05
# Guesses for samples that last until they are done, seconds a callback.
CALL_SECONDS, FLOOD_SECONDS = 2e-7, 3e-7
# Another process keeps a CPU for milliseconds.
BUSY_TIMES = 10
MIB = 1 << 20
QUICK = {"rounds": 6, "delay_seconds": 0.3, "callbacks": 100_000, "flood": 1_000_000}


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
        own = {"delay": self.delay_seconds, "busy": self.seconds * BUSY_TIMES}
        return own.get(group, self.seconds)


def most_bytes(mebibytes: int) -> int:
    """An unbounded queue may not take more than a quarter of the machine's memory."""
    return min(mebibytes, max(machine.describe()["memory_mib"] // 4, 1)) * MIB


def baseline_of(name: str) -> str:
    """Of the same group, at as many threads, beside the same."""
    return f"{PEERS[group_of(name)]}@{name.split('@')[1]}"


def _cell(request: Request, group: str, own: list[str]) -> Cell:
    parameters = {
        "bench": "rcu",
        "group": group,
        "threads": max(map(threads_of, own)),
        "seconds": request.seconds_of(group),
        "rounds": request.rounds_of(group),
        "warmup": request.warmup,
        "pin": request.pin,
        "callbacks": request.callbacks,
        "period": request.period_us,
        "flood": request.flood,
        "bound": request.bound,
        "most": request.most,
        "candidates": own,
    }
    names = ("seconds", "rounds", "warmup", "pin", "callbacks", "period", "flood", "bound", "most")
    told = [text for key in names for text in (f"--{key}", grid.word(parameters[key]))]
    return Cell(parameters, [*told, "--groups", group, "--candidates", ",".join(own)])


def plan(request: Request, names: list[str]) -> list[Cell]:
    refuse_unknown(names, GROUPS)
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
