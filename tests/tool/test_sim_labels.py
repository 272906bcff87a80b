# SPDX-License-Identifier: MIT
"""`pawl sim`: each table and each file says that its figures are simulated."""

import json
import subprocess
import sys

import pytest

from conftest import ROOT
from pawl.cli import main
from pawl.core.errors import Failure
from pawl.sim import fit, host, increments, labelled, machine, reference, sections, speed, validate

RECORDED = machine.folder() / "reference"
MEASURED = {"folly-e5-2660.csv", "increments.csv", "lrubench-e5-2680v3.csv"}


@pytest.fixture
def program(tmp_path):
    """Stands for pawl-sim and for pawl-sim-native."""
    path = tmp_path / "pawl-sim"
    path.write_text(f"""#!{sys.executable}
import json
print(json.dumps({{"simulated": True, "operations_per_s": 1e6, "lookups_per_s": 1e6,
                  "accesses": 1000}}))
""")
    path.chmod(0o755)
    return path


@pytest.fixture
def here(tmp_path):
    path = tmp_path / "here.toml"
    path.write_text('title = "here"\n[topology]\ncores = 2\n[values]\nload = 1 # measured\n')
    return path


def test_a_comparison_with_this_machine_is_labelled_in_table_and_file(
    program, here, tmp_path, capsys
):
    to = tmp_path / "native.json"
    asked = ["sim", "dev", "native", "--machine", here, "--driver", program, "--native", program]
    assert main([*map(str, asked), "--rounds", "1", "--json", str(to)]) == 0
    assert capsys.readouterr().out.startswith("| *simulated* and measured |")
    found = json.loads(to.read_text())
    assert found["simulated"] is True and "'simulated' beside 'measured'" in found["about"]
    assert len(found["rows"]) == len(host.runs())


def test_predictions_are_saved_with_a_first_line_that_says_simulated(tmp_path, monkeypatch):
    monkeypatch.setattr(validate, "path_of", lambda name: tmp_path / f"{name}.csv")
    monkeypatch.setattr(increments, "_path", lambda name: tmp_path / name)
    real = reference.measured()
    lru = validate.save("here", real)
    counters = increments.save({("skl", "atomic", 1): 7.04})
    for path in (lru, counters):
        assert path.read_text().startswith("# simulated: ")
    assert validate.load("here") == pytest.approx(real)
    assert increments.load() == {("skl", "atomic", 1): 7.0}


@pytest.mark.parametrize("path", sorted(RECORDED.iterdir()), ids=lambda p: p.name)
def test_each_recorded_file_says_simulated_unless_it_is_a_measurement(path):
    if path.suffix == ".json":
        assert json.loads(path.read_text())["simulated"] is True
    elif path.suffix == ".csv":
        assert path.read_text().startswith(labelled.LABEL) == (path.name not in MEASURED)
    elif path.name == "tables.md":
        assert path.read_text().split("\n")[1] == "# Simulated tables"
    else:
        assert path.name == "README.md"


def test_what_is_kept_of_a_sweep_and_a_fit_say_simulated(program, tmp_path, capsys, monkeypatch):
    keep = tmp_path / "keep.json"
    asked = ["sim", "lru", "--quiet", "--driver", program, "--cores", "2", "--keep", keep]
    assert main([*map(str, asked)]) == 0
    kept = [json.loads(line) for line in keep.read_text().splitlines()]
    assert kept and all(one["result"]["simulated"] is True for one in kept)
    capsys.readouterr()
    monkeypatch.setattr(fit, "fit", lambda *_: {"job": {"step": 3.4}})
    assert main(["sim", "dev", "fit", "--dry-run", "--driver", str(program)]) == 0
    assert json.loads(capsys.readouterr().out) == {"simulated": True, "job": {"step": 3.4}}


def test_the_speed_is_of_simulated_accesses_with_its_spread(program, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(sections.begin("speed") + sections.END)
    asked = ["sim", "dev", "speed", "--rounds", "2", "--driver", program, "--page", page]
    assert main([*map(str, asked)]) == 0
    said = capsys.readouterr().out
    assert "million *simulated* accesses a second, measured" in said and "in 2 runs" in said
    assert sections.read(page, "speed") == said
    two = speed.markdown({"a": [6e6, 7e6], "b": [6e6, 4e6]})
    assert "| a | 7.0 | 6.0 | reached in 2 runs |" in two
    assert "| b | 6.0 | 4.0 | missed by the slowest in 2 runs |" in two


@pytest.mark.parametrize(("name", "simulated"), [("pawl-sim", True), ("pawl-sim-native", False)])
def test_each_program_says_whether_its_figures_are_simulated(name, simulated):
    found = [ROOT / "build" / b / "bench" / name for b in ("dev", "release")]
    built = [path for path in found if path.is_file()]
    if not built:
        pytest.skip(f"{name} is not built")
    more = ["count=50"] if simulated else ["count=50", "seconds=0.01"]
    done = subprocess.run(
        [built[0], "counter", "lock=atomic", "cores=1", *more],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["simulated"] is simulated


def test_a_calibration_measures_a_relax_hint_and_the_clock_before_it_fits(tmp_path, here):
    path = tmp_path / "native"
    path.write_text(f"""#!{sys.executable}
import sys
sys.exit(3) if sys.argv[1:] != ["prices"] else print('{{"relax": 9.5, "clock": 15.5}}')
""")
    path.chmod(0o755)
    host.write_calibrated(str(here), host.prices(path), "measured")
    assert machine.load(str(here))["values"] == {"load": 1, "relax": 9.5, "clock": 15.5}
    assert "relax = 9.5 # pawl sim dev native: measured" in here.read_text()
    path.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(Failure, match="prices"):
        host.prices(path)
