# SPDX-License-Identifier: MIT
"""`pawl bench crowd` and its flood: the plan, the rows, the report, and what they refuse."""

import json

import pytest

from conftest import figures, left_behind, texts
from pawl.cli import main
from pawl.kinds.crowd import plan as crowd
from pawl.kinds.crowd import table as crowd_table
from pawl.kinds.crowd.kind import KIND
from pawl.kinds.flood import table as flood

SMALL = ("--threads", "2,32", "--sections", "1", "--writes", "10", "--hog", "no")


@pytest.fixture
def run(drivers, benches):
    return benches("crowd")


def plan(**options):
    request = crowd.Request(**options)
    return crowd.plan(request, [crowd.MAIN, crowd.BASELINE, crowd.FLOOR])


def test_the_whole_grid_is_144_cells_in_about_four_minutes():
    cells = crowd.plan(crowd.Request(), [crowd.MAIN, *crowd.PEERS, crowd.FLOOR])
    assert len(cells) == 6 * 4 * 3 * 2
    assert crowd.expected_seconds(cells) == pytest.approx(240, rel=0.02)


def test_numbers_of_threads_are_measured_one_after_the_other():
    assert [c.parameters["threads"] for c in plan()[:7]] == [2, 4, 8, 16, 32, 64, 2]


def test_the_pause_outside_is_the_section_but_a_microsecond_at_most():
    found = {c.parameters["section_us"]: c.parameters["outside_us"] for c in plan()}
    assert found == {0.1: 0.1, 1: 1, 10: 1, 100: 1}
    assert {c.parameters["outside_us"] for c in plan(outside=3)} == {3}


def test_options_reach_the_driver(run, starts):
    run("--quiet", *SMALL, "--outside", "0.5", "--seconds", "0.02", "--pin", "auto")
    one = starts()[1]
    assert (
        one["threads"],
        float(one["section"]),
        float(one["outside"]),
        float(one["writes"]),
        float(one["seconds"]),
        one["pin"],
        one["hog"],
    ) == (32, 1, 0.5, 10, 0.02, "auto", False)


def test_quick_is_a_few_cells_and_what_is_given_still_counts(run, starts):
    run("--quiet", "--quick")
    assert {(s["threads"], float(s["section"]), s["hog"]) for s in starts()} == {
        (t, s, False) for t in (2, 8, 32) for s in (1, 10)
    }
    run("--quiet", "--quick", "--threads", "4", "--fresh")
    assert {s["threads"] for s in starts()[6:]} == {4}


def test_the_time_is_told_before_anything_is_measured(run):
    shown, _ = run(*SMALL, "--budget", "20")
    assert "2 cells, 54 samples, about 20 s" in shown.err.splitlines()[0]


def test_baseline_and_floor_are_measured_even_if_not_named(run, starts):
    run("--quiet", *SMALL, "--candidates", "pawl_lock64")
    assert starts()[0]["candidates"].split(",") == [crowd.MAIN, crowd.BASELINE, crowd.FLOOR]


def test_a_row_tells_waits_fairness_cpu_time_and_switches(run):
    _, result = run("--quiet", *SMALL, "--seconds", "1")
    row = next(r for r in result["cells"][1]["summary"] if r["candidate"] == crowd.MAIN)
    assert row["wait_ns"]["p99.9"] == 60000 and row["wait_ns"]["max"] == 3290000
    assert row["jain"] == {"10ms": 0.5, "100ms": 0.9, "1s": 0.99}
    assert row["cpu_seconds_per_million"] == pytest.approx(2, rel=0.03)
    assert row["ctx_per_million"] > 0


def test_the_floor_is_told_above_the_table(run):
    shown, _ = run("--quiet", *SMALL, "--threads", "32")
    assert "bare threads without a lock pause for up to 3.25 ms" in shown.out


def test_a_sample_too_short_for_a_window_has_no_index_for_it(run):
    shown, result = run("--quiet", *SMALL, "--threads", "2", "--seconds", "0.05")
    row = result["cells"][0]["summary"][0]
    assert row["jain"]["10ms"] == 0.5 and row["jain"]["1s"] is None


def test_a_lock_that_lets_nobody_in_is_a_row_all_the_same():
    quantiles = {q: 1 for q in (*crowd_table.QUANTILES, "max")}
    samples = [
        {
            "candidate": n,
            "round": 0,
            "ops": ops,
            "seconds": 1,
            "wait_ns": quantiles,
            "jain": {"10ms": None, "100ms": None, "1s": None},
            "cpu_seconds": 1,
        }
        for n, ops in ((crowd.MAIN, 0), (crowd.BASELINE, 5))
    ]
    rows = KIND.summarise(samples, crowd.BASELINE, [crowd.MAIN, crowd.BASELINE])
    assert rows[1]["median"] == 0 and rows[1]["jain"]["1s"] is None
    cell = {"summary": rows}
    assert (
        dict(texts({"kind": "crowd", "baseline": crowd.BASELINE}, cell, crowd.MAIN))["Jain\n1 s"]
        == "-"
    )


def test_the_best_peer_is_one_that_sleeps(run):
    _, result = run("--quiet", *SMALL)
    assert crowd_table.best_peer(result["cells"][0]) == "r+w/absl_mutex"


