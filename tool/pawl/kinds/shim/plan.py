# SPDX-License-Identifier: MIT
"""Plans the runs of programs that know nothing of Pawl: loads of one lock, and five programs."""

from dataclasses import dataclass

from pawl.core.kind import Cell

DRIVER = "pawl-bench-shim"
BASELINE, MAIN, SCALING = "r+w/libc", "r+w/pawl_preload", "r+w/pawl_preload_scaling"
AGAIN, PREFER = "r+w/libc_again", "r+w/pawl_preload_readers"
RECORDED = "r+w/libc_recorded"  # the C library's, under the recorder of `pawl trace`
# What a row's name begins with.
ROWS = (
    ("r+w", "the program's own calls of pthread_rwlock and pthread_mutex, served by this library"),
)
WARMUP = 0.02


@dataclass(frozen=True)
class Scene:
    words: str
    threads: int
    rounds: int
    seconds: float
    rows: tuple[str, ...] = (BASELINE, MAIN)


ALL = (BASELINE, MAIN, SCALING)
SCENES = {
    "pair-read": Scene("take and drop to read, nobody else", 1, 15, 0.1, (*ALL, RECORDED)),
    "pair-write": Scene("take and drop to write, nobody else", 1, 15, 0.1, (*ALL, RECORDED)),
    "paced": Scene(
        "about 200,000 reads a second, nobody else", 1, 15, 0.3, (BASELINE, MAIN, RECORDED)
    ),
    "read-only": Scene("take and drop to read", 2, 15, 0.15, ALL),
    "crowd": Scene("short sections, 10 % writes", 32, 11, 0.4, ALL),
    "crowd-busy-1": Scene("the same beside a busy process on each CPU", 32, 11, 0.4, ALL),
    "crowd-busy-2": Scene("the same beside two", 32, 11, 0.4, ALL),
    "libssl": Scene("libssl: TLS handshakes in memory", 4, 11, 1.0),
    "memcached": Scene("memcached: gets over loopback", 4, 11, 1.0),
    "pigz": Scene("pigz: compress and decompress", 4, 11, 1.0),
    "slapd": Scene("slapd: searches beside changes", 4, 11, 1.0),
    "unbound": Scene("unbound: answers over loopback", 4, 11, 1.0, ALL),
}
PROGRAMS = ("libssl", "memcached", "pigz", "slapd", "unbound")
CROWDS = ("crowd", "crowd-busy-1", "crowd-busy-2")


def plan(scale: float, names: list[str], scenes: dict[str, Scene] = SCENES) -> list[Cell]:
    """`scale` multiplies the lengths of all samples."""
    cells = []
    for name, scene in scenes.items():
        rows = [n for n in scene.rows if n in names]
        told = {
            "scene": name,
            "threads": scene.threads,
            "rounds": scene.rounds,
            "seconds": round(scene.seconds * scale, 4),
            "warmup": WARMUP,
        }
        texts = [text for key, value in told.items() for text in (f"--{key}", str(value))]
        cells.append(
            Cell(
                {"bench": "shim", **told, "pin": "none", "candidates": rows},
                [*texts, "--candidates", ",".join(rows)],
            )
        )
    return cells
