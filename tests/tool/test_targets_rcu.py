# SPDX-License-Identifier: MIT
"""The set "rcu": what a record of it holds, and how its targets are judged."""

import json
import shutil
from pathlib import Path

import pytest

from conftest import REGISTRY, ROOT, fake_driver, recorded_runs
from pawl import targets
from pawl.cli import main
from pawl.core import results
from pawl.kinds.rcu.targets import NO_INSTRUCTION
from pawl.sets.rcu import SET


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory):
    """Three runs, as `pawl bench record` writes them, of a clean commit."""
    folder = tmp_path_factory.mktemp("record")
    for name in SET.programs:
        fake_driver(folder / name, "fake_driver.py", name.removeprefix("pawl-bench-"))
    return recorded_runs(folder / "runs", "rcu", "--driver", folder)


@pytest.fixture
def recorded(recorded_once, tmp_path):
    """A copy to spoil."""
    return Path(shutil.copytree(recorded_once, tmp_path / "runs"))


def spoil(folder, kind, change, test=lambda _cell: True):
    """Changes the samples of every run's part of this kind."""
    for path in folder.glob("run*.json"):
        content = json.loads(path.read_text())
        for part in content["parts"]:
            for cell in part["cells"] if part["kind"] == kind else []:
                for sample in cell["samples"] if test(cell) else []:
                    change(sample)
        path.write_text(json.dumps(content))


def faster(name, factor):
    def change(sample):
        if sample["candidate"] == name:
            sample["ops"] *= factor

    return change


def set_in(prefix, **values):
    def change(sample):
        if sample["candidate"].startswith(prefix):
            sample.update(values)

    return change


def missed(folder, capsys):
    assert targets.main([str(folder)]) == 1
    return [x for x in capsys.readouterr().out.splitlines() if x.startswith("MISSED")]


def test_a_record_is_three_runs_of_all_that_targets_need(recorded):
    assert sorted(p.name for p in recorded.iterdir()) == ["run1.json", "run2.json", "run3.json"]
    for path in recorded.iterdir():
        content = results.load(path, REGISTRY)
        assert content["set"] == "rcu"
        assert [p["kind"] for p in content["parts"]] == ["rcu", "hash", "hash", "tree", "sem"]
        assert {c["threads"] for c in content["parts"][1]["cells"]} == {1, 2}
        flood = content["parts"][0]["cells"][-1]
        assert flood["flood"] == 10_000_000 and "flood/pawl_rcu@2" not in flood["candidates"]
        assert "flood/pawl_rcu_wait@1" in flood["candidates"]


def test_a_shorter_record_has_a_smaller_flood_and_proves_nothing(recorded, capsys):
    for path in recorded.iterdir():
        path.write_text(path.read_text().replace('"flood": 10000000', '"flood": 1000000'))
    assert targets.main([str(recorded)]) == 2
    assert "fewer than 10,000,000 callbacks" in capsys.readouterr().err


def test_the_targets_are_those_of_the_plan():
    assert [(t.at_least, t.limit) for t in SET.judging().targets] == [
        (False, 1.2),
        (False, 0.1),
        (False, 0.7),
        (False, 1.5),
        (True, 2.0),
        (False, 1.0),
        (True, 1.9),
        (True, 0.9),
        (True, 1.0),
        (True, 3.0),
    ]


def test_what_needs_no_run_names_a_test_that_is_there():
    path, name = NO_INSTRUCTION
    assert f"TEST_CASE({name})" in (ROOT / path).read_text()


def test_all_targets_are_met_by_rows_that_meet_them(recorded, capsys):
    assert targets.main([str(recorded)]) == 0
    text = capsys.readouterr().out
    assert "MISSED" not in text and "all targets met" in text
    assert text.count("met   ") == len(SET.judging().targets)
    assert ": ".join(NO_INSTRUCTION) in text
    assert "no row" not in text
    assert "liburcu 610 MiB" in text and "liburcu 11.0 ms" in text
    assert "r+s>w/pawl_spin64 reaches" in text and "seek 59" in text


@pytest.mark.parametrize(
    "name, factor, target",
    [
        ("read/pawl_rcu@1", 0.8, "liburcu-memb's, inline"),
        ("read/urcu_memb@1", 1.3, "liburcu-memb's, inline"),
        ("read/lock_xadd_pair@1", 2, "lock xadd"),
        ("sync/pawl_rcu@1", 0.6, "synchronize beside idle threads"),
        ("call/pawl_rcu@1", 0.45, "callbacks a second"),
    ],
)
def test_a_row_that_is_too_slow_misses_its_target(name, factor, target, recorded, capsys):
    spoil(recorded, "rcu", faster(name, factor))
    assert any(target in x for x in missed(recorded, capsys))


