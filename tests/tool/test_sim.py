# SPDX-License-Identifier: MIT
"""`pawl sim`: sweeps, what is kept of them, the split of the fit, and the recorded predictions."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT, built_sim, pawl
from pawl.cli import main
from pawl.core.errors import BadInput
from pawl.sim import (
    ablation,
    fit,
    folly,
    grid,
    host,
    increments,
    machine,
    reference,
    regions,
    sections,
    summary,
    tasks,
    validate,
    workloads,
)
from pawl.sim.reference import Point

NAME = "haswell-ep"
TABLES = ROOT / "sim/reference/tables.md"


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
print(json.dumps({{"lookups_per_s": 1e6 * float(given["cores"]), "write_wait_max": 2500.0,
                  "operations_per_s": 1e6 * float(given["cores"]), "still_waits": 7000.0}}))
""")
    path.chmod(0o755)
    return path


def starts(program):
    path = program.with_name("starts")
    return len(path.read_text()) if path.exists() else 0


@pytest.fixture
def real():
    return built_sim()


def simulate(program, *more):
    told = f"sim lru --quiet --driver {program} --cores 1,2 --locks spin,plock_w --seeds 1"
    return main([*told.split(), *map(str, more)])


def test_a_sweep_says_that_it_is_simulated_in_every_output(program, tmp_path, capsys):
    to, page = tmp_path / "out.json", tmp_path / "out.html"
    assert simulate(program, "--json", to, "--html", page) == 0
    assert "simulated" in capsys.readouterr().out
    found = json.loads(to.read_text())
    assert found["simulated"] is True and len(found["points"]) == 4
    assert {p["model"] for p in found["points"]} == {"model of glibc's spinlock", "pawl_spin64, W"}
    assert "Nothing here was measured" in page.read_text()


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("readers", 12),
        ("brlock", 12),
        ("seq", 9),
        ("rcu", 15),
        ("crowd", 14),
        ("fairness", 16),
        ("counters", 3),
        ("bigref", 2),
        ("wake", 3),
    ],
)
def test_each_workload_says_that_it_is_simulated_and_how_wrong_it_may_be(
    program, tmp_path, capsys, name, runs
):
    to, page = tmp_path / "out.json", tmp_path / "out.html"
    assert main(["sim", name, "--quiet", "--driver", str(program), "--cores", "2", "--json",
                 str(to), "--html", str(page), "--machine", "milan",
                 "--seeds", "1"]) == 0  # fmt: skip
    said = capsys.readouterr().out
    assert "simulated, never validated on this machine" in " ".join(said.split())
    assert starts(program) == runs
    found = json.loads(to.read_text())
    assert found["simulated"] is True
    for p in found["points"]:
        assert p["least"] == p["operations_per_s"] == p["most"] and p["error_p90"] is None
    assert "simulated" in page.read_text() and "never validated" in page.read_text()
    if name in ("readers", "crowd", "fairness"):
        assert re.search(r"\b7 ", said)  # in microseconds: a thread that still waits counts


@pytest.mark.parametrize("name", [p.stem for p in (machine.folder() / "machines").glob("*.toml")])
def test_each_machine_names_the_source_of_each_value(name):
    text = machine.path_of(name).read_text()
    part = text.split("[values]\n")[1].split("\n[")[0]
    for line in part.strip().splitlines():
        assert re.search(r"# \S", line), f"{name}: '{line}' has no source"
    assert "assumed" in text


def test_the_machines_are_ones_that_the_simulator_accepts(real, capsys):
    for path in (machine.folder() / "machines").glob("*.toml"):
        pawl(f"sim counters --quiet --driver {real} --machine {path.stem} --cores 1,3 --count 50")


def test_an_interrupted_sweep_goes_on_where_it_ended(program, tmp_path):
    keep = tmp_path / "keep.jsonl"
    assert simulate(program, "--keep", keep) == 0
    assert starts(program) == 4
    lines = keep.read_text().splitlines(keepends=True)
    keep.write_text("".join(lines[:2]) + lines[2][:20])  # the third was cut off
    assert simulate(program, "--keep", keep) == 0
    assert starts(program) == 4 + 2


@pytest.mark.parametrize("keeps", [True, False])
def test_an_interrupt_says_what_is_kept(tmp_path, keeps):
    """It said that all was kept, also where no file had been named."""
    path, keep, stands = (tmp_path / name for name in ("pawl-sim", "keep.jsonl", "stands"))
    path.write_text(f"""#!{sys.executable}
import json, pathlib, sys, time
if "cores=2" in sys.argv:
    pathlib.Path({str(stands)!r}).touch()
    time.sleep(600)
print(json.dumps({{"operations_per_s": 1e6}}))
""")
    path.chmod(0o755)
    told = f"-m pawl sim counters --quiet --driver {path} --cores 1,2 --locks atomic --seeds 1"
    command = [sys.executable, *told.split(), *(["--keep", keep] if keeps else [])]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tool")},
    ) as process:
        while not stands.exists() or keeps and not (keep.exists() and keep.read_text()):
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        said = process.stderr.read()
    assert process.returncode == 130
    assert ("goes on from there" if keeps else "with --keep FILE") in said
    assert not keeps or len(keep.read_text().splitlines()) == 1


