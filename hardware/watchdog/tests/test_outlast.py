# SPDX-License-Identifier: MIT
"""pawl-watchdogd with several devices, and what it knows after a reset of the machine."""

import os
import signal
import sys

import pytest
from test_daemon import Daemon, Device, device, start, stay  # noqa: F401  the same fixtures

from conftest import program, run

OTHER_BOOT = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def reset_machine(daemon, state):
    """The daemon ends at once, and the next one finds that another boot wrote the file."""
    daemon.process.kill()
    daemon.process.wait()
    lines = state.read_text().splitlines()
    state.write_text("\n".join([lines[0], OTHER_BOOT, *lines[2:]]) + "\n")


def test_the_check_that_failed_is_known_after_the_reset(start, tmp_path, state):  # noqa: F811
    check = ("--check", f"pid:{tmp_path}/none")
    daemon = start("--timeout", "60", "--interval", "100", "--arm", *check, "--state", state)
    daemon.log.wait_for("no refresh")
    daemon.ask("status")  # the note is written in the round that told it
    reset_machine(daemon, state)
    second = start("--state", state)
    assert "there is no process number" in second.log.wait_for("started anew")
    assert "there is no process number" in second.status()["last_reset"]
    said = run(sys.executable, "-m", "pawl", "watchdog", "status", "--folder", tmp_path)
    assert "last reset: 20" in said.stdout and said.returncode == 0
    reset_machine(second, state)  # not armed: the cause of the last one stays
    assert "no process number" in start("--state", state).status()["last_reset"]
    assert not state.with_suffix(".new").exists()


def test_a_hang_is_told_apart_from_a_reset_that_a_client_asked_for(start, state):  # noqa: F811
    daemon = start("--timeout", "60", "--arm", "--state", state)
    reset_machine(daemon, state)
    second = start("--timeout", "60", "--arm", "--state", state)
    assert "no refresh was withheld" in second.status()["last_reset"]
    assert second.ask("reset")["ok"]
    reset_machine(second, state)
    assert "asked for: reset" in start("--state", state).status()["last_reset"]


def test_a_client_that_went_away_is_a_cause(start, state):  # noqa: F811
    daemon = start("--timeout", "60", "--state", state)
    with daemon.open_watchdog() as client:
        client.sendall(b"x")
    daemon.log.wait_for("went away without V")
    daemon.ask("status")
    reset_machine(daemon, state)
    assert "went away without V" in start("--state", state).status()["last_reset"]


def test_a_stop_and_a_restart_in_the_same_boot_are_no_reset(start, state):  # noqa: F811
    for end in (signal.SIGTERM, signal.SIGKILL):
        daemon = start("--timeout", "60", "--arm", "--state", state)
        daemon.process.send_signal(end)
        daemon.process.wait(30)
    daemon = start("--timeout", "60", "--arm", "--state", state)
    assert daemon.status()["last_reset"] == ""
    daemon.process.terminate()
    daemon.process.wait(30)
    reset_machine(daemon, state)  # a shutdown ends the daemon properly
    assert start("--state", state).status()["last_reset"] == ""


HEAD = f"pawl-watchdogd 1\n{OTHER_BOOT}\n"


@pytest.mark.parametrize(
    "text",
    ["", "\0\0\0\0", "nonsense\n" * 4, HEAD, HEAD + "a\nb", HEAD + "a\nb\nc\n",
     HEAD + "x" * 5000 + "\n\n", HEAD + "a\0\n\n", None],
)  # fmt: skip
def test_a_damaged_file_is_told_and_begun_anew(start, state, text):  # noqa: F811
    if text is None:
        os.mkfifo(state)
    else:
        state.write_text(text)
    daemon = start("--state", state, "--arm")
    daemon.log.wait_for("damaged")
    assert daemon.status()["last_reset"] == "" and daemon.status()["left"] > 0
    assert state.read_text().startswith("pawl-watchdogd 1\n")


