# SPDX-License-Identifier: MIT
"""What a stranger types first: each command of README, as it stands there.

They stand above its table of primitives. `make test` cannot run itself; that every
target of make leads to a script that is there is checked instead. test_scripts.py runs what `make
bench` ends with, tests/package what `make install` puts where.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from conftest import BUILD, LONG, ROOT

SHIM, BENCH = f"{BUILD}/shim", f"{BUILD}/bench"
PORT = 11211  # memcached's, where it is told none
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCREEN = README[: README.index("\nThen `find_package")]

needs_shim = pytest.mark.skipif(
    not os.path.exists(f"{SHIM}/libpawl-preload.so"), reason="the preload libraries are not built"
)


@pytest.fixture
def typed(tmp_path):
    """Starts a command of the first screen in a folder of its own, with further words if any."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "tool"),
        "PAWL_PRELOAD_DIR": SHIM,
        "PAWL_BENCH_DIR": BENCH,
    }

    def go(command, *more):
        assert f"`{command}`" in SCREEN, f"README's first screen no longer says {command}"
        pawl, *words = command.split()
        assert pawl == "pawl"
        return subprocess.Popen(
            [sys.executable, "-m", "pawl", *words, *more],
            cwd=tmp_path,
            env=environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return go


@pytest.fixture
def said(typed):
    """What a command prints that has to go well."""

    def go(command, *more):
        process = typed(command, *more)
        out, error = process.communicate(timeout=LONG)
        assert process.returncode == 0, error
        return out, error

    return go


def test_the_tests_know_every_command_of_the_first_screen():
    commands = set(re.findall(r"`(pawl [^`]+)`", SCREEN))
    commands |= set(re.findall(r"^(make \w+)|`(make \w+)`", SCREEN, re.M))
    flat = {c if isinstance(c, str) else "".join(c) for c in commands}
    assert flat == {
        "make bench",
        "make build",
        "make install",
        "make test",
        "pawl run openssl version",
        "pawl trace memcached",
        "pawl advise",
        "pawl replay",
    }


@pytest.mark.parametrize("target", ["build", "bench", "test", "install"])
def test_make_knows_the_target_and_its_scripts_are_there(target):
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    shown = subprocess.run(
        ["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    scripts = re.findall(r"\bscripts/\w+", shown)
    assert scripts and all(os.access(ROOT / name, os.X_OK) for name in scripts), shown


@needs_shim
def test_run_openssl(said):
    """OpenSSL takes read-write locks as it starts, and `--stats` counts them."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    plain = subprocess.run(["openssl", "version"], capture_output=True, text=True, check=True)
    assert said("pawl run openssl version")[0] == plain.stdout
    assert "`--stats`" in SCREEN
    counted = subprocess.run(
        [sys.executable, "-m", "pawl", "run", "--stats", "openssl", "version"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tool"), "PAWL_PRELOAD_DIR": SHIM},
        capture_output=True,
        text=True,
        check=True,
    )
    assert counted.stdout.startswith(plain.stdout)
    assert re.search(r"[1-9][\d,]* +read locks\n", counted.stderr), counted.stderr


@needs_shim
def test_run_python_on_readers_that_scale():
    """The program that README names prints a rate, without our locks and with them."""
    line = next(x for x in SCREEN.splitlines() if x.startswith("pawl run python3"))
    plain = next(x for x in SCREEN.splitlines() if x.startswith("python3 "))
    for words in (plain.split("#")[0].split(), line.split("#")[0].split()):
        command = [sys.executable, "-m", "pawl", *words[1:]] if words[0] == "pawl" else words
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tool"), "PAWL_PRELOAD_DIR": SHIM},
            capture_output=True,
            text=True,
            check=True,
            timeout=LONG,
        )
        assert float(done.stdout) > 0 and done.stderr == ""


def answers(port):
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=1)
    except OSError:
        return None


def ask(server, times):
    """Sets and gets of one key."""
    with server, server.makefile("rb") as lines:
        for _ in range(times):
            server.sendall(b"set key 0 0 5\r\nvalue\r\nget key\r\n")
            assert lines.readline() == b"STORED\r\n"
            assert lines.readline().startswith(b"VALUE key")
            lines.readline(), lines.readline()


@pytest.fixture
def traced(typed):
    """memcached has answered while it was traced, and Ctrl-C ended both: what was said."""
    if shutil.which("memcached") is None:
        pytest.skip("memcached is not installed (scripts/setup programs)")
    if (other := answers(PORT)) is not None:
        other.close()
        pytest.skip(f"another server has memcached's port {PORT}")
    # To root memcached says that it wants the name of a user.
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = typed("pawl trace memcached", *user)
    try:
        end = time.monotonic() + LONG
        while (server := answers(PORT)) is None:
            assert process.poll() is None and time.monotonic() < end, "it does not answer"
            time.sleep(0.05)
        ask(server, 2000)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    return process.communicate(timeout=LONG)


@pytest.mark.parametrize("command", ["pawl advise", "pawl replay"])
def test_without_a_trace_a_sentence_says_how_to_make_one(command, typed):
    process = typed(command)
    error = process.communicate(timeout=LONG)[1]
    assert process.returncode == 2 and error.count("\n") == 1, error
    assert "there is no file pawl.trace; make one with `pawl trace" in error


@needs_shim
def test_trace_memcached_then_advise_then_replay(traced, said):
    """Each reads what the one before has left, without being told its name."""
    assert re.search(r"pawl\.trace: processes 1, .*Next: pawl advise", traced[1]), traced
    assert said("pawl advise")[0].startswith("memcached")
    if not os.path.exists(f"{BENCH}/pawl-bench-replay"):
        pytest.skip("pawl-bench-replay is not built")
    answer, _ = said("pawl replay", "--seconds", "0.02", "--rounds", "2", "--quiet")
    assert "Fidelity: " in answer and "memcached" in answer, answer
