# SPDX-License-Identifier: MIT
"""The jobs of the case: HAProxy with its own locks, with its emulation of the C library's
read-write locks, and with Pawl's header in the place of plock's; wrk asks it.

A job prints requests a second, and with -cpu in its name those a second of HAProxy's processor
time: wrk has a part of the processors too."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SOURCE = ROOT / ".deps/haproxy"
# Load -> connection, options of wrk, the builds that it is for.
LOADS = {
    "handshake": ("https", ["-H", "Connection: close"], ("own", "emulated", "pawl")),
    "table": ("http", [], ("own", "pawl")),
}
JOBS = tuple(
    f"{load}-{build}{unit}"
    for load, (_, _, builds) in LOADS.items()
    for build in builds
    for unit in ("", "-cpu")
)
ANSWER = "http-request return status 200 content-type text/plain string ok"
CONFIG = "\n".join(
    (
        "global",
        "  nbthread {threads}",
        "  tune.ssl.cachesize 0",
        "  ssl-default-bind-options no-tls-tickets",
        "defaults",
        "  mode http",
        "  timeout client 10s",
        "  timeout server 10s",
        "  timeout connect 10s",
        "frontend https",
        "  bind 127.0.0.1:{https} ssl crt {folder}/both.pem",
        "  {answer}",
        "frontend http",
        "  bind 127.0.0.1:{http}",
        "  stick-table type ip size 1m expire 10s store http_req_cnt,http_req_rate(10s)",
        "  http-request track-sc0 src",
        "  {answer}",
        "",
    )
)


def _run(*command, where=ROOT):
    subprocess.run([str(c) for c in command], cwd=where, capture_output=True, check=True)


def _make(folder, *options):
    _run("make", f"-j{os.cpu_count()}", "TARGET=linux-glibc", "USE_OPENSSL=1", *options, "haproxy",
         where=folder)  # fmt: skip


def _build(build):
    """HAProxy in a folder of its own. What is there already is not made again."""
    folder = SOURCE.parent / f"haproxy-{build}"
    if build == "emulated" and not (folder / "haproxy").exists():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(_build("own"), folder, symlinks=True)
        for name in ("haproxy", "src/thread.o"):  # the only one that differs
            (folder / name).unlink()
        _make(folder, "-o", ".build_opts", "USE_PTHREAD_EMULATION=1")
    if build == "emulated":
        return folder
    if not folder.exists():
        shutil.copytree(SOURCE, folder, symlinks=True)
    if build == "own":
        _make(folder)
        return folder
    for name in ("plock.h", "atomic-ops.h"):
        header, text = folder / "include/import" / name, f"#include <pawl/compat/{name}>\n"
        if header.read_text() != text:
            header.write_text(text)
    library = folder / "pawl.o"
    _run("cc", "-O2", "-Iinclude", "-Isrc", "-c", "src/pawl.c", "-o", library)
    _make(folder, "USE_PTHREAD_EMULATION=1", f"ADDINC=-I{ROOT}/include", f"ADDLIB={library}")
    return folder


def prepare(job, folder):
    """A sentence about what is missing, or None."""
    if not (SOURCE / "Makefile").exists() or not shutil.which("wrk") or not shutil.which("openssl"):
        return (
            f"the job {job} needs HAProxy's source, wrk, openssl and libssl-dev: scripts/setup "
            "programs installs them."
        )
    try:
        _build(job.split("-")[1])
    except subprocess.CalledProcessError as failed:
        return f"the job {job} needs what builds HAProxy: {failed.stderr.decode()[-300:]}"
    _run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", "/CN=localhost", "-keyout", folder / "key.pem",
         "-out", folder / "cert.pem")  # fmt: skip
    (folder / "both.pem").write_text(
        (folder / "key.pem").read_text() + (folder / "cert.pem").read_text()
    )
    return None


def command(job, folder, threads, seconds):
    return [sys.executable, __file__, job, str(threads), str(seconds), folder]


def _free_ports():
    with socket.create_server(("127.0.0.1", 0)) as https:
        with socket.create_server(("127.0.0.1", 0)) as http:
            return {"https": https.getsockname()[1], "http": http.getsockname()[1]}


def _processor_seconds(server):
    tasks = Path(f"/proc/{server.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def _listens(server, port):
    for _ in range(200):
        if server.poll() is not None:
            break
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"HAProxy does not listen: {server.stderr.read()[-300:] if server.poll() else ''}")


def main(job, threads, seconds, prepared):
    load, build = job.split("-")[:2]
    scheme, options, _ = LOADS[load]
    ports = _free_ports()
    outside = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as config:
        config.write(CONFIG.format(threads=threads, folder=prepared, answer=ANSWER, **ports))
        config.flush()
        server = subprocess.Popen(
            [SOURCE.parent / f"haproxy-{build}/haproxy", "-db", "-f", config.name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            _listens(server, ports[scheme])
            before = _processor_seconds(server)
            asked = subprocess.run(
                ["wrk", "-t1", "-c32", f"-d{max(round(seconds), 1)}", *options,
                 f"{scheme}://127.0.0.1:{ports[scheme]}/"],
                env=outside, capture_output=True, text=True, check=True,
            ).stdout  # fmt: skip
            used = _processor_seconds(server) - before
        finally:
            server.kill()
            server.wait()
    done = re.search(r"(\d+) requests in ([\d.]+)(m?s)", asked)
    if not done or "Non-2xx" in asked or re.search(r"connect [1-9]", asked):
        sys.exit(f"wrk had no answers: {asked[-300:]}")
    took = float(done[2]) * (0.001 if done[3] == "ms" else 1)
    print(int(done[1]) / (used if job.endswith("-cpu") else took))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
