# SPDX-License-Identifier: MIT
"""The sketch of a change: the words of the rule, the lock's name, and the lines of the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pawl.advise.facts import Lock, Site

# The names of rules.toml that stand for the locks of a finding, in their order. The condition of
# `polling` is one that the program does not have yet.
LETTERS = {"lock_order": ("a", "b"), "broadcast_storm": ("c",), "could_be_split": ("global",)}
ONE = ("l", "m")  # of all other rules: each is the first lock
VARIABLE = re.compile(r"[A-Za-z_]\w*((\.|->)[A-Za-z_]\w*|\[\d+\])*")
SOURCES = {".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".inc", ".ipp", ".tcc"}
PLACES, DEEP = 4, 3
LINE = 96
LONGEST = 16 << 20  # bytes of a source that is looked into


def _letters(rule: str, locks: list[Lock]) -> dict[str, Lock]:
    if rule in LETTERS:
        return dict(zip(LETTERS[rule], locks, strict=False))
    return dict.fromkeys(ONE, locks[0])


def _line(file: str, line: int) -> str | None:
    """The line of the source, where it lies here. A trace may come from anywhere: no file is read
    but a source."""
    path = Path(file)
    try:
        if path.suffix not in SOURCES or not path.is_file() or path.stat().st_size > LONGEST:
            return None
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return None
    return lines[line - 1].strip()[:LINE] if 0 < line <= len(lines) else None


def _frames(site: Site) -> list[tuple[str, str, int]]:
    """With the functions into which it was inlined: a wrapper of a lock says nothing alone."""
    frames = site.frames[:DEEP] or [(site.function, site.file, site.line)]
    return [frame for frame in frames if frame[1] and frame[2]]


def _places(sites: list[Site]) -> Iterator[str]:
    for site in list(dict.fromkeys(sites))[:PLACES]:
        for function, file, line in _frames(site):
            yield f"@@ {Path(file).name}:{line} {function} @@"
            if text := _line(file, line):
                yield f" {text}"


def _code(text: str, rule: str, locks: list[Lock]) -> Iterator[str]:
    names = {}
    for letter, lock in _letters(rule, locks).items():
        if not re.search(rf"&{letter}\b", text):
            continue
        if lock.given or not VARIABLE.fullmatch(lock.name):
            yield f" /* {letter}: {lock.name} */"
        else:
            names[letter] = lock.name
        if lock.kind == "spin":
            text = text.replace("pthread_mutex_", "pthread_spin_")
    # All at once: the name of one lock may be the letter of the other one.
    yield re.sub(r"&(\w+)\b", lambda m: f"&{names.get(m[1], m[1])}", text)


def sketch(text: str, rule: str, locks: list[Lock], sites: list[Site]) -> str:
    """The places as the heads of a diff, then what changes there."""
    return "\n".join([*_places(sites), *_code(text.strip("\n"), rule, locks)]) + "\n"
