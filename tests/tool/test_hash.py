# SPDX-License-Identifier: MIT
"""`pawl bench hash`: the plan, the rows, the report, and what it refuses."""

import json

import pytest

from conftest import figures, further, texts
from pawl.cli import main
from pawl.core import ranges
from pawl.kinds.hash import plan as hash_bench
from pawl.kinds.hash.kind import KIND

SMALL = ("--elements", "1024", "--updates", "0,10", "--threads", "1,2", "--seconds", "0.01")


@pytest.fixture
def run(drivers, benches):
    return benches("hash")


def rows_of(cell):
    return {r["candidate"]: r for r in cell["summary"]}


def plan(**options):
    return hash_bench.plan(hash_bench.Request(**options), [hash_bench.MAIN, "ideal"])


# ---- The plan.


def test_the_grid_is_sizes_times_mixes_times_threads():
    cells = plan()
    assert len(cells) == 2 * 7 * 2
    assert {c.parameters["updates"] for c in cells} == {0, 1, 5, 10, 20, 50, 100}


def test_numbers_of_threads_are_measured_one_after_the_other():
    assert [c.parameters["threads"] for c in plan(threads=[1, 2, 4])[:4]] == [1, 2, 4, 1]


def test_a_budget_is_kept_whatever_the_number_of_rows():
    names = [f"row{n}" for n in range(15)]
    cells = hash_bench.plan(hash_bench.Request(budget=200), names)
    assert hash_bench.expected_seconds(cells) == pytest.approx(200, rel=0.02)


def test_a_table_that_takes_long_to_fill_leaves_less_time_for_samples():
    small, large = (plan(elements=[n], budget=30)[0].parameters["seconds"] for n in (1024, 1 << 22))
    assert large < small


def test_options_reach_the_driver(run, starts):
    run("--quiet", *SMALL, "--pin", "auto", "--seed", "7", "--rounds", "6")
    one = starts()[3]
    assert (
        one["threads"],
        one["updates"],
        one["elements"],
        one["seconds"],
        one["seed"],
        one["rounds"],
    ) == (2, "10", "1024", "0.01", "7", 6)


def test_threads_double_up_to_all_cpus():
    assert [ranges.doubling(n) for n in (1, 2, 6, 8)] == [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]


def test_quick_is_a_few_cells_and_what_is_given_still_counts(run, starts):
    run("--quiet", "--quick", "--threads", "2")
    assert {(s["elements"], s["updates"]) for s in starts()} == {
        ("1024", "0"),
        ("1024", "10"),
        ("1024", "100"),
    }
    run("--quiet", "--quick", "--threads", "2", "--updates", "5", "--fresh")
    assert [s["updates"] for s in starts()[3:]] == ["5"]


def test_ideal_is_measured_even_if_not_named(run, starts):
    run("--quiet", *SMALL, "--candidates", "pawl_rcu")
    assert starts()[0]["candidates"].split(",") == ["pawl_rcu", "ideal"]


def test_the_time_is_told_before_anything_is_measured(run):
    shown, _ = run("--quick", "--threads", "2")
    assert "3 cells, 378 samples, about 20 s" in shown.err.splitlines()[0]


# ---- The rows.


def test_a_row_is_compared_with_ideal_and_with_the_best_liburcu_row(run):
    _, result = run("--quiet", *SMALL)
    row = rows_of(result["cells"][0])["pawl_rcu"]
    assert row["ratio_to_baseline"] == pytest.approx(0.97, rel=0.02)
    assert row["ratio_to_urcu"] == pytest.approx(97 / 92, rel=0.02)
    assert row["urcu_ci95_low"] <= row["ratio_to_urcu"] <= row["urcu_ci95_high"]


def test_without_liburcu_there_is_no_such_ratio():
    samples = [
        {
            "candidate": "pawl_rcu",
            "round": n,
            "ops": 9,
            "seconds": 1,
            "cpu_seconds": 1,
            "drain_seconds": 0,
        }
        for n in range(6)
    ]
    (row,) = KIND.summarise(samples, "ideal", ["pawl_rcu"])
    assert row["ratio_to_urcu"] is None and KIND.losses([row]) == []


def test_losses_are_our_rcu_rows_behind_liburcu(run):
    _, result = run("--quiet", *SMALL)
    assert KIND.losses(result["cells"][0]["summary"]) == []
    row = rows_of(result["cells"][0])["pawl_rcu"]
    row["urcu_ci95_high"] = 0.99
    assert KIND.losses(result["cells"][0]["summary"]) == [row]


def test_what_frees_are_owed_at_the_end_stands_in_the_table(run):
    shown, result = run("--quiet", *SMALL)
    assert rows_of(result["cells"][3])["pawl_rcu"]["drain_seconds"] == pytest.approx(0.0002)
    assert "200 us" in shown.out


