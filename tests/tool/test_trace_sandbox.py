# SPDX-License-Identifier: MIT
"""A program that is killed for calls which it does not make itself: it ends under the recorder as
it does alone, and what could not be recorded is said."""

import os
import subprocess

import pytest

from conftest import RECORDER, compiled, needs_recorder
from pawl.trace import collect, store

pytestmark = needs_recorder
PAIRS, THREADS = 2000, 3  # of the program


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("sandbox") / "sandbox"
    return compiled(made, "sandbox.c")


@pytest.fixture
def record(program, tmp_path):
    def go(word, **more):
        raws = tmp_path / "raw"
        raws.mkdir()
        alone = subprocess.run([program, word], check=False, timeout=300)
        if alone.returncode == 77:
            pytest.skip("the system has no seccomp")
        assert alone.returncode == 0
        done = subprocess.run(
            [program, word],
            check=False,
            timeout=300,
            env={**os.environ, "LD_PRELOAD": RECORDER, "PAWL_TRACE_DIR": str(raws), **more},
        )
        assert done.returncode == 0
        with store.create(tmp_path / "trace") as db:
            collect.collect(raws, db, {})
        return store.open_trace(tmp_path / "trace")

    return go


def one(db, question):
    return db.execute(question).fetchone()[0]


def losses(db):
    return dict(db.execute("SELECT name, sum(count) FROM loss GROUP BY name").fetchall())


@pytest.mark.parametrize("word", ["prctl", "syscall", "before"])
def test_new_threads_and_waits_make_no_call_of_the_recorder(record, word):
    """The new thread asked the kernel for room, for its number and its priority."""
    db = record(word)
    assert one(db, "SELECT sum(count) FROM use WHERE mode = 'mutex'") == (
        THREADS * PAIRS + 1 + (word != "before")
    )
    assert one(db, "SELECT sum(waits) FROM use WHERE mode = 'mutex'") >= THREADS
    assert losses(db)["sandboxed"] == 1


def test_a_filter_of_all_threads_meets_none_in_a_call(record):
    """Another thread may be in a call of the recorder when the filter comes for all."""
    assert losses(record("all"))["sandboxed"] == 1


def test_a_sandbox_that_allows_four_calls(record):
    """It forbids the processor's counter, too, so the thread's later takes are not recorded."""
    assert one(record("strict"), "SELECT sum(count) FROM use WHERE mode = 'mutex'") == 1


def test_a_child_in_a_sandbox_goes_unrecorded(record):
    db = record("fork")
    assert one(db, "SELECT count(*) FROM process") == 1


def test_a_sandbox_that_the_parent_made(record):
    """`pawl trace` says under which mode it runs itself; a process with another one was sandboxed
    by its parent. Here it is the test that claims another one."""
    assert losses(record("syscall", PAWL_TRACE_SECCOMP="1"))["sandboxed"] == 1
