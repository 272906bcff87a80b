# SPDX-License-Identifier: MIT
"""`pawl bench cache`: the plan, the rows, the patterns, and what it refuses."""

import pytest

from conftest import further


@pytest.fixture
def run(drivers, benches):
    return benches("cache")


SHORT = ("--quiet", "--rounds", "6", "--seconds", "0.01", "--threads", "1,2")


def test_hits_misses_and_patterns_are_measured(run, starts):
    run(*SHORT)
    told = [(s["keyspace"], s["miss_cost"], s["dist"], s["threads"]) for s in starts()]
    assert told == [
        *((space, "100", "uniform", n) for space in (3232, 3368, 3555) for n in (1, 2)),
        (320000, "0", "uniform", 1),
        (320000, "0", "uniform", 2),
        (32000, "0", "zipf", 1),
        (32000, "0", "scan", 1),
    ]
    assert {s["chains"] for s in starts()} == {"3200"}


def test_whole_caches_stand_beside_the_locks_and_missing_ones_are_told(run):
    shown, result = run(*SHORT)
    rows = {row["candidate"] for row in result["cells"][0]["summary"]}
    assert {"cache/pawl_cache", "cache/std_list", "r+s>w/pawl_lock64"} <= rows
    assert "cache/rocksdb_clock" in shown.out


def test_the_hits_of_the_patterns_have_a_table_of_their_own(run):
    _, result = run(*SHORT)
    (extra,) = further(result)
    assert len(extra.heads) == 3 and "scan" in extra.heads[2]


def test_keys_of_ones_own_are_measured_alone(run, starts):
    run(*SHORT, "--dist", "zipf", "--hit", "50")
    assert {(s["keyspace"], s["dist"]) for s in starts()} == {(6400, "zipf")}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--candidates", "cache/pawl_cach"], "did you mean cache/pawl_cache"),
        (["--hit", "0"], "--hit"),
        (["--dist", "cold"], "--dist"),
        (["--grid", "--hit", "50"], "leave out"),
    ],
)
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "cache", *arguments)
