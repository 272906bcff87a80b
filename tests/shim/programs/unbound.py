#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unbound, a DNS server whose zones and caches are under read-write locks; answers a second.

Clients ask for names of a local zone, so nothing leaves the machine."""

import socket
import struct
import time

import programs

NAMES, CLIENTS, BATCH = 200, 4, 16
CONFIGURATION = """server:
    directory: "{folder}"
    chroot: ""
    username: ""
    pidfile: "{folder}/unbound.pid"
    use-syslog: no
    logfile: "{folder}/unbound.log"
    do-daemonize: no
    interface: 127.0.0.1@{port}
    access-control: 127.0.0.0/8 allow
    num-threads: 4
    module-config: "iterator"
    local-zone: "test." static
{data}
remote-control:
    control-enable: no
"""


def prepare(folder):
    del folder
    programs.need("unbound", "unbound")


def question(number, name):
    labels = b"".join(bytes([len(part)]) + part for part in (b"h%d" % name, b"test"))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, 1, 1)


def client(port, end, counts, own):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(5)
        one.connect(("127.0.0.1", port))
        number = own * 1000
        while time.monotonic() < end:
            asked = {(number + i) & 0xFFFF: (number + i) % NAMES for i in range(BATCH)}
            for key, name in asked.items():
                one.send(question(key, name))
            for _ in range(BATCH):
                answer = one.recv(512)
                key, flags, _, answers = struct.unpack(">4H", answer[:8])
                if flags & 0x8F != 0x80 or answers != 1:
                    raise SystemExit("unbound answered wrongly")
                name = asked.pop(key)
                if answer[-4:] != bytes((10, 0, 0, name)):
                    raise SystemExit("unbound gave another host's address")
            counts[own] += BATCH
            number += BATCH


def run(environment, seconds, folder):
    port = programs.free_port()
    data = "\n".join(f'    local-data: "h{i}.test. A 10.0.0.{i}"' for i in range(NAMES))
    file = folder / "unbound.conf"
    file.write_text(CONFIGURATION.format(folder=folder, port=port, data=data))
    command = [programs.need("unbound", "unbound"), "-c", str(file)]
    with programs.server(command, environment, port):
        return programs.rate_of(client, CLIENTS, port, seconds)


if __name__ == "__main__":
    programs.main("unbound", "answers over loopback", run, prepare)
