# SPDX-License-Identifier: MIT
"""`pawl trace` of Pawl's own locks, and of locks in allocated memory.

A program that defines PAWL_TRACED shows all that it does. Another one shows its waits, if it uses
the shared library.
"""

import os
import subprocess
from ctypes.util import find_library

import pytest

from conftest import BUILD, ROOT, SHIM, needs_recorder
from pawl.advise.facts import Facts
from pawl.advise.finding import find
from pawl.advise.rules import RULES, heaviest
from pawl.cli import main
from pawl.trace import collect, names, store
from pawl.trace.symbols import Frame, without_ours

RECORDER, WAITS, BLOCKS = (
    os.path.join(SHIM, f"libpawl-trace{n}.so") for n in ("", "-waits", "-blocks")
)
TRIES = 50  # a busy machine may keep a thread from asking in time

needs_shared = pytest.mark.skipif(
    not os.path.exists(os.path.join(BUILD, "libpawl.so")), reason="the shared library is not built"
)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ours")

    def go(name, *words):
        program = folder / name
        source = "blocks.cpp" if name == "blocks" else "ours.c"
        subprocess.run(
            [
                "g++" if name == "blocks" else "gcc",
                "-O1",
                "-g",
                "-fPIE",
                "-o",
                program,
                f"-I{ROOT / 'include'}",
                ROOT / "tests/trace" / source,
                *words,
                "-pthread",
            ],
            check=True,
        )
        return program

    archive = os.path.join(BUILD, "libpawl.a")
    shared = (f"-L{BUILD}", "-lpawl", f"-Wl,-rpath,{BUILD}")
    made = {}
    how = {
        "traced": ("-DPAWL_TRACED", archive),
        "silent": (archive,),
        "blocks": (),
        "shared": shared,
        "both": ("-DPAWL_TRACED", *shared),
    }
    return lambda name: made[name] if name in made else made.setdefault(name, go(name, *how[name]))


@pytest.fixture
def record(build, tmp_path):
    def go(name, *words, libraries=(RECORDER, WAITS)):
        folder, path = tmp_path / "raw", tmp_path / "made.trace"
        folder.mkdir()
        done = subprocess.run(
            [build(name), *words],
            check=False,
            timeout=120,
            env={**os.environ, "LD_PRELOAD": ":".join(libraries), "PAWL_TRACE_DIR": str(folder)},
        )
        assert done.returncode == 0
        with store.create(path) as db:
            collect.collect(folder, db, {})
        for raw in folder.iterdir():
            raw.unlink()
        folder.rmdir()
        return store.open_trace(path)

    return go


def uses(db, columns):
    return db.execute(
        f"SELECT {columns} FROM use u JOIN lock l ON l.id = u.lock JOIN site t ON "
        "t.id = u.take ORDER BY l.name, u.mode"
    ).fetchall()


def repeat(what, until):
    """Until chance has let happen what a test is about."""
    for _ in range(TRIES):
        made = what()
        if until(made):
            return made
    raise AssertionError(f"not in {TRIES} runs")


# ---- Programs with PAWL_TRACED -------------------------------------------------------------------


@needs_recorder
def test_every_state_and_transition_of_each_lock(record):
    # Five rows that fall on one place have one in the pool.
    db = repeat(
        lambda: record("traced", "states"),
        lambda db: not db.execute("SELECT count(*) FROM pool").fetchone()[0],
    )
    rows = db.execute(
        "SELECT l.name, l.kind, u.mode, sum(u.count) AS count, sum(u.failed) AS "
        "failed, sum(u.waits) AS waits FROM use u JOIN lock l ON l.id = u.lock "
        "GROUP BY l.id, u.mode"
    ).fetchall()
    found = {}
    for r in rows:
        found.setdefault((r["name"], r["kind"]), {})[r["mode"]] = (r["count"], r["failed"])
        assert r["waits"] == 0
    every = {"read": (4, 0), "seek": (2, 0), "write": (2, 1), "atomic": (1, 0)}
    assert found == {
        **{(f"spin{n}", "pawl_spin"): every for n in (16, 32, 64)},
        **{(f"lock{n}", "pawl_lock"): every for n in (32, 64)},
        **{(f"pshared{n}", "pawl_pshared_lock"): every for n in (32, 64)},
        ("brlock", "pawl_brlock"): {"read": (1, 1), "seek": (2, 0), "write": (2, 0)},
        ("sift", "pawl_sift"): {"read": (1, 1), "write": (1, 0)},
    }
    assert db.execute("SELECT count(*) FROM held").fetchone()[0] == 0
    assert db.execute("SELECT count(*) FROM loss").fetchone()[0] == 0


