# SPDX-License-Identifier: MIT
"""Stacks of waits, and of one in some takes: what the recorder finds below odd stacks, and that it
disturbs no program there."""

import gzip
import json
import os
import platform
import signal
import sqlite3
import struct
import subprocess
from pathlib import Path

import pytest

from conftest import RECORDER, ROOT, needs_recorder
from pawl.advise import export, page, stacks
from pawl.advise.facts import Facts
from pawl.advise.finding import find
from pawl.advise.rules import RULES
from pawl.cli import main
from pawl.trace import collect, raw, store

SOURCE = ROOT / "tests/trace/stacks.c"
pytestmark = [
    needs_recorder,
    pytest.mark.skipif(
        platform.libc_ver()[0] == "glibc"
        and tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 35),
        reason="stacks need glibc 2.35",
    ),
]
ON_X86 = platform.machine() == "x86_64"


def _built(folder, name, source, *options):
    subprocess.run(
        ["gcc", "-O1", "-g", *options, "-o", folder / name, source, "-pthread"], check=True
    )
    return folder / name


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stacks")
    without = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-rdynamic")
    return {
        "odd": _built(folder, "odd", SOURCE, "-rdynamic"),
        "frames": _built(folder, "frames", SOURCE, *without, "-fno-omit-frame-pointer"),
        "bare": _built(folder, "bare", SOURCE, *without, "-fomit-frame-pointer"),
        "plugin": _built(folder, "plugin.so", SOURCE, "-DPLUGIN", "-shared", "-fPIC"),
        "program": _built(folder, "program", ROOT / "tests/trace/program.c"),
    }


@pytest.fixture
def record(programs, tmp_path):
    """Runs a program with stacks of as many of its takes; the trace."""

    def go(program, *words, every="1", code=0, says=""):
        folder = tmp_path / f"raw{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        done = subprocess.run(
            [programs[program], *map(str, words)],
            check=False,
            timeout=300,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "LD_PRELOAD": RECORDER,
                "PAWL_TRACE_DIR": str(folder),
                "PAWL_TRACE_STACKS": every,
            },
        )
        assert done.returncode == code and says in done.stderr
        assert says or not done.stderr
        path = folder.with_suffix(".trace")
        with store.create(path) as db:
            collect.collect(folder, db, {})
        return store.open_trace(path)

    return go


def shown(db, of="mutex"):
    """The functions of each stack of a lock, from the call outwards, with inlined ones."""
    facts = Facts(db)
    return [
        [name for name in reversed(stacks.names(stack)) if name != "..."]
        for stack in stacks.of(facts, [k for k in facts.locks.values() if k.name == of])
    ]


def one(db, question):
    return db.execute(question).fetchone()[0]


def losses(db):
    return dict(db.execute("SELECT name, sum(count) FROM loss GROUP BY name").fetchall())


# ---- Finding stacks ------------------------------------------------------------------------------


def test_a_wait_has_its_whole_stack(record):
    # A frame of 70 kB lies between, so the words of the stack are read in parts.
    db = record("program", "deep", every="0")
    [found] = [s for s in shown(db) if "innermost" in s]
    assert found[:4] == ["innermost", "middle", "outermost", "deep_waiter"]
    row = db.execute(
        "SELECT w.*, l.name FROM waited w JOIN lock l ON l.id = w.lock WHERE w.mode = 'mutex'"
    ).fetchone()
    use = db.execute("SELECT * FROM use WHERE waits > 0 AND mode = 'mutex'").fetchone()
    assert (row["count"], row["wait_ns"], row["taken"]) == (1, use["wait_ns"], 0)
    assert row["wait_max"] == row["wait_ns"] and losses(db) == {}


def test_one_in_some_takes_has_its_stack(record):
    db = record("program", "pairs", 1000, every="10")
    assert [tuple(r) for r in db.execute("SELECT count, taken FROM waited")] == [(0, 100)]
    assert [s[:2] for s in shown(db)] == [["pairs", "main"]]


def test_other_takes_have_none(record):
    db = record("program", "pairs", 1000, every="0")
    assert one(db, "SELECT count(*) FROM waited") == one(db, "SELECT count(*) FROM stack") == 0


