# SPDX-License-Identifier: MIT
"""`pawl sim`: sweeps, what is kept of them, the split of the fit, and the recorded predictions."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from pawl.cli import main
from pawl.core.errors import BadInput
from pawl.sim import command, fit, machine, reference, tasks, validate
from pawl.sim.reference import Point

NAME = "haswell-ep"


@pytest.fixture
def program(tmp_path):
    """Stands for pawl-sim: says its arguments, and writes each start down."""
    path = tmp_path / "pawl-sim"
    path.write_text(f"""#!{sys.executable}
import json, pathlib, sys
with pathlib.Path({str(tmp_path / "starts")!r}).open("a") as out:
    out.write("x")
given = dict(w.split("=") for w in sys.argv[2:])
if given.get("seed") == "13":
    sys.exit("pawl-sim: the simulated program failed. No thread can go on.")
print(json.dumps({{"lookups_per_s": 1e6 * float(given["cores"])}}))
""")
    path.chmod(0o755)
    return path


def starts(program):
    path = program.with_name("starts")
    return len(path.read_text()) if path.exists() else 0


@pytest.fixture
def real():
    for build in ("dev", "release"):
        path = ROOT / "build" / build / "bench" / "pawl-sim"
        if path.is_file():
            return path
    pytest.skip("pawl-sim is not built")


def simulate(program, *more):
    return main(["sim", "lru", "--quiet", "--driver", str(program), "--cores", "1,2",
                 "--locks", "spin,plock_w", *map(str, more)])


def test_a_sweep_says_that_it_is_simulated_in_every_output(program, tmp_path, capsys):
    to, page = tmp_path / "out.json", tmp_path / "out.html"
    assert simulate(program, "--json", to, "--html", page) == 0
    assert "simulated" in capsys.readouterr().out
    found = json.loads(to.read_text())
    assert found["simulated"] is True and len(found["points"]) == 4
    assert {p["model"] for p in found["points"]} == {"model of glibc's spinlock", "pawl_spin64, W"}
    assert "Nothing here was measured" in page.read_text()


def test_an_interrupted_sweep_goes_on_where_it_ended(program, tmp_path):
    keep = tmp_path / "keep.jsonl"
    assert simulate(program, "--keep", keep) == 0
    assert starts(program) == 4
    lines = keep.read_text().splitlines(keepends=True)
    keep.write_text("".join(lines[:2]) + lines[2][:20])  # the third was cut off
    assert simulate(program, "--keep", keep) == 0
    assert starts(program) == 4 + 2


def test_results_of_another_program_are_not_taken(program, tmp_path):
    keep = tmp_path / "keep.jsonl"
    assert simulate(program, "--keep", keep) == 0
    program.write_text(program.read_text() + "# changed\n")
    assert simulate(program, "--keep", keep) == 0
    assert starts(program) == 8


@pytest.mark.parametrize(("more", "sentence"), [
    (["--machine", "nowhere"], "there is no nowhere"),
    (["--cores", "0"], "--cores: 0 is out of range"),
    (["--cores", "1:2:3"], "too many colons"),
    (["--cores", "10000"], "12 cores, not 10000"),
    (["--locks", "nsync"], "no model of 'nsync'"),
    (["--json", "/nowhere/x.json"], "does not exist"),
])
def test_bad_input_gets_a_sentence(program, capsys, more, sentence):
    arguments = ["sim", "lru", "--quiet", "--driver", str(program), *more]
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
    assert starts(program) == 0


def test_a_range_of_cores_doubles_and_ends_with_its_last():
    assert command._cores("1:12", 12, NAME) == [1, 2, 4, 8, 12]
    assert command._cores("3,6:12", 12, NAME) == [3, 6, 12]


def test_a_failed_program_is_a_failure_and_not_a_hang(program, capsys):
    assert simulate(program, "--seed", 13) == 1
    assert "No thread can go on" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "sentence"), [
    ("[topology", "not a machine file"), ("[speed]\nx = 1\n", "section 'speed'"),
    ("[values]\nload = 'fast'\n", "not a number")])
def test_a_machine_file_that_cannot_be_is_refused(tmp_path, text, sentence):
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=sentence):
        machine.load(str(path))


@pytest.mark.parametrize("values", ["[topology]\ncores = 0\n", "[values]\nrmw = -1\n",
                                    "[values]\nspeed = 1\n", "[topology]\ncores = 10000\n"])
def test_the_simulator_refuses_impossible_values(real, tmp_path, capsys, values):
    path = tmp_path / "m.toml"
    path.write_text(values)
    assert main(["sim", "lru", "--quiet", "--driver", str(real), "--machine", str(path),
                 "--cores", "1", "--locks", "spin"]) == 2
    assert "pawl" in capsys.readouterr().err


def test_the_protocol_sees_three_rows_at_one_miss_cost():
    seen = [p for p in reference.measured() if p.seen]
    assert {p.strategy for p in seen} == {"spin", "plock_w", "rwlock"}
    assert {p.cost for p in seen} == {100}
    assert not Point(99, 30, 12, 2, "spin").seen
    assert not Point(99, 100, 1, 1, "plock_s").unseen  # the job was fitted on its like


def test_the_frozen_machine_was_fitted_on_no_more_than_the_protocol_allows():
    assert validate.frozen_was_fitted_on_more(NAME) == ""


@pytest.mark.parametrize(("before", "after", "said"), [
    ('rows = ["spin"', 'rows = ["plock_s", "spin"', "rows"),
    ("miss_cost = 100", "miss_cost = 30", "miss cost 30"),
    ('points_digest = "', 'points_digest = "0', "not those of the protocol")])
def test_a_frozen_machine_with_a_wider_split_is_found(tmp_path, before, after, said):
    text = machine.path_of(NAME).read_text()
    assert before in text
    path = tmp_path / "wider.toml"
    path.write_text(text.replace(before, after))
    assert said in validate.frozen_was_fitted_on_more(str(path))


def test_the_fit_finds_the_constants_of_a_function_that_has_them():
    import numpy as np
    where = np.linspace(0.5, 2, 9)

    def errors(v):
        return np.log((v["rmw"] + v["keep"] * where) / (5 + 9 * where))
    found, left = fit.minimise({"rmw": 7.0, "keep": 6.0}, errors, 30, lambda _: None)
    assert left < 0.005
    assert found["rmw"] == pytest.approx(5, rel=0.2) and found["keep"] == pytest.approx(9, rel=0.2)


def test_a_frozen_file_reads_back_as_it_was_found(tmp_path):
    path = tmp_path / "m.toml"
    shutil.copy(machine.path_of(NAME), path)
    there = machine.load(str(path))
    found = {"fitted": {"rmw": 4.5, "transfer.cluster": 60.25}, "job": {"step": 3.5},
             "fit": there["fit"]}
    fit.freeze(str(path), found)
    again = machine.load(str(path))
    assert again["topology"] == there["topology"] and again["values"] == there["values"]
    assert machine.flat(again["fitted"]) == found["fitted"] and again["fit"] == there["fit"]


def test_the_page_shows_the_recorded_predictions():
    text = validate.markdown(NAME, validate.summary(validate.load(NAME)))
    page = (ROOT / "doc" / "sim.md").read_text()
    assert text in page, "run: pawl sim validate --page doc/sim.md"


def test_all_published_points_are_predicted():
    assert set(validate.load(NAME)) == set(reference.measured())


def test_what_misses_comes_first_with_by_how_much():
    real = reference.measured()
    bad = validate.summary({p: v * (2 if p.strategy == "spin" else 1) for p, v in real.items()})
    assert bad["by_strategy"][0]["name"] == "spin"
    table = validate.markdown(NAME, bad).splitlines()
    assert "missed by" in table[2]
    perfect = validate.summary(real)
    assert perfect["median"] == 0 and perfect["tau_mean"] == pytest.approx(1)
    assert "missed" not in validate.markdown(NAME, perfect)


def test_recorded_predictions_are_what_the_program_says_now(real):
    """A sample of the unseen points. A change of the library may move them a little; make prove
    compares all of them exactly."""
    points = [Point(99, 30, 3, 1, "plock_r_s_w"), Point(90, 300, 7, 2, "rwlock"),
              Point(50, 30, 5, 1, "plock_s")]
    store = tasks.Store(None, real)
    again = validate.predict(real, NAME, store, True, points)
    recorded = validate.load(NAME)
    for p in points:
        assert again[p] == pytest.approx(recorded[p], rel=0.1)


def test_the_reference_data_are_complete():
    assert len(reference.measured()) == 18 * 24 * 8
    assert Path(reference.data_path()).with_name("README.md").is_file()
