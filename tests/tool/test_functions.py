# SPDX-License-Identifier: MIT
"""`pawl bench functions`: what is planned, recorded and judged; and the driver itself."""

import json
import os
import subprocess

import pytest

from conftest import BUILD, recorded_runs, texts
from pawl import targets
from pawl.cli import main
from pawl.core import verdict
from pawl.kinds.functions.kind import KIND
from pawl.kinds.functions.plan import DRIVER, GROUPS, function_of

BUILT = os.path.join(BUILD, "bench", DRIVER)
needs_driver = pytest.mark.skipif(not os.path.exists(BUILT), reason=f"{DRIVER} is not built")


@pytest.fixture
def saved(drivers, tmp_path, capsys):
    path = tmp_path / "functions.json"
    assert main(["bench", "functions", "--quiet", "--json", str(path)]) == 0
    capsys.readouterr()
    return json.loads(path.read_text())


@pytest.fixture
def folder(drivers, tmp_path, capsys):
    """Three recorded runs of a commit that is known."""
    made = recorded_runs(tmp_path / "runs", "functions")
    capsys.readouterr()
    return made


def change(folder, row, factor):
    """Makes a row that much slower: all its samples, or those of every other round."""
    for path in folder.glob("run*.json"):
        run = json.loads(path.read_text())
        for sample in (s for c in run["parts"][0]["cells"] for s in c["samples"]):
            if row in sample["candidate"] and sample["round"] % 2 < factor[1]:
                sample["seconds"] *= factor[0]
        path.write_text(json.dumps(run))


def test_each_header_is_a_cell_and_times_are_of_a_call(saved):
    assert [c["group"] for c in saved["cells"]] == ["floor", "lock", "wait"]
    rows = {r["candidate"]: r for c in saved["cells"] for r in c["summary"]}
    assert rows["wait/pawl_wake_one@1"]["median"] == pytest.approx(8, rel=0.02)
    (cell,) = (c for c in saved["cells"] if c["group"] == "lock")
    shown = dict(texts(saved, cell, "lock/pawl_lock64_is_free@1"))
    assert shown["an\noperation"] == "0.50 ns"


def test_a_page_begins_with_pairs_of_functions_to_choose_between(saved):
    said = verdict.verdict(KIND, saved)
    assert len(said) == 2 and said[0].startswith(
        "Taking W with a deadline: lock/pawl_lock64_take_write_until takes 1.6"
    )
    assert "the time of lock/pawl_lock64_take_write: behind." in said[0]


def test_a_function_is_chosen_by_its_name(drivers, starts):
    assert main(["bench", "functions", "--quiet", "--candidates", "*seek_to_write@1"]) == 0
    assert [s["candidates"] for s in starts()] == ["lock/pawl_lock64_seek_to_write@1"]


def test_unknown_groups_are_refused(drivers, refused):
    assert "choose among" in refused("bench", "functions", "--groups", "lock,lok")


def test_recorded_runs_meet_every_target(folder, capsys):
    assert targets.main([str(folder)]) == 0
    said = capsys.readouterr().out
    assert "(pawl_lock64_take_write)" in said and "7 rows; their quartiles lie within" in said


@pytest.mark.parametrize(
    ("row", "factor", "words"),
    [
        ("pawl_lock64_seek_to_write@1", (1.5, 2), "the dearest take, drop or move of lock.h"),
        ("/pawl_", (1.5, 1), "functions whose quartiles lie within 10%"),
    ],
)
def test_a_target_can_be_missed(folder, row, factor, words, capsys):
    change(folder, row, factor)
    assert targets.main([str(folder)]) == 1
    missed = [line for line in capsys.readouterr().out.splitlines() if "MISSED" in line]
    assert len([line for line in missed if words in line]) == 1


def test_a_form_with_a_deadline_is_no_move(folder):
    change(folder, "take_write_until", (3, 2))
    assert targets.main([str(folder)]) == 0


# ---- The driver ----------------------------------------------------------------------------------


def said(*words, code=0):
    done = subprocess.run([BUILT, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


@needs_driver
def test_every_row_of_the_driver_can_be_measured():
    offered = [one["name"] for one in json.loads(said("--list"))]
    assert {name.split("/")[0] for name in offered} == set(GROUPS)
    assert len({function_of(name) for name in offered}) == len(offered)
    lines = said("--rounds", "1", "--seconds", "0.0002", "--warmup", "0").splitlines()
    samples = [json.loads(line) for line in lines[1:-1]]
    assert [s["candidate"] for s in samples] == offered
    assert all(s["seconds"] > 0 and s["ops"] > 0 for s in samples)


@needs_driver
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rounds", "0"], "--rounds is 0; it must be between 1 and 100000."),
        (["--candidates", "lock/pawl_lock64_seek@1"], "There is no candidate"),
        (["--pin", "none"], "this bench needs its thread on a CPU of its own"),
        (["--pin", "99999"], "Could not pin a thread on CPU 99999"),
    ],
)
def test_the_driver_refuses_with_a_sentence(words, sentence):
    line = json.loads(said(*words, code=2).splitlines()[-1])
    assert line["type"] == "error" and sentence in line["message"]
