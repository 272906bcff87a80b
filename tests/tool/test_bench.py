# SPDX-License-Identifier: MIT
"""What a measurement does: plan, table, result file, going on, failing drivers."""

import json

import pytest

from conftest import left_behind
from pawl.cli import main
from pawl.core import results


def load(path):
    return json.loads(path.read_text())


def test_the_table_ranks_by_median_and_shows_both_hit_ratios(bench):
    out = bench("--threads", "2").out
    rows = [line.split()[1] for line in out.splitlines() if line.strip()[:1].isdigit()]
    assert rows[0] == "r+s>w/pawl_lock32" and rows[-1] == "w/pthread_spin"
    assert "nominal 99.01 % hits, measured 99.76 %" in out


def test_losses_are_said_in_words(bench):
    assert "slower than r+w/pthread_rwlock here, beyond the noise: s/pawl_spin32 0." in bench().out


def test_a_peer_that_was_not_built_is_a_row_that_says_so(bench):
    out = bench().out
    assert "r+w/tbb_spin_rw_mutex   not built" in out
    assert "not measured: r+w/tbb_spin_rw_mutex: install libtbb-dev" in out


def test_the_baseline_is_measured_even_if_not_named(bench, starts):
    bench("--candidates", "r+s>w/*")
    assert all("r+w/pthread_rwlock" in s["candidates"] for s in starts())


def test_the_null_lock_runs_with_one_thread_only(bench, starts):
    bench()
    assert {s["threads"]: "w/none" in s["candidates"].split(",") for s in starts()} == {
        1: True,
        2: False,
    }


def test_the_key_space_follows_from_the_hit_ratio(bench, starts):
    bench("--hit", "99,50", "--size", "3200")
    assert {s["keyspace"] for s in starts()} == {3232, 6400}


def test_the_result_file_holds_what_is_needed_to_judge_it(result):
    run = load(result)
    for key in ("machine", "kernel", "compiler", "flags", "command", "started", "finished"):
        assert run[key], key
    assert {"commit", "dirty"} <= run.keys()
    assert run["schema"] == 1 and run["kind"] == "lru" and run["interrupted"] is False
    cell = run["cells"][0]
    assert cell["complete"] and len(cell["samples"]) == 6 * len(cell["candidates"])
    assert 0.99 < cell["summary"][0]["hit_ratio"] < 1
    assert {"median", "q1", "q3", "ratio_to_baseline", "ratio_ci95_low", "ratio_ci95_high"} <= cell[
        "summary"
    ][0].keys()


def test_real_keys_reach_the_driver_and_are_described(bench, starts, tmp_path):
    words, path = tmp_path / "words", tmp_path / "run.json"
    words.write_text("".join(f"w{n % 40}\n" for n in range(100)))
    bench("--keys", words, "--size", "25%", "--json", path, "--candidates", "pthread")
    assert all(s["size"] == 10 and s["trace"] for s in starts())
    trace = load(path)["cells"][0]["trace"]
    assert (trace["count"], trace["distinct"]) == (100, 40)


@pytest.mark.parametrize(("distinct", "size"), [(8, 2), (2, 1), (40, 10)])
def test_a_cache_of_real_keys_keeps_a_quarter_unless_told(distinct, size, bench, starts, tmp_path):
    words = tmp_path / "words"
    words.write_text("".join(f"w{n % distinct}\n" for n in range(100)))
    bench("--keys", words, "--candidates", "pthread")
    assert all(s["size"] == size for s in starts())


def test_keys_come_from_standard_input(program, drivers):
    import subprocess

    process = program(
        "bench",
        "lru",
        "--quiet",
        "--keys",
        "-",
        "--size",
        "1",
        "--threads",
        "1",
        stdin=subprocess.PIPE,
    )
    out, error = process.communicate("a\nb\na\n")
    assert process.returncode == 0, error
    assert "2 distinct keys, cache of 1" in out


def test_a_budget_sets_the_length_of_a_sample(bench, tmp_path):
    path = tmp_path / "run.json"
    bench("--budget", "10", "--warmup", "0", "--candidates", "pthread", "--json", path)
    cell = load(path)["cells"][0]
    # 2 thread counts x 3 rows x 6 rounds share ten seconds.
    assert cell["seconds"] == pytest.approx(10 / 36 - 0.001, abs=1e-4)


def test_the_grid_is_the_eighteen_published_cells(bench, starts):
    bench("--grid", "--threads", "2", "--candidates", "pthread")
    cells = {(s["keyspace"], s["miss_cost"]) for s in starts()}
    assert len(cells) == 18 and {c for _, c in cells} == {"30", "100", "300"}


def half_of(path):
    """The file as an interrupt after half of the cells leaves it."""
    run = load(path)
    keep = len(run["cells"]) // 2
    cut = dict(run["cells"][keep], complete=False, samples=run["cells"][keep]["samples"][:3])
    run["cells"] = [*run["cells"][:keep], cut]
    run["interrupted"] = True
    path.write_text(json.dumps(run))
    return keep


def test_a_grid_goes_on_where_it_stopped(bench, starts, tmp_path):
    path = tmp_path / "grid.json"
    options = ("--grid", "--threads", "2", "--candidates", "pthread", "--json", path)
    bench(*options)
    whole = load(path)
    kept = half_of(path)
    before = len(starts())
    bench(*options)
    again = load(path)
    assert len(starts()) - before == 18 - kept
    assert again["resumed"] == 1 and again["interrupted"] is False
    assert [c["samples"] for c in again["cells"]] == [c["samples"] for c in whole["cells"]]


