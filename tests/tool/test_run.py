# SPDX-License-Identifier: MIT
"""`pawl run`: becomes the program, with the right libraries in front, or says why it cannot."""

import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

from conftest import ROOT, SHIM

BUILT = os.path.exists(os.path.join(SHIM, "libpawl-preload.so"))
needs_shim = pytest.mark.skipif(not BUILT, reason="the preload libraries are not built")

USER = """
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int main(void) { return pthread_rwlock_rdlock(&l) + pthread_rwlock_unlock(&l) + 5; }
"""


@pytest.fixture
def run():
    def go(*arguments, **environment):
        made = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "tool"),
            "PAWL_PRELOAD_DIR": SHIM,
            **environment,
        }
        return subprocess.run(
            [sys.executable, "-m", "pawl", "run", *map(str, arguments)],
            env=made,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return go


@pytest.fixture
def refused(run):
    """Code 2, one sentence, and the program did not run."""

    def go(*arguments, **environment):
        done = run(*arguments, **environment)
        assert done.returncode == 2, done
        assert done.stdout == ""
        assert done.stderr.startswith("pawl: ") and done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    return go


@pytest.fixture
def build(tmp_path):
    def go(*options, compiler="gcc", text=USER):
        if not shutil.which(compiler):
            pytest.skip(f"{compiler} is not installed")
        source, made = tmp_path / "user.c", tmp_path / "user"
        source.write_text(text)
        done = subprocess.run(
            [compiler, "-O1", "-o", made, source, "-pthread", *options],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"{compiler} {' '.join(options)} builds no program here")
        return made

    return go


@needs_shim
def test_it_becomes_the_program_and_counts(run, build):
    done = run("--stats", "--", build(), "x")
    assert done.returncode == 5
    assert "libpawl-preload.so in user" in done.stderr
    assert "1  read locks\n" in done.stderr and "rwlocks pawl, spinlocks libc" in done.stderr


READER = """
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int main(void)
{
    for (int i = 0; i < 10; i++)
        if (pthread_rwlock_rdlock(&l) != 0 || pthread_rwlock_unlock(&l) != 0)
            return 1;
    return 0;
}
"""


@needs_shim
@pytest.mark.parametrize(("mode", "reads"), [("pawl", 9), ("pawl,shared-word", 0)])
def test_the_counts_name_the_locks_that_scaled(run, build, mode, reads):
    program = build(text=READER)
    done = run("--stats", f"--rwlock={mode}", "--", program, PAWL_BIAS="on")
    assert done.returncode == 0
    assert f" {reads}  read locks that kept off the word of the lock\n" in done.stderr
    assert ("readers of 1 locks scaled" in done.stderr) == (reads > 0)
    assert (f" of {program}" in done.stderr) == (reads > 0)


@needs_shim
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a line moves between two processors")
def test_the_counts_say_what_a_lock_that_scaled_was_worth(run, build):
    """Two moves of a line for each read that kept off the word; and the program waits for no child
    that it does not know, and hears of none."""
    text = READER.replace("i < 10", "i < 100001").replace(
        "return 0;", "return waitpid(-1, 0, 0) != -1;"
    )
    done = run("--stats", "--", build(text="#include <sys/wait.h>\n" + text), PAWL_BIAS="on")
    assert done.returncode == 0
    price = re.search(r"two moves of a line a read, (\d+) ns each", done.stderr)
    if price is None:
        assert "spared" not in done.stderr  # the other processor was busy all the time
        return
    spared = float(re.search(r"; spared at most ([\d.e+]+) ms\n", done.stderr)[1])
    assert spared == pytest.approx(100_000 * 2 * int(price[1]) / 1e6, rel=0.01)


@needs_shim
def test_the_environment_of_the_program(run):
    show = ("--", "sh", "-c", "echo $LD_PRELOAD $PAWL_PRELOAD_RWLOCK")
    assert run(*show).stdout.split() == [f"{SHIM}/libpawl-preload.so"]
    both = run("--rwlock=pawl,prefer-readers", "--spin=pawl", *show).stdout.split()
    assert both == [f"{SHIM}/libpawl-preload.so:{SHIM}/libpawl-preload-spin.so", "prefer-readers"]
    for mode in ("shared-word", "scale-readers"):
        words = run(f"--rwlock=pawl,{mode}", *show).stdout.split()
        assert words == [f"{SHIM}/libpawl-preload.so", mode]
    assert run("--rwlock=libc", *show).stdout.split() == []
    # What was set for an outer run does not reach the inner one.
    assert run("--rwlock=libc", *show, PAWL_PRELOAD_RWLOCK="x").stdout.split() == []


@needs_shim
def test_counts_go_to_a_file_by_environment_alone(build, tmp_path):
    log = tmp_path / "counts"
    done = subprocess.run(
        [build()],
        check=False,
        env={
            **os.environ,
            "LD_PRELOAD": f"{SHIM}/libpawl-preload.so",
            "PAWL_PRELOAD_STATS": str(log),
        },
    )
    assert done.returncode == 5 and "1  read locks\n" in log.read_text()


@needs_shim
def test_counts_that_no_file_takes_are_missed_in_a_sentence(build):
    done = subprocess.run(
        [build()],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "LD_PRELOAD": f"{SHIM}/libpawl-preload.so",
            "PAWL_PRELOAD_STATS": "/dev/full",
        },
    )
    assert done.returncode == 5 and "could not be written" in done.stderr


