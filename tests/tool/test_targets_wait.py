# SPDX-License-Identifier: MIT
"""scripts/targets for runs of the set "wait": met, missed, and what cannot be judged."""

import json

import pytest

from conftest import record_one
from pawl.cli import main
from pawl.kinds.crowd import plan as crowd
from pawl.kinds.crowd.record import FAIR, GRID
from pawl.sets.wait import SET


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """One run of the fake drivers, as `pawl bench record --set wait` writes it."""
    return json.dumps(record_one(tmp_path_factory.mktemp("record"), "wait"))


def samples(run, kind, candidate, test=lambda cell: True, title=None):
    for part in run["parts"]:
        if part["kind"] == kind and title in (None, part["title"]):
            for cell in filter(test, part["cells"]):
                yield from (s for s in cell["samples"] if s["candidate"] == candidate)


def crowded(cell):
    return cell["threads"] == 32


def slower(factor):
    def spoil(sample):
        sample["ops"] = int(sample["ops"] * factor)

    return spoil


def later(factor):
    def spoil(sample):
        sample["wakes_ns"] = [ns * factor for ns in sample["wakes_ns"]]

    return spoil


def waits(ns):
    def spoil(sample):
        sample["wait_ns"]["max"] = ns
        if "waits" in sample:
            sample["waits"] = [[40, 500], [ns, 500]]

    return spoil


def test_a_run_is_pairs_cache_crowd_shares_flood_and_wakes(recorded):
    run = json.loads(recorded)
    assert run["set"] == "wait"
    assert [(p["kind"], len(p["cells"])) for p in run["parts"]] == [
        ("pairs", 1),
        ("lru", 18),
        ("crowd", 145),
        ("crowd", 4),
        ("flood", 6),
        ("wake", 6),
    ]
    assert {c["seconds"] for c in run["parts"][3]["cells"]} == {1}


def test_three_runs_take_less_than_a_quarter_of_an_hour(recorded):
    total = 0
    for part in json.loads(recorded)["parts"]:
        for cell in part["cells"]:
            count = len(cell["samples"])
            if part["kind"] == "wake":
                total += 0.05 + count * cell["wakes"] * (cell["delay_ms"] / 1000 + 0.0003)
            else:
                total += 0.05 + count * (cell["seconds"] + cell["warmup"] + 0.004)
    assert 3 * total < 900


def test_every_target_of_the_plan_is_there():
    assert [(t.at_least, t.limit) for t in SET.judging().targets] == [
        *[(False, 1.03)] * 8,
        *[(True, 1.0), (True, 0.97)] * 2,
        (True, 0.85),
        (True, 3.0),
        (True, 1.0),
        (True, 0.8),
        (True, 0.95),
        (False, 1.0),
        (False, 1.2),
        (False, 1.0),
        (False, 5.0),
        *[(False, 1.1)] * 3,
    ]


def test_all_targets_met(runs, judge):
    code, text = judge(runs)
    assert code == 0, text
    assert "MISSED" not in text and text.rstrip().endswith("all targets met")


def test_floors_and_noise_are_printed_beside_the_verdicts(runs, judge):
    text = judge(runs)[1]
    assert "run1.json: 6.45 ms in the crowd grid, 3.25 ms in the flood" in text
    assert "asleep for 50 ms, CPU busy: futex_again / futex 1.00" in text
    assert "bare threads reach 9." in text


@pytest.mark.parametrize(("kind", "name", "spoil", "test", "says"), [
    ("pairs", "a/pawl_lock64", slower(0.96), None, "a/pawl_lock64 pair / a/pawl_spin64 pair"),
    ("lru", "r+s>w/pawl_lock32", slower(0.96), None, "pawl_spin32, geometric mean"),
    ("lru", "r+s>w/pawl_lock64", slower(0.9), lambda c: c["hit_nominal"] == 80,
     "pawl_spin64, upper end of the lowest"),
    ("crowd", crowd.MAIN, slower(0.8), crowded, "itself at 2 threads"),
    ("crowd", crowd.SPIN, slower(2), crowded, f"{crowd.MAIN} / {crowd.SPIN}"),
    ("crowd", "r+w/absl_mutex", slower(1.2), None, "best sleeping peer, geometric mean"),
    ("crowd", crowd.MAIN, slower(0.6), lambda c: c["threads"] == 16, "worst point"),
    ("flood", crowd.MAIN, waits(6 * 10**6), None, "longest of the writer's wait"),
    ("flood", crowd.MAIN, waits(6 * 10**6), None, "p99.9 of the writer's wait"),
    ("wake", "pawl_wait", later(1.2), lambda c: c["delay_ms"] == 50 and not c["hog"],
     "asleep for 50 ms: pawl_wait / futex"),
])  # fmt: skip
def test_one_run_that_misses_is_enough(kind, name, spoil, test, says, runs, judge):
    changed = list(samples(runs["run2.json"], kind, name, test or (lambda cell: True)))
    assert changed
    for sample in changed:
        spoil(sample)
    code, text = judge(runs)
    line = next(x for x in text.splitlines() if says in x)
    assert code == 1 and line.startswith("MISSED"), text


