# SPDX-License-Identifier: MIT
"""Ctrl-C: valid JSON of what was measured, code 130, and the same command goes on."""

import json
import signal
import threading
from types import SimpleNamespace

import pytest

from conftest import LONG
from pawl.core import driver

OPTIONS = (
    "bench",
    "lru",
    "--quiet",
    "--threads",
    "1,2",
    "--rounds",
    "40",
    "--candidates",
    "pthread",
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_valid_json(number, drivers, program, standstill, tmp_path):
    path = tmp_path / "run.json"
    stands_still = standstill(5)
    process = program(*OPTIONS, "--json", path)
    stands_still(process)
    process.send_signal(number)
    _, error = process.communicate(timeout=LONG)
    assert process.returncode == 130, error
    assert "interrupted after 0 of 2 cells; the same command goes on from" in error
    run = json.loads(path.read_text())
    assert run["interrupted"] is True
    assert [c["complete"] for c in run["cells"]] in ([], [False])
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(("samples", "start"), [(0, 1), (5, 1), (5, 2)])
def test_the_same_command_goes_on_after_an_interrupt(
    samples, start, drivers, program, standstill, tmp_path, monkeypatch
):
    path = tmp_path / "run.json"
    stands_still = standstill(samples, start)
    first = program(*OPTIONS, "--json", path)
    stands_still(first)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=LONG)
    monkeypatch.delenv("FAKE_STOP")
    second = program(*OPTIONS, "--json", path)
    _, error = second.communicate(timeout=LONG)
    assert second.returncode == 0, error
    run = json.loads(path.read_text())
    assert run["interrupted"] is False and run["resumed"] == 1
    assert [(c["threads"], c["complete"]) for c in run["cells"]] == [(1, True), (2, True)]


def test_an_interrupt_without_a_file_still_shows_what_was_measured(drivers, program, standstill):
    stands_still = standstill(5)
    process = program(*OPTIONS)
    stands_still(process)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert "interrupted: fewer rounds than asked for" in out
    assert "with --json FILE the same command could have gone on" in error


def test_a_signal_just_before_a_read_ends_the_wait_for_the_driver(drivers, standstill):
    """Python looks for signals; one comes; Python calls read, which lasts until the driver speaks.
    A signal that another thread takes is like it: it interrupts no call of the main thread."""
    stands_still = standstill(5)
    options = ["--threads", "1", "--rounds", "40", "--candidates", "w/pthread_mutex"]

    def interrupt():
        stands_still(SimpleNamespace(poll=lambda: None))
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    with driver.stop_on_signals() as stop:
        late = threading.Timer(LONG, lambda: stop.process.kill())
        late.start()
        threading.Thread(target=interrupt).start()
        outcome = driver.run(drivers / "pawl-bench-lru", options, stop)
        late.cancel()
    assert outcome.interrupted and outcome.ended