def test_a_complete_grid_is_not_measured_again_unless_asked(bench, starts, tmp_path):
    options = (
        "--grid",
        "--threads",
        "2",
        "--candidates",
        "pthread",
        "--json",
        tmp_path / "grid.json",
    )
    bench(*options)
    assert "complete already" in bench(*options).err and len(starts()) == 18
    bench(*options, "--fresh")
    assert len(starts()) == 36


def test_an_unfinished_run_of_other_options_is_not_continued(bench, result):
    half_of(result)
    before = result.read_bytes()
    text = bench("--candidates", "pthread", "--json", result, code=2).err
    assert "holds an unfinished run measured with other options" in text
    assert result.read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [("kernel", "Plan 9", "under another kernel"), ("kind", "pairs", "of kind pairs")],
)
def test_an_unfinished_run_of_elsewhere_is_not_continued(key, value, says, bench, result):
    half_of(result)
    run = load(result)
    run[key] = value
    result.write_text(json.dumps(run))
    assert says in bench("--candidates", "published,none", "--json", result, code=2).err


def test_an_unfinished_run_of_another_build_is_not_continued(bench, result, drivers):
    half_of(result)
    with open(drivers / "pawl-bench-lru", "a") as wrapper:
        wrapper.write("# rebuilt\n")
    text = bench("--candidates", "published,none", "--json", result, code=2).err
    assert "another build of the driver" in text


def test_an_unfinished_run_is_dropped_with_fresh(bench, result):
    half_of(result)
    bench("--candidates", "pthread", "--json", result, "--fresh")
    assert results.complete(load(result))


@pytest.mark.parametrize(
    ("mode", "code", "says"),
    [
        ("garbage", 1, "is not a result: 'Segmentation fault'"),
        ("crash", 1, "was ended by signal 6"),
        ("broken-lock", 1, "the lock failed"),
        ("bad-input", 2, "--size is odd"),
        ("bad-list", 1, "did not answer with a list"),
    ],
)
def test_a_driver_that_fails_is_reported_and_nothing_is_written(
    mode, code, says, bench, monkeypatch, tmp_path
):
    monkeypatch.setenv("FAKE_MODE", mode)
    path = tmp_path / "run.json"
    assert says in bench("--json", path, code=code).err
    assert not path.exists() and left_behind(tmp_path) == []


def test_the_last_words_of_a_crashed_driver_are_passed_on(bench, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "crash")
    assert "assertion failed: word == 0" in bench(code=1).err


def test_a_disk_that_fills_while_measuring_leaves_the_old_file(bench, result, monkeypatch):
    before = result.read_bytes()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    text = bench("--candidates", "pthread", "--json", result, code=1).err
    assert "No space left on device; what stood there before is unchanged" in text
    assert result.read_bytes() == before and left_behind(result.parent) == []


def test_pairs_tell_nanoseconds_and_times_the_floor(drivers, capsys):
    assert main(["bench", "pairs", "--quiet"]) == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if "w/pthread_rwlock" in line).split()
    assert 19.5 < float(row[2]) < 20.5 and row[4].startswith(("1.9", "2.0"))


def test_candidates_can_be_listed(drivers, capsys):
    assert main(["bench", "lru", "--list"]) == 0
    out = capsys.readouterr().out
    assert "r+s>w/pawl_spin32\n" in out
    assert "r+w/tbb_spin_rw_mutex  (not built: install libtbb-dev" in out


def test_a_file_name_that_is_not_unicode_is_no_obstacle(bench, tmp_path):
    import os

    words, path = os.fsdecode(os.fsencode(tmp_path) + b"/w\xff"), tmp_path / "run.json"
    with open(words, "w") as out:
        out.write("a\nb\nc\n")
    bench("--keys", words, "--size", "1", "--json", path, "--html", tmp_path / "run.html")
    assert load(path)["cells"][0]["trace"]["keys"][0].endswith("w\ufffd")


def test_a_result_file_has_a_line_for_each_sample(result):
    lines = [x.strip().rstrip(",") for x in result.read_text().splitlines() if '"ops"' in x]
    assert len(lines) == sum(len(c["samples"]) for c in load(result)["cells"])
    assert all(json.loads(line)["ops"] > 0 for line in lines)


def test_the_chains_follow_from_the_kind_of_keys(bench, starts, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("".join(f"{i}\n" for i in range(100)))
    bench("--size", "3200")
    bench("--keys", keys, "--size", "50")
    assert {(s["size"], s["chains"]) for s in starts()} == {(3200, "16"), (50, "50")}


def test_each_number_of_chains_is_a_cell_that_says_so(bench, tmp_path):
    path = tmp_path / "chains.json"
    out = bench("--chains", "64,3200", "--threads", "2", "--json", path).out
    assert [c["chains"] for c in load(path)["cells"]] == [64, 3200]
    assert "hash table of 64 chains, about 50 entries each" in out


def test_latency_adds_quantiles_to_table_and_result(bench, tmp_path):
    path = tmp_path / "latency.json"
    out = bench("--latency", "--threads", "2", "--json", path).out
    assert "p99.9" in out and "130 ns" in out
    row = load(path)["cells"][0]["summary"][0]
    assert row["latency_ns"]["p99"] == 130 and row["latency_ns"]["max"] == 40005


def test_a_quick_look_is_shorter_where_nothing_else_is_said(bench, starts):
    bench("--quick", "--rounds", "7")
    (given,) = {(s["rounds"], s["seconds"]) for s in starts()}
    assert tuple(map(float, given)) == (7, 0.02)
