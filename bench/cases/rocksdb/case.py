# SPDX-License-Identifier: MIT
"""The jobs of the case: RocksDB's own db_bench, which changes values where they lie."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Job -> keys, the locks for them, the benchmark of db_bench, what is counted together.
READS, WRITES = "rocksdb.number.keys.read", "rocksdb.number.keys.written"
RUNS = {
    "reads": (1, 10000, "readrandom", READS),
    "reads-beside-writer": (1, 10000, "readwhilewriting", READS),
    "writes-beside-readers": (1, 10000, "readwhilewriting", WRITES),
    "reads-100-locks": (100000, 100, "readwhilewriting", READS),
    "writes-100-locks": (100000, 100, "readwhilewriting", WRITES),
    "one-lock": (100000, 1, "readwhilewriting", READS, WRITES),
    "one-lock-reads": (100000, 1, "readwhilewriting", READS),
    "one-lock-alone": (100000, 1, "readrandom", READS),
}
JOBS = tuple(RUNS)


def prepare(job, folder):
    """A sentence about what is missing, or None."""
    if shutil.which("db_bench"):
        return None
    return (
        f"the job {job} needs db_bench: install Debian's package rocksdb-tools, "
        "or put db_bench on the PATH; scripts/setup programs installs what all cases need."
    )


def command(job, folder, threads, seconds):
    return [sys.executable, __file__, job, str(threads), str(seconds)]


def main(job, threads, seconds):
    """Prints operations a second, by db_bench's own count."""
    keys, locks, benchmark, *counted = RUNS[job]
    # db_bench ends by itself in whole seconds, so a shorter run is one of many operations.
    length = (
        [f"--duration={round(seconds)}", "--reads=2000000000"]
        if seconds >= 1
        else [f"--reads={max(int(seconds * 100000), 1)}"]
    )
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as db:
        done = subprocess.run(
            [
                "db_bench",
                f"--db={db}",
                f"--num={keys}",
                f"--threads={threads}",
                f"--benchmarks=fillrandom,resetstats,{benchmark}",
                *length,
                "--statistics",
                "--inplace_update_support=1",
                f"--inplace_update_num_locks={locks}",
                "--allow_concurrent_memtable_write=0",
                "--disable_wal=1",
                "--write_buffer_size=500000000",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    text = done.stdout + done.stderr
    took = re.search(rf"^{benchmark} .* ([\d.]+) seconds (\d+) operations", text, re.M)
    counts = [re.search(rf"{re.escape(c)} COUNT : (\d+)", text) for c in counted]
    if done.returncode or not took or not all(counts):
        sys.exit(f"db_bench said nothing of {benchmark}: {text[-300:]}")
    print(sum(int(c[1]) for c in counts) / float(took[1]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
