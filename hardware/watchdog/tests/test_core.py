# SPDX-License-Identifier: MIT
"""The portable core: unit tests, the walk over all states, fuzzing."""

import os

import pytest

from conftest import HERE, cmocka_tests, program, run, run_cmocka


@pytest.mark.parametrize("test", cmocka_tests("core_test"))
def test_core(test):
    run_cmocka("core_test", test)


@pytest.mark.parametrize("test", cmocka_tests("walk"))
def test_walk(test):
    run_cmocka("walk", test)


def fuzz_environment(mistake=None):
    seconds = os.environ.get("PAWL_FUZZ_SECONDS", "2")
    return {
        **os.environ,
        "PAWL_FUZZ_SECONDS": seconds,
        **({"PAWL_FUZZ_MISTAKE": mistake} if mistake else {}),
    }


def test_fuzzing_finds_nothing(tmp_path):
    done = run(program("fuzz"), "--random", cwd=tmp_path, env=fuzz_environment())
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mistake", ["arm_by_a_stray_digit", "pull_by_a_question"])
def test_fuzzing_finds_a_planted_mistake(mistake, tmp_path):
    done = run(program("fuzz"), "--random", cwd=tmp_path, env=fuzz_environment(mistake))
    assert done.returncode != 0 and "must(" in done.stderr


def test_libfuzzer_finds_nothing(tmp_path):
    seconds = os.environ.get("PAWL_FUZZ_SECONDS", "3")
    done = run(
        program("libfuzzer"),
        f"-max_total_time={seconds}",
        f"-dict={HERE / 'fuzz.dict'}",
        "-max_len=256",
        tmp_path,
        cwd=tmp_path,
        env=fuzz_environment(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
