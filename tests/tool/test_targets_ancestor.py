# SPDX-License-Identifier: MIT
"""scripts/targets for runs of the set "ancestor": met, missed, and what cannot be judged."""

import json

import pytest

from conftest import record_one, slower
from pawl.kinds.lru import record as lru


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """One run of the fake drivers, as `pawl bench record --set ancestor` writes it."""
    run = record_one(tmp_path_factory.mktemp("record"), "ancestor", mode="scaling")
    assert [len(part["cells"]) for part in run["parts"]] == [18]
    return json.dumps(run)


def test_made_up_runs_meet_all_targets(judge, runs):
    code, said = judge(runs)
    assert code == 0, said
    assert "against r+rs>w/plock64" in said, "the fastest over all cells"
    assert "r+s>w/pawl_lock64_off 1.0" in said, "the null rows are noted"


@pytest.mark.parametrize("name", [lru.EVIDENCE, lru.SLEEPING[64][1]])
def test_each_target_can_be_missed(name, judge, runs):
    slower(runs, lru.ANCESTOR.title, name, 0.7)
    code, said = judge(runs)
    assert code == 1, said
    assert any(name in line for line in said.splitlines() if line.startswith("MISSED")), said


def test_a_run_without_the_published_lock_says_what_is_missing(judge, runs):
    for run in runs.values():
        for cell in run["parts"][0]["cells"]:
            cell["samples"] = [s for s in cell["samples"] if "plock64" not in s["candidate"]]
    code, said = judge(runs)
    assert code == 2 and "plock64 was not measured" in said
