# SPDX-License-Identifier: MIT
"""What the recorder says of a thread's processor: how long it was kept off it, and which long holds
are no slow work but a thread that did not run."""

import subprocess

import pytest

from conftest import compiled, needs_recorder, recording
from pawl.advise.facts import Facts
from pawl.advise.rules import RULES
from pawl.trace import collect, store

pytestmark = needs_recorder
TIMES, HOG_NS = 8, 30_000_000  # of the program


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("processor") / "processor"
    return compiled(made, "processor.c")


@pytest.fixture
def record(program, tmp_path):
    def go(word):
        raws = tmp_path / "raw"
        raws.mkdir()
        done = subprocess.run([program, word], check=False, timeout=300, env=recording(raws))
        if done.returncode == 77:
            pytest.skip("the system has no seccomp")
        assert done.returncode == 0
        with store.create(tmp_path / "trace") as db:
            collect.collect(raws, db, {})
        return store.open_trace(tmp_path / "trace")

    return go


def needs_counter():
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        if file.read().split()[-1:] in ([], ["0"]):
            pytest.skip("this kernel does not count it")


def test_a_hold_in_which_the_thread_did_not_run_is_no_slow_work(record):
    """pawl advise proposed to move slow work out of a section of pigz that has none."""
    db = record("kept")
    (use,) = db.execute("SELECT * FROM use WHERE mode = 'mutex'").fetchall()
    assert use["count"] == TIMES and use["hold_ns"] >= TIMES * HOG_NS
    assert use["kept"] == TIMES and use["kept_ns"] == use["hold_ns"]


def test_a_hold_in_which_the_thread_sleeps_is_slow_work(record):
    db = record("slept")
    (use,) = db.execute("SELECT * FROM use WHERE mode = 'mutex'").fetchall()
    assert use["count"] == TIMES and (use["kept"], use["kept_ns"]) == (0, 0)


def with_waits(db, path):
    """A writable copy, as if another thread had waited behind each of these holds."""
    with store.sqlite3.connect(path) as copy:
        db.backup(copy)
        copy.execute(
            "INSERT INTO blame SELECT lock, mode, release, take, count, hold_ns, hold_max, 0, 0 "
            "FROM use WHERE mode = 'mutex'"
        )
        copy.execute("UPDATE use SET waits = count, wait_ns = hold_ns WHERE mode = 'mutex'")
    return Facts(store.open_trace(path))


@pytest.mark.parametrize(("word", "findings"), [("kept", 0), ("slept", 1)])
def test_the_advice_is_silent_of_holds_in_which_the_thread_did_not_run(
    record, tmp_path, word, findings
):
    facts = with_waits(record(word), tmp_path / "copy")
    assert len(list(RULES["long_holds"](facts))) == findings


def test_a_window_says_how_long_a_thread_was_kept_off_its_processor(record):
    """Without it a replay could not tell that time from sleep."""
    needs_counter()
    rows = record("kept").execute("SELECT * FROM part WHERE cpu_of_ns > 0").fetchall()
    assert rows and all(r["kept_ns"] is not None for r in rows)
    assert max(r["kept_ns"] for r in rows) >= HOG_NS
    for r in rows:  # it ran, or was kept off; the three are not read at one moment
        assert r["cpu_ns"] + r["kept_ns"] == pytest.approx(r["cpu_of_ns"], rel=0.2, abs=5e6)


def test_sleep_is_not_time_off_the_processor(record):
    needs_counter()
    rows = record("slept").execute("SELECT * FROM part WHERE cpu_of_ns > 0").fetchall()
    slept = sum(r["cpu_of_ns"] - r["cpu_ns"] - r["kept_ns"] for r in rows)
    assert slept >= 5_000_000  # at least one of the sleeps lies between two looks


def test_a_program_that_may_open_no_file_any_more_goes_on(record):
    """It would be killed for a look at the kernel's counter: later windows have none."""
    needs_counter()
    rows = record("sandboxed").execute("SELECT * FROM part ORDER BY window").fetchall()
    assert rows[-1]["kept_ns"] is None


def test_a_full_part_of_a_window_stays_that_of_its_thread(record):
    """Another thread came to the lane at the end of a run of libssl. All that was known of the
    first one's processor was thrown away, and its time off it was taken for sleep. Where the first
    ends soon after a window begins, that part is not full, and both threads share it."""
    rows = record("heir").execute("SELECT * FROM part WHERE missed > 0").fetchall()
    assert any(r["mixed"] == 0 for r in rows)
