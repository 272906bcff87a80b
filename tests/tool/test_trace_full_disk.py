# SPDX-License-Identifier: MIT
"""`pawl trace` on a disk that is full: the program goes on and ends as it would, and what was lost
is counted and said. The disk is a file system in memory, seen by the program and its children
alone."""

import os
import shutil
import subprocess
import sys

import pytest

from conftest import RECORDER, ROOT, SHIM, needs_recorder, program_to_trace
from pawl.trace import collect, store

pytestmark = needs_recorder

# $1 and /dev/shm are of so many KiB, $2; raw files that are there at the end are copied to $3.
ALONE = """
mount -t tmpfs -o size=${2}k none "$1" && mount -t tmpfs -o size=${2}k none /dev/shm || exit 99
disk=$1 kept=$3; shift 3
"$@"
code=$?
cp --sparse=always "$disk"/*.raw "$kept" 2>/dev/null
exit $code
"""
SPACES = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return program_to_trace(tmp_path_factory.mktemp("trace"))


@pytest.fixture
def on_a_disk(tmp_path):
    """Runs words on a disk of so many KiB, which is the folder `disk`."""
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    kept.mkdir()

    def go(kib, *words, **more):
        if not shutil.which("unshare"):
            pytest.skip("there is no unshare, so no disk of its own")
        start = [*SPACES, "sh", "-c", ALONE, "sh", disk, str(kib), kept]
        probe = subprocess.run([*start, "true"], check=False, capture_output=True)
        if probe.returncode:
            pytest.skip("the system allows no file system of its own")
        return subprocess.run(
            [*start, *map(str, words)],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **more},
        )

    go.disk, go.kept = disk, kept
    return go


def losses(path):
    with store.open_trace(path) as db:
        return dict(db.execute("SELECT name, sum(count) FROM loss GROUP BY name").fetchall())


def test_threads_without_room_are_counted_and_the_program_goes_on(program, on_a_disk, tmp_path):
    """The process has its room, and some of 60 threads have theirs."""
    record = {"LD_PRELOAD": RECORDER, "PAWL_TRACE_DIR": str(on_a_disk.disk)}
    done = on_a_disk(1200, "env", *(f"{k}={v}" for k, v in record.items()), program, "crowds", 60)
    assert done.returncode == 0 and done.stderr == ""
    with store.create(tmp_path / "trace") as db:
        collect.collect(on_a_disk.kept, db, {})
    assert losses(tmp_path / "trace")["no_room"] > 0
    with store.open_trace(tmp_path / "trace") as db:
        assert db.execute("SELECT sum(count) FROM use").fetchone()[0] > 0


def test_a_process_without_room_says_so_and_ends_as_it_would(program, on_a_disk):
    record = {"LD_PRELOAD": RECORDER, "PAWL_TRACE_DIR": str(on_a_disk.disk)}
    done = on_a_disk(64, "env", *(f"{k}={v}" for k, v in record.items()), program, "end", 7)
    assert done.returncode == 7 and done.stderr.count("\n") == 1
    assert "there is no room for its raw file; free some space or set TMPDIR" in done.stderr


def command(trace, program, *words):
    return [sys.executable, "-m", "pawl", "trace", "-o", trace, "--", program, *words]


@pytest.mark.parametrize(("word", "code"), [("crowds", 0), ("end", 7)])
def test_the_command_says_what_was_lost(program, on_a_disk, tmp_path, word, code):
    """`end` is a process that has its room, and loses nothing."""
    done = on_a_disk(
        1200,
        *command(tmp_path / "trace", program, word, code or 60),
        PYTHONPATH=str(ROOT / "tool"),
        PAWL_PRELOAD_DIR=SHIM,
        TMPDIR=str(on_a_disk.disk),
    )
    assert done.returncode == code, done.stderr
    lost = losses(tmp_path / "trace").get("no_room", 0)
    said = f"not recorded: {lost:,} times threads that the disk had no room for."
    assert (lost > 0) == (said in done.stderr) == (word == "crowds")


def test_a_disk_that_is_full_before_the_program_starts_is_a_sentence(program, on_a_disk, tmp_path):
    done = on_a_disk(
        64,
        *command(on_a_disk.disk / "trace", program, "end", 7),
        PYTHONPATH=str(ROOT / "tool"),
        PAWL_PRELOAD_DIR=SHIM,
        TMPDIR=str(tmp_path),
    )
    assert done.returncode == 2 and "--output: no room for trace" in done.stderr


def test_a_trace_that_cannot_be_written_changes_no_exit_code(program, on_a_disk, tmp_path):
    """The raw files have their room; what the program writes leaves none for the trace."""
    raws = tmp_path / "raws"
    raws.mkdir()
    fills = 'head -c 9m /dev/zero >"$1/fill" 2>/dev/null; exec "$2" end 7'
    done = on_a_disk(
        6000,
        *command(on_a_disk.disk / "trace", "sh", "-c", fills, "sh", on_a_disk.disk, program),
        PYTHONPATH=str(ROOT / "tool"),
        PAWL_PRELOAD_DIR=SHIM,
        TMPDIR=str(raws),
    )
    assert done.returncode == 7, done.stderr
    assert "cannot write" in done.stderr and "the program was not disturbed" in done.stderr
    assert [path.name for path in raws.iterdir()] == []