def test_a_file_that_cannot_be_written_is_told_once(start, device, tmp_path):  # noqa: F811
    for place in (tmp_path, tmp_path / "none/state", "/proc/state"):
        daemon = start("--state", place, "--timeout", "2", "--arm")
        daemon.log.wait_for("cannot keep the cause")
        assert daemon.ask("disarm")["ok"] and daemon.status()["connected"]
        assert sum("cannot keep" in line for line in daemon.log.all) == 1
        daemon.process.terminate()
        daemon.process.wait(30)


@pytest.fixture
def pair(tmp_path):
    devices = [Device(tmp_path, f"ttyACM{n}") for n in (1, 2)]
    more = ("--device", devices[1].port, "--timeout", "5")
    daemon = Daemon(tmp_path, devices[0].port, *more)
    yield daemon, *devices
    for process in (daemon.process, *(one.process for one in devices)):
        process.kill()
        process.wait()


def lefts(daemon):
    return [one["left"] for one in daemon.status()["devices"]]


def test_both_devices_are_fed_and_both_fire_when_the_daemon_dies(pair):
    daemon, first, second = pair
    assert daemon.ask("arm 5")["ok"] and all(lefts(daemon))
    stay(first, 7)
    stay(second, 0)
    daemon.process.kill()
    for one in (first, second):
        one.events.wait_for("pulled")


def test_a_device_that_disappears_leaves_the_other_fed_and_comes_back(pair, tmp_path):
    daemon, first, second = pair
    daemon.ask("arm 5")
    first.tell("unplug")
    daemon.log.wait_for("the device is lost")
    state = daemon.status()
    assert state["connected"] and state["timeout"] == 5  # of the one that answers
    assert [one["connected"] for one in state["devices"]] == [False, True]
    said = run(sys.executable, "-m", "pawl", "watchdog", "status", "--folder", tmp_path)
    assert said.returncode == 1 and "ttyACM1" in said.stderr and "armed" in said.stdout
    stay(second, 7)
    first.tell("plug")
    daemon.log.wait_for("answers")
    daemon.log.wait_for("is armed")
    assert all(lefts(daemon))


def test_a_device_that_hangs_does_not_starve_the_other(pair):
    daemon, first, second = pair
    daemon.ask("arm 5")
    first.process.send_signal(signal.SIGSTOP)
    daemon.log.wait_for("does not answer")
    stay(second, 8)
    first.process.send_signal(signal.SIGCONT)


def test_a_disarm_reaches_a_device_that_was_lost_when_it_is_back(pair):
    daemon, first, second = pair
    daemon.ask("arm 600")
    first.process.send_signal(signal.SIGSTOP)
    daemon.log.wait_for("does not answer")
    assert daemon.ask("disarm")["ok"]  # of those that are there
    first.process.send_signal(signal.SIGCONT)
    daemon.log.wait_for("ttyACM1 answers")
    assert lefts(daemon) == [0, 0]


def test_two_names_of_one_device_are_one(start, device, tmp_path):  # noqa: F811
    (tmp_path / "other").symlink_to(device.port)
    daemon = start("--device", tmp_path / "other")
    daemon.log.wait_for("is the same device as")
    assert [one["connected"] for one in daemon.status()["devices"]] == [True, False]


@pytest.mark.parametrize(
    "options,sentence",
    [
        (["--device", "x"] * 2, "given twice"),
        ([word for n in range(5) for word in ("--device", f"x{n}")], "4 are the most"),
        (["--device", "x", "--device", "y", "--timeout", "4"], "5 s or more"),
    ],
)
def test_bad_lists_of_devices(options, sentence):
    done = run(program("pawl-watchdogd"), *options)
    assert done.returncode == 2 and sentence in done.stderr


def test_a_time_out_that_would_starve_is_refused(pair):
    assert pair[0].ask("arm 4") == {
        "ok": False, "reply": "a time-out is 5 to 3600 s", "set_timeout": 5,
    }  # fmt: skip
