# SPDX-License-Identifier: MIT
"""`pawl trace`: what the recorder sees of a small program, and that the program ends as it would.

Most tests run the recorder itself and collect in this process; the command is run where it is what
is tested.
"""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys

import pytest

from conftest import ROOT, SHIM, needs_recorder, program_to_trace, recording
from pawl.advise import export, page
from pawl.advise.facts import Facts
from pawl.core.errors import BadInput
from pawl.trace import collect, raw, store, symbols
from pawl.trace import command as trace_command

pytestmark = needs_recorder


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return program_to_trace(tmp_path_factory.mktemp("trace"))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "raw"
    made.mkdir()
    return made


@pytest.fixture
def record(program, folder, tmp_path):
    """Runs the program under the recorder; the trace as a database."""

    def go(*words, code=0, **how):
        done = subprocess.run(
            [program, *map(str, words)], check=False, timeout=300, env=recording(folder), **how
        )
        assert done.returncode == code
        path = tmp_path / "made.trace"
        with store.create(path) as db:
            said = collect.collect(folder, db, {})
        assert [s for s in said if "llvm" not in s] == []
        return store.open_trace(path)

    return go


def one(db, question):
    return db.execute(question).fetchone()[0]


def losses(db):
    return dict(db.execute("SELECT name, sum(count) FROM loss GROUP BY name").fetchall())


def test_pairs_are_counted_with_their_sites(record):
    db = record("pairs", 1000)
    use = db.execute("SELECT * FROM use").fetchall()
    assert len(use) == 1 and use[0]["count"] == 1000 and use[0]["waits"] == 0
    assert use[0]["threads"] == 1 and use[0]["mode"] == "mutex"
    assert sum(n for _, n in store.histogram(use[0]["hold_histogram"])) == 1000
    assert use[0]["hold_p50"] <= use[0]["hold_p99"] <= use[0]["hold_max"] <= use[0]["hold_ns"]
    assert one(db, "SELECT name FROM lock") == "mutex"
    sites = db.execute("SELECT function, line FROM site ORDER BY line").fetchall()
    assert {s["function"] for s in sites} == {"pairs"} and sites[1]["line"] == sites[0]["line"] + 1
    assert one(db, "SELECT count(*) FROM event") == 1000 and losses(db) == {}


def test_a_wait_has_two_sides(record):
    db = record("wait")
    blame = db.execute(
        "SELECT s.function AS waiter, h.function AS holder, b.* FROM blame b JOIN "
        "site s ON s.id = b.site JOIN site h ON h.id = b.holder"
    ).fetchall()
    assert [(b["waiter"], b["holder"], b["count"]) for b in blame] == [
        ("waiter", "hold_while_waited_for", 1)
    ]
    waited = db.execute("SELECT * FROM use WHERE waits = 1 AND mode = 'mutex'").fetchone()
    # The waiter sleeps while the holder sleeps 50 ms; how much longer is the machine's affair.
    assert waited["wait_ns"] == waited["wait_max"] == blame[0]["wait_ns"] > 0
    # The hold begins when the recorder has done its work, which counts as waiting in a window.
    step = db.execute("SELECT * FROM step WHERE wait_ns > 0 AND mode = 'mutex'").fetchone()
    assert step["wait_ns"] > waited["wait_ns"] and step["hold_ns"] == waited["hold_ns"]
    assert one(db, "SELECT own_ns FROM process") > 0
    assert one(db, "SELECT max(hold_ns) FROM use") >= 50_000_000
    slept = db.execute(
        "SELECT e.held_mode, e.count, s.function FROM edge e JOIN site s ON "
        "s.id = e.taken_site WHERE e.taken_mode = 'sleep'"
    ).fetchall()
    assert [tuple(s) for s in slept] == [("mutex", 1, "hold_while_waited_for")]
    assert one(db, "SELECT count(*) FROM use WHERE mode = 'sleep' AND waits = 1") == 1


def test_a_thread_with_one_call_ran_for_no_negative_time(record):
    """The call began before its thread had a place in the file, so the thread's last moment came
    before its first one. The difference counted as 7 years."""
    assert 0 <= one(record("nap"), "SELECT sum(thread_ns) FROM process") < 1e11


