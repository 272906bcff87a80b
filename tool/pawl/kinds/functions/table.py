# SPDX-License-Identifier: MIT
"""The rows of `pawl bench functions`: nanoseconds a call."""

from pawl.core import groups, table
from pawl.core.table import Column
from pawl.kinds.functions.plan import GROUPS, baseline_of


def workload(cell: dict) -> str:
    return GROUPS[cell["group"]]


def heading(cell: dict) -> str:
    text = (
        f"{workload(cell)}\na call by one thread, while nobody else uses the object; "
        "the loop around it is included"
    )
    return text + table.not_pinned(cell)


def summarise(samples: list[dict], _baseline: str, order: list[str]) -> list[dict]:
    return groups.summarise(samples, order, baseline_of)


def sound(sample: dict) -> bool:
    return groups.known(sample["candidate"], GROUPS)


def losses(_rows: list[dict]) -> list[dict]:
    """No row competes."""
    return []


def columns(_cell: dict, _baseline: str) -> list[Column]:
    return groups.time_columns(wide=0)
