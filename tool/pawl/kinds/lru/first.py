# SPDX-License-Identifier: MIT
"""The first report of `make bench`: one sentence, the best row of each library in plain names, and
what more cores are expected to do. The page and the terminal have the same words."""

from pathlib import Path

from pawl.core import candidates, stats
from pawl.core.first import First
from pawl.kinds.lru.table import workload
from pawl.sim import summary

# Our row is named beforehand: the best of several would flatter it.
OURS = "r+s>w/pawl_lock64"
# The library of a lock, by the start of the lock's name, and how a sentence calls it.
LIBRARIES = {
    "pawl": "Pawl",
    "pthread": "the C library",
    "std": "the C library",
    "tbb": "oneTBB",
    "ck": "Concurrency Kit",
    "boost": "Boost",
    "absl": "Abseil",
    "nsync": "nsync",
    "plock": "plock",
}
LOCKS = {
    "pawl_cache": "what you would really use",
    "pawl_lock64": "Pawl upgradable lock",
    "std_shared_mutex": "std::shared_mutex",
    "tbb_rw_mutex": "oneTBB rw_mutex",
    "tbb_spin_rw_mutex": "oneTBB spin_rw_mutex",
    "ck_rwlock": "Concurrency Kit rwlock",
    "boost_upgrade_mutex": "Boost upgrade_mutex",
    "absl_mutex": "absl::Mutex",
    "nsync_mu": "nsync mu",
    "plock32": "plock",
    "plock64": "plock",
}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
# A difference below this share is not worth a word, however sure it is.
LITTLE = 0.02


NEXT = [
    ("pawl bench lru --keys FILE --words", "your own keys: every word of a file"),
    ("pawl trace PROGRAM; pawl advise", "your own program: what its locks cost"),
]


def _lock(row: dict) -> str:
    return row["candidate"].split("/")[-1]


def _library(row: dict) -> str:
    start = "plock" if _lock(row).startswith("plock") else _lock(row).split("_")[0]
    return LIBRARIES.get(start, start)


def named(row: dict) -> str:
    return LOCKS.get(_lock(row), _lock(row))


def bars(cell: dict) -> list[dict]:
    """Our row, pthread_rwlock, our cache, and the best row of each other library; from the best
    on."""
    kept: dict[str, dict] = {}
    for row in cell["summary"]:  # from the best on
        name = row["candidate"]
        if name in (candidates.RWLOCK, candidates.CACHE):
            kept[name] = row
        elif name != candidates.NULL and (_library(row) != "Pawl" or name == OURS):
            kept.setdefault(_library(row), row)
    found = sorted(kept.values(), key=lambda row: -row["median"])
    return [row | {"name": named(row)} for row in found]


# ---- In words -----------------------------------------------------------------------------------


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _stands(cell: dict, other: dict) -> str:
    """How our row stands beside another, by the rounds that both shared."""
    found = stats.ratio(stats.paired(stats.rates(cell["samples"]), OURS, other["candidate"]))
    if found["low"] is None or found["low"] <= 1 <= found["high"]:
        return "level with"
    if abs(found["ratio"] - 1) < LITTLE:
        return "level with"
    return "ahead of" if found["ratio"] > 1 else "behind"


def _beside_rwlock(cell: dict) -> str:
    found = stats.ratio(stats.paired(stats.rates(cell["samples"]), OURS, candidates.RWLOCK))
    if found["low"] is None or found["low"] <= 1 <= found["high"]:
        return "serves the cache as fast as pthread_rwlock, within the noise"
    return f"serves the cache {found['ratio']:.1f} times as fast as pthread_rwlock"


def sentence(cell: dict) -> str:
    places: dict[str, list[str]] = {}
    for row in bars(cell):
        if row["candidate"] not in (OURS, candidates.RWLOCK, candidates.CACHE):
            places.setdefault(_stands(cell, row), []).append(row["name"])
    said = [
        f"{place} {listed(places[place])}" for place in ("level with", "behind") if place in places
    ]
    if "ahead of" in places:
        few = len(places["ahead of"]) <= 2 or not said
        said.append("ahead of " + (listed(places["ahead of"]) if few else "the others"))
    threads = cell["threads"]
    return (
        f"On this machine, {_number(threads)} thread{'' if threads == 1 else 's'}: Pawl's "
        f"upgradable lock {_beside_rwlock(cell)}"
        f"{'; it is ' if said else ''}{', '.join(said)}."
    )


# ---- More cores than here -----------------------------------------------------------------------

SIMULATED_HITS = 99
SIMULATED_OURS = "pawl_lock64, by evidence, R+S>W"
SIMULATED_RWLOCK = "model of glibc's rwlock of 2017"


def expected(path: Path | None) -> list[str]:
    """From a file of `pawl sim lru --json`: the published job, on cores that are not here."""
    if path is None:
        return []
    simulated = summary.load(path)
    points = [p for p in simulated["points"] if p["hit"] == SIMULATED_HITS]
    rates = {(p["model"], p["cores"]): p[simulated["rate"]] for p in points}
    known = sorted({p["cores"] for p in points})
    said = [
        f"{cores} cores: {rates[SIMULATED_OURS, cores] / 1e6:.2g} million lookups/s, "
        f"{rates[SIMULATED_OURS, cores] / rates[SIMULATED_RWLOCK, cores]:.2g} times glibc's "
        "read-write lock"
        for cores in known
        if (SIMULATED_OURS, cores) in rates and (SIMULATED_RWLOCK, cores) in rates
    ]
    if not said:
        return []
    return [
        f"Expected with more cores: simulated, not measured ({simulated['title']}; "
        f"{SIMULATED_HITS} % hits). The simulator was never validated on that machine.",
        *said,
    ]


# ---- All of it ----------------------------------------------------------------------------------


def of(result: dict, simulated: Path | None) -> First | None:
    """Of a result's one workload, at its most threads; None without the rows to compare."""
    from pawl.kinds.lru import plot

    cells = sorted(result["cells"], key=lambda c: c["threads"])
    rows = {row["candidate"] for row in cells[-1]["summary"]}
    if not {OURS, candidates.RWLOCK} <= rows or len({workload(c) for c in cells}) > 1:
        return None
    return First(
        sentence(cells[-1]),
        bars(cells[-1]),
        "million lookups a second; times pthread_rwlock"
        + ("; a cache of <pawl/cache.h>" if candidates.CACHE in rows else ""),
        lambda: plot.first_figures(result, cells),
        expected(simulated),
        NEXT,
    )