def test_a_program_may_be_recorded_without_stacks(record):
    db = record("program", "deep", 3, every="no")
    assert one(db, "SELECT count(*) FROM stack") == 0 and losses(db) == {}
    assert one(db, "SELECT sum(waits) FROM use WHERE mode = 'mutex'") == 1


@pytest.mark.parametrize("value", ["some", "-1", "1x", "4294967296"])
def test_a_wish_that_is_none_is_a_sentence(record, value):
    db = record("program", "pairs", 5, every=value, says="neither `no` nor a number")
    assert one(db, "SELECT sum(count) FROM use") == 5 and one(db, "SELECT count(*) FROM stack") == 0


# ---- Odd stacks ----------------------------------------------------------------------------------


def test_a_stack_that_the_program_has_made(record):
    assert [s[:2] for s in shown(record("odd", "coroutine"))] == [["take", "coroutine"]]


def test_a_handler_on_a_stack_of_its_own(record):
    [found] = shown(record("odd", "handler"))
    assert found[:2] == ["take", "handler"]
    if ON_X86:
        assert "raise" in found and "main" in found


def test_a_stack_that_is_too_deep_is_cut(record):
    for depth, cut in ((10, 0), (100, 1)):
        db = record("odd", "recursion", depth)
        [found] = shown(db)
        assert found[0] == "take" and found[1:depth] == ["recurse"] * (len(found[1:depth]))
        assert one(db, "SELECT cut FROM stack") == cut and len(found) <= raw.FRAMES
    facts = Facts(db)
    [stack] = stacks.of(facts, facts.locks.values())
    assert stacks.names(stack)[:2] == ["...", "recurse"] and len(stack.frames) == raw.FRAMES
    assert str(stack).endswith(f"and {raw.FRAMES - stacks.MOST_FRAMES} more")


def test_a_thread_with_a_small_stack(record):
    assert shown(record("odd", "small"))[0][:2] == ["take", "taker"]


def test_a_thread_that_outlives_the_first_one(record):
    """The kernel has no memory for the number of the process then:
    1. The first thread ends by pthread_exit, and another one goes on.
    2. That one takes a lock, and the recorder reads the words of its stack."""
    db = record("odd", "orphan")
    assert ["take", "taker", "outlives_main"] in [s[:3] for s in shown(db)] and losses(db) == {}


def test_code_without_tables_has_its_frame_pointer(record):
    [found] = shown(record("frames", "recursion", 3))
    assert (
        found == ["take", *["recurse"] * 4, "main", *found[6:]]
        and losses(record("frames", "handler")) == {}
    )


def test_code_with_neither_has_the_call_alone(record):
    [found] = shown(record("bare", "recursion", 3))
    assert found[0] == "take"
    db = record("bare", "malloc")
    assert one(db, "SELECT sum(count) FROM use") > 0


@pytest.mark.skipif(not ON_X86, reason="the code is that of x86-64")
def test_code_that_no_file_has(record):
    with_frame, without = (shown(record("odd", "code", n)) for n in (1, 0))
    assert [n.partition("+")[0] for n in with_frame[0][:4]] == ["take", "?", "made_code", "main"]
    assert [[n.partition("+")[0] for n in s] for s in without] == [["take", "?"]]


def test_a_lock_in_malloc(record):
    """The recorder's look at a stack may not allocate: the mutex of malloc is held then."""
    found = shown(record("odd", "malloc"), of="heap")
    assert [s for s in found if s[:2] == ["malloc", "allocate"]]


def test_a_lock_in_a_constructor_of_a_plugin(record, programs):
    """The thread is inside dlopen, and has the loader's lock."""
    [found] = shown(record("odd", "plugin", programs["plugin"]))
    assert found[:2] == ["take", "begins"] and "main" in found


def test_a_process_killed_in_a_wait_has_the_stack_of_that_wait(record):
    db = record("odd", "killed", code=-signal.SIGKILL, every="0")
    held = db.execute("SELECT * FROM held WHERE waiting = 1").fetchone()
    sites, cut = stacks.frames(Facts(db), held["stack"])
    assert [s.function for s in sites][:2] == ["take", "waits_for_ever"] and not cut
    assert db.execute("SELECT stack FROM held WHERE waiting = 0").fetchone()["stack"] is None


