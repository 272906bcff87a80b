# SPDX-License-Identifier: MIT
"""scripts/targets for runs of the set "readers": met, missed, and what cannot be judged."""

import json

import pytest

from conftest import record_one
from pawl.kinds.readers import plan as readers
from pawl.kinds.readers.record import GRID, PAIR, SCENES


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """One run of the fake drivers, as `pawl bench record --set readers` writes it."""
    run = record_one(tmp_path_factory.mktemp("record"), "readers")
    grid = next(p for p in run["parts"] if p["title"] == GRID.title)
    assert len(grid["cells"]) == 120
    for cells in (grid, grid["plan"]):  # the rest is more of the same
        cells["cells"] = [c for c in cells["cells"] if c["section"] == 0 and c["locks"] == 1]
    return json.dumps(run)


def spoil(runs, title, names, change, test=lambda cell: True):
    for run in runs.values():
        for part in run["parts"]:
            for cell in filter(test, part["cells"]) if part["title"] == title else ():
                for sample in cell["samples"]:
                    if sample["candidate"] in names:
                        change(sample)


def slower(factor):
    def change(sample):
        sample["ops"] = int(sample["ops"] * factor)

    return change


def longer(sample):
    sample["wait_ns"]["p99.9"] *= 10


def one(cell):
    return cell["threads"] == 1


def scene(name):
    return lambda cell: cell["scene"] == name


def test_made_up_runs_meet_all_targets(judge, runs):
    code, said = judge(runs)
    assert code == 0, said
    assert "MISSED" not in said and readers.BRLOCK in said


@pytest.mark.parametrize(("title", "names", "change", "test", "says"), [
    (PAIR.title, {readers.BRLOCK}, slower(0.5), one, "pair, 1 thread: r+w/pawl_brlock"),
    (PAIR.title, {readers.BRLOCK}, slower(0.5), lambda c: not one(c), "2 threads: r+w/pawl_brlock"),
    (PAIR.title, {readers.ON}, slower(0.5), one, "pair, 1 thread: r+w/pawl_lock64_on"),
    (PAIR.title, {readers.ON}, slower(0.6), lambda c: not one(c), "pawl_lock64_on, 2 threads / 1"),
    (PAIR.title, {readers.MAIN}, slower(0.5), one, "pawl_lock64 / floor/two_lock_xadd"),
    (SCENES.title, {readers.ON}, slower(0.2), scene("write"), "W, nobody reading"),
    (SCENES.title, {readers.ON}, slower(0.8), scene("seek"), "S beside a looping reader"),
    (SCENES.title, {readers.ON}, longer, scene("flood"), "writer among 8 looping readers"),
    (GRID.title, {readers.EVIDENCE}, slower(0.01), lambda c: c["writes"] == 50, "writes and more"),
])  # fmt: skip
def test_each_target_can_be_missed(title, names, change, test, says, judge, runs):
    spoil(runs, title, names, change, test)
    code, said = judge(runs)
    assert code == 1, said
    assert any(says in line for line in said.splitlines() if line.startswith("MISSED")), said


def test_a_run_without_scaling_readers_says_what_is_missing(judge, runs):
    for run in runs.values():
        for part in run["parts"]:
            for cell in part["cells"]:
                cell["samples"] = [s for s in cell["samples"] if s["candidate"] != readers.ON]
    code, said = judge(runs)
    assert code == 2 and f"{readers.ON} was not measured" in said


def test_a_run_older_than_the_floor_is_judged_by_the_other_targets(judge, runs):
    for run in runs.values():
        for part in run["parts"]:
            for cell in part["cells"]:
                cell["samples"] = [s for s in cell["samples"] if s["candidate"] != readers.XADD]
    code, said = judge(runs)
    assert code == 0, said
    assert f"older than a row of it: reader's pair, 1 thread: {readers.MAIN}" in " ".join(
        said.split()
    )
