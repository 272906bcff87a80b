# SPDX-License-Identifier: MIT
"""scripts/bench and scripts/targets as they are typed."""

import os
import shutil
import subprocess
import sys

import pytest

from conftest import REGISTRY, ROOT
from pawl.core import results


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
        "published.txt",
        "text.json",
        "text.txt",
    ]


def test_bench_covers_one_thread_to_all_cpus(script, starts, tmp_path):
    script("bench", "--out", tmp_path / "report", "--budget", "2")
    threads = {s["threads"] for s in starts()}
    assert {1, len(os.sched_getaffinity(0))} <= threads
    assert {bool(s["trace"]) for s in starts()} == {True, False}


@pytest.fixture
def tree(drivers, tmp_path):
    """What scripts/bench --functions uses of a checkout; the other scripts only say their names."""
    root = tmp_path / "tree"
    for folder in ("scripts", "doc", "bench/results/old-functions"):
        (root / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts/bench", root / "scripts")
    (root / "tool").symlink_to(ROOT / "tool")
    (root / "bench/results/old-functions/run1.json.xz").write_text("old")
    (root / "doc/reference.toml").write_text(
        '[[page]]\nrun = "a"\n\n[calls]\nrun = "old-functions"\n\n[[ns]]\nrun = "b"\n'
    )
    for name in ("targets", "site"):
        path = root / "scripts" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*"\n')
        path.chmod(0o755)

    def run(*arguments):
        return subprocess.run(
            [str(root / "scripts/bench"), "--functions", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PAWL_PYTHON": sys.executable},
            check=False,
        )

    return root, run


def test_calls_are_recorded_anew_in_the_place_of_those_that_pages_quote(tree):
    root, run = tree
    done = run()
    assert done.returncode == 0, done.stderr
    assert [p.name for p in (root / "bench/results").iterdir()] == ["old-functions"]
    runs = sorted((root / "bench/results/old-functions").iterdir())
    assert [p.name for p in runs] == [f"run{n}.json.xz" for n in (1, 2, 3)]
    assert all(results.load(p, REGISTRY)["set"] == "functions" for p in runs)
    assert done.stdout.splitlines()[:2] == [
        "targets --write",
        "targets bench/results/old-functions",
    ]


def test_calls_of_another_machine_are_quoted_from_then_on(tree):
    root, run = tree
    assert run("bench/results/new-functions").returncode == 0
    assert (root / "bench/results/old-functions/run1.json.xz").read_text() == "old"
    assert (root / "doc/reference.toml").read_text() == (
        '[[page]]\nrun = "a"\n\n[calls]\nrun = "new-functions"\n\n[[ns]]\nrun = "b"\n'
    )


def test_calls_that_cannot_be_recorded_leave_the_old_ones(tree, monkeypatch):
    root, run = tree
    monkeypatch.setenv("FAKE_MODE", "crash")
    assert run().returncode != 0
    assert (root / "bench/results/old-functions/run1.json.xz").read_text() == "old"


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