def test_code_that_is_not_position_independent_is_refused(tmp_path):
    """There the linker takes the missing functions of the recorder for absent, and no call would
    ever reach it."""
    if os.uname().machine != "x86_64":
        pytest.skip("elsewhere such code asks the loader, too")
    source = tmp_path / "one.c"
    source.write_text("#include <pawl/lock.h>\n")
    words = ["gcc", "-fsyntax-only", "-DPAWL_TRACED", f"-I{ROOT / 'include'}", source]
    done = subprocess.run([*words, "-fno-pie"], check=False, capture_output=True, text=True)
    assert done.returncode and "needs -fPIE" in done.stderr
    assert subprocess.run([*words, "-fPIE"], check=False).returncode == 0


@needs_recorder
def test_a_site_is_the_caller_of_the_operation(record):
    db = record("traced", "states")
    found = {(r["name"], r["function"]) for r in uses(db, "l.name, t.function")}
    assert found == {(name, f"states_of_{name}") for name, _ in found}


@needs_recorder
def test_an_upgrade_waits_for_the_reader(record):
    db = repeat(
        lambda: record("traced", "upgrade"), lambda db: any(r["waits"] for r in uses(db, "u.waits"))
    )
    rows = {
        r["mode"]: r
        for r in uses(
            db,
            "u.mode, u.count, u.waits, u.beside, u.take, u.release, "
            "u.wait_ns, u.hold_ns, t.function",
        )
    }
    seek, write, read = rows["seek"], rows["write"], rows["read"]
    # The seek ends where the upgrade asks, so it has nothing of the wait.
    assert seek["release"] == write["take"] and seek["count"] == write["count"] == 1
    assert write["waits"] == 1 and write["wait_ns"] > 0 and seek["waits"] == 0
    assert (seek["function"], read["function"]) == ("upgrader", "read_beside_an_upgrade")
    assert seek["beside"] == 1 and read["beside"] == 0
    blame = db.execute("SELECT b.mode, s.function FROM blame b JOIN site s ON s.id = b.holder")
    assert [tuple(b) for b in blame] == [("write", "read_beside_an_upgrade")]


@needs_recorder
def test_a_failed_upgrade_holds_on_to_what_it_had(record):
    db = record("traced", "late")
    # The seek before the deadline and the one after it are two holds.
    assert db.execute("SELECT sum(count) FROM use WHERE mode = 'seek'").fetchone()[0] == 2
    assert db.execute("SELECT sum(timeouts) FROM use WHERE mode = 'write'").fetchone()[0] == 2


@needs_recorder
def test_an_upgrade_in_place_is_no_read_before_a_write(record):
    db = record("traced", "pairs")
    rows = db.execute(
        "SELECT l.name, l.kind, sum(u.count) AS count FROM upgrade u JOIN lock l ON "
        "l.id = u.lock GROUP BY l.id"
    ).fetchall()
    assert [(r["name"], r["kind"]) for r in rows] == [("lock64", "pawl_lock")]
    assert 0 < rows[0]["count"] <= 100  # a thread may be preempted for a millisecond in between


@needs_recorder
@needs_shared
def test_a_wait_is_counted_once(record):
    """The operation reports it, and so would the library's waiting half."""
    question = (
        "SELECT sum(waits) AS waits, sum(count) AS count FROM use WHERE mode <> 'sleep' "
        "GROUP BY lock"
    )
    db = repeat(
        lambda: record("both", "waits"), lambda db: all(r["waits"] for r in db.execute(question))
    )
    assert [tuple(r) for r in db.execute(question)] == [(1, 2)] * 7


@needs_recorder
def test_names_and_blocks_of_our_locks(record):
    db = record("traced", "named")
    assert [r["name"] for r in db.execute("SELECT name FROM lock")] == ["cache.map"]
    db = record("traced", "dynamic", libraries=(RECORDER, WAITS, BLOCKS))
    row = db.execute(
        "SELECT l.*, i.function FROM lock l JOIN site i ON i.id = l.init_site"
    ).fetchone()
    assert row["name"].startswith("pawl_lock at 16 in 24 bytes of made (ours.c:")
    assert (row["block_size"], row["block_offset"], row["function"]) == (24, 16, "made")


@needs_recorder
def test_a_program_without_it_and_without_the_shared_library_is_silent(record):
    assert db_is_empty(record("silent", "waits"))


def db_is_empty(db):
    return [
        r["kind"]
        for r in db.execute(
            "SELECT l.kind FROM use u JOIN lock l ON l.id = u.lock WHERE u.mode <> 'sleep'"
        )
    ] == []


# ---- Programs with the shared library ------------------------------------------------------------


