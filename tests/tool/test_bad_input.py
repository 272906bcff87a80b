# SPDX-License-Identifier: MIT
"""Every bad input: code 2, one sentence that says what to do, nothing measured or written.

The fixture `refused` checks the code, that it is one line, and that no measurement started.
"""

import errno
import json
import os

import pytest

from conftest import left_behind
from pawl.cli import main

LRU = ("bench", "lru", "--quiet")


@pytest.fixture(autouse=True)
def fakes(drivers):
    """All tests here run with drivers in place: what is refused is the input."""


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words"
    path.write_text("a\nb\nc\nd\n")
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0", "choose from 1 to 1024"),
        ("-3", "choose from 1 to 1024"),
        ("1000000", "choose from 1 to 1024"),
        ("1:99999", "choose from 1 to 1024"),
        ("many", "is not a whole number"),
        ("", "is not a whole number"),
        ("4:1", "is empty"),
        ("1:4:0", "is empty"),
        ("1:2:3:4", "too many colons"),
    ],
)
def test_thread_counts_that_cannot_be(text, says, refused):
    assert says in refused(*LRU, f"--threads={text}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--size", "0"], "holds nothing"),
        (["--size", "big"], "not a whole number"),
        (["--size", "25%"], "needs --keys or --keyspace"),
        (["--size", "5000", "--keyspace", "100"], "larger than --keyspace"),
        (["--size", str(1 << 40)], "absurd"),
        (["--hit", "0"], "out of range"),
        (["--hit", "101"], "out of range"),
        (["--hit", "most"], "not a percentage"),
        (["--hit", "nan"], "out of range"),
        (["--miss-cost", "-1"], "out of range"),
        (["--miss-cost", "x"], "not a whole number"),
        (["--rounds", "0"], "--rounds"),
        (["--seconds", "0"], "--seconds"),
        (["--seconds", "nan"], "--seconds"),
        (["--budget", "nan"], "--budget"),
        (["--zipf-s", "nan"], "--zipf-s"),
        (["--dist", "gauss"], "--dist"),
        (["--no-such-option"], "No such option"),
        (["--hit", "99", "--keyspace", "4000"], "give one of them"),
        (["--grid", "--hit", "99"], "leave out"),
        (["--field", "2"], "name a file"),
    ],
)
def test_options_that_contradict_or_cannot_be(options, says, refused):
    assert says in refused(*LRU, *options)


def test_a_cache_larger_than_the_keys_read(refused, words):
    assert "larger than the keys read (4 distinct keys)" in refused(
        *LRU, "--keys", words, "--size", 5
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "holds no key"), (b"\0\1\2\3", "is binary"), (b"same\nsame\n", "one key only")],
)
def test_key_files_without_keys(content, says, refused, tmp_path):
    path = tmp_path / "keys"
    path.write_bytes(content)
    assert says in refused(*LRU, "--keys", path, "--size", "1")


def test_a_key_file_that_is_not_there(refused, tmp_path):
    assert "cannot read" in refused(*LRU, "--keys", tmp_path / "missing")


def test_a_huge_key_file(refused, words):
    assert "raise --max-keys" in refused(*LRU, "--keys", words, "--size", 1, "--max-keys", 3)


def test_both_words_and_a_field(refused, words):
    assert "give one of them" in refused(*LRU, "--keys", words, "--words", "--field", 1)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("r+s>w/pawl_spin23", "r+s>w/pawl_spin32"),
        ("pthread_rwlok", "r+w/pthread_rwlock"),
        ("publshed", "published"),
        ("zzzzzz", "--list"),
    ],
)
def test_an_unknown_lock_gets_its_near_matches(name, near, refused):
    text = refused(*LRU, "--candidates", name)
    assert f"there is no '{name}'" in text and near in text


def test_a_named_peer_whose_library_is_missing(refused):
    text = refused(*LRU, "--candidates", "r+w/tbb_spin_rw_mutex")
    assert "was not built; install libtbb-dev and build again" in text


def test_a_pattern_that_matches_missing_peers_only(refused):
    assert "install libtbb-dev" in refused(*LRU, "--candidates", "*tbb*")


def test_a_null_lock_under_two_threads_next_to_the_baseline_is_left_out(bench, starts):
    bench("--candidates", "w/none")
    assert [("w/none" in s["candidates"], s["threads"]) for s in starts()] == [
        (True, 1),
        (False, 2),
    ]


def test_a_cpu_that_this_process_may_not_use(refused):
    text = refused(*LRU, "--pin", "0,4095")
    assert "may not run on CPU 4095" in text and "--pin none" in text