def test_a_row_that_was_not_built_says_what_to_install(run):
    shown, _ = run("--quiet", *SMALL)
    assert "not measured: tbb_hash_map: install libtbb-dev" in shown.out


def test_more_threads_are_compared_with_one_where_nobody_writes(run):
    shown, result = run("--quiet", *SMALL)
    (extra,) = further(result)
    assert extra.title.startswith("1,024 elements, reading only")
    found = {row[0]: row[1] for row in extra.rows}
    assert found["pawl_rcu"].startswith("2.0") and found["spin"].startswith("1.0")
    assert extra.title in shown.out


def test_one_number_of_threads_or_no_reading_has_no_such_table(run):
    assert further(run("--quiet", *SMALL, "--threads", "2")[1]) == []
    assert further(run("--quiet", *SMALL, "--updates", "10", "--fresh")[1]) == []


def test_a_row_has_a_text_for_each_column(run):
    _, result = run("--quiet", *SMALL)
    found = dict(texts(result, result["cells"][0], "pawl_rcu"))
    assert found["design"] == "pawl_rcu" and found["times\nideal"] == "0.97x"
    assert found["times best\nliburcu"] == "1.05x" and found["frees owed\nat the end"]


# ---- The report.


def test_pictures_show_throughput_over_threads_and_over_updates(run, tmp_path):
    page = tmp_path / "hash.html"
    _, result = run("--quiet", *SMALL, "--elements", "1024,4096", "--html", page)
    drawn = figures(result)
    assert [name for name, _ in drawn] == [
        "million operations a second over threads",
        "million operations a second over the share of updates",
    ]
    assert [a.get_title(loc="left") for a in drawn[1][1].axes] == [
        "1,024 elements, 1 thread",
        "1,024 elements, 2 threads",
        "4,096 elements, 1 thread",
        "4,096 elements, 2 threads",
    ]
    assert all(a.get_ylim()[0] == 0 for _, figure in drawn for a in figure.axes)
    text = page.read_text()
    assert KIND.title in text and "reading only: times its own one thread" in text
    assert main(["report", str(tmp_path / "hash.json"), "--html", str(page), "--check"]) == 0


def test_a_single_cell_can_be_drawn(run, tmp_path):
    _, result = run(
        "--quiet",
        "--elements",
        "16",
        "--updates",
        "0",
        "--threads",
        "2",
        "--svg",
        tmp_path / "one.svg",
    )
    assert len(figures(result)) == 1


def test_the_grid_goes_on_after_an_interrupt_and_is_not_measured_twice(run, starts, tmp_path):
    run("--quiet", *SMALL)
    path = tmp_path / "hash.json"
    half = json.loads(path.read_text())
    del half["cells"][2:]
    half["interrupted"] = True
    path.write_text(json.dumps(half))
    _, result = run("--quiet", *SMALL)
    assert len(starts()) == 6 and len(result["cells"]) == 4
    shown, _ = run("--quiet", *SMALL)
    assert len(starts()) == 6 and "complete already" in shown.err


@pytest.mark.parametrize(
    ("place", "value"),
    [(("updates",), None), (("elements",), "many"), (("samples", 0, "drain_seconds"), "long")],
)
def test_a_damaged_result_is_refused(place, value, run, refused_damaged):
    _, result = run("--quiet", *SMALL)
    refused_damaged(result, place, value)


# ---- Bad input.


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--threads", "0"], "choose from 1 to 1024"),
        (["--threads", "many"], "not a whole number"),
        (["--updates", "101"], "--updates: 101 is out of range"),
        (["--updates", "nan"], "out of range"),
        (["--updates", "some"], "is not a number"),
        (["--elements", "0"], "--elements: 0 is out of range"),
        (["--elements", "1e6"], "'1e6' is not a whole number"),
        (["--seconds", "1", "--budget", "9"], "give one of them"),
        (["--rounds", "0"], "--rounds"),
        (["--budget", "inf"], "--budget"),
        (["--pin", "9999"], "may not run on CPU 9999"),
        (["--candidates", "pawl_rcv"], "did you mean pawl_rcu"),
        (["--candidates", "tbb_hash_map"], "was not built; install libtbb-dev"),
        (["--json", "/nowhere/at/all.json"], "does not exist"),
    ],
)
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "hash", *arguments)


@pytest.mark.parametrize("mode", ["garbage", "crash", "broken-lock"])
def test_a_driver_that_fails_leaves_nothing(mode, run, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", mode)
    _, result = run("--quiet", *SMALL, code=1)
    assert result is None
