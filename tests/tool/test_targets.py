# SPDX-License-Identifier: MIT
"""scripts/targets: met, missed, and runs that prove nothing."""

import json

import pytest

from conftest import KINDS, clean, fake_driver, pawl, plain
from pawl.cli import main
from pawl.core import candidates
from pawl.sets.spin import SET


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Three runs of the fake drivers, as `pawl bench record` writes them."""

    folder = tmp_path_factory.mktemp("record")
    for kind in KINDS:
        fake_driver(folder / f"pawl-bench-{kind}", "fake_driver.py", kind)
    pawl(f"bench record {folder}/runs --driver {folder} --quiet")
    plain(folder / "runs")
    return {p.name: json.loads(p.read_text()) for p in (folder / "runs").glob("run*.json")}


@pytest.fixture
def runs(recorded, tmp_path):
    """A copy to spoil, of a clean commit; save() writes it back."""
    return {name: clean(json.loads(json.dumps(run))) for name, run in recorded.items()}


def scale(run, kind, candidate, factor, test=lambda cell: True):
    """Makes a candidate that many times as fast."""
    for part in run["parts"]:
        for cell in part["cells"] if part["kind"] == kind else []:
            for sample in cell["samples"] if test(cell) else []:
                if sample["candidate"] == candidate:
                    sample["ops"] *= factor


def test_a_record_is_three_runs_of_pairs_cell_and_grid(recorded):
    assert sorted(recorded) == ["run1.json", "run2.json", "run3.json"]
    for run in recorded.values():
        assert [(p["kind"], len(p["cells"])) for p in run["parts"]] == [
            ("pairs", 1),
            ("lru", 2),
            ("lru", 18),
            ("lru", 2),
        ]
        assert [c["chains"] for c in run["parts"][3]["cells"]] == [64, 3200]


def test_all_targets_met(runs, judge):
    code, text = judge(runs)
    assert code == 0, text
    assert "MISSED" not in text and text.rstrip().endswith("all targets met")


def test_the_null_lock_is_shown(runs, judge):
    assert "million lookups/s without a lock" in judge(runs)[1]


def test_every_target_of_the_plan_is_there():
    assert [(t.at_least, t.limit) for t in SET.judging().targets] == [
        *[(False, 1.05)] * 6,
        (False, 0.95),
        (False, 0.65),
        (False, 0.95),
        (False, 0.65),
        (True, 1.40),
        (True, 1.75),
        (True, 1.0),
        (True, 0.95),
    ]


@pytest.mark.parametrize(
    ("kind", "candidate", "factor", "says"),
    [
        ("pairs", "r/pawl_spin32", 0.9, "r/pawl_spin32 pair / two bare lock xadd"),
        ("pairs", "s/pawl_spin64", 0.9, "s/pawl_spin64 pair / two bare lock xadd"),
        ("pairs", "r/pthread_rwlock", 1.7, "r/pawl_spin32 pair / r/pthread_rwlock pair"),
        ("pairs", "w/pthread_rwlock", 1.4, "w/pawl_spin32 pair / w/pthread_rwlock pair"),
        ("lru", candidates.MAIN, 0.7, f"cost 100: {candidates.MAIN} / {candidates.RWLOCK}"),
        ("lru", candidates.SPIN, 1.3, f"cost 100: {candidates.MAIN} / {candidates.SPIN}"),
        ("lru", candidates.MUTEX, 2.3, "geometric mean"),
    ],
)
def test_one_run_that_misses_is_enough(kind, candidate, factor, says, runs, judge):
    scale(runs["run2.json"], kind, candidate, factor)
    code, text = judge(runs)
    line = next(x for x in text.splitlines() if says in x)
    assert code == 1 and line.startswith("MISSED")
    assert text.rstrip().endswith("not all targets met")


def test_a_single_bad_cell_is_found_and_named(runs, judge):
    scale(
        runs["run3.json"],
        "lru",
        candidates.MAIN,
        0.4,
        lambda c: (c["hit_nominal"], c["miss_cost"]) == (50, 300),
    )
    code, text = judge(runs)
    assert code == 1 and "hit 50, cost 300, against r+w/pthread_rwlock" in text
    assert sum(line.startswith("MISSED") for line in text.splitlines()) == 1


def test_the_best_pthread_row_is_chosen_cell_by_cell(runs, judge):
    scale(
        runs["run1.json"],
        "lru",
        candidates.MUTEX,
        3,
        lambda c: (c["hit_nominal"], c["miss_cost"]) == (80, 30),
    )
    assert "hit 80, cost 30, against w/pthread_mutex" in judge(runs)[1]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda part: part.update(dirty=True), "not made from a clean checkout"),
        (lambda part: part.update(commit=None), "not made from a clean checkout"),
        (lambda part: part.update(flags="-O3 -march=native"), "different compilers or flags"),
        (lambda part: part.update(commit="other"), "of different commits"),
        (lambda part: part.update(interrupted=True), "a part is incomplete"),
    ],
)
def test_runs_that_prove_nothing_do_not_count(spoil, says, runs, judge):
    spoil(runs["run1.json"]["parts"][0])
    code, text = judge(runs)
    assert code == 1 and "does not count: " in text and says in text


def test_two_runs_are_not_three(runs, judge):
    del runs["run3.json"]
    code, text = judge(runs)
    assert code == 1 and "2 of 3 runs are here" in text


def test_a_dirty_tree_can_be_tried(runs, judge):
    for run in runs.values():
        for part in run["parts"]:
            part["dirty"] = True
    assert judge(runs, "--allow-dirty")[0] == 0


def test_no_runs_no_null_row_or_no_row_of_ours_is_bad_input(runs, judge):
    code, text = judge({})
    assert code == 2 and "scripts/bench --record" in text
    for name in (candidates.NULL, "r/pawl_spin64"):
        spoilt = json.loads(json.dumps(runs))
        for part in spoilt["run1.json"]["parts"]:
            for cell in part["cells"]:
                cell["samples"] = [s for s in cell["samples"] if s["candidate"] != name]
        code, text = judge(spoilt)
        assert code == 2 and f"{name} was not measured" in text


def test_a_record_goes_on_after_its_complete_runs(drivers, tmp_path, starts, capsys):
    folder = tmp_path / "runs"
    arguments = ["bench", "record", str(folder), "--driver", str(drivers), "--quiet"]
    assert main([*arguments, "--runs", "1"]) == 0
    first, before = (folder / "run1.json.xz").read_bytes(), len(starts())
    assert main([*arguments, "--runs", "2"]) == 0
    assert (folder / "run1.json.xz").read_bytes() == first
    assert len(starts()) == 2 * before and (folder / "run2.json.xz").exists()


def test_shorter_chains_are_shown_without_a_verdict(runs, judge):
    text = judge(runs)[1]
    assert "shorter chains, 2 threads, hit 99, cost 100" in text
    assert "64 chains: " in text and "3,200 chains: " in text
