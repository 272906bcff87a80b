# SPDX-License-Identifier: MIT
"""`pawl bench crowd --busy`: the plan, the rows, and the targets of the set "busy"."""

import json

import pytest

from conftest import figures, record_one, texts
from pawl.kinds.busy import plan as busy
from pawl.kinds.busy import table
from pawl.kinds.busy.kind import KIND
from pawl.sets.plain import BUSY

SMALL = ("--threads", "4", "--sections", "10", "--writes", "10")


@pytest.fixture
def run(drivers, benches):
    return benches("crowd", "--busy")


def test_each_machine_has_the_grid_and_three_scenes():
    cells = busy.plan(busy.Request(), [busy.MAIN, *busy.PEERS])
    assert len(cells) == 6 * (3 * 3 * 3 * 2 + 3)
    assert {busy.machine_of(c.parameters) for c in cells} == set(busy.MACHINES)
    assert busy.expected_seconds(cells) == pytest.approx(480, rel=0.02)


def test_between_two_sections_is_nothing_or_as_much():
    cells = busy.plan(busy.Request(machines=["idle"]), [busy.MAIN])
    found = {
        (c.parameters["section_us"], c.parameters["outside_us"])
        for c in cells
        if c.parameters["scene"] == "crowd"
    }
    assert found == {(s, o) for s in (1, 10, 100) for o in (0, s)}


def test_a_machine_and_a_scene_reach_the_driver(run, starts):
    run("--quiet", *SMALL, "--machines", "one-cpu-busy,busy-2")
    told = [
        (
            s["cpus"],
            s["busy"],
            s["flood"],
            s["threads"],
            float(s["section"]),
            float(s["writes"]),
            float(s["deadline"]),
        )
        for s in starts()
    ]
    assert told[:5] == [
        ("1", "1", False, 4, 10, 10, 0),
        ("1", "1", False, 4, 10, 10, 0),
        ("1", "1", True, 1, 20, 100, 0),
        ("1", "1", True, 32, 1, 0, 0),
        ("1", "1", False, 16, 100, 100, 500),
    ]
    assert {t[:2] for t in told[5:]} == {("0", "2")}


def test_only_locks_with_deadlines_are_measured_with_some(run, starts):
    run("--quiet", *SMALL, "--machines", "idle")
    names = starts()[-1]["candidates"].split(",")
    assert set(names) == set(busy.TIMED)


def test_a_row_tells_all_waits_and_what_overran(run):
    _, result = run("--quiet", *SMALL, "--machines", "idle", "--rounds", "2")
    row = next(r for r in result["cells"][0]["summary"] if r["candidate"] == busy.MAIN)
    assert row["wait_ns"] == {"p50": 40, "p99": 5000, "p99.9": 5000, "max": 490000}
    assert row["wait_mean_ns"] == 2000 and row["overrun_ns"] is None
    cell = result["cells"][-1]
    row = next(r for r in cell["summary"] if r["candidate"] == busy.MAIN)
    assert row["overrun_ns"] == {"p50": 60000, "p99": 60000, "p99.9": 60000, "max": 90000}
    shown = dict(texts({"kind": "busy", "baseline": busy.BASELINE}, cell, busy.MAIN))
    assert shown["expired"] == "2,000" and shown["overrun\nmax"] == "90.0 us"


def test_one_that_never_got_in_has_waited_for_the_sample():
    sample = {"waits": [], "wait_mean_ns": 0, "seconds": 0.5}
    assert table.waits([sample])["p99.9"] == 0.5e9 == table.mean_wait([sample])


def test_the_means_against_each_peer_stand_below_the_cells(run):
    shown, result = run("--quiet", *SMALL, "--machines", "idle,busy-1")
    (extra,) = KIND.more(result)
    assert extra.heads == ["peer", "idle", "busy-1"]
    rows = {r[0]: r[1:] for r in extra.rows}
    assert float(rows["w/pthread_mutex"][0][:-1]) == pytest.approx(1 / 0.7, rel=0.05)
    assert float(rows["best of each cell"][1][:-1]) == pytest.approx(1 / 0.9, rel=0.05)
    assert "r+w/tbb_rw_mutex" not in rows and "best of each cell" in shown.out


