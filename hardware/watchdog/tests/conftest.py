# SPDX-License-Identifier: MIT
"""Where the programs are, and how one test of a cmocka program is run."""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
BUILD = Path(os.environ.get("PAWL_WATCHDOG_BUILD", ROOT / "build/watchdog"))


def program(name: str) -> Path:
    """A built program, or a skip that says how to build it."""
    path = BUILD / name
    if not path.exists():
        pytest.skip(f"{path} is not built (make -C watchdog tests)")
    return path


def cmocka_tests(name: str) -> list[str]:
    """The names of the tests in tests/NAME.c."""
    return re.findall(r"^TEST_CASE\((\w+)\)", (HERE / f"{name}.c").read_text(), re.M)


def run(*command, seconds: float = 120, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(part) for part in command],
        timeout=seconds,
        text=True,
        capture_output=True,
        check=False,
        **options,
    )


def run_cmocka(name: str, test: str) -> None:
    done = run(program(name), test)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"[       OK ] {test}" in done.stdout, done.stdout
    print(done.stdout)
