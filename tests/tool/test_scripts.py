# SPDX-License-Identifier: MIT
"""scripts/bench and scripts/targets as they are typed."""

import os
import subprocess
import sys

import pytest

from conftest import ROOT


@pytest.fixture
def script(drivers):
    def run(*arguments):
        environment = {**os.environ, "PAWL_PYTHON": sys.executable}
        return subprocess.run(
            [str(ROOT / "scripts" / arguments[0]), *map(str, arguments[1:])],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )

    return run


def test_bench_ends_by_naming_the_report(script, tmp_path):
    out = tmp_path / "report"
    done = script("bench", "--out", out, "--budget", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().splitlines()[-1] == f"Report: {out}/index.html"
    assert sorted(p.name for p in out.iterdir()) == [
        "index.html",
        "lru.png",
        "lru.svg",
        "published.json",
        "text.json",
    ]


def test_bench_covers_one_thread_to_all_cpus(script, starts, tmp_path):
    script("bench", "--out", tmp_path / "report", "--budget", "2")
    threads = {s["threads"] for s in starts()}
    assert {1, len(os.sched_getaffinity(0))} <= threads
    assert {bool(s["trace"]) for s in starts()} == {True, False}


@pytest.mark.parametrize("arguments", [("--budget", "x"), ("--budget",), ("--nonsense",)])
def test_bench_refuses_what_it_does_not_know(arguments, script, starts):
    done = script("bench", *arguments)
    assert done.returncode == 2 and done.stderr.startswith("bench: ") and starts() == []


@pytest.mark.parametrize("name", ["bench", "targets"])
def test_help_tells_how_to_call_it(name, script):
    done = script(name, "--help")
    assert done.returncode == 0 and f"scripts/{name}" in done.stdout


def test_targets_without_runs_is_bad_input(script, tmp_path):
    done = script("targets", tmp_path)
    assert done.returncode == 2 and "holds no run*.json" in done.stderr
