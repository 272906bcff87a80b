# SPDX-License-Identifier: MIT
"""What the advice says beside its findings, in the terminal and on the page: a sentence a line."""

from __future__ import annotations

import shutil
import subprocess

from pawl.advise import stacks
from pawl.advise.facts import HELD, Facts, percent
from pawl.advise.finding import LEAST_NS, WORTH, Finding
from pawl.advise.rules import heaviest, most_held
from pawl.trace import store, words

MUCH = 0.2  # of the time: to wait, or to have no processor
MOST_FILES = 5


def first(facts: Facts) -> list[str]:
    """What a reader must know before the findings."""
    lines = []
    if missed := store.missed(facts.db):
        lines.append(f"Most calls are missing ({percent(missed)}); this is about the others.")
    if facts.short >= MUCH:
        lines.append(
            f"The machine was short of processors: for {percent(facts.short)} of the time in which "
            "threads could run they had none. Waits are longer by that, and no lock changes it."
        )
    lines += [f"Not recorded: {count:,} times {meaning}." for count, meaning in facts.losses]
    if store.is_java(facts.db):
        lines.append(f"It is {words.JAVA}.")
    if bare := sorted({s.module for s in facts.sites.values() if s.is_bare}):
        names = ", ".join(path.rsplit("/", 1)[-1] for path in bare[:MOST_FILES])
        packages = (
            ", ".join(_packages(bare)[:MOST_FILES]) or "Debian: packages that end with -dbgsym"
        )
        lines.append(
            f"Without names of functions: {names}. Install their debug symbols ({packages}), or "
            "set DEBUGINFOD_URLS, and record anew."
        )
    if waits_only := sum(1 for _ in facts.waits_only):
        lines.append(
            f"Of {waits_only:,} locks of Pawl only the waits were seen, so no rule speaks "
            "of them; a program that defines PAWL_TRACED shows all (doc/trace.md)."
        )
    return lines


def _packages(files: list[str]) -> list[str]:
    """Debian's, with the debug symbols of what has these files on this machine."""
    tool = shutil.which("dpkg-query")
    if tool is None:
        return []
    paths = [path for file in files for path in (file, file.removeprefix("/usr"))]
    done = subprocess.run(
        [tool, "-S", *(path for path in paths if path.startswith("/"))],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    owned = (line.split(": /")[0] for line in done.stdout.splitlines() if ": /" in line)
    return sorted({f"{name.split(':')[0]}-dbgsym" for name in owned if " " not in name})


def nothing(facts: Facts, findings: list[Finding]) -> list[str]:
    """Much waiting of which no finding speaks: its heaviest stacks, and who held."""
    known = {lock for f in findings if not f.is_fault for lock in f.match.locks}
    locks = [lock for lock in facts.kind(*HELD) if lock.wait_ns and lock not in known]
    waited = sum(lock.wait_ns for lock in locks)
    if waited < max(MUCH * facts.thread_ns, LEAST_NS):
        if known:
            return []
        return [
            f"Nothing here would gain more than {percent(WORTH)} of the threads' time, as far as "
            "these rules see."
        ]
    held = percent(sum(lock.explained_ns for lock in locks) / waited)
    lines = [
        f"{percent(waited / facts.thread_ns)} of the time is waiting for "
        f"{'other locks' if known else 'locks'}. Holds are the reason of at most {held} of it; no "
        "rule knows why. The heaviest stacks are:"
    ]
    every = [pair for pair in stacks.waiting(facts, *HELD) if pair[0] not in known]
    for lock, stack in sorted(every, key=lambda pair: -pair[1].wait_ns)[:3]:
        holders = [b for b in facts.blames(lock) if b.site == stack.frames[0]]
        behind = f"; behind what was taken at {holders[0].holder}" if holders else ""
        lines.append(f"{lock.name}, {percent(stack.wait_ns / waited)}: {stack}{behind}")
    return lines


def most(facts: Facts) -> list[str]:
    """The lock most held and the one most waited for, of any program."""
    lines = [f"Most held: {k.name}, for {percent(k.held)} of the time." for k in most_held(facts)]
    if not lines:
        return ["No lock was held that the recorder sees."]
    if not facts.wait_ns:
        return [*lines, "Nobody waited for a lock."]
    lock = heaviest(facts, 1)[0]
    return [
        *lines,
        f"Most waited for: {lock.name}, {percent(lock.wait_ns / facts.wait_ns)} of the waiting.",
    ]
