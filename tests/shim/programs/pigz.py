#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pigz compresses and decompresses a file of text-like bytes; bytes a second."""

import random
import subprocess
import time

import programs

BYTES = 8 << 20


def prepare(folder):
    words = [bytes(random.Random(i).choices(b"abcdefghij \n", k=7)) for i in range(4000)]
    data = b"".join(random.Random(0).choices(words, k=BYTES // 7))
    (folder / "data").write_bytes(data)


def run(environment, seconds, folder):
    pigz = programs.need("pigz", "pigz")
    source, packed = folder / "data", folder / "data.gz"
    done, begin = 0, time.monotonic()
    while done == 0 or time.monotonic() - begin < seconds:
        with packed.open("wb") as out:
            subprocess.run(
                [pigz, "-p", "4", "-c", source],
                stdout=out,
                env=environment,
                check=True,
                timeout=programs.LONG,
            )
        back = subprocess.run(
            [pigz, "-d", "-c", packed],
            capture_output=True,
            env=environment,
            check=True,
            timeout=programs.LONG,
        ).stdout
        if back != source.read_bytes():
            raise SystemExit("pigz gave other bytes back")
        done += len(back)
    return done / (time.monotonic() - begin)


if __name__ == "__main__":
    programs.main("pigz", "compress and decompress", run, prepare)
