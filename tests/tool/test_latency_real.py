# SPDX-License-Identifier: MIT
"""The real driver of the latencies, when it is built: do both sides keep the contract?"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from conftest import pawl, soon_enough
from pawl.core import driver
from pawl.kinds.latency import plan as latency
from pawl.kinds.latency import samples as latency_samples

TWO_CPUS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="it needs two CPUs")


@pytest.fixture(scope="module")
def real():
    build = os.environ.get("PAWL_BUILD_DIR")
    path = Path(build, "bench", latency.DRIVER) if build else None
    if not path or not path.is_file():
        pytest.skip("the drivers of this build are not there")
    return path


def test_it_offers_what_tables_and_targets_need(real):
    assert {latency.OURS, latency.FLOOR, *latency.PTHREAD} <= {
        c["name"] for c in driver.candidates(real) if c["available"]
    }
    pairs = {c["name"] for c in driver.candidates(real, ["--scenario", latency.PAIRS])}
    assert {
        latency.PAIR_FLOOR,
        "calls/skipped",
        "calls/signal_mask",
        "calls/scheduling",
        "r/pawl_sift",
        "w/pawl_sift_threads",
        "w/pawl_sift_net",
        "r/pthread_rwlock",
        "w/pthread_rwlock",
    } <= pairs


def test_it_knows_every_scenario_of_this_command(real):
    for name in latency.SCENARIOS:
        done = subprocess.run(
            [real, "--scenario", name, "--list"], capture_output=True, check=False
        )
        assert done.returncode == 0, name


@TWO_CPUS
def test_all_scenarios_measure_and_draw(real, tmp_path):
    path = tmp_path / "real.json"
    pawl(
        f"bench latency --driver {real} --seconds 0.2 --warmup 0.01 --handler-period 3 "
        f"--slow-every 20 --json {path} --quiet --html {tmp_path / 'real.html'}"
    )
    run = json.loads(path.read_text())
    assert [c["scenario"] for c in run["cells"]] == list(latency.SCENARIOS)
    assert all(c["complete"] for c in run["cells"])


def test_what_the_writers_of_both_kinds_do_to_signals_is_seen(real, tmp_path):
    """Once for every write at least, whoever blocks them: our lock or the bench round another."""
    names = ("pawl_sift", "pthread_rwlock", "none")

    def writers_of(cell):
        return {
            name: next(
                r
                for r in latency_samples.rows(latency_samples.of_lock(cell, name))
                if r["who"] == "writer/0"
            )
            for name in names
        }

    def measure(seconds):
        path = tmp_path / f"real-{seconds}.json"
        pawl(
            f"bench latency --driver {real} --scenarios writer --seconds {seconds} --candidates "
            f"pawl_sift --json {path} --quiet"
        )
        cell = json.loads(path.read_text())["cells"][0]
        wrote = all(w["iterations"] > 0 for w in writers_of(cell).values())
        return cell if wrote else None

    cell = soon_enough(measure, 1)
    for name, writer in writers_of(cell).items():
        assert writer["interrupt"]["count"] >= writer["iterations"] - 1
        assert writer["deferred"]["count"] >= writer["iterations"] - 1
        raised = name == "pawl_sift" and not cell["samples"][0]["realtime_error"]
        assert bool(writer["raised"]) == raised
