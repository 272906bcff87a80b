# SPDX-License-Identifier: MIT
"""The jobs of the case: how one is made ready, and the command that does it."""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
JOBS = (
    "create-instance",
    "type-from-name",
    "type-interfaces",
    "type-children",
    "is-a",
    "object-new",
    "signal-lookup",
)


def prepare(job, folder):
    """A sentence about what is missing, or None."""
    made = (
        f'{shutil.which("cc") or "gcc"} -O2 -o "$1" "$2"'
        " $(pkg-config --cflags --libs gio-2.0) -pthread"
    )
    done = subprocess.run(
        ["sh", "-c", made, "sh", folder / "glib", HERE / "glib.c"], capture_output=True, check=False
    )
    if done.returncode == 0:
        return None
    return (
        f"the job {job} needs libglib2.0-dev, pkg-config and gcc: install Debian's packages, "
        "by scripts/setup programs for one, or leave it out of --jobs."
    )


def command(job, folder, threads, seconds):
    return [folder / "glib", job, str(threads), str(seconds)]
