# SPDX-License-Identifier: MIT
"""`pawl trace`: what it says of programs whose takes, waits and holders are known."""

import os
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, needs_recorder, recording
from pawl.advise.facts import Facts
from pawl.advise.rules import RULES
from pawl.trace import collect, store, symbols

pytestmark = needs_recorder
SOURCES = ROOT / "tests/trace"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("truth") / "truth"
    source = SOURCES / "truth.c"
    flags = ["gcc", "-O1", "-g", "-D_GNU_SOURCE"]
    subprocess.run([*flags, "-o", made, source, "-pthread", "-ldl"], check=True)
    return made


@pytest.fixture
def record(program, tmp_path):
    def go(*words):
        raw = tmp_path / "raw"
        raw.mkdir()
        subprocess.run([program, *words], check=True, timeout=300, env=recording(raw))
        path = tmp_path / "made.trace"
        with store.create(path) as db:
            collect.collect(raw, db, {})
        return store.open_trace(path)

    return go


def sums(db, mode):
    return tuple(
        db.execute(
            "SELECT total(count), total(waits), total(failed), total(timeouts) FROM use "
            "WHERE mode = ?",
            (mode,),
        ).fetchone()
    )


def blames(db):
    """(waiter, holder) -> (wait, of it past)."""
    return {
        (r[0], r[1]): (r[2], r[3])
        for r in db.execute(
            "SELECT s.function, h.function, sum(b.wait_ns), sum(b.past_ns) FROM blame b "
            "JOIN site s ON s.id = b.site LEFT JOIN site h ON h.id = b.holder GROUP BY 1, 2"
        )
    }


def test_a_wait_is_shared_among_those_who_held_meanwhile(record):
    """All of it was the first holder's, as it was looked at once."""
    db = record("chain")
    found = blames(db)
    wait = db.execute(
        "SELECT wait_ns FROM use u JOIN site s ON s.id = u.take WHERE s.function = 'third' AND "
        "u.mode = 'mutex'"
    ).fetchone()[0]
    both = found["third", "first"], found["third", "second"]
    assert abs(sum(b[0] for b in both) - wait) <= 2  # each is rounded
    assert found["third", "second"][0] - found["third", "second"][1] >= 40_000_000  # it slept then
    assert found["third", "first"][0] > found["third", "first"][1]  # of which it held a part


def test_a_mutex_that_is_taken_again_has_one_holder_and_one_hold(record):
    """The inner release left no holder, and the inner hold was counted twice."""
    db = record("recursive")
    assert set(blames(db)) == {("waiter", "outer")}
    held = {
        r[0]: r[1]
        for r in db.execute(
            "SELECT s.function, u.hold_ns FROM use u JOIN site s ON s.id = u.take "
            "WHERE u.mode = 'mutex'"
        )
    }
    assert held["inner"] == 0 and held["outer"] >= 51_000_000
    assert sums(db, "mutex")[0] == 3


def test_a_reader_that_reads_again_meets_nobody(record):
    db = record("twice")
    assert sums(db, "read")[0] == 200
    assert db.execute("SELECT total(overlaps) FROM use").fetchone()[0] == 0


def test_a_lock_that_is_refused_is_no_wait(record):
    assert sums(record("checked"), "mutex") == (1, 0, 100, 0)


def test_a_read_beyond_the_holds_that_are_remembered_does_not_stay(record):
    db = record("deep")
    assert sums(db, "read")[0] == 100
    assert db.execute("SELECT total(overlaps) FROM use").fetchone()[0] == 0


def test_takes_by_threads_that_end_are_counted(record):
    assert sums(record("robust"), "mutex")[0] == 20


def test_a_semaphore_counts_what_was_taken(record):
    """Timed waits that took a unit at once counted as waits, and refused ones as takes."""
    assert sums(record("semaphores"), "sem-wait") == (100, 10, 10, 5)


def test_the_last_at_a_barrier_waits_for_nobody(record):
    assert sums(record("barrier"), "barrier") == (200, 150, 0, 0)


def test_a_fork_without_handlers_has_its_own_counts(record):
    counts = [r[0] for r in record("raw").execute("SELECT pairs FROM process ORDER BY id")]
    assert counts == [10] + [100] * 5


def test_a_handler_in_a_child_is_the_childs(record):
    """1. An allocator comes before the recorder, and asks to be called in children of fork.
    2. In the child its handler runs first, and takes locks. 3. They were written into the lane of
    the parent's thread, which goes on in it."""
    counts = [r[0] for r in record("early").execute("SELECT pairs FROM process ORDER BY id")]
    assert counts == [10] + [1100] * 5


