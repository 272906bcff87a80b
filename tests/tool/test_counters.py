# SPDX-License-Identifier: MIT
"""`pawl bench counters`: what is planned, compared, drawn, recorded and judged."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from conftest import LONG, fake_driver, left_behind, pawl, recorded_runs, texts
from pawl import targets
from pawl.cli import main
from pawl.core import candidates, driver, groups, report, results
from pawl.core.groups import group_of
from pawl.kinds.counters import plan as counters
from pawl.kinds.counters import targets as targets_counters
from pawl.kinds.counters.kind import KIND


@pytest.fixture
def run(drivers, shown):
    return shown("bench counters --rounds 6 --quiet")


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    """A folder with the fake driver, for files that are made once."""
    folder = tmp_path_factory.mktemp("drivers")
    fake_driver(folder / counters.DRIVER, "fake_driver.py", "counters")
    return folder


@pytest.fixture(scope="module")
def saved_once(fakes):
    path = fakes / "counters.json"
    pawl(f"bench counters --rounds 6 --quiet --driver {fakes} --json {path}")
    return path.read_text()


@pytest.fixture
def saved(saved_once, tmp_path):
    path = tmp_path / "counters.json"
    path.write_text(saved_once)
    return path


def rows_of(path):
    cells = json.loads(path.read_text())["cells"]
    return {r["candidate"]: r for c in cells for r in c["summary"]}


# ---- Plan ---------------------------------------------------------------------------------------


def test_each_group_is_a_cell_measured_by_one_process(run, starts, tmp_path):
    run("--json", tmp_path / "run.json")
    content = json.loads((tmp_path / "run.json").read_text())
    assert [c["group"] for c in content["cells"]] == list(counters.GROUPS)
    assert [s["candidates"].split("/")[0] for s in starts()] == list(counters.GROUPS)


def test_groups_are_measured_alone(run, starts):
    run("--groups", "br,seq")
    assert [s["candidates"].split("/")[0] for s in starts()] == ["seq", "br"]


def test_a_row_brings_its_baseline_and_its_row_at_one_thread(run, starts):
    run("--candidates", "add/pawl_counter@2")
    assert starts()[0]["candidates"].split(",") == [
        "add/atomic_shared@2",
        "add/pawl_counter@1",
        "add/pawl_counter@2",
    ]


@pytest.mark.parametrize(
    "name, baseline",
    [
        ("add/pawl_counter@2", "add/atomic_shared@2"),
        ("add/pawl_exact_fold@1+reads", "add/atomic_shared@1"),
        ("read/pawl_exact_fold@1+adds", "read/membarrier@1+adds"),
        ("seq/pawl_seq@1", "seq/relaxed_copy@1"),
        ("ref/pawl_bigref_kill_to_release@1", None),
        ("br/pawl_brlock_write@1", None),
        ("br/pawl_brlock@2", "br/pthread_rwlock@2"),
    ],
)
def test_a_row_is_compared_with_the_like(name, baseline):
    assert counters.baseline_of(name) == baseline


def test_the_length_of_a_run_is_known_before():
    cells = groups.plan(
        "counters",
        counters.GROUPS,
        groups.Request(0.02, 12, 0.003),
        ["add/a@1", "add/b@2", "br/c@1"],
    )
    assert groups.expected_seconds(cells) == pytest.approx(2 * 0.05 + 36 * 0.0236)


def test_a_record_of_all_rows_takes_less_than_two_minutes():
    names = [f"{g}/row{n}@1" for g in counters.GROUPS for n in range(20)]
    request = groups.Request(groups.RECORDED_SECONDS, groups.RECORDED_ROUNDS)
    cells = groups.plan("counters", counters.GROUPS, request, names)
    assert groups.expected_seconds(cells) < 120


# ---- Rows ---------------------------------------------------------------------------------------


def test_times_are_of_one_thread_and_rates_of_all(saved):
    row = rows_of(saved)["add/atomic_shared@2"]
    assert row["median"] == pytest.approx(40, rel=0.02)
    assert row["million_per_second"] == pytest.approx(50, rel=0.02)


def test_ratios_are_of_times(saved):
    row = rows_of(saved)["add/pawl_counter@1"]
    assert row["ratio_to_baseline"] == pytest.approx(0.06, rel=0.03)
    assert row["ratio_ci95_low"] <= row["ratio_to_baseline"] <= row["ratio_ci95_high"]


def test_a_row_says_how_it_scales(saved):
    rows = rows_of(saved)
    assert rows["seq/pawl_seq@2"]["scaling"] == pytest.approx(2, rel=0.03)
    assert rows["seq/pawl_seq@1"]["scaling"] is None


def test_what_has_no_like_has_no_ratio(saved):
    assert rows_of(saved)["ref/pawl_bigref_kill_to_release@1"]["ratio_to_baseline"] is None


def test_a_sample_without_operations_is_left_out():
    samples = [{"candidate": "add/x@1", "round": n, "ops": 0, "seconds": 0.01} for n in range(6)]
    assert KIND.summarise(samples, "", ["add/x@1"]) == []


def test_losses_are_against_rivals_not_against_floors(saved):
    cells = {c["group"]: c["summary"] for c in json.loads(saved.read_text())["cells"]}
    assert [r["candidate"] for r in KIND.losses(cells["add"])] == ["add/pawl_exact_locks@1"]
    assert KIND.losses(cells["seq"]) == [] and KIND.losses(cells["read"]) == []


def test_the_table_ranks_and_names_what_was_not_built(run):
    text = run("--groups", "add").out
    assert text.index("add/pawl_counter@1") < text.index("add/atomic_shared@1")
    assert "add/tbb_combinable@1: install libtbb-dev" in text


def test_a_row_that_was_not_built_is_missing_in_its_own_group_only(saved, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(saved), "--html", str(page)]) == 0
    assert page.read_text().count("<td>add/tbb_combinable@1</td>") == 1


def test_a_row_has_a_text_for_each_column(saved):
    ((_, result),) = results.parts(saved, {KIND.name: KIND})
    found = dict(texts(result, result["cells"][0], "add/pawl_counter@1"))
    assert found["what"] == "add/pawl_counter@1" and found["an\noperation"] == "0.30 ns"
    assert found["times the\nbaseline"] == "0.06x"


# ---- Files --------------------------------------------------------------------------------------


def test_an_interrupted_run_goes_on(drivers, program, tmp_path, standstill, monkeypatch):
    path = tmp_path / "counters.json"
    arguments = ("bench", "counters", "--rounds", "6", "--json", path)
    stands_still = standstill(5, start=3)
    process = program(*arguments)
    monkeypatch.delenv("FAKE_STOP")
    stands_still(process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LONG)
    assert process.returncode == 130
    done = [c["group"] for c in json.loads(path.read_text())["cells"] if c["complete"]]
    assert main([*map(str, arguments), "--quiet"]) == 0
    whole = json.loads(path.read_text())
    assert whole["resumed"] == 1 and not whole["interrupted"]
    assert [c["group"] for c in whole["cells"]] == list(counters.GROUPS)
    assert done == list(counters.GROUPS)[:2] and left_behind(tmp_path) == []


def test_the_page_and_the_picture_are_drawn_from_the_file(saved, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "picture.png"
    assert main(["report", str(saved), "--html", str(page), "--png", str(picture)]) == 0
    text = page.read_text()
    assert KIND.title in text and "add/pawl_counter@1" in text
    assert text.count("data:image/svg+xml") == len(counters.GROUPS)
    report.check(results.parts(saved, {KIND.name: KIND}), [page])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda c: c.pop("group"),
        lambda c: c["samples"][0].pop("ops"),
        lambda c: c["samples"][0].update(candidate="add/x"),
        lambda c: c["samples"][0].update(candidate="nothing@1"),
    ],
)
def test_a_damaged_file_is_bad_input(spoil, saved, capsys):
    content = json.loads(saved.read_text())
    spoil(content["cells"][0])
    saved.write_text(json.dumps(content))
    assert main(["report", str(saved)]) == 2
    assert "is not a result of pawl" in capsys.readouterr().err


# ---- Bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--groups", "adds"], "there is no group 'adds'; choose among add, read, seq, ref, br"),
        (["--groups", ""], "there is no group ''"),
        (["--pin", "none"], "each has a CPU of its own"),
        (["--pin", "0,x"], "--pin: 'x' is not a whole number"),
        (["--candidates", "add/pawl_countr@1"], "did you mean add/pawl_counter@1"),
        (["--candidates", "add/tbb_combinable@1"], "was not built; install libtbb-dev"),
        (["--candidates", "seq/*", "--groups", "br"], "there is no 'seq/*'"),
        (["--rounds", "0"], "--rounds"),
        (["--seconds", "nan"], "not a finite number"),
        (["--seconds", "0"], "--seconds"),
        (["--json", "/nonexistent/x.json"], "does not exist"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, drivers, refused):
    assert sentence in refused("bench", "counters", *arguments)


def test_a_driver_of_other_sources_is_bad_input():
    with pytest.raises(Exception, match="build both from the same sources"):
        groups.plan("counters", counters.GROUPS, groups.Request(), ["mul/pawl_counter@1"])


@pytest.mark.parametrize(
    "mode, code", [("crash", 1), ("garbage", 1), ("broken-lock", 1), ("bad-list", 1)]
)
def test_a_driver_that_fails_ends_the_command_with_a_sentence(mode, code, run, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", mode)
    shown = run(code=code)
    assert shown.err.startswith("pawl: ") and "Traceback" not in shown.err


# ---- Record and targets -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded_once(fakes):
    """Three runs, as `pawl bench record` writes them, of a clean commit."""
    return recorded_runs(fakes / "runs", "counters", "--driver", fakes)


@pytest.fixture
def recorded(recorded_once, tmp_path):
    """A copy to spoil."""
    return Path(shutil.copytree(recorded_once, tmp_path / "runs"))


def change(folder: Path, name: str, factor: float) -> None:
    """Makes a row of every run that many times as fast."""
    for path in folder.glob("run*.json"):
        content = json.loads(path.read_text())
        for cell in content["parts"][0]["cells"]:
            for sample in cell["samples"]:
                if sample["candidate"] == name:
                    sample["ops"] *= factor
        path.write_text(json.dumps(content))


def test_a_record_is_three_runs_of_all_groups(recorded):
    assert sorted(p.name for p in recorded.iterdir()) == ["run1.json", "run2.json", "run3.json"]
    for path in recorded.iterdir():
        content = results.load(path, {KIND.name: KIND})
        assert content["set"] == "counters" and [p["kind"] for p in content["parts"]] == [
            "counters"
        ]
        assert [c["group"] for c in content["parts"][0]["cells"]] == list(counters.GROUPS)


def test_the_targets_are_those_of_the_plan():
    assert [(t.at_least, t.limit) for t in targets_counters.targets()] == [
        (False, 2.0),
        (False, 0.15),
        (True, 20.0),
        (False, 1.0),
        (False, 1.2),
        (True, 0.85),
        (False, 1.15),
        (True, 1.95),
        (False, 0.35),
        (True, 15.0),
        (False, 50.0),
        (False, 0.7),
        (True, 1.95),
    ]


def test_all_targets_are_met_by_rows_that_meet_them(recorded, capsys):
    assert targets.main([str(recorded)]) == 0
    text = capsys.readouterr().out
    assert "MISSED" not in text and "all targets met" in text
    assert text.count("met   ") == len(targets_counters.targets())
    assert "the same row twice (noise): 1.0" in text


@pytest.mark.parametrize(
    "name, factor, missed",
    [
        ("add/thread_local@1", 2, "bare thread-local"),
        ("add/atomic_shared@1", 3, "atomic increment, one thread"),
        ("add/atomic_shared@2", 9, "rate of two threads"),
        ("read/pawl_counter@1+adds", 0.05, "fuzzy read"),
        ("read/pawl_exact_fold@1+adds", 0.5, "exact read"),
        ("read/membarrier@1+adds", 2, "exact read"),
        ("add/pawl_exact_fold@1+reads", 0.8, "beside 10,000"),
        ("seq/pawl_seq@1", 0.9, "word-wise relaxed copy"),
        ("seq/pawl_seq@2", 0.9, "sequence-lock readers"),
        ("ref/pawl_bigref@1", 0.5, "atomic pair, one thread"),
        ("ref/pawl_bigref@2", 0.4, "atomic pair, rate of two threads"),
        ("ref/pawl_bigref_kill_to_release@1", 0.01, "kill to release"),
        ("br/pthread_rwlock@1", 4, "pthread_rwlock"),
        ("br/pawl_brlock@2", 0.9, "brlock readers"),
    ],
)
def test_a_row_that_is_too_slow_misses_its_target(name, factor, missed, recorded, capsys):
    change(recorded, name, factor)
    assert targets.main([str(recorded)]) == 1
    text = capsys.readouterr().out
    assert any(missed in x for x in text.splitlines() if x.startswith("MISSED"))


def test_too_few_exact_reads_prove_nothing(recorded, capsys):
    for path in recorded.iterdir():
        path.write_text(path.read_text().replace("9999.5", "5000.0"))
    assert targets.main([str(recorded)]) == 1
    assert "only 5000 reads a second" in capsys.readouterr().out


def test_a_row_that_is_not_there_is_bad_input(recorded, capsys):
    for path in recorded.iterdir():
        path.write_text(path.read_text().replace("seq/pawl_seq@2", "seq/other@2"))
    assert targets.main([str(recorded)]) == 2
    assert "seq/pawl_seq@2 was not measured" in capsys.readouterr().err


def test_another_set_in_the_folder_is_bad_input(drivers, recorded, capsys):
    assert main(["bench", "record", str(recorded), "--quiet"]) == 2
    assert "is a run of the set counters" in capsys.readouterr().err


# ---- The real driver ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real():
    build = os.environ.get("PAWL_BUILD_DIR")
    path = Path(build, "bench", counters.DRIVER) if build else None
    if not path or not path.is_file():
        pytest.skip("the drivers of this build are not there")
    return path


@pytest.mark.check
def test_the_real_driver_offers_what_the_targets_need(real):
    offered = {c["name"] for c in driver.candidates(real) if c["available"]}
    assert {
        "add/pawl_counter@1",
        "add/thread_local@1",
        "seq/pawl_seq@1",
        "ref/pawl_bigref@1",
        "br/pawl_brlock@1",
        "read/pawl_counter@1",
    } <= offered


@pytest.mark.check
def test_the_real_driver_offers_only_what_this_command_knows(real):
    offered = driver.candidates(real)
    groups.plan("counters", counters.GROUPS, groups.Request(), [c["name"] for c in offered])
    for name in (c["name"] for c in offered):
        base = counters.baseline_of(name)
        assert base is None or group_of(base) == group_of(name)


@pytest.mark.check
def test_the_real_driver_measures(real, tmp_path):
    path = tmp_path / "real.json"
    pawl(
        f"bench counters --driver {real} --rounds 2 --seconds 0.001 --warmup 0.001 --json {path} "
        "--quiet"
    )
    offered = candidates.choose("all", driver.candidates(real))
    assert set(rows_of(path)) == set(offered.names)