def test_stacks_beyond_the_table_are_counted(record):
    db = record("odd", "many", 11)
    kept, lost = one(db, "SELECT count(*) FROM stack"), losses(db)["lost_stacks"]
    assert raw.STACKS // 2 < kept <= raw.STACKS and lost > 0
    taken = one(
        db, "SELECT sum(w.taken) FROM waited w JOIN lock l ON l.id = w.lock WHERE l.name = 'mutex'"
    )
    assert taken < 2048 <= taken + lost
    assert (
        one(db, "SELECT sum(count) FROM use u JOIN lock l ON l.id = u.lock WHERE l.name = 'mutex'")
        == 2048
    )


@pytest.mark.skipif(not ON_X86, reason="the tables are those of x86-64")
def test_damaged_tables_end_the_stack_and_no_program(tmp_path):
    """A register for the caller's stack pointer after an expression for it was followed as if it
    were a pointer to the expression."""
    made = _built(
        tmp_path,
        "tables",
        ROOT / "tests/trace/tables.c",
        "-D_GNU_SOURCE",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover",
        ROOT / "tool/trace/cfi.c",
    )
    done = subprocess.run([made, "200"], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found, none, ended = map(int, done.stdout.split())
    assert min(found, none, ended) > 1000


# ---- Raw files and older traces ------------------------------------------------------------------


def test_torn_stacks_are_left_out():
    rows, waited = (
        bytearray(raw.STACKS * raw.STACK.itemsize),
        bytearray(raw.WAITED * raw.WAIT.itemsize),
    )
    for number, depth in ((0, 2), (1, 0), (2, 99)):  # whole; not yet written; nonsense
        struct.pack_into("<QIIQQ", rows, number * raw.STACK.itemsize, number + 1, depth, 0, 7, 8)
    for number, (lock, stack) in enumerate(((5, 1), (5, 2), (5, 3), (0, 1), (5, 5000))):
        struct.pack_into("<QQQ", waited, number * raw.WAIT.itemsize, 0, lock, stack)
    data = b"x" * 8 + bytes(rows) + bytes(waited)
    found, kept = raw._stacks(data, True, 8)
    assert found == {1: ((7, 8), False)} and [w["stack"] for w in kept] == [1]
    for there, cut in ((False, data), (True, data[:-1])):
        found, kept = raw._stacks(cut, there, 8)
        assert found == {} and len(kept) == 0


# What a trace of version 5 does not have.
WITHOUT_KEPT = "ALTER TABLE part DROP COLUMN kept_ns;" + "".join(
    f"ALTER TABLE use DROP COLUMN {name};" for name in ("kept", "kept_ns", "woke", "woke_ns")
)


def as_version_3(path):
    """As the command wrote it before it had stacks."""
    with sqlite3.connect(path) as db:
        db.executescript(
            f"{WITHOUT_KEPT}"
            "DROP TABLE stack; DROP TABLE waited; ALTER TABLE held DROP COLUMN stack;"
            "ALTER TABLE process DROP COLUMN own_ns;"
            "ALTER TABLE part DROP COLUMN sleeps;"
            "PRAGMA user_version = 3"
        )


def test_a_trace_that_does_not_count_sleeps_is_still_read(record):
    db = record("program", "pairs", 1000)
    assert one(db, "SELECT count(*) FROM part WHERE sleeps >= 0") > 0
    path = one(db, "SELECT file FROM pragma_database_list WHERE name = 'main'")
    with sqlite3.connect(path) as changed:
        changed.executescript(
            f"{WITHOUT_KEPT} ALTER TABLE part DROP COLUMN sleeps; PRAGMA user_version = 4"
        )
    old = store.open_trace(Path(path))
    assert {tuple(r) for r in old.execute("SELECT sleeps, kept_ns FROM part")} == {(None, None)}


def test_a_trace_that_does_not_say_who_was_kept_off_a_processor_is_still_read(record):
    db = record("program", "pairs", 1000)
    path = one(db, "SELECT file FROM pragma_database_list WHERE name = 'main'")
    with sqlite3.connect(path) as changed:
        changed.executescript(f"{WITHOUT_KEPT} PRAGMA user_version = 5")
    old = store.open_trace(Path(path))
    assert one(old, "SELECT sleeps FROM part") >= 0
    assert {r["kept_ns"] for r in old.execute("SELECT * FROM part")} == {None}
    assert [(u.kept, u.woke_ns) for lock in Facts(old).locks.values() for u in lock.uses] == [
        (0, 0)
    ]


def test_a_trace_without_stacks_is_still_read(record, tmp_path, capsys):
    db = record("odd", "killed", code=-signal.SIGKILL, every="1")
    path = tmp_path / one(db, "SELECT file FROM pragma_database_list WHERE name = 'main'")
    as_version_3(path)
    old = store.open_trace(path)
    assert one(old, "SELECT count(*) FROM waited") == one(old, "SELECT count(*) FROM stack") == 0
    assert [r["stack"] for r in old.execute("SELECT * FROM held")] == [None, None]
    assert one(old, "SELECT own_ns FROM process") == 0
    folded = tmp_path / "folded"
    assert main(["advise", str(path), "--folded", str(folded)]) == 0
    assert main(["diff", str(path), str(path)]) == 0
    assert "heaviest locks" in capsys.readouterr().out
    with sqlite3.connect(path) as changed:
        changed.execute("PRAGMA user_version = 2")
    assert main(["advise", str(path)]) == 2
    assert "version 2" in capsys.readouterr().err


# ---- Advice and exports --------------------------------------------------------------------------


@pytest.fixture
def facts(record):
    return Facts(record("program", "deep", 5, every="0"))


def test_exports_have_whole_stacks(facts, tmp_path):
    lines = dict(x.rsplit(" ", 1) for x in export.folded(facts).decode().splitlines())
    [line] = [x for x in lines if x.startswith("mutex (mutex)")]
    assert line.endswith("deep_waiter;outermost;middle;innermost")
    assert int(lines[line]) == one(facts.db, "SELECT sum(wait_ns) FROM use WHERE mode = 'mutex'")
    profile = gzip.decompress(export.pprof(facts))
    for text in (b"innermost", b"middle", b"outermost", b"deep_waiter"):
        assert text in profile


def test_the_flame_graph_has_a_row_for_each_function(facts):
    rows = page.flame_graph(facts)
    titles = [[bar.title.split(":")[0] for bar in row] for row in rows]
    assert titles[0] == ["mutex"]
    assert [t[0] for t in titles[-4:]] == ["deep_waiter", "outermost", "middle", "innermost"]
    assert all(abs(sum(bar.width for bar in row) - 100) < 0.1 for row in rows)
    html = page.render(facts, find(facts, RULES), "")
    assert "innermost: " in html and "outermost: " in html


def test_waits_without_a_stack_go_by_their_call(facts, tmp_path):
    """A full table: what it had no room for is in the sums all the same."""
    path = tmp_path / "less.trace"
    with sqlite3.connect(path) as copy:
        facts.db.backup(copy)
        copy.execute("UPDATE waited SET wait_ns = wait_ns / 4 WHERE mode = 'mutex'")
        copy.execute("UPDATE use SET waits = waits + 3 WHERE mode = 'mutex' AND waits > 0")
    less = Facts(store.open_trace(path))
    found = [s for lock, s in stacks.waiting(less) if lock.name == "mutex"]
    assert [len(s.frames) > 1 for s in found] == [True, False]
    assert sum(s.wait_ns for s in found) == sum(
        s.wait_ns for lock, s in stacks.waiting(facts) if lock.name == "mutex"
    )
    assert [s.count for s in found] == [1, 3] and found[1].frames[0].function == "innermost"


def test_findings_show_the_stacks_that_waited(facts, capsys):
    lock = next(k for k in facts.locks.values() if k.name == "mutex")
    [heaviest] = stacks.heaviest(facts, [lock])
    assert heaviest.share == 1 and heaviest.said.startswith(
        "100 % of the waiting (mutex): innermost (program.c:"
    )
    assert ", called by middle (program.c:" in heaviest.said and "clone" not in heaviest.said
    made = heaviest.as_json()
    assert [f["function"] for f in made["frames"]][:2] == ["innermost", "middle"]
    json.dumps(made)


def test_options_that_contradict_each_other(capsys):
    assert main(["trace", "--no-stacks", "--one-in", "5", "--", "true"]) == 2
    assert "leave one of them out" in capsys.readouterr().err