def test_a_wait_of_one_cell_beyond_its_threads_share_is_found_and_named(runs, judge):
    for sample in samples(
        runs["run1.json"],
        "crowd",
        crowd.MAIN,
        lambda c: c["threads"] == 4 and c["hog"] and c["section_us"] == 10,
    ):
        sample["wait_ns"]["max"] = 9 * 10**6
    code, text = judge(runs)
    assert code == 1 and "sections of 10 us, 1 % writes, beside a CPU hog, 4 threads" in text
    assert "it waited 9.00 ms there, a bare thread paused 450 us" in text
    assert sum(line.startswith("MISSED") for line in text.splitlines()) == 1


def test_unequal_shares_of_one_cell_are_found(runs, judge):
    for sample in samples(
        runs["run3.json"], "crowd", crowd.MAIN, lambda c: c["section_us"] == 100, FAIR.title
    ):
        sample["jain"]["1s"] = 0.9
    code, text = judge(runs)
    assert code == 1 and "bare threads reach 0.990 there" in text
    assert "0.900 missed  (sections of 100 us" in text


def test_cpu_time_that_grows_with_the_threads_is_found(runs, judge):
    for sample in samples(runs["run1.json"], "crowd", crowd.MAIN, crowded, GRID.title):
        sample["cpu_seconds"] *= 1.3
    code, text = judge(runs)
    assert code == 1 and "MISSED  32 threads: r+w/pawl_lock64, CPU time a section" in text


def test_a_busy_cpu_is_information_and_no_target(runs, judge):
    for sample in samples(runs["run1.json"], "wake", "pawl_wait", lambda c: c["hog"]):
        sample["wakes_ns"] = [ns * 3 for ns in sample["wakes_ns"]]
    assert judge(runs)[0] == 0


@pytest.mark.parametrize("name", [crowd.MAIN, crowd.FLOOR, "pawl_wait", "r/pawl_lock32"])
def test_a_row_that_is_missing_is_bad_input(name, runs, judge):
    for part in runs["run1.json"]["parts"]:
        for cell in part["cells"]:
            cell["samples"] = [s for s in cell["samples"] if s["candidate"] != name]
    code, text = judge(runs)
    assert code == 2 and f"{name} was not measured" in text


def test_a_part_that_is_missing_is_bad_input(runs, judge):
    del runs["run2.json"]["parts"][4]
    code, text = judge(runs)
    assert code == 2 and "lacks a part of kind flood" in text


def test_samples_shorter_than_a_second_have_no_share_to_judge(runs, judge):
    for sample in samples(runs["run1.json"], "crowd", crowd.MAIN, title=FAIR.title):
        sample["jain"]["1s"] = None
    code, text = judge(runs)
    assert code == 2 and "shorter than a second" in text


def test_samples_in_which_nobody_got_in_cannot_be_judged(runs, judge):
    for peer in crowd.PEERS:
        for sample in samples(runs["run1.json"], "crowd", peer, lambda c: c["threads"] == 64):
            sample["ops"] = 0
    code, text = judge(runs)
    assert code == 2 and "no peer let anybody in" in text


def test_a_lock_that_let_nobody_in_misses_its_targets(runs, judge):
    for sample in samples(runs["run1.json"], "crowd", crowd.MAIN, crowded):
        sample["ops"] = 0
    code, text = judge(runs)
    missed = [line for line in text.splitlines() if line.startswith("MISSED")]
    assert code == 1 and len(missed) == 5, text


def test_runs_of_two_sets_are_not_mixed(runs, judge):
    runs["run2.json"]["set"] = "spin"
    code, text = judge(runs)
    assert code == 2 and "different sets (spin, wait)" in text


def test_a_set_of_another_version_is_refused(runs, judge):
    for run in runs.values():
        run["set"] = "elsewhere"
    code, text = judge(runs)
    assert code == 2 and "'elsewhere'" in text


def test_a_folder_of_one_set_takes_no_run_of_the_other(recorded, drivers, tmp_path, starts, capsys):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "run1.json").write_text(recorded)
    assert main(["bench", "record", str(folder), "--quiet"]) == 2
    assert "is a run of the set wait; name another folder" in capsys.readouterr().err
    assert starts() == []
