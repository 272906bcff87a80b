# SPDX-License-Identifier: MIT
"""A finding, and the texts of its rule."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from pawl.advise import sketch, stacks
from pawl.advise.facts import Facts, Lock, Site
from pawl.core import driver

# Below this share of the threads' time a change is not worth a word.
WORTH = 0.02
LEAST_NS = 5_000_000  # nor is less than this, whatever share of a short run it is
SITE = Path("/usr/share/doc/pawl-doc/html")  # of Debian's package
SPREAD = 1.4  # a range goes from so small a part of the estimate to so many times as much


@dataclass
class Match:
    """What a rule's function found. `saved` are nanoseconds of waiting; None: a fault, which is
    reported whatever time it costs. `calls` are those of other work. `unknown`: why there is no
    figure; then both are from and to."""

    locks: list[Lock]
    evidence: list[str]
    confidence: str  # high, medium, low
    sites: list[Site] = field(default_factory=list)
    saved: float | tuple[float, float] | None = None
    calls: float | tuple[float, float] = 0
    unknown: str = ""


@dataclass
class NoGains:
    """In place of simulated.Gains, where that cannot be had."""

    said: str

    def as_json(self) -> dict:
        return {"rows": [], "why": self.said}


@dataclass
class Finding:
    rule: str
    title: str
    match: Match
    texts: dict[str, str]
    stacks: list[stacks.Stack] = field(default_factory=list)  # that wait for the locks, or take
    gains: Any = None  # of readers that scale (simulated.py); None: the finding is about none

    @property
    def is_fault(self) -> bool:
        return self.match.saved is None

    @property
    def sketch(self) -> str:
        """The change as a diff, with the lock's name and the places where they are known."""
        return sketch.sketch(self.texts["sketch"], self.rule, self.match.locks, self.match.sites)

    @property
    def link(self) -> str:
        """To the section of the page to read, where this machine has it."""
        page, _, section = self.texts["page"].partition("#")
        root = driver.checkout()
        path = root / "doc" / page if root else (SITE / page).with_suffix(".html")
        return f"{path.as_uri()}#{section}" if path.is_file() else ""

    @property
    def is_worth_a_word(self) -> bool:
        return self.is_fault or self.saved_ns >= max(WORTH * self.process_ns, LEAST_NS)

    @property
    def process_ns(self) -> int:
        return self.match.locks[0].process.thread_ns

    @property
    def saved_ns(self) -> float:
        """The estimate; where there is no figure, the upper bound."""
        return self._ns(1, 1.0)

    @property
    def gain(self) -> tuple[float, float]:
        """Shares of the threads' time of the process, from and to."""
        ends = (self._ns(0, 1.0), self._ns(1, 1.0))
        if not self.match.unknown:
            ends = (self.saved_ns / SPREAD, self._ns(1, SPREAD))
        return tuple(min(ns / self.process_ns, 1.0) for ns in ends)

    def _ns(self, end: int, factor: float) -> float:
        """No more waiting goes than holds explain."""
        if self.match.saved is None:
            return 0.0
        most = sum(lock.explained_ns for lock in self.match.locks)
        waits, calls = (
            factor * (ns[end] if isinstance(ns, tuple) else ns)
            for ns in (self.match.saved, self.match.calls)
        )
        return min(max(waits, 0), most) + calls

    def as_json(self) -> dict:
        return {
            "rule": self.rule,
            "title": self.title,
            "fault": self.is_fault,
            "confidence": self.match.confidence,
            "locks": [
                {"name": lock.name, "kind": lock.kind, "program": lock.process.program}
                for lock in self.match.locks
            ],
            "evidence": self.match.evidence,
            "sites": [
                {"text": s.text, "function": s.function, "file": s.file, "line": s.line}
                for s in self.match.sites
            ],
            "stacks": [stack.as_json() for stack in self.stacks],
            "gain": {"low": self.gain[0], "high": self.gain[1], "unknown": self.match.unknown},
            "scaling": self.gains and self.gains.as_json(),
            **{name: self.texts[name] for name in ("instead", "why", "against", "page")},
            "sketch": self.sketch,
        }


@functools.cache
def texts() -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files(__package__).joinpath("rules.toml").read_text())


# What a rule says of a lock need not be said again by a more general one.
SAID_BY = {"saturated": ("long_holds",), "convoy": ("long_holds", "saturated")}


def _once(found: list[Finding]) -> Iterator[Finding]:
    told = {(f.rule, lock) for f in found for lock in f.match.locks}
    for f in found:
        if not any((rule, f.match.locks[0]) in told for rule in SAID_BY.get(f.rule, ())):
            yield f


Rule = Callable[[Facts], Iterable[Match]]


def find(
    facts: Facts, rules: dict[str, Rule], tell: Callable[[str], None] = lambda _: None
) -> list[Finding]:
    """Faults first, then what would save most time. `tell` hears the rule that begins."""
    found = []
    for name, rule in rules.items():
        tell(name)
        for match in rule(facts):
            title = texts()[name]["title"]
            finding = Finding(name, title, match, texts()[name])
            if finding.is_worth_a_word:
                finding.stacks = stacks.heaviest(facts, match.locks)
                found.append(finding)
    return sorted(_once(found), key=lambda f: (not f.is_fault, -f.saved_ns))
