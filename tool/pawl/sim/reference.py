# SPDX-License-Identifier: MIT
"""The published measurements, and the runs that predict them."""

import csv
from dataclasses import dataclass
from pathlib import Path

from pawl.core.errors import Failure
from pawl.sim import machine

STRATEGIES = (
    "spin",
    "rwlock",
    "plock_w",
    "plock_s",
    "plock_r_w",
    "plock_r_s_w",
    "plock_r_rsw",
    "plock_r_rw",
)
FITTED_STRATEGIES = ("spin", "plock_w", "rwlock")
FITTED_COST = 100


@dataclass(frozen=True, order=True)
class Point:
    hit: int
    cost: int
    cores: int
    per_core: int
    strategy: str

    @property
    def threads(self) -> int:
        return self.cores * self.per_core

    @property
    def job(self) -> bool:
        """One thread: the job's own constants were fitted to it."""
        return self.threads == 1

    @property
    def seen(self) -> bool:
        """The fit of the machine may look at it, by the protocol."""
        return self.cost == FITTED_COST and self.strategy in FITTED_STRATEGIES

    @property
    def unseen(self) -> bool:
        return not self.seen and not self.job

    def task(self, job: dict, count: int, warm: int, seed: int = 1) -> tuple[str, ...]:
        return (
            "lru",
            f"strategy={self.strategy}",
            "lock=ancestor",
            f"cores={self.cores}",
            f"threads={self.threads}",
            f"cost={self.cost}",
            f"keyspace={3200 * 100 // self.hit}",
            f"count={count}",
            f"warm={warm}",
            f"seed={seed}",
            *(f"{k}={v:.6g}" for k, v in job.items()),
        )


def data_path() -> Path:
    return machine.folder() / "reference" / "lrubench-e5-2680v3.csv"


def measured() -> dict[Point, float]:
    try:
        rows = list(csv.DictReader(data_path().read_text().splitlines()))
    except OSError as error:
        raise Failure(f"{data_path()}: {error.strerror}; this command needs a checkout.") from None
    return {
        Point(
            int(r["hit_pct"]), int(r["miss_cost"]), int(r["cores"]), int(r["threads_per_core"]), s
        ): float(r[s])
        for r in rows
        for s in STRATEGIES
    }
