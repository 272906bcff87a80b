# SPDX-License-Identifier: MIT
"""`pawl bench crate`: what is planned, compared, recorded and judged; and the driver itself."""

import json
import os
import subprocess

import pytest

from conftest import BUILD, figures, recorded_runs, texts
from pawl import targets
from pawl.cli import main
from pawl.kinds.crate.plan import DRIVER, GROUPS

BUILT = os.path.join(BUILD, "bench", DRIVER)
needs_driver = pytest.mark.skipif(
    not os.path.exists(BUILT), reason=f"{DRIVER} is not built (cargo, scripts/setup bench)"
)


@pytest.fixture
def saved(drivers, tmp_path, capsys):
    path = tmp_path / "crate.json"
    assert main(["bench", "crate", "--rounds", "6", "--quiet", "--json", str(path)]) == 0
    capsys.readouterr()
    return json.loads(path.read_text())


def test_each_operation_is_a_cell_measured_by_one_process(saved, starts):
    assert [c["group"] for c in saved["cells"]] == list(GROUPS)
    assert [s["candidates"].split("/")[0] for s in starts()] == list(GROUPS)


def test_a_row_brings_its_peer_and_its_row_at_one_thread(drivers, starts):
    assert (
        main(["bench", "crate", "--rounds", "6", "--quiet", "--candidates", "upgrade/pawl@2"]) == 0
    )
    assert set(starts()[0]["candidates"].split(",")) == {
        "upgrade/pawl@1",
        "upgrade/parking_lot@2",
        "upgrade/pawl@2",
    }


def test_times_are_of_one_thread_and_compared_at_as_many(saved):
    rows = {r["candidate"]: r for c in saved["cells"] for r in c["summary"]}
    assert rows["read/pawl@1"]["median"] == pytest.approx(11, rel=0.02)
    assert rows["read/pawl@2"]["median"] == pytest.approx(60, rel=0.02)
    assert rows["read/pawl@2"]["ratio_to_baseline"] == pytest.approx(60 / 80, rel=0.03)
    cell = next(c for c in saved["cells"] if c["group"] == "upgrade")
    assert ("times\nparking_lot", "0.90x") in texts(saved, cell, "upgrade/pawl@1")


def test_a_few_powers_of_ten_are_labelled_as_numbers(saved):
    """The axis of a page had 2 x 10^1 at the place of 20."""
    figure = figures(saved)[0][1]
    figure.canvas.draw()
    (axes,) = figure.axes
    labels = [t.get_text() for t in axes.get_xticklabels(which="both") if t.get_text()]
    assert len(labels) >= 2 and all(text.isdigit() for text in labels)


def test_unknown_groups_and_unpinned_threads_are_refused(drivers, refused):
    assert "choose among" in refused("bench", "crate", "--groups", "write,reed")
    assert "CPU of its own" in refused("bench", "crate", "--pin", "none")


@pytest.fixture
def folder(drivers, tmp_path, capsys):
    """Three recorded runs of a commit that is known."""
    made = recorded_runs(tmp_path / "runs", "crate")
    capsys.readouterr()
    return made


def test_recorded_runs_meet_every_target(folder, capsys):
    assert targets.main([str(folder)]) == 0
    assert "the same row twice (noise)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "factor", "words"),
    [
        ("read/pawl@1", 0.8, "taking and dropping R, one thread"),
        ("mutex/pawl@2", 0.7, "mutex, two threads"),
    ],
)
def test_a_target_can_be_missed(folder, row, factor, words, capsys):
    for path in folder.glob("run*.json"):
        run = json.loads(path.read_text())
        for sample in (s for c in run["parts"][0]["cells"] for s in c["samples"]):
            if sample["candidate"] == row:
                sample["ops"] = int(sample["ops"] * factor)
        path.write_text(json.dumps(run))
    assert targets.main([str(folder)]) == 1
    missed = [line for line in capsys.readouterr().out.splitlines() if "missed" in line.lower()]
    assert missed and words in " ".join(missed)


def said(*words, code=0):
    done = subprocess.run([BUILT, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


@needs_driver
def test_the_driver_alternates_and_ends():
    rows = ["upgrade/pawl@1", "upgrade/parking_lot@1"]
    lines = [
        json.loads(line)
        for line in said(
            "--candidates", ",".join(rows), "--rounds", "2", "--seconds", "0.002"
        ).splitlines()
    ]
    assert [line["type"] for line in lines] == ["start", *["sample"] * 4, "end"]
    assert [line["candidate"] for line in lines[1:-1]] == [*rows, *reversed(rows)]
    assert lines[0]["compiler"].startswith("rustc")


@needs_driver
def test_every_row_of_the_driver_can_be_measured():
    offered = json.loads(said("--list"))
    assert {one["name"].split("/")[0] for one in offered} == set(GROUPS)
    lines = said("--rounds", "1", "--seconds", "0.001", "--warmup", "0").splitlines()
    samples = [json.loads(line) for line in lines[1:-1]]
    assert {s["candidate"] for s in samples} == {o["name"] for o in offered if o["available"]}
    assert all(s["seconds"] > 0 for s in samples)


@needs_driver
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rounds", "0"], "--rounds is 0; it must be between 1 and 100000."),
        (["--seconds", "nan"], "--seconds is nan; it must be between"),
        (["--candidates", 'read/"x"@1'], "There is no candidate 'read/\"x\"@1'."),
        (["--pin", "99999"], "Could not pin a thread on CPU 99999"),
        (["--pin", "none"], "it must be CPU numbers"),
        (["--candidates", "read/pawl@2", "--pin", "0"], "it needs 2 CPUs"),
        (["--fast"], "There is no option --fast."),
    ],
)
def test_the_driver_refuses_with_a_sentence(words, sentence):
    line = json.loads(said(*words, code=2))
    assert line["type"] == "error" and sentence in line["message"]