def test_results_of_another_program_are_not_taken(program, tmp_path):
    keep = tmp_path / "keep.jsonl"
    assert simulate(program, "--keep", keep) == 0
    program.write_text(program.read_text() + "# changed\n")
    assert simulate(program, "--keep", keep) == 0
    assert starts(program) == 8


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--machine", "nowhere"], "there is no nowhere"),
        (["--cores", "0"], "--cores: 0 is out of range"),
        (["--machine", "milan", "--cores", "1:10000"], "128 cores, not 10000"),
        (["--cores", "1:2:3"], "too many colons"),
        (["--cores", "10000"], "12 cores, not 10000"),
        (["--locks", "nsync"], "no model of 'nsync'"),
        (["--json", "/nowhere/x.json"], "does not exist"),
    ],
)
def test_bad_input_gets_a_sentence(program, capsys, more, sentence):
    arguments = ["sim", "lru", "--quiet", "--driver", str(program), *more]
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
    assert starts(program) == 0


def test_a_range_of_cores_doubles_and_ends_with_its_last():
    assert grid.cores("1:12", 12, NAME) == [1, 2, 4, 8, 12]
    assert grid.cores("3,6:12", 12, NAME) == [3, 6, 12]


def test_a_failed_program_is_a_failure_and_not_a_hang(program, capsys):
    assert simulate(program, "--seed", 13) == 1
    assert "No thread can go on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[topology", "not a machine file"),
        ("[speed]\nx = 1\n", "section 'speed'"),
        ("[values]\nload = 'fast'\n", "not a number"),
        ("[topology]\ncores = 0\n", "a topology counts"),
        ("[topology]\nsockets = 1.5\n", "a topology counts"),
    ],
)
def test_a_machine_file_that_cannot_be_is_refused(tmp_path, text, sentence):
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=sentence):
        machine.load(str(path))


@pytest.mark.parametrize(
    "values",
    [
        "[topology]\ncores = 6\npair = 4\n",
        "[values]\nrmw = -1\n",
        "[values]\nspeed = 1\n",
        "[topology]\ncores = 10000\n",
    ],
)
def test_the_simulator_refuses_impossible_values(real, tmp_path, capsys, values):
    path = tmp_path / "m.toml"
    path.write_text(values)
    pawl(f"sim lru --quiet --driver {real} --machine {path} --cores 1 --locks spin", code=2)
    assert "pawl" in capsys.readouterr().err


def test_the_protocol_sees_three_rows_at_one_miss_cost():
    seen = [p for p in reference.measured() if p.seen]
    assert {p.strategy for p in seen} == {"spin", "plock_w", "rwlock"}
    assert {p.cost for p in seen} == {100}
    assert not Point(99, 30, 12, 2, "spin").seen
    assert not Point(99, 100, 1, 1, "plock_s").unseen  # the job was fitted on its like


def test_the_frozen_machine_was_fitted_on_no_more_than_the_protocol_allows():
    assert validate.frozen_was_fitted_on_more(NAME) == ""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('rows = ["spin"', 'rows = ["plock_s", "spin"', "rows"),
        ("miss_cost = 100", "miss_cost = 30", "miss cost 30"),
        ('points_digest = "', 'points_digest = "0', "not those of the protocol"),
    ],
)
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
    found = {
        "fitted": {"rmw": 4.5, "transfer.cluster": 60.25},
        "job": {"step": 3.5},
        "fit": there["fit"],
    }
    fit.freeze(str(path), found)
    again = machine.load(str(path))
    assert again["topology"] == there["topology"] and again["values"] == there["values"]
    assert machine.flat(again["fitted"]) == found["fitted"] and again["fit"] == there["fit"]


def test_the_page_shows_the_recorded_predictions():
    predicted = validate.load(NAME)
    texts = {
        "validate": validate.markdown(NAME, validate.summary(predicted)),
        "regions": regions.markdown(regions.errors(predicted)),
        "folly": folly.markdown(folly.load("predicted-folly-first.csv"), folly.load()),
    }
    for part, text in texts.items():
        assert sections.read(ROOT / "doc/sim.md", part) == text, (
            "run: pawl sim dev validate --page doc/sim.md"
        )


def test_all_published_points_are_predicted():
    assert set(validate.load(NAME)) == set(reference.measured())


def test_what_misses_comes_first_with_by_how_much():
    real = reference.measured()
    bad = validate.summary({p: v * (2 if p.strategy == "spin" else 1) for p, v in real.items()})
    table = validate.markdown(NAME, bad).splitlines()
    assert "missed by" in table[2]
    perfect = validate.summary(real)
    assert perfect["median"] == 0 and perfect["tau_mean"] == pytest.approx(1)
    assert "missed" not in validate.markdown(NAME, perfect)