def test_a_cpu_list_that_is_none(refused):
    assert "not a whole number" in refused(*LRU, "--pin", "first")


def test_no_permission_to_pin_although_asked(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("FAKE_MODE", "unpinned")
    cpu = min(os.sched_getaffinity(0))
    path = tmp_path / "run.json"
    text = bench("--pin", cpu, "--json", path, code=2).err
    assert "did not allow it (Operation not permitted)" in text and "--pin none" in text
    assert not path.exists()


def test_no_permission_to_pin_when_nobody_asked_is_only_told(bench, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "unpinned")
    assert "not pinned: Operation not permitted" in bench().out


@pytest.mark.parametrize("option", ["--json", "--html", "--png", "--svg"])
def test_an_output_in_a_folder_that_does_not_exist(option, refused, tmp_path):
    assert "does not exist; make it first" in refused(*LRU, option, tmp_path / "no" / "run")


def test_an_output_that_is_a_folder_or_a_device(refused, tmp_path):
    assert "is a folder" in refused(*LRU, "--json", tmp_path)
    assert "not a plain file" in refused(*LRU, "--json", "/dev/null")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_found_before_measuring(number, refused, tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", full)
    assert "no room for run.json" in refused(*LRU, "--json", tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists() and left_behind(tmp_path) == []


def test_a_folder_one_may_not_write_in(refused, tmp_path, monkeypatch):
    def deny(*_arguments, **_options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", deny)
    assert "cannot write in" in refused(*LRU, "--json", tmp_path / "run.json")


def test_a_json_file_that_is_no_result_is_not_overwritten(refused, tmp_path):
    path = tmp_path / "precious.json"
    path.write_text('{"mine": 1}')
    assert "is not a result of pawl" in refused(*LRU, "--json", path)
    assert path.read_text() == '{"mine": 1}'


def test_a_driver_that_is_not_there(refused, tmp_path, monkeypatch):
    monkeypatch.delenv("PAWL_BENCH_DIR")
    assert "is not a program" in refused(*LRU, "--driver", tmp_path / "nothing")
    monkeypatch.setenv("PAWL_BENCH_DIR", str(tmp_path / "nowhere"))
    assert "PAWL_BENCH_DIR" in refused(*LRU)


def test_a_driver_that_was_never_built(refused, monkeypatch):
    monkeypatch.delenv("PAWL_BENCH_DIR")
    monkeypatch.setattr("pawl.core.driver._places", lambda name: iter(()))
    assert "run `make build`, or `cmake --preset release" in refused(*LRU)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1, 2",
        "[]",
        "{}",
        '{"schema": 1, "kind": "lru"}',
        '{"schema": 2, "kind": "lru"}',
        "[" * 100000,
    ],
)
def test_a_report_of_what_is_no_result(content, refused, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(content)
    text = refused("report", path, "--html", tmp_path / "run.html")
    assert "name a file written with --json" in text
    assert not (tmp_path / "run.html").exists()


def test_a_report_of_nothing(refused, tmp_path):
    assert "cannot read" in refused("report", tmp_path / "missing.json")
    assert "Missing argument" in refused("report")


def test_a_record_over_a_file_or_with_one_driver(refused, tmp_path, drivers):
    (tmp_path / "file").write_text("")
    assert "cannot make the folder" in refused("bench", "record", tmp_path / "file" / "x")
    assert "is not a folder" in refused(
        "bench", "record", tmp_path / "r", "--driver", drivers / "pawl-bench-lru"
    )


def test_pairs_refuse_as_the_cache_does(refused, tmp_path):
    assert "there is no" in refused("bench", "pairs", "--candidates", "nope")
    assert "does not exist" in refused("bench", "pairs", "--json", tmp_path / "a" / "b")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("commit",), 7),
        (("cells", 0, "threads"), "two"),
        (("cells", 0, "trace"), {}),
        (("cells", 0, "samples", 0, "hits"), "some"),
        (("cells", 0, "samples", 0, "ops"), None),
        (("cells", 0, "samples", 0, "ops"), -1e12),
        (("cells", 0, "samples", 0), "sample"),
        (("kind",), "record"),
        (("kind",), ["lru"]),
        (("cells", 0, "samples", 0, "hits"), None),
        (("unavailable",), [1]),
        (("cells", 0, "samples"), {}),
    ],
)
def test_a_report_of_a_damaged_result(place, value, result, tmp_path, capsys):
    run = json.loads(result.read_text())
    inner = run
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    result.write_text(json.dumps(run))
    page = tmp_path / "run.html"
    assert main(["report", str(result), "--html", str(page)]) == 2
    assert "is not a result of pawl (" in capsys.readouterr().err and not page.exists()
