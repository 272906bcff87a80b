# SPDX-License-Identifier: MIT
"""`pawl bench sem`: the plan, the rows, the report, and what it refuses."""

import pytest

from conftest import figures
from pawl.cli import main
from pawl.kinds.sem import plan as sem
from pawl.kinds.sem import plot as sem_plot
from pawl.kinds.sem.kind import KIND

SMALL = ("--threads", "1,2", "--seconds", "0.01")


@pytest.fixture
def run(drivers, benches):
    return benches("sem")


def test_each_pattern_is_measured_at_each_number_of_threads(run, starts):
    run("--quiet", *SMALL)
    assert [(s["choose"], s["threads"], s["semaphores"]) for s in starts()] == [
        (c, t, "1024") for c in ("disjoint", "same", "random") for t in (1, 2)
    ]


def test_quick_is_one_pattern_and_what_is_given_still_counts(run, starts):
    run("--quiet", "--quick", "--threads", "2", "--semaphores", "16,64")
    assert [(s["choose"], s["semaphores"]) for s in starts()] == [
        ("disjoint", "16"),
        ("disjoint", "64"),
    ]


def test_a_budget_is_kept():
    cells = sem.plan(sem.Request(budget=20), [sem.MAIN, sem.BASELINE, sem.SPIN])
    assert sem.expected_seconds(cells) == pytest.approx(20, rel=0.02)


def test_the_mutex_is_measured_even_if_not_named(run, starts):
    run("--quiet", *SMALL, "--candidates", sem.MAIN)
    assert starts()[0]["candidates"].split(",") == [sem.MAIN, sem.BASELINE]


def test_rows_are_compared_with_the_global_mutex(run):
    shown, result = run("--quiet", *SMALL)
    cell = next(c for c in result["cells"] if (c["choose"], c["threads"]) == ("disjoint", 2))
    rows = {r["candidate"]: r for r in cell["summary"]}
    assert rows[sem.MAIN]["ratio_to_baseline"] == pytest.approx(8, rel=0.03)
    assert rows[sem.MAIN]["refused"] == pytest.approx(0.001, rel=0.01)
    assert "each thread its own, 2 threads" in shown.out and "515.3" in shown.out


def test_losses_are_ours_behind_the_mutex(run):
    _, result = run("--quiet", *SMALL)
    cell = next(c for c in result["cells"] if (c["choose"], c["threads"]) == ("disjoint", 1))
    assert KIND.losses(cell["summary"]) == []
    cell["summary"][0].update(ratio_ci95_low=0.8, ratio_ci95_high=0.9)
    assert KIND.losses(cell["summary"]) == [cell["summary"][0]]


def test_a_hue_tells_how_the_semaphore_is_found():
    looks = sem_plot.colours([f"idtable/row{n}" for n in range(9)] + [sem.BASELINE, sem.MAIN])
    assert list(looks)[0] == sem.MAIN and looks[sem.MAIN][2] > 1.5
    assert looks[sem.BASELINE][0] in sem_plot.HUES["global"]
    assert len(looks) == 11


def test_pictures_and_the_page(run, tmp_path):
    page = tmp_path / "sem.html"
    _, result = run("--quiet", *SMALL, "--semaphores", "16,1024", "--html", page)
    ((_, figure),) = figures(result)
    assert [a.get_title(loc="left") for a in figure.axes] == [
        f"{n} semaphores, {c}" for n in ("16", "1,024") for c in ("disjoint", "random", "same")
    ]
    assert KIND.title in page.read_text()
    assert main(["report", str(tmp_path / "sem.json"), "--html", str(page), "--check"]) == 0


@pytest.mark.parametrize(
    ("place", "value"),
    [(("semaphores",), None), (("choose",), 7), (("samples", 0, "refused"), "few")],
)
def test_a_damaged_result_is_refused(place, value, run, refused_damaged):
    _, result = run("--quiet", "--quick", "--threads", "2")
    refused_damaged(result, place, value)


@pytest.mark.parametrize(("arguments", "says"), [
    (["--choose", "apart"], "--choose: there is no 'apart'; choose among disjoint, same, random"),
    (["--semaphores", "0"], "--semaphores: 0 is out of range"),
    (["--semaphores", "x"], "is not a whole number"),
    (["--threads", "0"], "choose from 1 to"),
    (["--candidates", "idtable/pawl_spin23"], "did you mean idtable/pawl_spin32"),
    (["--seconds", "1", "--budget", "9"], "give one of them"),
    (["--json", "/nowhere/at/all.json"], "does not exist"),
])  # fmt: skip
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "sem", *arguments)