def test_plug_ins_at_one_address_are_told_apart(record, tmp_path):
    """1. A plug-in is loaded, used and unloaded. 2. The loader puts the next one in its place.
    3. The sites of both are the same addresses, and all were named as the first one's."""
    files = []
    for name in ("one", "two"):
        files.append(str(tmp_path / f"{name}.so"))
        subprocess.run(
            ["gcc", "-O1", "-g", "-shared", "-fPIC", f"-DNAME={name}_takes", "-o", files[-1]]
            + [SOURCES / "plugin.c"],
            check=True,
        )
    db = record("plugins", *files)
    rows = db.execute("SELECT s.function, u.count FROM use u JOIN site s ON s.id = u.take")
    assert {tuple(r) for r in rows} == {("one_takes", 10), ("two_takes", 20)}


def test_locks_that_never_lived_together_are_in_no_order(record):
    """The memory is used again, and the new locks are taken the other way round."""
    db = record("lives")
    assert db.execute("SELECT count(*) FROM edge").fetchone()[0] >= 2
    assert list(RULES["lock_order"](Facts(db))) == []


def test_orders_of_many_locks_have_room(record):
    db = record("orders")
    assert db.execute("SELECT count(DISTINCT taken) FROM edge").fetchone()[0] == 1000
    assert db.execute("SELECT total(count) FROM loss WHERE name = 'lost_edges'").fetchone()[0] == 0


def test_sleeping_threads_do_not_count_as_running(record):
    """One runs for 0.1 s. The others are there as long, and sleep."""
    db = record("sleepers")
    cpu, there = db.execute("SELECT cpu_ns, thread_ns FROM process").fetchone()
    assert 50_000_000 <= cpu <= there / 2
    facts = Facts(db)
    assert facts.thread_ns == cpu + facts.wait_ns


def test_locks_and_conditions_of_c11_are_seen(record):
    """glibc's mtx_lock calls pthread_mutex_lock by a hidden name: nothing was recorded."""
    db = record("c11")
    waits = sums(db, "cond-wait")
    assert waits[3] == 2  # that ended by their time
    # Each wait ends a hold and begins another one.
    assert sums(db, "mutex")[::2] == (102 + waits[1], 100)
    assert sums(db, "cond-signal")[0] == 100
    (name,) = (r[0] for r in db.execute("SELECT name FROM lock WHERE kind = 'mutex'"))
    assert name == "c11_mutex"


def test_a_child_that_outlives_the_program_is_not_cut_off_without_a_word(program, tmp_path):
    """1. The child takes a lock. 2. Its parent, the program, ends. 3. The trace was made, without
    what the child did after that, and nothing said so."""
    made = {**os.environ, "PYTHONPATH": str(ROOT / "tool"), "PAWL_PRELOAD_DIR": f"{BUILD}/shim"}
    trace = tmp_path / "made.trace"
    words = [sys.executable, "-m", "pawl", "trace", "-o", trace, "--", program, "leaves"]
    done = subprocess.run(words, env=made, stderr=subprocess.PIPE, text=True, check=True)
    assert "1 times what a process does that goes on" in done.stderr
    db = store.open_trace(trace)
    assert db.execute("SELECT name, count FROM loss").fetchall()[0][:] == ("left", 1)
    assert db.execute("SELECT max(pairs) FROM process").fetchone()[0] == 5


def test_one_call_in_some_is_timed_in_parts(record):
    """The first of each thread, and then one of 251; not those in which it lost its processor."""
    db = record("sleepers")
    count, priced = db.execute("SELECT sum(count), sum(priced) FROM use").fetchone()
    assert count / 1000 <= priced <= count / 251 + 4
    assert db.execute("SELECT pair_ns FROM process").fetchone()[0] >= 1
    facts = Facts(db)
    (lock,) = facts.kind("mutex")
    assert lock.all.timed("take_ns", "drop_ns") >= 0 and lock.all.timed("note_ns") > 0


def test_a_lock_made_by_a_wrapper_has_the_name_of_its_caller(record):
    """All of them had the name of the wrapper; and one that no call made had its address, which is
    another one in each run."""
    names = {r[0].split(" (")[0] for r in record("names").execute("SELECT name FROM lock")}
    assert names == {
        "mutex of lock_of_table",
        "mutex of lock_of_log",
        "mutex taken at take_and_free",
    }


def test_guards_of_cxx_are_no_place():
    names = ["__gthread_mutex_lock", "std::mutex::lock", "std::lock_guard<std::mutex>::lock_guard"]
    frames = [symbols.Frame(name) for name in [*names, "std::sort<int*>", "work()"]]
    assert [str(f) for f in symbols.without_ours(frames)] == ["std::sort<int*>", "work()"]
    assert symbols.ALLOCATORS.search("CRYPTO_zalloc") and symbols.ALLOCATORS.search("os::malloc")
