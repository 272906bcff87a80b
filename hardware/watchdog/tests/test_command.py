# SPDX-License-Identifier: MIT
"""`pawl watchdog` with the daemon and the simulated firmware behind it."""

import json
import sys

from test_daemon import device, start  # noqa: F401  the same fixtures

from conftest import run


def pawl(*words, **more):
    return run(sys.executable, "-m", "pawl", "watchdog", *words, **more)


def test_status_arm_refresh_disarm(start, tmp_path):  # noqa: F811
    start("--timeout", "60")
    folder = ("--folder", tmp_path)
    assert "not armed; power on; PWR_OK high" in pawl("status", *folder).stdout
    assert pawl("refresh", *folder).returncode == 1
    assert pawl("arm", "50", *folder).stdout == "armed: 50 s\n"
    assert json.loads(pawl("status", "--json", *folder).stdout)["timeout"] == 50
    assert pawl("refresh", *folder).stdout == "refreshed\n"
    assert pawl("led", "on", *folder).stdout == "LED on\n"
    assert pawl("disarm", *folder).stdout == "disarmed\n"


def test_power_is_cut_only_after_a_yes(start, device, tmp_path):  # noqa: F811
    start()
    folder = ("--folder", tmp_path)
    for word in ("off", "reset"):
        refused = pawl(word, *folder, input="n\n")
        assert refused.returncode == 2 and "nothing was done" in refused.stderr
        assert pawl(word, "--dry-run", *folder).stdout.startswith("would ask")
    assert not device.events.has("pulled")
    assert pawl("off", "--yes", *folder).returncode == 0
    device.events.wait_for("pulled")
    assert pawl("on", *folder).returncode == 0
    device.events.wait_for("released")
    assert pawl("reset", *folder, input="y\n").returncode == 0
    device.events.wait_for("pulled")


def test_run_arms_while_the_command_runs_and_gives_its_exit_code(
    start,  # noqa: F811
    device,  # noqa: F811
    tmp_path,
):
    daemon = start("--timeout", "2")
    done = pawl("run", "--timeout", "2", "--folder", tmp_path, "--", "sh", "-c", "sleep 4; exit 7")
    assert done.returncode == 7, done.stderr
    daemon.log.wait_for("disarmed")
    assert not device.events.has("pulled")


def test_run_of_a_command_that_is_not_there_arms_nothing_for_long(start, tmp_path):  # noqa: F811
    daemon = start()
    done = pawl("run", "--folder", tmp_path, "--", "/nonexistent")
    assert done.returncode == 2 and "cannot be run" in done.stderr
    daemon.log.wait_for("disarmed")


def test_the_only_folder_of_systemd_is_found(tmp_path, monkeypatch):
    from pawl import watchdog

    monkeypatch.setattr(watchdog, "RUN", tmp_path)
    monkeypatch.setattr(watchdog, "FOLDER", str(tmp_path / "pawl-watchdogd"))
    one = tmp_path / "pawl-watchdogd-hidraw"
    one.mkdir()
    assert watchdog._folder(watchdog.FOLDER) == one
    (tmp_path / "pawl-watchdogd-tty").mkdir()
    assert watchdog._folder(watchdog.FOLDER) == tmp_path / "pawl-watchdogd"
    assert str(watchdog._folder("/elsewhere")) == "/elsewhere"


def test_without_a_daemon_there_is_a_sentence_and_exit_code_2(tmp_path):
    for words in (("status",), ("arm", "5"), ("run", "true"), ("off", "--yes")):
        done = pawl(*words[:1], "--folder", tmp_path, *words[1:])
        assert done.returncode == 2 and "there is no pawl-watchdogd" in done.stderr
    assert pawl("arm", "3601", "--folder", tmp_path).returncode == 2
