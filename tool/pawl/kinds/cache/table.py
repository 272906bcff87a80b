# SPDX-License-Identifier: MIT
"""The hit ratios that `pawl bench cache` shows beside the rows of each cell."""

from pawl.core.table import Extra, percent
from pawl.kinds.lru.table import label


def more(result: dict) -> list[Extra]:
    """The hits of each row, where the keys tell evictions apart."""
    cells = [c for c in result["cells"] if c["dist"] != "uniform" and c["summary"]]
    if not cells:
        return []
    found = [{r["candidate"]: r["hit_ratio"] for r in c["summary"]} for c in cells]
    names = sorted(found[0], key=lambda name: -(found[0][name] or 0))
    return [
        Extra(
            "Hits, by pattern of the keys",
            ["strategy/lock", *(label(c) for c in cells)],
            [[name, *(percent(f.get(name)) for f in found)] for name in names],
        )
    ]
