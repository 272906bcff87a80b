# SPDX-License-Identifier: MIT
"""`pawl bench tree`: the plan, the rows, and what the published formula makes of them."""

import pytest

from conftest import figures, further
from pawl.cli import main
from pawl.kinds.tree import plan as tree
from pawl.kinds.tree import table as tree_table

SMALL = ("--threads", "1,2", "--lookups", "hot", "--seconds", "0.01")


@pytest.fixture
def run(drivers, benches):
    return benches("tree")


# ---- The formula.


def test_the_formula_gives_the_published_numbers():
    lock, ours = (tree_table.predicted(tree_table.PUBLISHED, 1, 8, own) for own in (False, True))
    assert (round(lock), round(ours)) == (91, 161)
    assert ours / lock == pytest.approx(1.77, abs=0.01)


def test_one_core_is_the_same_under_both_locks():
    lock, ours = (tree_table.predicted(tree_table.PUBLISHED, 1, 1, own) for own in (False, True))
    assert lock == ours == pytest.approx(100 / (595 + 5 + 99 * 40) * 1000)


def test_lookups_that_outlast_the_search_run_on_all_cores():
    slow = {"seek_ns": 595.0, "write_ns": 5.0, "read_ns": 400.0}
    assert tree_table.predicted(slow, 1, 8, True) == pytest.approx(
        100 / (595 + 200 + 5 + (99 * 400 - 7 * 595) / 8) * 1000
    )


def test_the_pieces_are_medians_of_the_row_without_locks():
    samples = [
        {"candidate": tree.PARTS, "seek_ns": s, "write_ns": 5, "read_ns": 40}
        for s in (500, 600, 900)
    ] + [{"candidate": tree.MAIN}]
    assert tree_table.pieces(samples) == {"seek_ns": 600, "write_ns": 5, "read_ns": 40}
    assert tree_table.pieces([{"candidate": tree.MAIN}]) is None


# ---- The plan and the rows.


def test_hot_and_cold_lookups_are_measured_at_each_number_of_threads(run, starts):
    run("--quiet", "--threads", "1,2", "--seconds", "0.01")
    assert [(s["lookups"], s["threads"]) for s in starts()] == [
        ("hot", 1),
        ("hot", 2),
        ("cold", 1),
        ("cold", 2),
    ]
    assert {(s["nodes"], s["inserts"]) for s in starts()} == {("1000000", "1")}


def test_no_lock_at_all_is_measured_at_one_thread_only(run, starts):
    run("--quiet", *SMALL)
    assert ["w/none" in s["candidates"].split(",") for s in starts()] == [True, False]


def test_baseline_and_pieces_are_measured_even_if_not_named(run, starts):
    run("--quiet", *SMALL, "--candidates", "r+s>w/pawl_spin64")
    assert starts()[0]["candidates"].split(",") == [tree.MAIN, tree.BASELINE, tree.PARTS]


def test_the_pieces_are_no_row_but_told_above_the_table(run):
    shown, result = run("--quiet", *SMALL)
    assert all(r["candidate"] != tree.PARTS for c in result["cells"] for r in c["summary"])
    assert "without a lock: seek 59" in shown.out and "write 5 ns" in shown.out


def test_a_budget_is_kept():
    cells = tree.plan(tree.Request(budget=60), [f"w/row{n}" for n in range(15)])
    assert tree.expected_seconds(cells) == pytest.approx(60, rel=0.02)


def test_quick_is_a_smaller_tree_and_what_is_given_still_counts(run, starts):
    run("--quiet", "--quick", "--threads", "1", "--inserts", "5")
    assert {(s["nodes"], s["inserts"]) for s in starts()} == {("100000", "5")}


# ---- The prediction beside what was measured.


def test_the_table_predicts_for_more_cores_and_shows_what_was_measured(run):
    shown, result = run("--quiet", *SMALL)
    (extra,) = further(result)
    assert [row[0] for row in extra.rows] == [str(n) for n in tree_table.CORES]
    eight = next(row for row in extra.rows if row[0] == "8")
    assert eight[1].startswith("91.") and eight[2].startswith("16") and eight[3] == "+77 %"
    assert eight[4:] == ["-", "-"]
    two = next(row for row in extra.rows if row[0] == "2")
    assert float(two[4]) == pytest.approx(18, rel=0.02)
    assert float(two[5]) == pytest.approx(30, rel=0.02)
    assert any("91 and 161 million, +77 %" in note for note in extra.notes)
    assert "predicted and measured" in shown.out


@pytest.mark.parametrize("inserts", ["0", "100"])
def test_a_mix_of_one_kind_breaks_nothing(inserts, run):
    _, result = run("--quiet", *SMALL, "--inserts", inserts)
    assert len(further(result)) == (inserts == "100")
    assert len(figures(result)) == 2


def test_a_result_without_pieces_has_no_prediction(run):
    _, result = run("--quiet", *SMALL)
    for cell in result["cells"]:
        cell["samples"] = [s for s in cell["samples"] if s["candidate"] != tree.PARTS]
    assert further(result) == [] and len(figures(result)) == 2


def test_pictures_and_the_page(run, tmp_path):
    page = tmp_path / "tree.html"
    _, result = run("--quiet", "--threads", "1,2", "--html", page, "--png", tmp_path / "t.png")
    drawn = figures(result)
    assert [a.get_title(loc="left") for a in drawn[1][1].axes] == [
        "cold lookups, 1 % inserts",
        "hot lookups, 1 % inserts",
    ]
    assert page.read_text().count("predicted and measured") == 2
    assert main(["report", str(tmp_path / "tree.json"), "--html", str(page), "--check"]) == 0


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("nodes",), 1.5),
        (("lookups",), 3),
        (("samples", 0, "ops"), None),
        (("samples", -1, "seek_ns"), "long"),
    ],
)
def test_a_damaged_result_is_refused(place, value, run, refused_damaged):
    _, result = run("--quiet", *SMALL, "--rounds", "1")
    assert result["cells"][0]["samples"][-1]["candidate"] == tree.PARTS
    refused_damaged(result, place, value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--lookups", "warm"], "--lookups: there is no 'warm'; choose among hot, cold"),
        (["--nodes", "0"], "--nodes"),
        (["--inserts", "nan"], "--inserts: nan is out of range"),
        (["--inserts", "101"], "--inserts"),
        (["--threads", "0"], "choose from 1 to 1024"),
        (["--candidates", "r+s>w/pawl_spin46"], "did you mean r+s>w/pawl_spin64"),
        (["--candidates", "*boost*"], "install libtbb-dev"),
        (["--seconds", "1", "--budget", "9"], "give one of them"),
        (["--html", "/nowhere/at/all.html"], "does not exist"),
    ],
)
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "tree", *arguments)


def test_maps_that_cannot_remove_stay_out_where_others_do():
    names = [tree.BASELINE, tree.ONLY_GROWS]
    request = tree.Request(threads=[1], lookups=["cold"], inserts=[0.0, 20.0], removes=50.0)
    cells = tree.plan(request, names)
    assert [c.candidates for c in cells] == [names, [tree.BASELINE]]
    assert cells[1].options[cells[1].options.index("--removes") + 1] == "50"
    assert "20 % changes, 50 % of them removals" in tree_table.workload(cells[1].parameters)
