# SPDX-License-Identifier: MIT
"""What the pages quote: every committed drawing belongs to the data beside it."""

import json
from pathlib import Path

import pytest

from pawl.cli import main

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
FOLDERS = sorted(p.parent for p in RESULTS.glob("*/run1.json") if p.parent.name != "local")
WHOLE = [([], "run1.html"), ([], "run1.png")]
# What the pages show of each set; a set without an entry shows its whole runs.
DRAWN = {"spin": [*WHOLE, (["--part", "2"], "published-cell.png"),
                  (["--part", "3"], "published-grid.png")],
         "wait": [*WHOLE, (["--part", "3"], "crowd.png"), (["--part", "6"], "wake.png")],
         "rcu": [*WHOLE, (["--part", "1"], "rcu.png"), (["--part", "2"], "hash.png")]}
FILES = [(folder, *drawn) for folder in FOLDERS for drawn in DRAWN.get(
    json.loads((folder / "run1.json").read_bytes()).get("set", "spin"), WHOLE)]


@pytest.mark.parametrize(("folder", "part", "name"), FILES,
                         ids=[f"{f.name}-{n}" for f, _, n in FILES])
def test_a_committed_drawing_is_of_the_data_beside_it(folder, part, name):
    form = "--" + name.rsplit(".", 1)[1]
    assert main(["report", str(folder / "run1.json"), *part, form, str(folder / name),
                 "--check"]) == 0


def test_there_are_committed_results():
    assert FOLDERS
