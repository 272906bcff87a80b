# SPDX-License-Identifier: MIT
"""What a page of other people's programs begins with."""

from pawl.core.compare import Comparison, of_cells
from pawl.kinds.shim.plan import BASELINE, CROWDS, MAIN, PROGRAMS, RECORDED, SCALING, SCENES

# What is told as one: all crowds, all programs.
TOGETHER = {"32 threads, alone and beside busy processes": CROWDS, "programs": PROGRAMS}


def comparisons(result: dict) -> list[Comparison]:
    together = {scene for scenes in TOGETHER.values() for scene in scenes}
    alone = {scene.words: (name,) for name, scene in SCENES.items() if name not in together}
    found = []
    for work, scenes in (alone | TOGETHER).items():
        cells = [c for c in result["cells"] if c["scene"] in scenes]
        found += [of_cells(work, ours, BASELINE, cells) for ours in (MAIN, SCALING, RECORDED)]
    return found
