# SPDX-License-Identifier: MIT
"""`pawl sim`: how evenly simulated threads share a lock, and rows of locks by evidence."""

import json
import sys

import pytest

from conftest import built_sim
from pawl.cli import main
from pawl.core.errors import BadInput
from pawl.sim import grid, host, machine, sections, summary, tasks, workloads


@pytest.fixture
def real():
    return built_sim()


def milan(*more):
    return ("section", "lock=ticket", "write=100", *more, *machine.words(machine.load("milan")))


def test_fairness_is_in_every_output(tmp_path, capsys):
    path = tmp_path / "pawl-sim"
    path.write_text(f"""#!{sys.executable}
import json
print(json.dumps({{"lookups_per_s": 1e6, "fairness": 0.8, "slowest_thread": 0.25,
                  "fastest_thread": 1.5}}))
""")
    path.chmod(0o755)
    to, page = tmp_path / "out.json", tmp_path / "out.html"
    asked = ["sim", "lru", "--quiet", "--driver", path, "--cores", "2", "--json", to, "--html",
             page]  # fmt: skip
    assert main([*map(str, asked)]) == 0
    said = capsys.readouterr().out
    assert "Jain's index" in said and "0.80 25-150" in said
    assert json.loads(to.read_text())["points"][0]["slowest_thread"] == 0.25
    assert "0.80 25-150" in page.read_text()


def test_threads_of_a_ticket_lock_share_evenly(real):
    found = tasks.one(real, milan("cores=12", "count=3000"))
    assert found["fairness"] > 0.99
    assert 0.9 < found["slowest_thread"] <= 1 <= found["fastest_thread"] < 1.1
    assert 0.95 < found["slowest_cluster"] <= 1 and found["slowest_socket"] == 1
    # Eight cores in one cluster and four in another: 8 * 7 + 4 * 3 of 12 * 11 pairs are near.
    assert found["next_in_cluster_by_chance"] == pytest.approx(68 / 132)


def test_a_lock_that_prefers_the_nearest_is_seen_to_be_unfair(real):
    """A machine whose lines always go to the nearest waiter."""
    words = ("section", "lock=spin64", "write=100", "cores=12", "count=20000")
    words += tuple(machine.words(machine.load("milan")))
    even, near = (tasks.one(real, (*words, f"machine.near_first={n}")) for n in (0, 1))
    assert near["next_in_cluster"] > even["next_in_cluster"]
    assert near["slowest_cluster"] < even["slowest_cluster"]


def test_rows_say_how_readers_scale():
    assert grid.settings_of("lock64") == {"lock": "lock64", "library.bias": 0}
    assert grid.settings_of("lock64_scaling") == {"lock": "lock64", "library.bias": 1}
    assert grid.settings_of("lock64_evidence") == {"lock": "lock64", "library.bias": 2}
    assert grid.settings_of("brlock_fenced") == {"lock": "brlock_fenced", "library.bias": 0}


@pytest.mark.parametrize("ending", [e for e in grid.BIAS if e])
def test_each_row_of_a_lock_that_scales_is_compared_with_this_machine(ending):
    rows = [r for r in workloads.SECTION if r.endswith(ending)]
    assert rows == [f"lock32{ending}", f"lock64{ending}"]
    assert {(row, n) for row in rows for n in host.THREADS} <= {
        (settings["lock"], n) for _, settings, n in host.runs()
    }
    words, environment = host._native(("section", {"lock": rows[0]}, 2), 0.1)
    assert environment["PAWL_BIAS"] == grid.BIAS[ending]
    assert not [w for w in words if w.startswith("library.")]


def result(models, groups, cores, **point):
    return {
        "title": "a machine",
        "workload": "a job",
        "rate": "rate",
        "points": [
            {"model": m, "group": g, "cores": c, "rate": 100.0 * (1 + models.index(m)), **point}
            for m in models
            for g in groups
            for c in cores
        ],
    }


def test_the_table_of_fairness_has_a_column_a_group_and_number_of_cores():
    found = result(
        ["spin"], ["near", "far"], [2, 4], fairness=0.5, slowest_thread=0.25, slowest_cluster=0.75
    )
    text = summary.fairness(found)
    assert text.startswith("| *simulated*, a machine | 2 cores, near | 2 cores, far | 4 cores")
    assert "| spin | 0.50 / 25 / 75 | 0.50 / 25 / 75 |" in text
    with pytest.raises(BadInput, match="who was slow"):
        summary.fairness(result(["spin"], ["near"], [2]))


def test_the_table_of_evidence_compares_with_the_lock_that_never_scales():
    found = result(summary.BY_BIAS["pawl_lock64"], ["1 % writes"], [2, 4])
    text = summary.evidence(found)
    assert text.startswith("| *simulated*, a job, a machine: percent of off, on / evidence | 2 |")
    assert "| pawl_lock64, 1 % writes | 200 / 300 | 200 / 300 |" in text
    with pytest.raises(BadInput, match="all three modes"):
        summary.evidence(result(["pawl_lock64"], ["1 % writes"], [2]))


@pytest.mark.parametrize(
    ("name", "table", "files"),
    [
        (
            "evidence",
            summary.evidence,
            [
                "evidence-readers-haswell-ep",
                "evidence-readers-milan",
                "evidence-lru-haswell-ep",
                "lru-milan",
            ],
        ),
        (
            "fairness",
            summary.fairness,
            [f"fairness-{m}" for m in ("haswell-ep", "milan", "skylake-sp")],
        ),
    ],
)
def test_the_page_shows_the_saved_tables(name, table, files):
    saved = machine.folder() / "reference"
    text = "\n".join(table(summary.load(saved / f"{file}.json")) for file in files)
    assert sections.read(saved / "tables.md", name) == text, f"run: pawl sim dev table --{name}"


def test_a_writer_that_loses_each_race_sleeps_in_the_end(real, tmp_path):
    """1. Many writers see the word free. 2. One takes it; each other one has lost, and spins on.
    3. Were its spinning to begin anew, as it once did, none would ever sleep."""
    path = tmp_path / "w.json"
    what = ["--machine", "milan", "--cores", "64", "--locks", "lock_w", "--count", "1000"]
    tell = ["--seeds", "1", "--quiet", "--driver", str(real), "--json", str(path)]
    assert main(["sim", "lru", *what, *tell]) == 0
    assert json.loads(path.read_text())["points"][0]["sleeps"] > 0
