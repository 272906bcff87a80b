# SPDX-License-Identifier: MIT
"""What the machine code from a lock to its unlock does, where it is short and plain.

objdump or llvm-objdump reads it, of x86-64. All ways from the lock to a call of an unlock are
followed, forwards only. A call of anything else, a loop, a store that is no addition: then nothing
is said of the section. Nor is it where the lock or the unlock has a function of its own.
`reads_only` asks for less: no store, but loops, and calls of functions that only compare.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from pawl.advise.facts import Site

# The second does not name what a program with all its relocations done at the start calls.
TOOLS = ("objdump", "llvm-objdump", *(f"llvm-objdump-{n}" for n in range(30, 12, -1)))
BYTES, STEPS = 512, 200
RESULT = "the lock's result"
LINE = re.compile(r"\s*([0-9a-f]+):\s+(\w+)\s*([^#<]*)(?:<([^>]*)>)?\s*(?:#\s*(?:0x)?([0-9a-f]+))?")
OPERAND = re.compile(r"[^,(]*\([^)]*\)|[^,]+")
# The register, whatever part of it is named; those that a call leaves as they are.
PARTS = re.compile(r"%(?:[re]?(ax|bx|cx|dx|si|di|bp|sp)|([abcd])[lh]|(si|di|bp|sp)l|r(\d+)[dwb]?)$")
KEPT = {"bx", "bp", "12", "13", "14", "15"}
ADDS = re.compile(r"(add|sub|inc|dec)[bwlq]?$")
MOVES = re.compile(r"mov([bwlq]|abs|[sz][bwl][wlq]?)?$")
LOOKS = re.compile(r"(cmp|test)[bwlq]?$")
PLAIN = re.compile(r"(nop[wl]?|endbr64|cltq|cwtl|cltd|cqto|data16)$")
STAYS = re.compile(r"(cmp|test|ucomis|comis|lea|push|nop|prefetch|endbr)")  # memory as it is
PURE = re.compile(r"<?(mem|str|strn|strcase|strncase)(cmp|len|chr)(@plt|>|$)")
OTHER = re.compile(r"(xor|and|or|shl|sal|shr|sar|neg|not|imul|set\w+|cmov\w+)[bwlq]?$")


@dataclass(frozen=True)
class Section:
    kind: str  # add: one addition, whose result nobody uses; read: no store; empty: neither
    target: str = ""  # of an addition: its address, or its place in a struct


@dataclass
class State:
    """On the way: which registers have a value from where; what was added to, and read."""

    values: dict[str, str] = field(default_factory=dict)
    added: str = ""
    reads: bool = False
    asks: bool = False  # whether the lock was granted

    def copy(self) -> State:
        return State(dict(self.values), self.added, self.reads)


def _register(operand: str) -> str | None:
    found = PARTS.match(operand)
    if not found:
        return None
    return found[1] or found[3] or found[4] or f"{found[2]}x"


def _target(operand: str, comment: str) -> str | None:
    """Of an operand in memory; None: it is in none, or on the stack."""
    if "(" not in operand or "%rsp" in operand or re.match(r"-\w+\(%rbp\)", operand):
        return None
    if re.search(r",\s*%", operand):
        return "?"  # of an array: which one is not known
    return f"at {comment}" if "%rip" in operand else re.sub(r"%\w+", "%", operand)


def _step(state: State, name: str, operands: list[str], comment: str) -> bool:
    """False: the section is more than is understood."""
    last = operands[-1] if operands else ""
    to, place = _register(last), _target(last, comment)
    first = operands[0] if len(operands) > 1 else ""
    source = _register(first)
    value = state.values.get(source, "") if source else ""
    if (got := _target(first, comment) if first else None) and not name.startswith("lea"):
        state.reads, value = True, got
    if LOOKS.match(name):
        state.reads |= place is not None
        state.asks = operands == ["%eax", "%eax"] and state.values.get("ax") == RESULT
        return True
    if name.startswith("pop"):
        return state.values.pop(to, "") is not None
    if ADDS.match(name):
        if place is not None:
            adds = not state.added and not value and place != "?"
            state.added = state.added or place
            return adds
        if to and value:
            state.values[to] = value if not state.values.get(to) else "?"
        return to is not None or "(" in last
    if MOVES.match(name) or name.startswith("lea"):
        if name.startswith("lea"):
            inside = [
                v for r in re.findall(r"%\w+", first) if (v := state.values.get(_register(r)))
            ]
            value = inside[0] if len(inside) == 1 else "?" if inside else ""
        if to:
            state.values[to] = value
            return True
        if place is None:  # on the stack: a value that stays there may be used
            return not value
        adds = value == place != "?" and not state.added
        state.added = place
        return adds
    if OTHER.match(name) and to:
        state.values[to] = "?" if state.values.get(to) or value else ""
        return True
    return bool(PLAIN.match(name))


def _ends(state: State) -> Section | None:
    if not state.added:
        return Section("read" if state.reads else "empty")
    used = any(
        value not in ("", RESULT) and register in KEPT for register, value in state.values.items()
    )
    return None if used else Section("add", state.added)


def _unlocks(symbol: str) -> bool:
    return "unlock" in symbol.lower()


def _reads_only(code: dict[int, tuple], after: dict[int, int], start: int) -> bool:
    todo, seen, ends, asks = [start], set(), False, False
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        name, operands, symbol, comment = code.get(at, ("ret", [], "", ""))
        if name.startswith(("call", "jmp")) and _unlocks(symbol):
            ends = True
            continue
        if name.startswith("j"):
            if not re.match(r"(0x)?[0-9a-f]+$", operands[0] if operands else ""):
                return False
            if not asks:  # else: the lock has failed
                todo.append(int(operands[0], 16))
            if name.startswith("jmp"):
                continue
        elif name.startswith("call"):
            if not PURE.match(symbol):
                return False
        elif name.startswith(("ret", "rep", "lock", "xchg", "hlt", "ud2", "syscall")):
            return False
        elif operands and not STAYS.match(name) and _target(operands[-1], comment) is not None:
            return False
        asks = at == start and name.startswith("test") and operands == ["%eax", "%eax"]
        todo.append(after.get(at, 0))
    return ends


def _walk(code: dict[int, tuple], after: dict[int, int], start: int) -> set[Section | None]:
    found: set[Section | None] = set()
    ways, steps = [(start, State({"ax": RESULT}))], 0
    while ways and None not in found:
        at, state = ways.pop()
        while True:
            steps += 1
            name, operands, symbol, comment = code.get(at, ("", [], "", ""))
            if not name or steps > STEPS:
                found.add(None)
                break
            if name.startswith(("call", "jmp")) and _unlocks(symbol):
                found.add(_ends(state))
                break
            if name.startswith("j"):
                to = int(operands[0], 16) if re.match(r"(0x)?[0-9a-f]+$", operands[0]) else 0
                if to <= at:
                    found.add(None)
                    break
                if name.startswith("jmp"):
                    at = to
                    continue
                if not state.asks:  # else: the lock has failed
                    ways.append((to, state.copy()))
                state.asks = False
            elif not _step(state, name, operands, comment):
                found.add(None)
                break
            at = after.get(at, 0)
    return found


@functools.cache
def _tool() -> str | None:
    return next((found for name in TOOLS if (found := shutil.which(name))), None)


def parsed(text: str) -> tuple[dict[int, tuple], dict[int, int]]:
    """Address -> name, operands, symbol, comment; address -> the next one."""
    code = {}
    for line in text.splitlines():
        if found := LINE.match(line):
            operands = [o.strip() for o in OPERAND.findall(found[3]) if o.strip()]
            symbol = found[4] or (line.rsplit("<", 1)[1] if "<" in line else "")
            code[int(found[1], 16)] = (found[2], operands, symbol, found[5] or "")
    return code, dict(zip(code, list(code)[1:], strict=False))


def section(text: str, start: int) -> Section | None:
    code, after = parsed(text)
    found = _walk(code, after, start)
    if len(found) == 1:
        return found.pop()
    kinds = {one.kind for one in found if one}
    return Section("read") if None not in found and kinds == {"read", "empty"} else None


@functools.cache
def _code(module: str, offset: int) -> str:
    tool = _tool()
    if tool is None or not Path(module).is_file():
        return ""
    done = subprocess.run(
        [tool, "-d", "--no-show-raw-insn", f"--start-address={offset:#x}",
         f"--stop-address={offset + BYTES:#x}", module],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return done.stdout


def look(site: Site) -> Section | None:
    """The section that the call of a lock at this site begins; None: it is not known."""
    return section(_code(site.module, site.offset), site.offset) if site.module else None


def is_empty(site: Site) -> bool:
    """The one that comes has nothing to do inside: it waits for the holder's sign."""
    found = look(site)
    return found is not None and found.kind == "empty"


def reads_only(site: Site) -> bool:
    """The section was seen to change nothing that other threads may see."""
    text = _code(site.module, site.offset) if site.module else ""
    return _reads_only(*parsed(text), site.offset)