@needs_shim
@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PAWL_PRELOAD_RWLOCK", "fast", "say pawl, shared-word or prefer-readers"),
        ("PAWL_PRELOAD_STATS", "counts", "neither 1 nor the full path"),
        ("PAWL_PRELOAD_STATS", "/" + "x" * 5000, "neither 1 nor the full path"),
        ("PAWL_PRELOAD_STATS", "/", "name one in a folder that is there"),
        ("PAWL_PRELOAD_STATS", "/no/such/folder/x", "name one in a folder that is there"),
    ],
)
def test_an_odd_environment_ends_the_program_before_main(build, name, value, says):
    done = subprocess.run(
        [build()],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "LD_PRELOAD": f"{SHIM}/libpawl-preload.so", name: value},
    )
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1


@needs_shim
def test_a_sanitized_program_keeps_its_library_in_front(run, build):
    assert run("--stats", "--", build("-fsanitize=address")).returncode == 5


@needs_shim
def test_closed_streams_stop_nobody(build):
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -m pawl run --stats -- "$1" >&- 2>&-', sys.executable, build()],
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tool"), "PAWL_PRELOAD_DIR": SHIM},
    )
    assert done.returncode == 5


def test_programs_that_are_not_there(refused, tmp_path):
    assert "there is no program" in refused("--", "no-such-program")
    assert "is empty" in refused("--", "")
    assert "sh -c" in refused("--", "ls | cat")
    assert "env A=1 PROGRAM" in refused("--", "A=1", "ls")
    assert "is a folder" in refused("--", f"{tmp_path}/")
    plain = tmp_path / "plain"
    plain.write_text("text")
    assert "chmod +x" in refused("--", plain)
    plain.chmod(0o755)
    assert "neither a program of this system nor a script" in refused("--", plain)
    plain.write_bytes(b"\x7fELF\2\1\1")
    assert "neither a program" in refused("--", plain)
    plain.write_text(f"#!{plain}\n")
    assert "script of a script" in refused("--", plain)
    assert "Missing argument" in refused()


def test_a_server_that_is_not_in_the_path(refused):
    servers = [name for name in ("unbound", "ldconfig") if os.access(f"/usr/sbin/{name}", os.X_OK)]
    if not servers:
        pytest.skip("there is none in /usr/sbin")
    assert f"say where it is: /usr/sbin/{servers[0]}." in refused(
        "--", servers[0], PATH="/usr/bin:/bin"
    )


def test_static_programs(refused, build):
    assert "linked statically" in refused("--", build("-static"))


def test_the_loader_is_no_program(refused, build):
    if not shutil.which("readelf"):
        pytest.skip("readelf is not installed")
    segments = subprocess.run(
        ["readelf", "-lW", build()],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout
    found = re.search(r"program interpreter: ([^]]+)", segments)
    assert found and "name the program that it loads" in refused("--", found[1], "true")


def test_programs_for_musl(refused, build):
    assert "built for musl" in refused("--", build(compiler="musl-gcc"))


def test_go_programs(refused, build):
    note = '__attribute__((section(".go.buildinfo"), used)) const char n[] = "Go";'
    assert "written in Go" in refused("--", build(text=USER + note))


def test_rust_programs(refused, build):
    text = (
        'const char *volatile s = "/rustc/0/library/std/src/panic.rs";int main(void) { return *s; }'
    )
    assert "written in Rust" in refused("--", build(text=text))


def test_setuid_programs(refused, build):
    made = build()
    if os.geteuid() == 0:
        os.chown(made, 65534, 65534)
    else:
        pytest.skip("only root can make a file of another user's")
    made.chmod(stat.S_ISUID | 0o755)
    assert "is setuid" in refused("--", made)


def test_a_32_bit_program_without_a_32_bit_library(refused, build, tmp_path):
    assert "no 32-bit libpawl-preload.so" in refused(
        "--", build("-m32"), PAWL_PRELOAD_DIR=str(tmp_path)
    )


def test_no_library_at_all(refused, build, tmp_path):
    assert "make build" in refused("--", build(), PAWL_PRELOAD_DIR=str(tmp_path))


@pytest.mark.parametrize("options", [["--rwlock=mine"], ["--spin=prefer-readers"], ["--fast"]])
def test_options_that_are_none(refused, options):
    refused(*options, "--", "true")