def test_a_late_callback_in_fifty_misses(recorded, capsys):
    spoil(recorded, "rcu", set_in("delay/pawl_rcu@1", delays_ns=[[100000, 980], [1600000, 20]]))
    assert missed(recorded, capsys) == ["MISSED  callback delay, p99, ms <= 1.50"]


@pytest.mark.parametrize("where", ["@1", "@1+readers"])
@pytest.mark.parametrize(
    "values, says",
    [
        ({"peak_bytes": (64 << 20) + 1}, "64 MiB of 64 MiB"),
        ({"bound_bytes": None}, "did not end by itself"),
        ({"stopped": True}, "did not end by itself"),
        ({"ops": 9_999_999}, "did not end by itself"),
    ],
)
def test_a_flood_that_is_not_bounded_misses(where, values, says, recorded, capsys):
    spoil(
        recorded, "rcu", lambda s: s["candidate"] == f"flood/pawl_rcu{where}" and s.update(values)
    )
    assert targets.main([str(recorded)]) == 1
    text = capsys.readouterr().out
    assert says in text
    assert "MISSED  flood" in text


@pytest.mark.parametrize(
    "threads, name, factor, target",
    [
        (2, "pawl_rcu", 0.94, "its own one thread"),
        (1, "pawl_rcu", 1.06, "its own one thread"),
        (2, "ideal", 1.1, "pawl_rcu / ideal"),
    ],
)
def test_reading_that_does_not_scale_misses_at_any_size(
    threads, name, factor, target, recorded, capsys
):
    for path in recorded.glob("run*.json"):
        reading = results.load(path, REGISTRY)["parts"][2]
        assert {c["elements"] for c in reading["cells"]} == {1024, 1 << 22}
    spoil(
        recorded,
        "hash",
        faster(name, factor),
        lambda c: (c["threads"], c["updates"], c["elements"]) == (threads, 0, 1 << 22),
    )
    assert any(target in x for x in missed(recorded, capsys))


@pytest.mark.parametrize("name, factor", [("urcu_qsbr", 1.2), ("urcu_bp", 1.3)])
def test_any_liburcu_row_that_is_faster_misses(name, factor, recorded, capsys):
    spoil(recorded, "hash", faster(name, factor), lambda c: c["threads"] == 2)
    assert any("best liburcu row" in x for x in missed(recorded, capsys))


def test_many_updates_are_no_part_of_the_mean(recorded, capsys):
    spoil(recorded, "hash", faster("pawl_rcu", 0.1), lambda c: c["updates"] > 20)
    assert targets.main([str(recorded)]) == 0


def test_semaphores_are_judged_where_they_are_disjoint(recorded, capsys):
    row = "idtable/pawl_spin32"
    spoil(recorded, "sem", faster(row, 0.3), lambda c: c["choose"] != "disjoint")
    assert targets.main([str(recorded)]) == 0
    capsys.readouterr()
    spoil(recorded, "sem", faster(row, 0.3), lambda c: c["choose"] == "disjoint")
    assert any("disjoint semaphores" in x for x in missed(recorded, capsys))


@pytest.mark.parametrize(
    "name", ["sync/pawl_rcu@1", "urcu_memb", "idtable/pawl_spin32", "flood/pawl_rcu@1+readers"]
)
def test_a_row_that_is_not_there_is_bad_input_or_no_peer(name, recorded, capsys):
    for path in recorded.iterdir():
        path.write_text(path.read_text().replace(f'"{name}"', f'"{name[:-1]}9"'))
    if name == "urcu_memb":  # the other liburcu rows are left to compare with
        assert targets.main([str(recorded)]) == 0
        return
    assert targets.main([str(recorded)]) == 2
    assert "record again" in capsys.readouterr().err


def test_without_liburcu_there_is_nothing_to_judge_by(recorded, capsys):
    spoil(recorded, "hash", lambda s: s.update(candidate=s["candidate"].replace("urcu_", "other_")))
    assert targets.main([str(recorded)]) == 2
    assert "no liburcu row was measured" in capsys.readouterr().err


def test_another_set_in_the_folder_is_bad_input(drivers, recorded, capsys):
    assert main(["bench", "record", "--set", "counters", str(recorded), "--quiet"]) == 2
    assert "is a run of the set rcu" in capsys.readouterr().err
