#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TLS handshakes in memory with libssl 3, in four threads (PAWL_TLS_THREADS)."""

import os
import subprocess
from pathlib import Path

import programs

SOURCE = Path(__file__).with_name("handshakes.c")
THREADS = os.environ.get("PAWL_TLS_THREADS", "4")


def prepare(folder):
    done = subprocess.run(
        [
            programs.need("cc", "gcc"),
            "-O2",
            "-o",
            folder / "handshakes",
            SOURCE,
            "-lssl",
            "-lcrypto",
            "-pthread",
        ],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        programs.skip("handshakes.c does not build (scripts/setup programs; Debian: libssl-dev)")


def run(environment, seconds, folder):
    done = subprocess.run(
        [folder / "handshakes", THREADS, str(seconds)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=programs.LONG,
    )
    return float(done.stdout)


if __name__ == "__main__":
    programs.main("libssl", "TLS handshakes in memory", run, prepare)
