# SPDX-License-Identifier: MIT
"""scripts/targets for runs of the set "scaling": met, missed, and what cannot be judged."""

import json

import pytest

from conftest import record_one, slower
from pawl.kinds.crowd import plan as crowd
from pawl.kinds.crowd import record as crowds
from pawl.kinds.lru import record as lru


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """One run of the fake drivers, as `pawl bench record --set scaling` writes it."""
    run = record_one(tmp_path_factory.mktemp("record"), "scaling", mode="scaling")
    cache, crowded = run["parts"]
    assert (len(cache["cells"]), len(crowded["cells"])) == (18, 144)
    for cells in (crowded, crowded["plan"]):  # the rest is more of the same
        cells["cells"] = [c for c in cells["cells"] if c["threads"] == 2]
    return json.dumps(run)


def test_made_up_runs_meet_all_targets(judge, runs):
    code, said = judge(runs)
    assert code == 0, said
    assert "MISSED" not in said and "geometric means" in said


@pytest.mark.parametrize(
    ("title", "name", "test", "says"),
    [
        (lru.SCALING.title, lru.EVIDENCE, lambda c: True, "geometric mean"),
        (lru.SCALING.title, lru.EVIDENCE, lambda c: c["hit_nominal"] == 99, "hit 99, cost 100"),
        (lru.SCALING.title, lru.EVIDENCE, lambda c: c["hit_nominal"] == 50, "upper end"),
        (crowds.SCALING.title, crowd.EVIDENCE, lambda c: c["writes"] == 50, "crowd grid"),
    ],
)
def test_each_target_can_be_missed(title, name, test, says, judge, runs):
    slower(runs, title, name, 0.7, test)
    code, said = judge(runs)
    assert code == 1, said
    assert any(says in line for line in said.splitlines() if line.startswith("MISSED")), said


def test_a_run_of_a_lock_without_scaling_readers_says_what_is_missing(judge, runs):
    for run in runs.values():
        for cell in run["parts"][0]["cells"]:
            cell["samples"] = [s for s in cell["samples"] if s["candidate"] != lru.EVIDENCE]
    code, said = judge(runs)
    assert code == 2 and f"{lru.EVIDENCE} was not measured" in said
