# SPDX-License-Identifier: MIT
"""What the pages quote: every committed drawing belongs to the data beside it."""

from pathlib import Path

import pytest

from pawl.cli import main

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
FOLDERS = sorted(p.parent for p in RESULTS.glob("*/run1.json") if p.parent.name != "local")
DRAWN = [([], "run1.html"), ([], "run1.png"), (["--part", "2"], "published-cell.png"),
         (["--part", "3"], "published-grid.png")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
@pytest.mark.parametrize(("part", "name"), DRAWN, ids=[n for _, n in DRAWN])
def test_a_committed_drawing_is_of_the_data_beside_it(folder, part, name):
    form = "--" + name.rsplit(".", 1)[1]
    assert main(["report", str(folder / "run1.json"), *part, form, str(folder / name),
                 "--check"]) == 0


def test_there_are_committed_results():
    assert FOLDERS
