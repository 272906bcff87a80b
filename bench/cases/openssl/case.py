# SPDX-License-Identifier: MIT
"""The jobs of the case: how one is made ready, and the command that does it."""

import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# Debian's own Python, whose ssl is that of the system.
PYTHON = next((p for p in ("/usr/bin/python3",) if os.access(p, os.X_OK)), "python3")
SCRIPTS = {
    "python-contexts": (PYTHON, "contexts.py", "python3"),
    "node-contexts": ("node", "contexts.mjs", "nodejs"),
}
IN_C = (
    "fetch-digest",
    "fetch-cipher",
    "digest",
    "pem-key",
    "d2i-x509",
    "issuer",
    "ca-bundle",
    "ssl-new",
    "handshake",
    "handshake-resumed",
)
JOBS = (*IN_C, *SCRIPTS)


def _lacks(package, job):
    return (
        f"the job {job} needs {package}: install Debian's package, "
        "by scripts/setup programs for one, or leave it out of --jobs."
    )


def prepare(job, folder):
    """A sentence about what is missing, or None."""
    if job not in ("fetch-digest", "digest") and not os.access(BUNDLE, os.R_OK):
        return _lacks("ca-certificates", job)
    if job in SCRIPTS:
        program, _, package = SCRIPTS[job]
        return None if shutil.which(program) else _lacks(package, job)
    done = subprocess.run(
        [
            shutil.which("cc") or "gcc",
            "-O2",
            "-o",
            folder / "openssl",
            HERE / "openssl.c",
            "-lssl",
            "-lcrypto",
            "-pthread",
        ],
        capture_output=True,
        check=False,
    )
    return _lacks("libssl-dev (and gcc)", job) if done.returncode else None


def command(job, folder, threads, seconds):
    if job in SCRIPTS:
        program, script, _ = SCRIPTS[job]
        return [program, HERE / script, str(threads), str(seconds)]
    return [folder / "openssl", job, str(threads), str(seconds)]
