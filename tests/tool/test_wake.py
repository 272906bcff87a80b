# SPDX-License-Identifier: MIT
"""`pawl bench wake`: the plan, the rows, the report, and what it refuses."""

import json
import math

import pytest

from conftest import figures, left_behind
from pawl.cli import main
from pawl.kinds.wake.kind import KIND


@pytest.fixture
def run(drivers, benches):
    return benches("wake")


def test_delays_and_a_busy_cpu_are_six_cells(run, starts):
    run("--quiet")
    assert [(float(s["delay"]), s["hog"]) for s in starts()] == [
        (1, False),
        (10, False),
        (50, False),
        (1, True),
        (10, True),
        (50, True),
    ]


def test_a_budget_gives_short_delays_more_wakes(run, starts):
    _, result = run("--quiet", "--budget", 60)
    wakes = [int(s["wakes"]) for s in starts()][:3]
    assert wakes[0] > 5 * wakes[1] > 10 * wakes[2] >= 10
    rows = len(result["cells"][0]["candidates"])
    for cell in result["cells"]:
        cost = rows * cell["rounds"] * cell["wakes"] * cell["delay_ms"] / 1000
        assert cost <= 10


def test_a_budget_too_short_for_the_rounds_takes_fewer(run):
    _, result = run("--quiet", "--budget", 1, "--hog", "no", "--delays", 50)
    assert result["cells"][0]["wakes"] == 1 and result["cells"][0]["rounds"] < 9


def test_the_time_is_told_before_anything_is_measured(run):
    shown, _ = run("--hog", "no", "--delays", "1", "--wakes", 10, "--rounds", 6)
    samples = 6 * 6
    assert f"1 cell, {samples} samples, about 1 s" in shown.err.splitlines()[0]


def test_rows_are_ranked_by_the_median_and_tell_tail_and_cpu_time(run):
    shown, result = run("--quiet", "--hog", "no", "--delays", "10")
    rows = result["cells"][0]["summary"]
    assert rows[0]["candidate"] == "spin" and rows[-1]["candidate"] == "pthread_cond"
    every = [
        ns
        for s in result["cells"][0]["samples"]
        if s["candidate"] == "futex"
        for ns in s["wakes_ns"]
    ]
    futex = next(r for r in rows if r["candidate"] == "futex")
    assert futex["max"] == max(every) and futex["p99"] <= futex["max"]
    assert futex["median"] == pytest.approx(20000, rel=0.02)
    assert rows[0]["cpu_share"] == 1 and futex["cpu_us"] == 9
    assert "100.00 %" in shown.out and "9.00 us" in shown.out


def test_ratios_are_of_times_round_by_round(run):
    _, result = run("--quiet", "--hog", "no", "--delays", "10")
    row = next(r for r in result["cells"][0]["summary"] if r["candidate"] == "pthread_cond")
    assert row["ratio_to_baseline"] == pytest.approx(1.15, rel=0.02)
    assert row["ratio_ci95_low"] <= row["ratio_to_baseline"] <= row["ratio_ci95_high"]
    lost = KIND.losses([row, row | {"candidate": "pawl_wait"}])
    assert [r["candidate"] for r in lost] == ["pawl_wait"]


def test_the_baseline_is_measured_even_if_not_named(run, starts):
    run("--quiet", "--candidates", "pawl", "--delays", "1", "--hog", "no")
    assert starts()[0]["candidates"].split(",") == ["pawl_wait", "futex"]


def test_a_row_that_was_not_built_says_what_to_install(run):
    shown, result = run("--quiet", "--delays", "1")
    assert "not measured: absl_cond: install" in shown.out
    assert [g["candidate"] for g in result["unavailable"]] == ["absl_cond"]


def test_report_page_and_picture_hold_a_panel_for_each_delay(run, tmp_path):
    page, picture = tmp_path / "wake.html", tmp_path / "wake.png"
    _, result = run("--quiet", "--html", page, "--png", picture)
    text = page.read_text()
    assert KIND.title in text and "the CPU of the waiter busy" in text and "share of" in text
    titles = [[a.get_title(loc="left") for a in f.axes] for _, f in figures(result)]
    assert titles == [["asleep for 1 ms", "asleep for 10 ms", "asleep for 50 ms"]] * 2
    assert main(["report", str(tmp_path / "wake.json"), "--html", str(page), "--check"]) == 0


def test_the_same_command_goes_on_after_an_interrupt(run, starts, tmp_path):
    run("--quiet", "--hog", "no")
    path = tmp_path / "wake.json"
    half = json.loads(path.read_text())
    del half["cells"][1:]
    half["interrupted"] = True
    path.write_text(json.dumps(half))
    _, result = run("--quiet", "--hog", "no")
    assert len(starts()) == 3 + 2 and result["resumed"] == 1
    assert [c["delay_ms"] for c in result["cells"]] == [1, 10, 50]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--delays", "soon"], "--delays: 'soon' is not a number"),
        (["--delays", "0"], "--delays: 0 is out of range"),
        (["--delays", "nan"], "out of range"),
        (["--rounds", "0"], "--rounds"),
        (["--wakes", "0"], "--wakes"),
        (["--hog", "maybe"], "--hog"),
        (["--budget", "nan"], "--budget"),
        (["--wakes", "3", "--budget", "9"], "give one of them"),
        (["--pin", "0,4095"], "may not run on CPU 4095"),
        (["--candidates", "futx"], "there is no 'futx'; did you mean futex"),
        (["--candidates", "absl_cond"], "was not built; install"),
        (["--json", "/nowhere/at/all.json"], "does not exist"),
    ],
)
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "wake", *arguments)


@pytest.mark.parametrize(
    ("mode", "code", "says"),
    [
        ("garbage", 1, "is not a result"),
        ("crash", 1, "was ended by signal 6"),
        ("bad-input", 2, "--size is odd"),
        ("bad-list", 1, "did not answer with a list"),
    ],
)
def test_a_driver_that_fails_leaves_nothing(mode, code, says, run, monkeypatch, tmp_path):
    monkeypatch.setenv("FAKE_MODE", mode)
    shown, result = run("--quiet", code=code)
    assert says in shown.err and result is None and left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("delay_ms",), "long"),
        (("samples", 0, "wakes_ns"), []),
        (("samples", 0, "wakes_ns"), ["soon"]),
        (("samples", 0, "cpu_ns"), None),
        (("samples", 0, "waited_ns"), "long"),
    ],
)
def test_a_damaged_result_is_refused(place, value, run, refused_damaged):
    _, result = run("--quiet", "--hog", "no", "--delays", "1")
    refused_damaged(result, place, value)


def test_a_wake_as_fast_as_the_clock_is_no_division_by_zero():
    samples = [
        {"candidate": n, "round": r, "wakes_ns": [0], "cpu_ns": 0, "waited_ns": 0}
        for n in ("spin", "futex")
        for r in range(6)
    ]
    rows = KIND.summarise(samples, "futex", ["spin", "futex"])
    assert all(math.isfinite(r["ratio_to_baseline"]) for r in rows)