def test_pictures_show_throughput_and_waits_with_and_without_a_hog(run, tmp_path):
    page = tmp_path / "crowd.html"
    _, result = run(
        "--quiet",
        "--threads",
        "2,32,64",
        "--sections",
        "1,10",
        "--writes",
        "10,50",
        "--html",
        page,
        "--svg",
        tmp_path / "crowd.svg",
    )
    drawn = figures(result)
    assert [name for name, _ in drawn] == [
        "million sections a second over threads",
        "waits for the lock, 32 threads",
        "million sections a second over threads, beside a CPU hog",
        "waits for the lock, 32 threads, beside a CPU hog",
    ]
    assert [a.get_title(loc="left") for a in drawn[0][1].axes] == [
        "1 us, 10 % writes",
        "10 us, 10 % writes",
        "1 us, 50 % writes",
        "10 us, 50 % writes",
    ]
    assert all(a.get_ylim()[0] == 0 for a in drawn[0][1].axes)
    assert KIND.title in page.read_text() and "Jain" in page.read_text()
    assert main(["report", str(tmp_path / "crowd.json"), "--html", str(page), "--check"]) == 0


def test_the_grid_goes_on_after_an_interrupt_and_is_not_measured_twice(run, starts, tmp_path):
    run("--quiet", *SMALL)
    path = tmp_path / "crowd.json"
    half = json.loads(path.read_text())
    del half["cells"][1:]
    half["interrupted"] = True
    path.write_text(json.dumps(half))
    _, result = run("--quiet", *SMALL)
    assert len(starts()) == 3 and len(result["cells"]) == 2
    shown, _ = run("--quiet", *SMALL)
    assert len(starts()) == 3 and "complete already" in shown.err


# ---- The flood.


def test_a_flood_has_readers_a_writer_and_their_scheduling_floor(run, starts):
    shown, result = run("--quiet", "--flood", "--threads", "8", "--sections", "10")
    assert starts()[0]["flood"] and float(starts()[0]["period"]) == 1000
    assert result["kind"] == "flood" and "8 readers" in shown.out
    rows = {r["candidate"]: r for r in result["cells"][0]["summary"]}
    ours, floor = rows[crowd.MAIN], rows[crowd.FLOOR]
    assert ours["wait_ns"]["max"] == 890000 and floor["wait_ns"]["max"] == 850000
    assert ours["net_ns"]["max"] == 40000 and ours["net_ns"]["p50"] == 0
    assert floor["net_ns"] is None


def test_quantiles_of_a_flood_are_of_all_rounds_together():
    def sample(pairs, most):
        return {"waits": pairs, "wait_ns": {"max": most}}

    found = flood.waits([sample([[10, 500]], 10), sample([[10, 490], [900, 9], [7000, 1]], 6900)])
    assert found == {"p50": 10, "p90": 10, "p99": 10, "p99.9": 900, "max": 6900}


def test_a_flood_whose_writer_never_came_is_no_division_by_zero():
    assert flood.waits([{"waits": [], "wait_ns": {"max": 0}}])["p99.9"] == 0


def test_a_flood_draws_the_writers_waits(run, tmp_path):
    _, result = run("--quiet", "--flood", "--threads", "1,8", "--png", tmp_path / "flood.png")
    ((name, figure),) = figures(result)
    assert [a.get_title(loc="left") for a in figure.axes] == [
        "1 reader, 1 us",
        "8 readers, 1 us",
        "1 reader, 10 us",
        "8 readers, 10 us",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--threads", "0"], "choose from 1 to 1024"),
        (["--threads", "many"], "not a whole number"),
        (["--sections", "short"], "--sections: 'short' is not a number"),
        (["--sections", "-1"], "--sections: -1 is out of range"),
        (["--writes", "101"], "--writes: 101 is out of range"),
        (["--writes", "nan"], "out of range"),
        (["--outside", "nan"], "--outside"),
        (["--hog", "maybe"], "--hog"),
        (["--seconds", "1", "--budget", "9"], "give one of them"),
        (["--rounds", "0"], "--rounds"),
        (["--budget", "inf"], "--budget"),
        (["--period", "500"], "--period is for the writer"),
        (["--flood", "--writes", "10"], "--writes: in a flood"),
        (["--flood", "--outside", "1"], "--outside: in a flood"),
        (["--flood", "--period", "0"], "--period"),
        (["--pin", "9999"], "may not run on CPU 9999"),
        (["--candidates", "pawl_lock46"], "did you mean r+w/pawl_lock64"),
        (["--candidates", "r+w/tbb_rw_mutex"], "was not built; install libtbb-dev"),
        (["--json", "/nowhere/at/all.json"], "does not exist"),
    ],
)
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "crowd", *arguments)


@pytest.mark.parametrize("mode", ["garbage", "crash", "broken-lock"])
def test_a_driver_that_fails_leaves_nothing(mode, run, monkeypatch, tmp_path):
    monkeypatch.setenv("FAKE_MODE", mode)
    _, result = run("--quiet", *SMALL, code=1)
    assert result is None and left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "place", "value"),
    [
        (SMALL, ("writes",), None),
        (SMALL, ("samples", 0, "wait_ns"), {"p50": 1}),
        (SMALL, ("samples", 0, "jain", "1s"), "fair"),
        (("--flood",), ("samples", 0, "waits"), [[1]]),
        (("--flood",), ("period_us",), "often"),
        (("--flood",), ("samples", 0, "waits", 0), ["a", "b"]),
    ],
)
def test_a_damaged_result_is_refused(arguments, place, value, run, refused_damaged):
    _, result = run("--quiet", *arguments)
    refused_damaged(result, place, value)
