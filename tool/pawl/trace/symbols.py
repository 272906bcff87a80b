# SPDX-License-Identifier: MIT
"""Names of addresses, found after the program has run, by llvm-symbolizer.

It knows inlined frames and finds debug files by their build-id. Where it is missing, or a file
cannot be read, an address stays `file+0xoffset`.
"""

import functools
import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pawl.core.elf import PT_LOAD, Elf, ElfError

MISSING = "llvm-symbolizer is not installed (Debian: llvm), so addresses have no names."
NAMES = ("llvm-symbolizer", *(f"llvm-symbolizer-{n}" for n in range(30, 12, -1)))
PART = 2000  # questions at a time
# Operations of the library, with the namespace that they have in C++.
OURS = re.compile(
    r"i?pawl(::|_\w+_v\d+::|_(spin|lock|pshared_lock|brlock|sift)(\d|_)|_init\b|"
    r"_(take|try|claim|drop|seek|write|read|atomic|init|cond)_)"
)


# Functions whose callers are what has a meaning: C++'s locks and guards, and allocators.
WRAPPERS = re.compile(
    r"__gthread_|__glibcxx_rwlock|std::(__shared_mutex_pthread|\w*mutex\w*|lock_guard|unique_lock|"
    r"shared_lock|scoped_lock|__lock|condition_variable)\b"
)
ALLOCATORS = re.compile(r"alloc|operator new", re.IGNORECASE)


@dataclass
class Frame:
    function: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        where = f" ({Path(self.file).name}:{self.line})" if self.file and self.line else ""
        return f"{self.function}{where}"


@dataclass
class Place:
    """What an address means. Of the frames the first is the innermost; the rest inlined it."""

    module: str = ""
    offset: int = 0
    frames: list[Frame] = field(default_factory=list)

    def __str__(self) -> str:
        if self.frames:
            return str(self.frames[0])
        name = Path(self.module).name if self.module else "?"
        return f"{name}+{self.offset:#x}"


def function(place: Place) -> str:
    """Without a name each address is its own."""
    return place.frames[0].function if place.frames else str(place)


def program() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass
class Module:
    start: int
    end: int
    path: str
    bias: int | None  # of its addresses; None: the file cannot be read


@functools.cache
def _first(path: str, inode: int) -> int | None:
    """Where the file wants to lie; None: it cannot be read."""
    try:
        if Path(path).stat().st_ino != inode:
            return None  # another file has its name by now
        with open(path, "rb") as file:
            return next((s.address - s.offset for s in Elf(file).segments(PT_LOAD)), 0)
    except (OSError, ElfError):
        return None


def _module(start: int, end: int, path: str, inode: int) -> Module:
    first = _first(path, inode)
    return Module(start, end, path, None if first is None else start - first)


class Modules:
    def __init__(self, found: Iterable[tuple[int, int, str, int]]):
        self.all = [_module(*one) for one in found]

    def of(self, address: int) -> Module | None:
        return next((m for m in self.all if m.start <= address < m.end), None)


def _with_offset(data: dict, address: str) -> str:
    """A variable, and where in it the address lies."""
    inside = int(address, 16) - int(data.get("Start") or address, 16)
    return f"{data['Name']}+{inside:#x}" if inside > 0 else data["Name"]


def _frames(answer: dict) -> list[Frame]:
    if data := answer.get("Data"):
        return [Frame(_with_offset(data, answer["Address"]))] if data.get("Name") else []
    frames = [
        Frame(s["FunctionName"], s.get("FileName", ""), s.get("Line", 0))
        for s in answer.get("Symbol", [])
        if s.get("FunctionName")
    ]
    return without_ours(frames)


def without_ours(frames: list[Frame]) -> list[Frame]:
    """Of operations of Pawl and C++'s guards that were inlined the caller is the site; where
    nothing else is known they are."""
    first = next(
        (
            i
            for i, frame in enumerate(frames)
            if not OURS.match(frame.function) and not WRAPPERS.match(frame.function)
        ),
        0,
    )
    return frames[first:]


def _answers(tool: str, questions: list[str]) -> Iterator[list[Frame]]:
    """A line each; a tool that fails leaves the rest without names."""
    done = subprocess.run(
        [tool, "--output-style=JSON", "--inlines", "--demangle"],
        input="".join(f"{q}\n" for q in questions),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    lines = done.stdout.splitlines()
    for i in range(len(questions)):
        try:
            yield _frames(json.loads(lines[i]))
        except (IndexError, ValueError, KeyError, TypeError):
            yield []


class Resolver:
    """Asks each question once, as the processes of a trace have much in common."""

    def __init__(self, tool: str | None):
        self.tool = tool
        self.known: dict[str, list[Frame]] = {}

    def _ask(self, questions: Iterable[str]) -> None:
        new = [q for q in dict.fromkeys(questions) if q not in self.known] if self.tool else []
        for begin in range(0, len(new), PART):
            part = new[begin : begin + PART]
            self.known.update(zip(part, _answers(self.tool, part), strict=True))

    def resolve(
        self, modules: Modules, addresses: Iterable[int], data: bool = False
    ) -> dict[int, Place]:
        """Places of code, or of data. A site is where a call returns to; the call lies before."""
        places, asked = {}, {}
        for address in sorted(set(addresses)):
            module = modules.of(address)
            if module is None:
                places[address] = Place("", address)
                continue
            at = address - (module.start if module.bias is None else module.bias)
            places[address] = Place(module.path, at)
            if module.bias is not None and '"' not in module.path:
                asked[address] = (
                    f'{"DATA" if data else "CODE"} "{module.path}" {at if data else at - 1:#x}'
                )
        self._ask(asked.values())
        for address, question in asked.items():
            places[address].frames = self.known.get(question, [])
        return places
