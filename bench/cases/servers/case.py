# SPDX-License-Identifier: MIT
"""The jobs of the case: name servers with a local zone, which dnsperf asks.

A job prints answers a second, and with -cpu in its name those a second of the server's processor
time: dnsperf has a part of the processors too."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = 2000
ADDRESSES = [(f"h{i}", f"10.0.{i // 256}.{i % 256}") for i in range(NAMES)]
ZONE = "$TTL 3600\n@ SOA ns.test. a.test. 1 3600 600 86400 3600\n@ NS ns.test.\n" + "".join(
    f"{name} A {address}\n" for name, address in [("ns", "127.0.0.1"), *ADDRESSES]
)
UNBOUND = """server:
  directory: "{folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  interface: 127.0.0.1@{port}
  num-threads: {threads}
  so-reuseport: yes
  module-config: "iterator"
  local-zone: "test." static
""" + "".join(f'  local-data: "{name}.test. A {address}"\n' for name, address in ADDRESSES)
BIND = """options {{
  directory "{folder}"; pid-file none; session-keyfile none; recursion no;
  listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
}};
controls {{ }};
zone "test" {{ type primary; file "{folder}/zone"; }};
"""
POWERDNS = """launch=bind
bind-config={folder}/bind
local-address=127.0.0.1
local-port={port}
receiver-threads={threads}
distributor-threads=1
reuseport=yes
socket-dir={folder}
loglevel=0
"""
# Server -> its configuration's name and text, its command, Debian's package.
SERVERS = {
    "unbound": ("conf", UNBOUND, "unbound -d -c {folder}/conf", "unbound"),
    "bind": ("conf", BIND, "named -f -n {threads} -c {folder}/conf", "bind9"),
    "powerdns": ("pdns.conf", POWERDNS, "pdns_server --config-dir={folder}", "pdns-server"),
}
JOBS = tuple(f"{server}{unit}" for server in SERVERS for unit in ("", "-cpu"))
PATH = os.environ["PATH"] + ":/usr/sbin"


def prepare(job, folder):
    """A sentence about what is missing, or None."""
    _, _, started, package = SERVERS[job.removesuffix("-cpu")]
    if shutil.which(started.split()[0], path=PATH) and shutil.which("dnsperf"):
        return None
    return (
        f"the job {job} needs Debian's packages {package} and dnsperf: install them (scripts/setup "
        "programs has unbound and dnsperf), or leave it out of --jobs."
    )


def command(job, folder, threads, seconds):
    return [sys.executable, __file__, job, str(threads), str(seconds)]


def _processor_seconds(server):
    tasks = Path(f"/proc/{server.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def _listens(server, port):
    for _ in range(400):
        if server.poll() is not None:
            break
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"the server does not listen: {server.stderr.read()[-300:] if server.poll() else ''}")


def _ask(port, queries):
    """Many clients: the server's threads get equal parts of them."""
    outside = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    asked = subprocess.run(
        ["dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", queries, "-c", "64", "-T", "1",
         "-q", "200", *(("-l", SECONDS) if float(SECONDS) >= 1 else ("-n", "1"))],
        env=outside, capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    done = re.search(r"Queries completed: +(\d+)", asked)
    took = re.search(r"Run time \(s\): +([\d.]+)", asked)
    if not done or not took or int(done[1]) == 0:
        sys.exit(f"dnsperf had no answers: {asked[-300:]}")
    return int(done[1]), float(took[1])


def main(job, threads, folder):
    name, text, started, _ = SERVERS[job.removesuffix("-cpu")]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = {"folder": folder, "port": port, "threads": threads}
    (folder / name).write_text(text.format(**told))
    (folder / "zone").write_text(ZONE)
    (folder / "bind").write_text(f'zone "test" {{ type master; file "{folder}/zone"; }};\n')
    (folder / "queries").write_text("".join(f"{name}.test A\n" for name, _ in ADDRESSES))
    server = subprocess.Popen(
        started.format(**told).split(),
        env={**os.environ, "PATH": PATH},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _listens(server, port)
        before = _processor_seconds(server)
        done, took = _ask(port, folder / "queries")
        used = _processor_seconds(server) - before
    finally:
        server.kill()
        server.wait()
    print(done / (used if job.endswith("-cpu") else took))


if __name__ == "__main__":
    SECONDS = str(round(float(sys.argv[3]))) if float(sys.argv[3]) >= 1 else "0"
    with tempfile.TemporaryDirectory() as made:
        main(sys.argv[1], int(sys.argv[2]), Path(made))