def test_pictures_show_each_machine_and_the_scenes(run, tmp_path):
    _, result = run(
        "--quiet", *SMALL, "--machines", "idle,busy-1", "--html", tmp_path / "busy.html"
    )
    assert [name for name, _ in figures(result)] == [
        "million sections a second over threads, alone",
        "million sections a second over threads, beside a busy process on each CPU",
        "waits of one among others",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--busy", "--machines", "idle,lazy"], "there is no 'lazy'"),
        (["--machines", "idle"], "--machines is for --busy"),
        (["--flood", "--machines", "idle"], "--machines is for --busy"),
        (["--busy", "--hog", "no"], "--hog is not for --busy"),
        (["--busy", "--period", "500"], "--period is not for --busy"),
        (["--busy", "--flood"], "has its own floods"),
        (["--busy", "--pin", "0"], "has its own floods"),
    ],
)
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "crowd", *arguments)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("scene",), "parade"),
        (("busy",), 3),
        (("samples", 0, "overruns"), [[1]]),
        (("samples", 0, "wait_mean_ns"), "long"),
    ],
)
def test_a_damaged_result_is_refused(place, value, run, refused_damaged):
    _, result = run("--quiet", *SMALL, "--machines", "idle")
    refused_damaged(result, place, value)


# ---- Targets


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """One run of the fake driver, as `pawl bench record --set busy` writes it."""
    return json.dumps(record_one(tmp_path_factory.mktemp("record"), "busy", ["crowd"]))


def samples(run, name, scene, machine=None):
    for cell in run["parts"][0]["cells"]:
        if cell["scene"] == scene and machine in (None, busy.machine_of(cell)):
            yield from (s for s in cell["samples"] if s["candidate"] == name)


def missed(text):
    return [line for line in text.splitlines() if line.startswith("MISSED")]


def test_every_target_is_there():
    assert [(t.at_least, t.limit, t.middle) for t in BUSY.judging().targets] == [
        *[(True, 1.0, False)] * 4,
        *[(True, 0.9, False)] * 3,
        (False, 1.0, False),
        (False, 1.0, True),
        (False, 1.0, False),
    ]


def test_all_targets_met(runs, judge):
    code, text = judge(runs)
    assert code == 0, text
    assert "probe pawl_lock64 500 ns" in text


def test_one_peer_that_is_faster_on_one_machine_is_found_and_named(runs, judge):
    for sample in samples(runs["run2.json"], "r+w/nsync_mu", "crowd", "busy-2"):
        sample["ops"] *= 1.25
    code, text = judge(runs)
    (line,) = missed(text)
    assert code == 1 and "beside 2 busy processes on each CPU" in line and "worst peer" in line


def test_the_best_of_each_cell_may_be_a_tenth_faster(runs, judge):
    for sample in samples(runs["run2.json"], busy.MAIN, "crowd", "one-cpu"):
        sample["ops"] *= 0.8
    code, text = judge(runs)
    assert code == 1 and len(missed(text)) == 2
    assert "alone on one CPU: r+w/pawl_lock64 / best peer of each cell" in text


def test_long_waits_count_only_beyond_25_ms_and_twice_the_mutex(runs, judge):
    ours = list(samples(runs["run1.json"], busy.MAIN, "probe", "busy-1"))
    mutex = list(samples(runs["run1.json"], "w/pthread_mutex", "probe", "busy-1"))
    for sample in ours:
        sample["waits"] = [[24 * 10**6, 9]]
    assert judge(runs)[0] == 0
    for sample in ours:
        sample["waits"] = [[26 * 10**6, 9]]
    code, text = judge(runs)
    assert code == 1 and "p99.9 of waits" in missed(text)[0]
    assert "a probe beside a holder" in text
    for sample in mutex:
        sample["waits"] = [[13 * 10**6, 9]]
    assert judge(runs)[0] == 0


def test_the_longest_wait_is_judged_by_the_median_of_the_runs(runs, judge):
    for name, expected in (("run1.json", 0), ("run2.json", 1)):
        for sample in samples(runs[name], busy.MAIN, "crowd", "idle"):
            sample["waits"] = [[40, 10**6], [90 * 10**6, 1]]
        code, text = judge(runs)
        assert code == expected, text
    assert "longest wait" in missed(text)[0]


def test_a_deadline_that_is_overrun_for_longer_than_the_mutexs_is_found(runs, judge):
    for sample in samples(runs["run3.json"], busy.MAIN, "deadline", "one-cpu"):
        sample["overruns"] = [[60000 + 1100000, 1000]]
    code, text = judge(runs)
    assert code == 1 and "overruns of deadlines" in missed(text)[0]
    assert "1.100 missed  (alone on one CPU: 1.16 ms" in text


@pytest.mark.parametrize("name", [busy.MAIN, busy.MUTEX])
def test_a_row_that_is_missing_is_bad_input(name, runs, judge):
    for cell in runs["run1.json"]["parts"][0]["cells"]:
        cell["samples"] = [s for s in cell["samples"] if s["candidate"] != name]
    code, text = judge(runs)
    assert code == 2 and "not measured" in text


def test_a_machine_that_is_missing_is_bad_input(runs, judge):
    part = runs["run1.json"]["parts"][0]
    part["cells"] = [c for c in part["cells"] if busy.machine_of(c) != "busy-2"]
    code, text = judge(runs)
    assert code == 2 and "lacks the machine busy-2" in text
