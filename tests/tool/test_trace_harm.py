# SPDX-License-Identifier: MIT
"""`pawl trace` does no harm: not to files of root, not to the terminal, not to memory, and not to
the exit code of a program whose name or arguments are any bytes."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import LONG, ROOT, SHIM, needs_recorder, program_to_trace, recording
from pawl.trace import collect, raw, session, store

pytestmark = needs_recorder


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return program_to_trace(tmp_path_factory.mktemp("trace"))


@pytest.fixture
def start(tmp_path):
    def go(*words, **more):
        made = {**os.environ, "PYTHONPATH": str(ROOT / "tool"), "PAWL_PRELOAD_DIR": SHIM}
        made["TMPDIR"] = str(tmp_path)
        return subprocess.Popen(
            [sys.executable, "-m", "pawl", *words],
            env=made,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **more,
        )

    return go


def meta(path):
    with store.open_trace(path) as db:
        return dict(db.execute("SELECT name, value FROM meta").fetchall())


# ---- Root's folder -------------------------------------------------------------------------------


@pytest.fixture
def planted(program, tmp_path):
    """A folder with the raw file of a program, and what somebody has put beside it."""
    folder = tmp_path / "raw"
    folder.mkdir()
    under = recording(folder)
    subprocess.run([program, "pairs", "5"], check=True, env=under)
    whole = next(folder.glob("*.raw"))
    victim = tmp_path / "victim"
    victim.write_bytes(b"v" * 4096)
    (folder / "1.a.raw").symlink_to(victim)
    os.mkfifo(folder / "1.b.raw")
    (folder / "1.c.raw").mkdir()
    os.link(victim, folder / "1.d.raw")
    (folder / "nothing.raw").mkdir()
    (folder / "9.e.raw").write_bytes(os.urandom(1 << 20))
    return folder, whole, victim


def test_what_others_put_into_the_folder_is_not_touched(planted):
    """1. A link to a file of root lies in the folder. 2. The recording is stopped: four bytes were
    written into that file."""
    folder, whole, victim = planted
    (folder / "nothing.raw").rmdir()
    (folder / "stopped").symlink_to(folder.parent / "made")
    session.Session((), {}, folder).stop()
    assert not (folder.parent / "made").exists()
    assert victim.read_bytes() == b"v" * 4096
    control = whole.read_bytes()[: raw.CONTROL.itemsize]
    assert control[raw.ENABLED_AT : raw.ENABLED_AT + 4] == b"\0" * 4


def test_a_bad_raw_file_does_not_end_the_rest(planted, tmp_path):
    folder, whole, _ = planted
    (folder / "nothing.raw").rmdir()
    (tmp_path / "of-another").write_bytes(whole.read_bytes())
    (folder / "1.g.raw").symlink_to(tmp_path / "of-another")
    with store.create(tmp_path / "trace") as db:
        said = [s for s in collect.collect(folder, db, {}) if "llvm" not in s]
    assert len(said) == 6 and all("is not in the trace" in s for s in said)
    with store.open_trace(tmp_path / "trace") as db:
        assert db.execute("SELECT sum(count) FROM use").fetchone()[0] == 5


def test_a_number_that_no_database_takes_loses_one_process(planted, tmp_path):
    """A count of 2^63 ended the collecting with a traceback."""
    folder, whole, _ = planted
    (folder / "nothing.raw").rmdir()
    bad = bytearray(whole.read_bytes())
    at = raw.CONTROL.fields["realtime_begun"][1]
    bad[at : at + 8] = b"\xff" * 8
    (folder / "7.f.raw").write_bytes(bad)
    with store.create(tmp_path / "trace") as db:
        said = collect.collect(folder, db, {})
    assert any("process 7 is not in the trace: its raw file is damaged" in s for s in said)
    with store.open_trace(tmp_path / "trace") as db:
        assert db.execute("SELECT count(*) FROM process").fetchone()[0] == 1


def test_files_of_users_that_were_not_traced_stay_unread(planted):
    _, whole, _ = planted
    assert "no traced process was of its user" in raw.read(whole, {os.getuid() + 1})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's folder is open to others")
def test_others_do_not_see_where_roots_raw_files_are():
    with session.recording_folder(Path("trace")) as folder:
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o711
        assert stat.S_IMODE(folder.stat().st_mode) == 0o1733
    assert not folder.parent.exists()


# ---- Names and arguments -------------------------------------------------------------------------


def test_names_and_arguments_of_any_bytes(program, start, tmp_path):
    """The program had run, and then its trace was lost by a traceback, with the exit code."""
    odd = os.fsencode(tmp_path) + b"/o\xff\x1b[1md"
    os.symlink(program, odd)
    run = start("trace", "--arguments", "--", odd, "end", "7", b"\xfe\x1b]0;x\x07")
    said = run.communicate(timeout=LONG)[1]
    assert run.returncode == 7 and b"Traceback" not in said and b"\x1b" not in said, said
    assert r"\xfe\x1b]0;x\x07" in meta(tmp_path / "pawl.trace")["command"]
    for words in (
        ("advise",),
        ("advise", odd),
        ("diff", odd, odd),
        ("report", odd),
        ("trace", odd),
    ):
        run = start(*words)
        out, said = run.communicate(timeout=LONG)
        assert b"Traceback" not in said and b"\x1b" not in out + said, said


def test_arguments_stay_out_of_the_trace(program, start, tmp_path):
    run = start("trace", "--", program, "end", "0", "--password=secret")
    run.communicate(timeout=LONG)
    assert run.returncode == 0
    assert b"secret" not in (tmp_path / "pawl.trace").read_bytes()
    assert str(program) in meta(tmp_path / "pawl.trace")["command"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_trace_is_written_under_the_umask(program, start, tmp_path, mask):
    run = start("trace", "--", program, "end", "0", umask=mask)
    run.communicate(timeout=LONG)
    assert stat.S_IMODE((tmp_path / "pawl.trace").stat().st_mode) == 0o666 & ~mask


def test_control_characters_of_a_trace_are_shown(program, start, tmp_path):
    run = start("trace", "--", program, "named", "5")
    run.communicate(timeout=LONG)
    with sqlite3.connect(tmp_path / "pawl.trace") as db:
        db.execute("UPDATE lock SET name = 'a' || char(27) || ']0;b' || char(7)")
        db.execute('UPDATE site SET frames = \'[["f\\u001b[2J", "\\\\u001b\\b", 1]]\'')
    run = start("advise", "--json", "a.json")
    out, said = run.communicate(timeout=LONG)
    assert run.returncode == 0 and b"\x1b" not in out and rb"a\x1b]0;b\x07" in out, said


# ---- Memory and ends -----------------------------------------------------------------------------


def folders():
    return set(Path("/dev/shm").glob("pawl-trace-*"))


def until(what):
    end = time.monotonic() + LONG
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    assert what()


def raws(before):
    return [p for f in folders() - before for p in f.rglob("*.raw")]


def test_programs_without_locks_have_no_raw_file(tmp_path):
    """Each program that ran took 0.41 MiB of memory until all was over."""
    under = recording(tmp_path)
    subprocess.run(["/bin/true"], check=True, env=under)
    assert list(tmp_path.glob("*.raw")) == []


def test_what_has_ended_is_collected_while_the_program_runs(program, start, tmp_path):
    before = folders()
    script = f'for i in 1 2 3 4 5; do "{program}" pairs 3; done; echo; read x; exit 6'
    run = start("trace", "--", "sh", "-c", script, stdin=subprocess.PIPE)
    run.stdout.readline()
    until(lambda: not raws(before))
    run.communicate(b"\n", timeout=LONG)
    assert run.returncode == 6
    with store.open_trace(tmp_path / "pawl.trace") as db:
        assert [r[0] for r in db.execute("SELECT pairs FROM process")] == [3] * 5


def test_a_killed_command_leaves_nothing_behind(program, start, tmp_path):
    before = folders()
    run = start("trace", "--", "sh", "-c", f'"{program}" pairs 3; echo $$; exec sleep 1000')
    other = int(run.stdout.readline())
    try:
        until(lambda: list(tmp_path.glob(".pawl.trace.*")))  # a part of the trace is there
        run.kill()
        run.wait()
        until(lambda: folders() == before and not list(tmp_path.glob(".pawl.trace.*")))
    finally:
        os.kill(other, signal.SIGKILL)


def test_an_interrupt_of_a_command_in_the_background_reaches_the_program(start):
    """A shell starts what runs in a script's background with INT ignored."""

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    run = start("trace", "--", "sh", "-c", "echo; exec sleep 1000", preexec_fn=ignore)
    run.stdout.readline()
    while run.poll() is None:  # the program may come a moment before the command waits for it
        run.send_signal(signal.SIGINT)
        time.sleep(0.1)
    assert run.returncode == -signal.SIGINT
