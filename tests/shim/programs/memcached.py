#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memcached with four threads: clients set and get in batches; gets a second."""

import os
import socket
import time

import programs

KEYS, BATCH, CLIENTS = 1000, 100, 4


def fill(port):
    with socket.create_connection(("127.0.0.1", port)) as one:
        lines = b"".join(b"set k%d 0 0 8 noreply\r\n%08d\r\n" % (i, i) for i in range(KEYS))
        one.sendall(lines + b"version\r\n")
        if not one.makefile("rb").readline().startswith(b"VERSION"):
            raise SystemExit("memcached does not answer")


def client(port, end, counts, number):
    with socket.create_connection(("127.0.0.1", port)) as one:
        answers = one.makefile("rb")
        first = number * 17
        while time.monotonic() < end:
            keys = [(first + i) % KEYS for i in range(BATCH)]
            one.sendall(b"get " + b" ".join(b"k%d" % k for k in keys) + b"\r\n")
            for k in keys:
                if answers.readline() != b"VALUE k%d 0 8\r\n" % k:
                    raise SystemExit("memcached lost a key")
                if answers.readline() != b"%08d\r\n" % k:
                    raise SystemExit("memcached gave another value")
            if answers.readline() != b"END\r\n":
                raise SystemExit("memcached ended an answer wrongly")
            counts[number] += BATCH
            first += BATCH


def prepare(folder):
    del folder


def run(environment, seconds, folder):
    del folder
    port = programs.free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    words = f"-l 127.0.0.1 -p {port} -t 4".split()
    command = [programs.need("memcached", "memcached"), *words, *user]
    with programs.server(command, environment, port):
        fill(port)
        return programs.rate_of(client, CLIENTS, port, seconds)


if __name__ == "__main__":
    programs.main("memcached", "gets over loopback", run, prepare)
