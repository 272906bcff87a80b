# SPDX-License-Identifier: MIT
"""pawl-watchdogd against the simulated firmware over a pseudo-terminal: PWR_OK falls when it must,
and never when it must not. Times are those of this machine, so only orders of events are compared,
with waits that end as soon as the event is there."""

import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import termios
import threading
import time

import pytest

from conftest import HERE, program, run

LONG = 30  # seconds after which what was waited for does not come


class Lines:
    """The lines that a process writes, as they come."""

    def __init__(self, stream):
        self.all = []
        self.new = queue.Queue()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            self.all.append(line.strip())
            self.new.put(line.strip())

    def wait_for(self, text, seconds=LONG):
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.new.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"{text!r} did not come; there were {self.all}")
            if text in line:
                return line

    def has(self, text):
        return any(text in line for line in self.all)


class Device:
    def __init__(self, folder, name="ttyACM7", *jumper):
        self.port = folder / name
        self.process = subprocess.Popen(
            [program("simulated-device"), self.port, *jumper],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.events = Lines(self.process.stdout)
        self.events.wait_for("ready")

    def tell(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        self.events.wait_for("obeyed")

    def end(self):
        self.process.kill()
        self.process.wait()


class Daemon:
    def __init__(self, folder, port, *options, wait="answers"):
        self.folder = folder
        self.process = subprocess.Popen(
            [program("pawl-watchdogd"), "--device", port, "--folder", folder, *options],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log = Lines(self.process.stderr)
        if wait:
            deadline = time.monotonic() + LONG
            while not (folder / "control").exists() or not self.status()["connected"]:
                assert time.monotonic() < deadline and self.process.poll() is None, self.log.all
                time.sleep(0.05)

    def ask(self, line):
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(LONG)
            try:
                control.connect(str(self.folder / "control"))
            except (FileNotFoundError, ConnectionRefusedError):
                return {"connected": False}
            control.sendall(line.encode() + b"\n")
            return json.loads(control.makefile().readline())

    def status(self):
        return self.ask("status")

    def open_watchdog(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(self.folder / "watchdog"))
        return client


@pytest.fixture
def device(tmp_path):
    made = Device(tmp_path)
    yield made
    made.end()


@pytest.fixture
def start(tmp_path, device):
    made = []

    def go(*options, **more):
        made.append(Daemon(tmp_path, device.port, *options, **more))
        return made[-1]

    yield go
    for one in made:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def hid(tmp_path):
    """The HID image behind a file that carries reports as a hidraw node does."""
    folder = tmp_path / "hid"
    folder.mkdir()
    device = Device(folder, "hidraw7")
    daemon = Daemon(folder, device.port, "--timeout", "2")
    yield device, daemon
    daemon.process.kill()
    daemon.process.wait()
    device.end()


def stay(device, seconds):
    """The line is not pulled for so long."""
    time.sleep(seconds)
    assert not device.events.has("pulled"), device.events.all


def test_nothing_is_armed_by_a_start(start, device):
    daemon = start("--timeout", "2")
    stay(device, 3)
    assert daemon.status()["left"] == 0 and not daemon.status()["wanted"]


def test_an_armed_device_is_refreshed_and_disarmed_at_the_end(start, device):
    daemon = start("--timeout", "2", "--arm")
    stay(device, 4)
    assert daemon.status()["timeout"] == 2
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(LONG) == 0
    daemon.log.wait_for("disarmed")
    stay(device, 3)


def test_a_daemon_that_is_killed_lets_the_reset_come(start, device):
    daemon = start("--timeout", "2", "--arm")
    daemon.process.kill()
    device.events.wait_for("pulled")
    device.events.wait_for("released")


def test_reports_of_a_hid_carry_commands_and_replies_in_parts(hid):
    device, daemon = hid
    state = daemon.status()  # a reply of three parts
    assert state["ok"] and state["power"] == "on" and state["boot"] == "power-on"
    assert daemon.ask("arm 3600")["ok"] and daemon.status()["left"] >= 3590
    assert daemon.ask("arm 2")["ok"]
    stay(device, 4)
    daemon.process.kill()
    device.events.wait_for("pulled")


def test_a_hid_that_was_unplugged_is_armed_again(hid):
    device, daemon = hid
    daemon.ask("arm 9")
    device.tell("unplug")
    daemon.log.wait_for("the device is lost")
    device.tell("plug")
    daemon.log.wait_for("armed")


@pytest.mark.skipif(
    not os.access("/dev/uhid", os.R_OK | os.W_OK),
    reason="the kernel has no /dev/uhid, or not for this user",
)
def test_the_kernels_own_hidraw_node_carries_commands(tmp_path):
    made = subprocess.Popen(
        [program("simulated-uhid")], stdin=subprocess.PIPE, text=True, stdout=subprocess.PIPE
    )
    try:
        node = Lines(made.stdout).wait_for("/dev/hidraw")
        daemon = Daemon(tmp_path, node, "--timeout", "60")
        assert daemon.ask("arm 50")["ok"] and daemon.status()["timeout"] == 50
        daemon.process.kill()
        daemon.process.wait()
    finally:
        made.kill()
        made.wait()


def test_a_daemon_that_hangs_lets_the_reset_come(start, device):
    daemon = start("--timeout", "2", "--arm")
    daemon.process.send_signal(signal.SIGSTOP)
    device.events.wait_for("pulled")
    daemon.process.send_signal(signal.SIGCONT)
    daemon.log.wait_for("it is armed again")


def test_a_daemon_can_be_stopped_with_the_device_left_counting(start, device):
    daemon = start("--timeout", "2", "--arm", "--keep-armed")
    daemon.process.send_signal(signal.SIGTERM)
    daemon.log.wait_for("the device counts on")
    device.events.wait_for("pulled")


def test_a_failing_check_is_told_before_the_reset_comes(start, device, tmp_path):
    fresh = tmp_path / "fresh"
    fresh.touch()
    daemon = start("--timeout", "3", "--arm", "--check", f"file:{fresh}:2")
    line = daemon.log.wait_for("no refresh")
    assert "the file is too old" in line and "the reset comes within 3 s" in line
    assert not device.events.has("pulled")
    device.events.wait_for("pulled")


def test_a_check_that_passes_again_saves_the_machine(start, device, tmp_path):
    fresh = tmp_path / "fresh"
    daemon = start("--timeout", "30", "--interval", "200", "--check", f"file:{fresh}:600")
    daemon.ask("arm 30")
    daemon.log.wait_for("the file is not there")
    fresh.touch()
    daemon.log.wait_for("refreshing again")
    assert not device.events.has("pulled")


@pytest.mark.parametrize(
    "check,reason",
    [
        ("pid:/nonexistent", "there is no process number"),
        ("load:0.000001", "the load is too high"),
        ("memory:99999999", "too little memory"),
        ("command:false", "the command failed"),
        ("command:sleep 9", "the command has not ended"),
        ("beat:/nonexistent:9", "no program"),
    ],
)
def test_each_check_can_fail(start, check, reason):
    daemon = start("--timeout", "60", "--interval", "300", "--arm", "--check", check)
    assert reason in daemon.log.wait_for(f"no refresh: check {check}: {reason}")


def test_all_checks_can_pass(start, device, tmp_path):
    (tmp_path / "pid").write_text(f"{os.getpid()}\n")
    (tmp_path / "fresh").touch()
    daemon = start(
        "--timeout",
        "2",
        "--arm",
        "--check",
        f"pid:{tmp_path}/pid",
        "--check",
        f"file:{tmp_path}/fresh:1000",
        "--check",
        "load:10000",
        "--check",
        "memory:1",
        "--check",
        "command:true",
    )
    stay(device, 4)
    assert daemon.status()["refused"] == ""


@pytest.mark.parametrize(
    "how,reason",
    [
        ("reader", "reported a stall"),
        ("lock", "reported a stall"),
        ("hangs", "reports no progress"),
    ],
)
def test_a_program_that_stops_its_progress_stops_the_refresh(start, tmp_path, how, reason):
    beat = tmp_path / "beat"
    beating = subprocess.Popen([program("beating"), beat, "40", how])
    while not beat.exists():
        time.sleep(0.01)
    daemon = start("--timeout", "60", "--interval", "200", "--arm", "--check", f"beat:{beat}:2")
    assert daemon.status()["refused"] == ""
    try:
        daemon.log.wait_for(reason)
    finally:
        beating.kill()
        beating.wait()


def test_a_device_that_was_unplugged_is_found_and_armed_again(start, device):
    daemon = start("--timeout", "5", "--arm")
    device.tell("unplug")
    daemon.log.wait_for("the device is lost")
    device.tell("plug")
    daemon.log.wait_for("answers")
    daemon.log.wait_for("armed")
    assert daemon.status()["timeout"] == 5


def test_a_device_that_started_anew_is_noticed_and_armed_again(start, device):
    daemon = start("--timeout", "4", "--arm")
    device.tell("restart")
    daemon.log.wait_for("it is armed again")


def test_two_daemons_are_refused(start, tmp_path, device):
    start()
    second = run(program("pawl-watchdogd"), "--device", device.port, "--folder", tmp_path)
    assert second.returncode == 1 and "another pawl-watchdogd" in second.stderr


def test_to_open_the_watchdog_arms_and_v_disarms(start, device):
    daemon = start("--timeout", "2")
    with daemon.open_watchdog() as client:
        daemon.log.wait_for("armed")
        for _ in range(12):
            client.sendall(b"x")
            time.sleep(0.3)
        assert not device.events.has("pulled")
        client.sendall(b"V")
    daemon.log.wait_for("disarmed")
    stay(device, 3)


def test_to_close_the_watchdog_without_v_leaves_it_counting(start, device):
    daemon = start("--timeout", "2")
    with daemon.open_watchdog() as client:
        client.sendall(b"Vx")
    daemon.log.wait_for("went away without V")
    device.events.wait_for("pulled")


def test_a_second_client_is_refused(start):
    daemon = start()
    with daemon.open_watchdog() as first, daemon.open_watchdog() as second:
        daemon.log.wait_for("another one has the watchdog")
        assert second.recv(1) == b""
        first.sendall(b"V")
    daemon.log.wait_for("disarmed")


def test_a_client_that_hangs_lets_the_reset_come(start, device):
    daemon = start("--timeout", "2")
    with daemon.open_watchdog():
        device.events.wait_for("pulled")


def test_the_timeout_can_be_set_and_what_was_set_comes_back(start):
    daemon = start()
    assert daemon.ask("timeout 17") == {"ok": True, "reply": "ok", "set_timeout": 17}
    assert daemon.ask("timeout 3601")["ok"] is False
    assert daemon.ask("arm 0")["reply"] == "a time-out is 1 to 3600 s"
    assert daemon.ask("arm 3600")["set_timeout"] == 3600
    assert daemon.status()["left"] in range(3595, 3601)
    assert daemon.ask("disarm")["ok"] and daemon.status()["left"] == 0


def test_power_commands_do_what_they_say_and_cancel_the_timer(start, device):
    daemon = start("--timeout", "5", "--arm")
    assert daemon.ask("off")["ok"]
    device.events.wait_for("pulled")
    assert daemon.status()["power"] == "off" and not daemon.status()["wanted"]
    assert daemon.ask("on")["ok"]
    device.events.wait_for("released")
    assert daemon.ask("reset")["ok"]
    device.events.wait_for("pulled")
    device.events.wait_for("released")
    assert daemon.ask("led 1")["ok"] and not daemon.ask("nonsense")["ok"]


def test_a_client_that_never_reads_its_answers_harms_nobody(start, device):
    daemon = start("--timeout", "3", "--arm")
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(daemon.folder / "control"))
        control.settimeout(2)
        try:
            for _ in range(400):  # more than its pipe holds
                control.sendall(b"nonsense\n" * 200)
        except TimeoutError:
            pass
        assert daemon.status()["connected"]
        stay(device, 4)


def test_noise_and_echo_on_the_port_change_nothing(device, start):
    port = os.open(device.port, os.O_RDWR | os.O_NOCTTY)
    settings = termios.tcgetattr(port)
    assert settings[3] & termios.ECHO  # as terminals are: what the device says comes back to it
    os.write(port, b"ATE1\r?\nAT+GCAP\r\x00\xff8OFF7\n")
    time.sleep(1)
    os.close(port)
    daemon = start("--timeout", "5")
    state = daemon.status()
    assert state["power"] == "on" and state["left"] == 0 and state["fired"] == 0
    stay(device, 0.5)


def test_systemd_is_told(device, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(LONG)
        process = subprocess.Popen(
            [program("pawl-watchdogd"), "--device", device.port, "--folder", tmp_path],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "NOTIFY_SOCKET": f"{tmp_path}/notify"},
        )
        heard = [systemd.recv(100)]
        while b"WATCHDOG=1" not in heard:
            heard.append(systemd.recv(100))
        process.terminate()
        while b"STOPPING=1" not in heard:
            heard.append(systemd.recv(100))
        assert process.wait(LONG) == 0 and heard[0] == b"READY=1"


def fake_names(folder, vendor, product):
    """What /sys has of a device: class/tty/NAME/device leads to an interface of it."""
    interface = folder / "sys/devices/usb1/1-2/1-2:1.0"
    interface.mkdir(parents=True)
    (interface.parent / "manufacturer").write_text(vendor + "\n")
    (interface.parent / "product").write_text(product + "\n")
    return folder / "sys"


def with_names(folder, port, vendor, product):
    """The fake /sys in which the port belongs to a device of these names."""
    sysfs = fake_names(folder, vendor, product)
    node = sysfs / "class/tty" / os.path.basename(os.path.realpath(port))
    node.mkdir(parents=True)
    (node / "device").symlink_to(sysfs / "devices/usb1/1-2/1-2:1.0")
    return sysfs


def test_the_published_device_is_spoken_to_in_its_own_language(tmp_path):
    device = Device(tmp_path, "ttyACM7", "jumper")
    sysfs = with_names(tmp_path, device.port, "their name", "their watchdog")
    daemon = Daemon(
        tmp_path,
        device.port,
        "--original",
        "--vendor",
        "their name",
        "--product",
        "their watchdog",
        "--sysfs",
        sysfs,
        "--timeout",
        "2",
        "--arm",
    )
    try:
        assert daemon.status()["timeout"] == 3  # the next longer one, and it is told
        stay(device, 5)
        assert daemon.ask("disarm")["ok"] and daemon.status()["left"] == 0
        assert daemon.ask("off")["ok"]
        device.events.wait_for("pulled")
        assert daemon.ask("on")["ok"]
        device.events.wait_for("released")
        assert daemon.ask("arm 1")["set_timeout"] == 1
        daemon.process.kill()
        device.events.wait_for("pulled")
    finally:
        daemon.process.kill()
        daemon.process.wait()
        device.end()


@pytest.mark.parametrize("vendor,right", [("pawl.invalid", True), ("pawl.invalid2", False)])
def test_a_wrong_device_with_the_same_numbers_is_left_alone(tmp_path, device, vendor, right):
    sysfs = with_names(tmp_path, device.port, vendor, "pawl-watchdog")
    process = subprocess.Popen(
        [
            program("pawl-watchdogd"),
            "--device",
            device.port,
            "--folder",
            tmp_path,
            "--sysfs",
            sysfs,
            "--vendor",
            "pawl.invalid",
            "--product",
            "pawl-watchdog",
            "--arm",
            "--timeout",
            "60",
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    log = Lines(process.stderr)
    log.wait_for("armed" if right else "it was left alone")
    process.kill()
    process.wait()


def test_a_device_that_answers_rubbish_is_left_alone(tmp_path):
    master, slave = os.openpty()
    os.symlink(os.ttyname(slave), tmp_path / "tty")
    daemon = subprocess.Popen(
        [program("pawl-watchdogd"), "--device", tmp_path / "tty", "--folder", tmp_path, "--arm"],
        stderr=subprocess.PIPE,
        text=True,
    )
    log = Lines(daemon.stderr)
    sent = b""
    while b"V\n" not in sent:
        sent += os.read(master, 100)
    os.write(master, b"\x00\xff=OK modem\r\n" * 3)
    log.wait_for("it is left alone")
    daemon.kill()
    daemon.wait()
    assert b"A60" not in sent


@pytest.mark.parametrize(
    "options,sentence",
    [
        ((), "--device is needed"),
        (("--device", "x", "--timeout", "0"), "is not a number from 1"),
        (("--device", "x", "--timeout", "3601"), "is not a number from 1"),
        (("--device", "x", "--check", "moon:full"), "no check is called"),
        (("--device", "x", "--check", "file:/x"), "is not complete"),
        (("--device", "x", "--vendor", "y"), "go together"),
        (("--device", "x", "--original"), "--original needs"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(options, sentence):
    done = run(program("pawl-watchdogd"), *options)
    assert done.returncode == 2 and sentence in done.stderr


def test_a_folder_that_is_not_there_is_a_sentence_and_exit_code_1():
    done = run(program("pawl-watchdogd"), "--device", "/dev/null", "--folder", "/nonexistent")
    assert done.returncode == 1 and "cannot write in /nonexistent" in done.stderr


def host_file(name):
    return (HERE.parent / "host" / name).read_text()


def test_installing_arms_nothing():
    unit = host_file("pawl-watchdogd@.service")
    command = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    assert "--arm" not in command and "RUN" not in host_file("70-pawl-watchdog.rules")


def test_unit_and_rule_compare_both_names_that_the_image_has():
    names = dict(
        re.findall(
            r'#define USB_(VENDOR|PRODUCT)_NAME "(.*)"',
            (HERE.parent / "firmware/usb_ids.h").read_text(),
        )
    )
    unit, rule = host_file("pawl-watchdogd@.service"), host_file("70-pawl-watchdog.rules")
    assert f"--vendor {names['VENDOR']} --product {names['PRODUCT']}" in unit
    assert f'{{manufacturer}}=="{names["VENDOR"]}"' in rule
    assert f'{{product}}=="{names["PRODUCT"]}"' in rule
    assert "Type=notify" in unit and "WatchdogSec=" in unit
    assert 'ID_MM_DEVICE_IGNORE}="1"' in rule


def test_systemd_understands_the_unit(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "pawl-watchdogd@.service"
    unit.write_text(
        host_file(unit.name).replace("/usr/sbin/pawl-watchdogd", str(program("pawl-watchdogd")))
    )
    done = run("systemd-analyze", "verify", "--man=no", unit)
    assert "pawl-watchdogd@" not in done.stderr, done.stderr