def test_every_kind_is_recorded(record):
    db = record("kinds")
    rows = db.execute(
        "SELECT l.kind, u.mode, sum(u.count) AS count, sum(u.failed) AS failed, "
        "sum(u.timeouts) AS timeouts FROM use u JOIN lock l ON l.id = u.lock "
        "GROUP BY u.mode"
    ).fetchall()
    assert {r["mode"]: (r["kind"], r["count"], r["failed"], r["timeouts"]) for r in rows} == {
        "mutex": ("mutex", 2, 1, 1),
        "read": ("rwlock", 2, 1, 0),
        "write": ("rwlock", 1, 0, 0),
        "spin": ("spin", 1, 1, 0),
        "cond-wait": ("cond", 0, 0, 1),
        "cond-signal": ("cond", 1, 0, 0),
        "cond-broadcast": ("cond", 1, 0, 0),
        "barrier": ("barrier", 1, 0, 0),
        "sem-post": ("sem", 1, 0, 0),
        "sem-wait": ("sem", 1, 1, 1),
    }
    edges = db.execute("SELECT held_mode, taken_mode FROM edge").fetchall()
    assert {tuple(e) for e in edges} == {("mutex", "write"), ("write", "spin")}


def test_a_try_makes_no_order_of_locks(record):
    """memcached takes an item's lock by a try while it holds that of a list, and elsewhere the
    list's while it holds the item's. No thread waits in the first order, so none waits for ever."""
    db = record("tries")
    edges = db.execute(
        "SELECT h.name, t.name FROM edge e JOIN lock h ON h.id = e.held JOIN lock t "
        "ON t.id = e.taken"
    ).fetchall()
    assert [tuple(e) for e in edges] == [("other", "mutex")]


def test_locks_inside_one_variable_have_their_offsets():
    """Each lock of an array had the name of the array."""
    data = {"Name": "table", "Size": "0x78", "Start": "0x4040"}
    names = [symbols._frames({"Address": at, "Data": data}) for at in ("0x4040", "0x4068")]
    assert [str(frames[0]) for frames in names] == ["table", "table+0x28"]


def test_names_that_the_program_gives(record):
    db = record("named", 3)
    assert [tuple(r) for r in db.execute("SELECT name, given FROM lock")] == [("cache.map", 1)]


def test_threads_have_names_in_their_order(record):
    db = record("names")
    rows = db.execute("SELECT number, name FROM thread ORDER BY number").fetchall()
    assert [tuple(r) for r in rows] == [(1, "program"), (2, "around"), (3, "within")]
    facts = Facts(db)
    names = ["program (thread 1)", "around (thread 2)", "within (thread 3)"]
    shown = list(page.timeline(facts)[1])  # one window, which may have begun later
    assert shown and shown == [name for name in names if name in shown]
    events = json.loads(export.chrome(facts))["traceEvents"]
    assert names == [e["args"]["name"] for e in events if e["name"] == "thread_name"]


def test_a_killed_process_is_complete_to_its_last_call(record):
    db = record("kill", 1000, code=-signal.SIGKILL)
    assert one(db, "SELECT count FROM use") == 1000
    held = db.execute("SELECT l.name, h.waiting FROM held h JOIN lock l ON l.id = h.lock")
    assert [tuple(h) for h in held] == [("other", 0)]
    assert one(db, "SELECT ended FROM process") == 0


def test_handlers_that_interrupt_the_recorder_lose_only_their_own_calls(record):
    # The handler's calls in the middle of a record: the outer record must stay whole. The recorder
    # crashed in one run of seventy: it saw that a release is timed; the handler's own release ended
    # that; and it wrote to a record that was none.
    db = record("handler")
    assert (
        one(db, "SELECT sum(count) FROM use u JOIN lock l ON l.id = u.lock WHERE l.name = 'mutex'")
        == 100000
    )
    assert set(losses(db)) <= {"reentered"} and one(db, "SELECT count(*) FROM held") == 0


def test_each_child_of_fork_has_its_own_counts(record):
    db = record("forks", 30)
    counts = [r[0] for r in db.execute("SELECT pairs FROM process ORDER BY id")]
    assert counts == [1] + [3] * 30
    parent = one(db, "SELECT pid FROM process WHERE id = 1")
    assert one(db, f"SELECT count(*) FROM process WHERE parent = {parent}") == 30


