# SPDX-License-Identifier: MIT
"""Chooses what to measure among what the driver offers."""

import difflib
import fnmatch
from dataclasses import dataclass, field

from pawl.core.errors import BadInput

RWLOCK = "r+w/pthread_rwlock"
SPIN = "w/pthread_spin"
MUTEX = "w/pthread_mutex"
PTHREAD = (MUTEX, SPIN, RWLOCK)
NULL = "w/none"
STRATEGIES = ("w", "s", "r+w", "r+s>w", "r+rs>w", "r+rw")
MAIN = "r+s>w/pawl_spin32"


# Whole caches and maps, which choose their own locks: apart from those that name a lock.
CACHE, WHOLE = "cache/pawl_cache", ("cache/", "map/")


def _is_lock(name: str) -> bool:
    return not name.startswith(WHOLE)


def _ours(name: str) -> bool:
    return name.split("/")[-1].startswith("pawl_")


# What a first report measures: our lock, and of each other library what could be its best row.
FIRST = (
    RWLOCK,
    MUTEX,
    SPIN,
    "r+s>w/pawl_lock64",
    "r+w/std_shared_mutex",
    "r+w/tbb_rw_mutex",
    "r+w/tbb_spin_rw_mutex",
    "r+rw/tbb_spin_rw_mutex",
    "r+w/ck_rwlock",
    "r+s>w/boost_upgrade_mutex",
    "r+w/absl_mutex",
    "r+w/nsync_mu",
    "r+s>w/plock64",
    "r+w/plock64",
    CACHE,
)

GROUPS = {
    "all": _is_lock,
    "cache": lambda name: name.startswith("cache/"),
    "map": lambda name: name.startswith("map/"),
    "published": lambda name: name in (SPIN, RWLOCK) or name.endswith("/pawl_spin32"),
    "pthread": lambda name: name in PTHREAD,
    "first": lambda name: name in FIRST,
    "peers": lambda name: not _ours(name) and name != NULL and _is_lock(name),
    "pawl": lambda name: _ours(name) and _is_lock(name),
}


@dataclass
class Choice:
    names: list[str]
    missing: list[dict] = field(default_factory=list)
    named_null: bool = False

    def for_threads(self, threads: int) -> list[str]:
        """The null lock protects nothing: it is a floor for one thread, and wrong for two."""
        return [n for n in self.names if n != NULL or threads == 1]


def _unknown(word: str, names: list[str]) -> BadInput:
    locks = sorted({n.split("/")[-1] for n in names})
    near = difflib.get_close_matches(word, [*names, *GROUPS], n=3, cutoff=0.5)
    for lock in difflib.get_close_matches(word.split("/")[-1], locks, n=2, cutoff=0.6):
        near += [n for n in names if n.endswith("/" + lock) and n not in near]
    hint = f"did you mean {', '.join(near[:4])}?" if near else "see them all with --list."
    return BadInput(f"--candidates: there is no '{word}'; {hint}")


def choose(text: str, offered: list[dict]) -> Choice:
    """Names, groups, lock names and shell patterns, comma-separated; the order of the driver."""
    by_name = {c["name"]: c for c in offered}
    wanted: dict[str, bool] = {}
    for word in (w.strip() for w in text.split(",")):
        if not word:
            continue
        if word in by_name:
            wanted[word] = True
            continue
        test = GROUPS.get(word) or (
            lambda n, w=word: fnmatch.fnmatchcase(n, w) or n.split("/")[-1] == w
        )
        matches = [n for n in by_name if test(n)]
        if not matches:
            raise _unknown(word, list(by_name))
        for name in matches:
            wanted.setdefault(name, False)
    if not wanted:
        raise BadInput("--candidates: nothing is named; say all, published, or see --list.")
    for name, explicit in wanted.items():
        if explicit and not by_name[name]["available"]:
            why = by_name[name]["why"] or "install its library and build again"
            raise BadInput(f"--candidates: {name} was not built; {why}.")
    chosen = [n for n in by_name if n in wanted]
    missing = [
        {"candidate": n, "why": by_name[n]["why"]} for n in chosen if not by_name[n]["available"]
    ]
    names = [n for n in chosen if by_name[n]["available"]]
    if not names:
        raise BadInput(
            f"--candidates: none of these was built; {missing[0]['why'] or 'see --list'}."
        )
    return Choice(names, missing)


def with_baseline(choice: Choice, baseline: str, offered: list[dict]) -> Choice:
    """Every table compares with the baseline, so it is always measured along."""
    known = {c["name"]: c["available"] for c in offered}
    if baseline not in choice.names and known.get(baseline):
        choice.names.append(baseline)
    return choice


def without_sleepers(choice: Choice) -> Choice:
    """The locks that spin, and their peers: the sleeping ones are compared elsewhere."""
    choice.names = [n for n in choice.names if "/pawl_lock" not in n]
    return choice
