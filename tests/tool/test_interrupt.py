# SPDX-License-Identifier: MIT
"""Ctrl-C: valid JSON of what was measured, code 130, and the same command goes on."""

import json
import signal
import time

import pytest

OPTIONS = ("bench", "lru", "--quiet", "--threads", "1,2", "--rounds", "40",
           "--candidates", "pthread")


@pytest.fixture
def slow(drivers, monkeypatch):
    """A driver that is surely still at work when the signal comes."""
    monkeypatch.setenv("FAKE_DELAY", "0.05")


def wait_for_start(starts, process):
    while not starts() and process.poll() is None:
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_valid_json(number, slow, program, starts, tmp_path):
    path = tmp_path / "run.json"
    process = program(*OPTIONS, "--json", path)
    wait_for_start(starts, process)
    time.sleep(0.3)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "interrupted after 0 of 2 cells; the same command goes on from" in error
    run = json.loads(path.read_text())
    assert run["interrupted"] is True
    assert [c["complete"] for c in run["cells"]] in ([], [False])
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_the_same_command_goes_on_after_an_interrupt(slow, program, starts, tmp_path,
                                                     monkeypatch):
    path = tmp_path / "run.json"
    first = program(*OPTIONS, "--json", path)
    wait_for_start(starts, first)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)
    monkeypatch.setenv("FAKE_DELAY", "0")
    second = program(*OPTIONS, "--json", path)
    _, error = second.communicate(timeout=60)
    assert second.returncode == 0, error
    run = json.loads(path.read_text())
    assert run["interrupted"] is False and run["resumed"] == 1
    assert [(c["threads"], c["complete"]) for c in run["cells"]] == [(1, True), (2, True)]


def test_an_interrupt_without_a_file_still_shows_what_was_measured(slow, program, starts):
    process = program(*OPTIONS)
    wait_for_start(starts, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted: fewer rounds than asked for" in out
    assert "with --json FILE the same command could have gone on" in error