def test_both_programs_of_an_exec(record):
    db = record("exec", 5)
    assert [r[0] for r in db.execute("SELECT pairs FROM process ORDER BY id")] == [5, 7]
    assert one(db, "SELECT count(DISTINCT pid) FROM process") == 1


@pytest.fixture
def static(tmp_path):
    """A program that no recorder is loaded into; its exit status is 5."""
    source, made = tmp_path / "static.c", tmp_path / "static"
    source.write_text("int main(void) { return 5; }\n")
    subprocess.run(["gcc", "-static", "-o", made, source], check=True)
    return made


def test_children_of_vfork_that_become_static_programs(record, static):
    db = record("vforks", 50, static)
    assert [r[0] for r in db.execute("SELECT pairs FROM process")] == [50]
    assert losses(db) == {}


def test_a_program_that_becomes_a_static_one(record, static):
    db = record("become", 5, static, code=5)
    assert [r[0] for r in db.execute("SELECT pairs FROM process")] == [5]


def test_threads_with_small_stacks_use_the_lanes_of_those_that_ended(record, folder):
    db = record("threads", 300)
    # Where a table stays locked for 20 ms a call goes unrecorded, and is counted.
    missed = losses(db).get("without_lane", 0)
    # On a busy machine that may be most of them.
    assert 300 - missed <= one(db, "SELECT sum(count) FROM use") <= 300 and missed < 300
    process = raw.read(next(folder.glob("*.raw")))
    assert len(process.lanes) < 300 or missed


def test_a_crowd_that_ends_at_one_moment_gives_all_its_lanes_back(record, folder):
    """A thread that ended waited for the tables for 20 ms, and its lane was lost where others had
    them for longer: crowd after crowd, fewer were left."""
    db = record("crowds", 900)
    process = raw.read(next(folder.glob("*.raw")))
    assert len(process.lanes) <= 901
    assert one(db, "SELECT sum(count) FROM use WHERE mode = 'mutex'") > 0


def test_the_heaviest_lock_stays_exact_among_many(record):
    db = record("locks", 20000)
    heavy = db.execute(
        "SELECT u.count, u.late FROM use u JOIN lock l ON l.id = u.lock WHERE l.name = 'other'"
    ).fetchall()
    assert [tuple(h) for h in heavy] == [(20000, 0)]
    pooled = one(db, "SELECT sum(count) FROM pool")
    assert pooled > 0 and pooled + one(db, "SELECT sum(count) FROM use") == 40000
    assert one(db, "SELECT count(*) FROM use") <= 256 + 16
    assert "mutex of many_locks" in {
        r[0].split(" (")[0] for r in db.execute("SELECT name FROM lock")
    }


def test_a_program_that_closes_all_descriptors(record):
    db = record("closed", 4)
    assert one(db, "SELECT sum(count) FROM use") == 4 and losses(db) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_program_that_becomes_another_user(record, folder):
    """The file was made by root, and lanes are allocated in it when threads come:
    1. The program is root, and the recorder makes its file.
    2. The program becomes another user, which may not open that file.
    3. Its threads take their first locks, so they need lanes."""
    folder.chmod(0o1733)
    for above in folder.parents:  # of the test; up to a folder that others may enter
        if above.stat().st_mode & 0o001:
            break
        above.chmod(0o711)
    db = record("user", 4)
    assert one_by_one(db) == {"threads": 5, "parent": 5, "child": 3} and losses(db) == {}


def one_by_one(db):
    parent, child = (r[0] for r in db.execute("SELECT pairs FROM process ORDER BY id"))
    return {
        "threads": one(db, "SELECT threads FROM process WHERE id = 1"),
        "parent": parent,
        "child": child,
    }


def test_a_limit_of_file_sizes_ends_the_recording_and_not_the_program(program, folder):
    # Beyond the limit ftruncate ends a process by SIGXFSZ.
    done = subprocess.run(
        [program, "end", "7"],
        check=False,
        capture_output=True,
        text=True,
        env=recording(folder),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
    )
    assert done.returncode == 7 and list(folder.iterdir()) == []
    assert "ulimit -f" in done.stderr and done.stderr.count("\n") == 1


