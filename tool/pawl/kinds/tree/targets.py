# SPDX-License-Identifier: MIT
"""What is said of `pawl bench tree` beside the verdicts; no target speaks of it."""

from collections.abc import Iterable

from pawl.core.targets import Runs, find_part, ratio
from pawl.kinds.tree.kind import KIND
from pawl.kinds.tree.plan import BASELINE, MAIN
from pawl.kinds.tree.table import label, pieces


def _line(cell: dict) -> str:
    found = pieces(cell["samples"])
    times = (
        (
            f" (seek {found['seek_ns']:.0f}, write {found['write_ns']:.0f}, read "
            f"{found['read_ns']:.0f} ns)"
        )
        if found
        else ""
    )
    return f"{label(cell)}: {ratio(cell, MAIN, BASELINE).show()} times {BASELINE}{times}"


def notes(runs: Runs) -> Iterable[str]:
    yield f"tree: {MAIN} reaches (information):"
    for path, run in runs:
        for cell in find_part(run, KIND.name)["cells"]:
            yield f"          {path.name}: {_line(cell)}"
