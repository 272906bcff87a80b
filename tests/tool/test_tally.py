# SPDX-License-Identifier: MIT
"""scripts/test counts each test of a cmocka program, and ends with what matters."""

import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import pawl_tally

PROGRAM = """[==========] Running 4 test(s).
[ RUN      ] reads.plain
[       OK ] reads.plain
[ RUN      ] reads.no_memory
status 6
[  ERROR   ] --- lock.c:3: error: Failure!
[  FAILED  ] reads.no_memory
[ RUN      ] waits
this machine has one CPU
[  SKIPPED ] waits
"""
CRASH = PROGRAM + "[ RUN      ] ends\nSegmentation fault\n"
SUITE = (
    "[==========] Running 1 test from 1 test suite.\n[ RUN      ] a.b\n[       OK ] a.b (0 ms)\n"
)


@pytest.fixture
def count(tmp_path):
    def of(*cases, code=0):
        path = tmp_path / "result.xml"
        path.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
        return pawl_tally.count_junit(path, "dev", code, "said last")

    return of


def case(output, what=""):
    what = f'<{what} message=""/>' if what else ""
    return f'<testcase name="lock.basic">{what}<system-out>{output}</system-out></testcase>'


def test_each_test_of_a_program_counts_also_with_a_dot_in_its_name(count):
    tally = count(case(PROGRAM, "failure"))
    assert tally.passed == 1
    assert [name for name, _ in tally.failed] == ["dev: lock.basic: reads.no_memory"]
    assert "status 6" in tally.failed[0][1]
    assert tally.skipped == [("dev: lock.basic: waits", "this machine has one CPU")]


def test_a_crash_names_its_test(count):
    failed = dict(count(case(CRASH, "failure")).failed)
    assert "Segmentation fault" in failed["dev: lock.basic: ends"]
    assert list(failed) == ["dev: lock.basic: reads.no_memory", "dev: lock.basic: ends"]


def test_a_program_that_ends_badly_after_its_tests_has_failed(count):
    tally = count(case(PROGRAM.replace("FAILED ", "    OK "), "failure"))
    assert [name for name, _ in tally.failed] == ["dev: lock.basic"]


def test_another_program_is_one_test(count):
    tally = count(case(SUITE), case("all well"), case("why\nskipped: no clang", "skipped"))
    assert (tally.passed, tally.failed) == (2, [])
    assert tally.skipped == [("dev: lock.basic", "no clang")]


def test_a_program_that_was_not_built_has_failed(count):
    assert count(case("Unable to find executable: x", "skipped")).failed


def test_a_run_that_broke_has_failed_although_its_tests_passed(count, tmp_path):
    tally = count(case(SUITE), code=8)
    assert tally.failed == [("dev: the tests' own program failed", "said last")]
    (tmp_path / "none.xml").write_text("<testsuite>")
    assert pawl_tally.count_junit(tmp_path / "none.xml", "dev").failed


def test_the_end_has_skips_by_reason_then_failures_then_one_line(capsys):
    long = "\n".join(map(str, range(40)))
    skips = [("dev: a", "no CPU"), ("dev: b", "no root"), ("tsan: a", "no root")]
    total = pawl_tally.Tally(7, [(f"dev: f{n}", long) for n in range(22)], skips)
    pawl_tally.summary([("dev", total, 3)], total)
    said = capsys.readouterr().out
    assert said.endswith("FAILED dev: f21\n7 passed, 22 failed, 3 skipped\n")
    assert said.index("   2: no root (dev: b, ...)") < said.index("   1: no CPU (dev: a)")
    assert said.index("no CPU") < said.index("-- FAILED dev: f0\n25\n26\n")
    assert "-- FAILED dev: f19\n" in said and "-- FAILED dev: f20\n" not in said
    assert max(said.count(f"\n{line}\n") for line in range(25)) == 0