def test_a_folder_that_is_not_there(program, tmp_path):
    done = subprocess.run(
        [program, "end", "7"],
        check=False,
        capture_output=True,
        text=True,
        env=recording(tmp_path / "no"),
    )
    assert done.returncode == 7 and "is not recorded" in done.stderr


# ---- The command ---------------------------------------------------------------------------------


@pytest.fixture
def command(program, tmp_path):
    def start(*arguments, words=()):
        made = {**os.environ, "PYTHONPATH": str(ROOT / "tool"), "PAWL_PRELOAD_DIR": SHIM}
        return subprocess.Popen(
            [*map(str, (sys.executable, "-m", "pawl", "trace", *arguments, "--", program, *words))],
            env=made,
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


def test_the_command_ends_as_the_program(command, tmp_path):
    both = [
        (command("-o", f"{code}", words=words), code)
        for words, code in ((("end", 7), 7), (("kill", 1), -signal.SIGKILL))
    ]
    for run, code in both:
        said = run.communicate(timeout=300)[1]
        assert run.returncode == code, said
        assert "pairs of lock and unlock 1." in said
        assert (
            store.open_trace(tmp_path / str(code))
            .execute("SELECT value FROM meta WHERE name = 'command'")
            .fetchone()
        )


def test_recording_starts_and_stops(command, tmp_path):
    run = command("--stopped", words=("sleep",))
    assert "took no lock" in run.communicate(timeout=300)[1] and run.returncode == 0
    run = command("-d", "0.05", words=("sleep",))
    run.communicate(timeout=300)
    db = store.open_trace(tmp_path / "pawl.trace")
    assert run.returncode == 0 and one(db, "SELECT total(pairs) FROM process") in (0, 5)


def test_programs_that_cannot_be_traced(command, tmp_path):
    run = command("-o", tmp_path, words=("end", 7))
    assert "is a folder" in run.communicate(timeout=300)[1] and run.returncode == 2


def test_a_loss_of_most_calls_stands_in_the_first_line(tmp_path, capsys):
    """Of 3,000 threads at a time two thirds had no lane, and the line said nothing of it."""
    path = tmp_path / "made"
    with store.create(path) as db:
        process = (1, 9, 1, "/bin/x", 0, 10**9, 1, 3000, 10**9, 100, 100, 20, None, 20)
        store.insert(db, "process", [process])
        store.insert(db, "meta", [("finished", "yes")])
        store.insert(db, "loss", [(1, "without_lane", 600, "calls without a lane")])
    trace_command._summary(path)
    assert "most calls are missing (75 %); processes 1" in capsys.readouterr().err


# ---- The file ------------------------------------------------------------------------------------


def test_files_that_are_no_trace(record, tmp_path):
    record("pairs", 3)
    good = (tmp_path / "made.trace").read_bytes()
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE t(a)")
    other.commit()
    newer = tmp_path / "newer"
    newer.write_bytes(good)
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 99")
    for name, data, says in (
        ("empty", b"", "is empty"),
        ("text", b"hello" * 999, "is no trace"),
        ("torn", good[: len(good) // 2], "torn"),
        ("other", None, "no trace"),
        ("newer", None, "version 99"),
        ("gone", None, "there is no file"),
    ):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput, match=says):
            store.open_trace(tmp_path / name)


def test_a_raw_file_of_another_version_is_a_sentence(record, folder, tmp_path):
    record("pairs", 3)
    path = next(folder.glob("*.raw"))
    with path.open("r+b") as file:
        file.seek(raw.CONTROL.fields["format"][1])
        file.write(b"\xff")
    assert "another version" in raw.read(path)
    path.write_bytes(b"x" * 100)
    assert "too short" in raw.read(path)


def test_buckets_are_those_of_the_recorder():
    edges = raw.lower_edges()
    assert len(edges) == raw.BUCKETS + 1 and list(edges[:10]) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]
    counts = [0] * raw.BUCKETS
    counts[8] = 10

    assert raw.percentile(counts, 0.5, 9) == 9
