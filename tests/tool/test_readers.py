# SPDX-License-Identifier: MIT
"""`pawl bench readers`: the plan, the rows, the report, its targets, and what it refuses."""

import pytest

from conftest import figures, texts
from pawl.cli import main
from pawl.kinds.readers import plan as readers
from pawl.kinds.readers import table as readers_table
from pawl.kinds.readers.kind import KIND

SMALL = "--threads 1,2 --sections 0 --writes 0,10 --locks 1 --seconds 0.01".split()


@pytest.fixture
def run(drivers, benches):
    return benches("readers")


def cell_of(result, **keys):
    return next(c for c in result["cells"] if all(c[k] == v for k, v in keys.items()))


def test_the_grid_is_threads_by_sections_by_writes_by_locks():
    cells = readers.plan(readers.Request(), [readers.MAIN, readers.NULL])
    assert len(cells) == 2 * 5 * 6 * 2
    assert readers.expected_seconds(cells) == pytest.approx(240, rel=0.02)
    assert [c.parameters["threads"] for c in cells[:4]] == [1, 2, 1, 2]


def test_quick_ends_within_a_minute_and_what_is_given_still_counts(run, starts):
    cells = readers.plan(readers.Request(**readers.QUICK), [readers.MAIN] * 22)
    assert readers.expected_seconds(cells) < 55
    run("--quiet", "--quick", "--threads", "2", "--writes", "1,50")
    assert {(s["threads"], s["section"], s["writes"], s["locks"]) for s in starts()} == {
        (2, section, writes, "1") for section in ("0", "0.1") for writes in ("1", "50")
    }


def test_each_scene_has_its_own_cells(run, starts):
    run(
        "--quiet",
        "--scenes",
        "write,seek,flood",
        "--registered",
        "2,30",
        "--sections",
        "1",
        "--readers",
        "8",
        "--seconds",
        "0.01",
    )
    assert [(s["scene"], s["threads"], s["registered"], s["section"]) for s in starts()] == [
        ("write", 1, "2", "0"),
        ("write", 1, "30", "0"),
        ("seek", 1, "0", "1"),
        ("flood", 8, "0", "0"),
    ]


def test_only_locks_with_a_seek_mode_are_measured_beside_a_seeker(run):
    _, result = run("--quiet", "--scenes", "seek", "--sections", "0", "--seconds", "0.01")
    names = {r["candidate"] for r in result["cells"][0]["summary"]}
    assert readers.BRLOCK in names and "r+w/pthread_rwlock" not in names


def test_the_null_row_is_measured_even_if_not_named_and_told_above_the_table(run, starts):
    shown, _ = run("--quiet", *SMALL, "--candidates", "r+w/pawl_brlock")
    assert starts()[0]["candidates"].split(",") == [readers.BRLOCK, readers.MAIN, readers.NULL]
    assert "the same lock once more: " in shown.out and "of itself (noise)" in shown.out


def test_a_row_tells_the_time_of_a_section_and_its_ratio(run):
    _, result = run("--quiet", *SMALL)
    rows = {r["candidate"]: r for r in cell_of(result, threads=1, writes=0)["summary"]}
    assert rows[readers.BRLOCK]["op_ns"] == pytest.approx(1.5, rel=0.03)
    assert rows[readers.BRLOCK]["ratio_to_baseline"] == pytest.approx(10 / 1.5, rel=0.03)
    two = {r["candidate"]: r for r in cell_of(result, threads=2, writes=0)["summary"]}
    assert two[readers.BRLOCK]["ratio_to_baseline"] == pytest.approx(26 / 1.5, rel=0.03)


def test_waits_of_writers_are_shown_where_there_are_writers(run):
    _, result = run("--quiet", *SMALL)
    reads, writes = (cell_of(result, threads=2, writes=w) for w in (0, 10))
    assert "wait\np99.9" not in dict(texts(result, reads, readers.MAIN))
    assert dict(texts(result, writes, readers.MAIN))["wait\np99.9"] == "900 ns"


def test_a_lock_that_let_nobody_in_is_a_row_all_the_same():
    own = {
        "threads": 2,
        "seconds": 1,
        "writes": 0,
        "cpu_seconds": 1,
        "wait_ns": {"p50": 0, "p99": 0, "p99.9": 0, "max": 0},
    }
    samples = [
        {"candidate": n, "round": 0, "ops": ops, **own}
        for n, ops in ((readers.BRLOCK, 0), (readers.MAIN, 5))
    ]
    rows = readers_table.summarise(samples, readers.MAIN, [readers.BRLOCK, readers.MAIN])
    found = next(r for r in rows if r["candidate"] == readers.BRLOCK)
    assert found["op_ns"] is None


def test_pictures_and_the_page(run, tmp_path):
    page = tmp_path / "readers.html"
    _, result = run("--quiet", "--scenes", "mix,write,seek,flood", *SMALL, "--html", page)
    assert [name for name, _ in figures(result)] == [
        "million sections a second over threads, one lock",
        "million sections a second over writes, 2 threads",
        "million writes a second over registered threads",
        "million seeks a second over sections",
        "waits of a writer among readers",
    ]
    assert KIND.title in page.read_text()
    assert main(["report", str(tmp_path / "readers.json"), "--html", str(page), "--check"]) == 0


def test_a_state_without_scaling_readers_has_missing_rows(run, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "no-bias")
    shown, result = run("--quiet", *SMALL)
    assert {m["candidate"] for m in result["unavailable"]} >= {readers.ON, readers.OFF}
    assert "pawl_lock64_on" in shown.out


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("scene",), "calm"),
        (("locks",), None),
        (("samples", 0, "writes"), "few"),
        (("samples", 0, "wait_ns"), {"p50": 1}),
    ],
)
def test_a_damaged_result_is_refused(place, value, run, refused_damaged):
    _, result = run("--quiet", "--quick", "--threads", "2", "--seconds", "0.01")
    refused_damaged(result, place, value)


@pytest.mark.parametrize(("arguments", "says"), [
    (["--scenes", "calm"], "--scenes: there is no 'calm'; choose among mix, write, seek, flood"),
    (["--scenes", "flood", "--writes", "10"], "--writes is of the scene mix"),
    (["--registered", "5"], "--registered is of the scene write"),
    (["--locks", "17"], "--locks: 17 is out of range"),
    (["--locks", "x"], "is not a whole number"),
    (["--writes", "101"], "--writes: 101 is out of range"),
    (["--sections", "-1"], "--sections"),
    (["--threads", "0"], "choose from 1 to"),
    (["--candidates", "pawl_brlok"], "did you mean"),
    (["--seconds", "1", "--budget", "9"], "give one of them"),
])  # fmt: skip
def test_bad_input_is_refused_before_measuring(arguments, says, drivers, refused):
    assert says in refused("bench", "readers", *arguments)