def test_recorded_predictions_are_what_the_program_says_now(real):
    """A sample of the unseen points. A change of the library may move them a little; make prove
    compares all of them exactly."""
    points = [
        Point(99, 30, 3, 1, "plock_r_s_w"),
        Point(90, 300, 7, 2, "rwlock"),
        Point(50, 30, 5, 1, "plock_s"),
    ]
    store = tasks.Store(None, real)
    again = validate.predict(real, NAME, store, True, points)
    recorded = validate.load(NAME)
    for p in points:
        assert again[p] == pytest.approx(recorded[p], rel=0.1)


def test_the_reference_data_are_complete():
    assert len(reference.measured()) == 18 * 24 * 8
    assert Path(reference.data_path()).with_name("README.md").is_file()


def test_ties_of_the_data_do_not_count_and_the_rest_of_the_order_does():
    """Two strategies closer than the noise may stand in either order."""
    real = reference.measured()
    least = 2 * 2**0.5 * validate.noise()
    assert 0 < validate.noise() < 0.1
    cell = [p for p in real if (p.hit, p.cost, p.cores, p.per_core) == (99, 30, 12, 2)]
    assert validate._taus_beyond({p: real[p] for p in cell}, real, least) == [1.0]
    backwards = validate._taus_beyond({p: 1 / real[p] for p in cell}, real, least)
    assert backwards == [-1.0]
    noisy = {p: real[p] * (1 + (0.1 if i % 2 else -0.1) * least) for i, p in enumerate(cell)}
    assert validate._taus_beyond(noisy, real, least) == [1.0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("increments", lambda: increments.markdown(increments.summary(increments.load()))),
        ("ablate", lambda: ablation.markdown(ablation.load())),
        (
            "native",
            lambda: host.markdown(
                json.loads((machine.folder() / "reference" / "native-intel-xeon.json").read_text())[
                    "rows"
                ]
            ),
        ),
    ],
)
def test_the_page_shows_what_is_recorded(name, text):
    assert sections.read(TABLES, name) == text(), f"run: pawl sim dev {name} --page {TABLES}"


def test_the_page_shows_the_saved_simulation(tmp_path):
    saved = machine.folder() / "reference" / "lru-milan.json"
    text = summary.markdown(summary.load(saved))
    assert sections.read(TABLES, "table") == text
    assert "*Simulated*, not measured" in text
    other = tmp_path / "x.json"
    other.write_text("[]")
    with pytest.raises(BadInput, match="no result of pawl sim"):
        summary.load(other)


def test_the_second_source_is_fitted_on_one_and_two_threads_only():
    assert {k[2] for k in increments.measured() if increments.seen(k)} == {1, 2}
    assert set(increments.load()) == set(increments.measured())
    assert {k[:2] for k in increments.load()} == {
        (r["machine"], r["implementation"]) for r in increments.summary(increments.load())
    }


def test_a_page_without_the_section_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(BadInput, match="pawl sim ablate"):
        sections.write(page, "ablate", "x\n")
    page.write_text("a\n" + sections.begin("ablate") + "old\n" + sections.END + "b\n")
    sections.write(page, "ablate", "new\n")
    assert page.read_text() == "a\n" + sections.begin("ablate") + "new\n" + sections.END + "b\n"


def test_a_calibration_sees_no_lock():
    assert {run[0] for run in host.CALIBRATED_ON} == {"counter"}
    locks = {run[1]["lock"] for run in host.runs()}
    assert locks == {*workloads.SECTION, *(host.LIBRARY + lock for lock in host.LIBRARIES)}


def test_a_calibrated_value_replaces_the_assumed_one(tmp_path):
    path = tmp_path / "here.toml"
    path.write_text('title = "here"\n[topology]\ncores = 2\n\n[values]\nkeep = 9 # assumed\n')
    host.write_calibrated(str(path), {"keep": 12.5, "request": 0.25}, "fitted")
    found = machine.load(str(path))["values"]
    assert found == {"keep": 12.5, "request": 0.25}


def test_rows_of_the_host_come_with_the_worst_first():
    real = {json.dumps(run): [1e6, 1.1e6, 1.2e6] for run in host.runs()}
    simulated = [1.1e6] * len(host.runs())
    simulated[3] = 2.2e6
    rows = host.rows(real, simulated)
    assert rows[0]["error"] == pytest.approx(1) and rows[-1]["error"] == pytest.approx(0)
    text = host.markdown(rows)
    assert "With one thread 21 of 21 rows are within 15 %, with two 20 of 21." in text
    assert "| pthread_rwlock | 2 | 1.10 | 1.10 | 0 % | 1.10 | 0 % |" in text


def test_the_page_shows_the_recorded_waits():
    saved = machine.folder() / "reference"
    assert sections.read(TABLES, "waits") == "\n".join(
        summary.waits(summary.load(saved / f"readers-{m}.json")) for m in ("milan", "skylake-sp")
    ), "run: pawl sim dev table --waits"


def test_waits_of_a_file_without_writers_are_refused():
    with pytest.raises(BadInput, match="no waits of writers"):
        summary.waits(summary.load(machine.folder() / "reference" / "lru-milan.json"))