@needs_recorder
@needs_shared
def test_the_shared_library_shows_its_waits(record, tmp_path, capsys):
    names = {
        "brlock": "pawl_brlock",
        "lock32": "pawl_lock",
        "lock64": "pawl_lock",
        "pshared32": "pawl_pshared_lock",
        "sift": "pawl_sift",
        "spin16": "pawl_spin",
        "spin64": "pawl_spin",
    }
    question = "l.name, l.kind, u.mode, u.count, u.waits, u.wait_ns, u.release, t.function"

    def ours(db):
        return [r for r in uses(db, question) if r["kind"].startswith("pawl")]

    db = repeat(lambda: record("shared", "waits"), lambda db: len(ours(db)) == len(names))
    for r in ours(db):
        assert (r["kind"], r["mode"], r["count"], r["waits"]) == (names[r["name"]], "write", 1, 1)
        assert r["release"] is None and r["wait_ns"] > 0
        assert r["function"] == f"waiter_of_{r['name']}"
    facts = Facts(db)
    assert len(list(facts.waits_only)) == len(names) and len(heaviest(facts)) == len(names)
    assert {f.rule for f in find(facts, RULES)} <= {"long_holds"}  # of the sleeps, if of anything
    assert main(["advise", str(tmp_path / "made.trace")]) == 0
    assert "Of 7 locks of Pawl only the waits were seen" in capsys.readouterr().out


def test_frames_of_our_headers_are_left_out():
    inside = [
        Frame("pawl_lock64_take_read"),
        Frame("ipawl_release_traced_v3::pawl_take_read"),
        Frame("pawl::read_guard::read_guard"),
    ]
    assert without_ours([*inside, Frame("pawl_example::find")]) == [Frame("pawl_example::find")]
    assert without_ours(inside) == inside and without_ours([]) == []


# ---- Memory --------------------------------------------------------------------------------------


@needs_recorder
@pytest.mark.parametrize("allocator", ["", "jemalloc", "tcmalloc_minimal"])
def test_each_function_that_allocates(record, allocator):
    other = find_library(allocator) if allocator else ""
    if other is None:
        pytest.skip(f"lib{allocator} is not installed")
    # Where two locks fall on one place of the recorder's table, the later one has it.
    db = repeat(
        lambda: record("blocks", libraries=(RECORDER, BLOCKS, *filter(None, [other]))),
        lambda db: (
            not db.execute(
                "SELECT count(*) FROM lock l JOIN use u ON u.lock = l.id JOIN site s ON "
                "s.id = u.take WHERE s.file LIKE '%blocks.cpp' AND block_size IS NULL"
            ).fetchone()[0]
        ),
    )
    named = {r[0].split("::")[-1].split("(")[0] for r in db.execute("SELECT name FROM lock")}
    assert {"by_wrapper", "by_wrapper_too", "by_new"} <= named
    found = {
        r["function"]: (r["kind"], r["block_size"], r["block_offset"])
        for r in db.execute("SELECT s.function, l.* FROM lock l JOIN site s ON s.id = l.block_site")
    }
    found = {name.split("::")[-1].split("(")[0]: value for name, value in found.items()}
    assert found == {
        **{
            f"by_{name}": ("mutex", 64, 24)
            for name in ("malloc", "calloc", "reallocarray", "posix_memalign", "memalign")
        },
        "by_realloc": ("mutex", 128, 88),
        "by_aligned_alloc": ("mutex", 128, 24),
        "by_new": ("mutex", 40, 0),
        "by_aligned_new": ("mutex", 256, 0),
        "by_new_array": ("mutex", 40000, 28000),
        "allocate_zeros": ("mutex", 64, 24),
    }


def test_a_lock_beside_one_whose_block_is_known():
    around = names.Around({1064: names.Block(64, 200, 7), 5000: names.Block(0, 40, 8)})
    assert around.of(1199) == names.Block(199, 200, 7)
    assert around.of(5039) == names.Block(39, 40, 8)
    assert [around.of(address) for address in (999, 1200, 4999, 5040)] == [None] * 4


@needs_recorder
def test_memory_that_is_freed_and_allocated_again(record):
    """The first block's note would name the wrong place:
    1. by_malloc allocates the block, and its lock is taken.
    2. The block is freed, and again() gets it.
    3. again() initialises its lock there."""
    db = record("blocks", "again", libraries=(RECORDER, BLOCKS))
    names = [r["name"] for r in db.execute("SELECT name FROM lock")]
    assert len(names) == 1 and "again" in names[0]


@needs_recorder
def test_without_the_library_locks_are_named_by_their_initialisation(record):
    db = record("blocks", "again", libraries=(RECORDER,))
    assert [r["block_size"] for r in db.execute("SELECT block_size FROM lock")] == [None]
    assert "mutex of " in db.execute("SELECT name FROM lock").fetchone()["name"]
