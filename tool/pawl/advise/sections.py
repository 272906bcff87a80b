# SPDX-License-Identifier: MIT
"""What the machine code from a lock to its unlock does, where it is short and plain.

objdump or llvm-objdump reads it, of x86-64. All ways from the lock to a call of an unlock are
followed, forwards only, into functions of the same file, and out of a function that returns with
the lock: the recorded stacks say to where. A call of anything else, a loop, a store that is no
addition: then nothing is said of the section. Where lock and unlock have functions of their own,
what these add and store themselves is their book-keeping, and not the section's; but no value that
they have read may go on. `reads_only` asks for less: no store, but loops, and calls of functions
that only compare.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

from pawl.advise import stacks
from pawl.advise.facts import Facts, Lock, Site

# The second does not name what a program with all its relocations done at the start calls.
TOOLS = ("objdump", "llvm-objdump", *(f"llvm-objdump-{n}" for n in range(30, 12, -1)))
BYTES, STEPS, DEEP = 512, 400, 4
MANY_STACKS = 20  # waits and takes that have one; fewer say too little of who calls a wrapper
RESULT = "the lock's result"
LINE = re.compile(r"\s*([0-9a-f]+):\s+(\w+)\s*([^#<]*)(?:<([^>]*)>)?\s*(?:#\s*(?:0x)?([0-9a-f]+))?")
OPERAND = re.compile(r"[^,(]*\([^)]*\)|[^,]+")
# The register, whatever part of it is named; those that a call leaves as they are.
PARTS = re.compile(r"%(?:[re]?(ax|bx|cx|dx|si|di|bp|sp)|([abcd])[lh]|(si|di|bp|sp)l|r(\d+)[dwb]?)$")
KEPT = {"bx", "bp", "12", "13", "14", "15"}
ADDS = re.compile(r"(add|sub|inc|dec)[bwlq]?$")
MOVES = re.compile(r"mov([bwlq]|abs|[sz][bwl][wlq]?)?$")
LOOKS = re.compile(r"(cmp|test)[bwlq]?$")
PLAIN = re.compile(r"(nop[wl]?|endbr64|cltq|cwtl|cltd|cqto|data16|leave)q?$")
ADDRESS = re.compile(r"(0x)?[0-9a-f]+$")
STAYS = re.compile(r"(cmp|test|ucomis|comis|lea|push|nop|prefetch|endbr)")  # memory as it is
PURE = re.compile(r"<?(mem|str|strn|strcase|strncase)(cmp|len|chr)(@plt|>|$)")
SELF = re.compile(r"<?(pthread_self|__errno_location|__tls_get_addr)(@|>|$)")  # book-keeping
OTHER = re.compile(r"(xor|and|or|shl|sal|shr|sar|neg|not|imul|sbb|set\w+|cmov\w+)[bwlq]?$")


@dataclass(frozen=True)
class Section:
    kind: str  # add: one addition, whose result nobody uses; read: no store; empty: neither
    target: str = ""  # of an addition: its address, or its place in a struct


class Code:
    """Of one file, read where it is asked for; of a text, all that there is."""

    def __init__(self, text: str, module: str = ""):
        self.module = module
        self.lines, self.after = parsed(text)

    def line(self, at: int) -> tuple[str, list[str], str, str]:
        if at not in self.lines and self.module:
            lines, after = parsed(_dump(self.module, at))
            self.lines |= {a: lines[a] for a in after}  # the last one may be cut
            self.after |= after
        return self.lines.get(at, ("", [], "", ""))


@dataclass(frozen=True)
class Return:
    """Where a function goes on that has called; what it had in registers; its depth."""

    code: Code
    at: int
    kept: tuple[tuple[str, str], ...] = ()
    depth: int = 0


@dataclass
class State:
    """On the way: which registers have a value from where; what each function stored: the place
    of an addition, or "" for another store without a value that was read."""

    values: dict[str, str] = field(default_factory=dict)
    stores: tuple[tuple[str, ...], ...] = ((),)  # by functions that were called
    before: tuple[str, ...] = ()  # by those that returned with the lock
    returns: tuple[Return, ...] = ()  # the innermost last
    wrapped: bool = False
    reads: bool = False
    asks: bool = False  # whether the lock was granted

    def copy(self) -> State:
        return replace(self, values=dict(self.values), asks=False)

    def store(self, place: str) -> bool:
        self.stores = (*self.stores[:-1], (*self.stores[-1], place))
        return place != "?"

    def call(self, code: Code, at: int | None) -> bool:
        """`at` None: a tail call."""
        if len(self.stores) > DEEP:
            return False
        if at is not None:
            kept = tuple((r, v) for r, v in self.values.items() if r in KEPT)
            self.returns = (*self.returns, Return(code, at, kept, len(self.stores)))
        self.stores = (*self.stores, ())
        return True

    def leave(self) -> Return | None:
        """The end of a function; None: nobody knows where it goes on."""
        if not self.returns:
            return None
        to, self.returns = self.returns[-1], self.returns[:-1]
        inside = tuple(place for stores in self.stores[to.depth :] for place in stores)
        if to.depth:
            self.stores = self.stores[: to.depth]
            self.stores = (*self.stores[:-1], (*self.stores[-1], *inside))
        elif self.values.get("ax", "") not in ("", RESULT):
            return None
        else:
            self.stores, self.before, self.wrapped = ((),), (*self.before, *inside), True
        self.values = {r: v for r, v in self.values.items() if r not in KEPT} | dict(to.kept)
        return to


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
    if name.startswith("push"):  # what a caller has in it is kept
        return not state.values.get(to or "", "") or bool(state.returns and state.returns[-1].depth)
    if ADDS.match(name):
        if place is not None:
            return not value and state.store(place)
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
            return value in ("", RESULT)
        return state.store(place if value == place else "") and value in ("", RESULT, place)
    if OTHER.match(name) and to:
        both = {state.values.get(to, ""), value} - {""}
        state.values[to] = "" if not both else RESULT if both == {RESULT} else "?"
        return True
    return bool(PLAIN.match(name))


def _ends(state: State, symbol: str) -> Section | None:
    """At the unlock, or at a function that is called so."""
    inner = [place for stores in state.stores[1:] for place in stores]
    stores = list(state.stores[0])
    if not state.wrapped or not (len(state.stores) > 1 or "pthread" not in symbol):
        stores += [*state.before, *inner]
    if not stores:
        return Section("read" if state.reads else "empty")
    values = [*state.values.items(), *(pair for to in state.returns for pair in to.kept)]
    used = any(value not in ("", RESULT) and register in KEPT for register, value in values)
    return None if used or len(stores) > 1 or not stores[0] else Section("add", stores[0])


def _unlocks(symbol: str) -> bool:
    return "unlock" in symbol.lower()


def _goes(name: str, operands: list[str], symbol: str) -> int | None:
    """To where a call or a jump goes in the same file."""
    known = operands and ADDRESS.match(operands[0]) and "@plt" not in symbol
    return int(operands[0], 16) if known and name.startswith(("call", "j")) else None


def _walk(code: Code, start: int, callers: tuple[Return, ...] = ()) -> set[Section | None]:
    found: set[Section | None] = set()
    first = State({"ax": RESULT}, returns=tuple(reversed(callers)))
    ways, steps = [(code, start, first)], 0
    while ways and None not in found:
        code, at, state = ways.pop()
        while True:
            steps += 1
            name, operands, symbol, comment = code.line(at)
            to, then = _goes(name, operands, symbol), code.after.get(at, 0)
            if not name or steps > STEPS:
                found.add(None)
                break
            if name.startswith(("call", "jmp")) and _unlocks(symbol):
                found.add(_ends(state, symbol))
                break
            if name.startswith("ret"):
                if (back := state.leave()) is None:
                    found.add(None)
                    break
                code, then = back.code, back.at
            elif name.startswith("call") and SELF.match(symbol):
                state.values = {r: v for r, v in state.values.items() if r in KEPT}
            elif name.startswith("call") or (
                name.startswith("jmp") and symbol and "+" not in symbol
            ):
                if to is None or not state.call(code, then if name.startswith("call") else None):
                    found.add(None)
                    break
                then = to
            elif name.startswith("j"):
                asks, state.asks = state.asks, False
                if to is None or (to <= at and not asks):
                    found.add(None)
                    break
                if name.startswith("jmp") or (asks and name == "je"):
                    then = to
                elif not asks:  # else: the lock has failed
                    ways.append((code, to, state.copy()))
            elif not _step(state, name, operands, comment):
                found.add(None)
                break
            at = then
    return found


@dataclass
class Explored:
    """A function from some address on: whether it stores, ends with the lock held, unlocks, and
    by a function of its own; `known`: all of it was understood."""

    known: bool = True
    stores: bool = False
    returns: bool = False
    unlocks: bool = False
    wrapped: bool = False


def _explore(code: Code, start: int, deep: int = 0) -> Explored:
    todo, seen, found, asks = [start], set(), Explored(deep < DEEP), False
    while todo and found.known and len(seen) < STEPS:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        name, operands, symbol, comment = code.line(at)
        to = _goes(name, operands, symbol)
        if name.startswith(("call", "jmp")) and _unlocks(symbol):
            found.unlocks, found.wrapped = True, found.wrapped or "pthread" not in symbol
            continue
        if name.startswith("ret"):
            found.returns = True
            continue
        if name.startswith("call") and (PURE.match(symbol) or SELF.match(symbol)):
            pass
        elif name.startswith("call") or (name.startswith("jmp") and symbol and "+" not in symbol):
            called = Explored(False) if to is None else _explore(code, to, deep + 1)
            found.known &= called.known and called.unlocks and not called.returns
            found.unlocks = found.wrapped = True  # what it stores is its book-keeping
            continue
        elif name.startswith("j"):
            found.known &= to is not None
            if to is not None and (not asks or name == "je"):  # else: the lock has failed
                todo.append(to)
            if name.startswith("jmp") or (asks and name == "je"):
                continue
        elif not name or name.startswith(("rep", "lock", "xchg", "hlt", "ud2", "syscall")):
            found.known = False
        elif operands and not STAYS.match(name):
            found.stores |= _target(operands[-1], comment) is not None
        asks = at == start and name.startswith("test") and operands == ["%eax", "%eax"]
        todo.append(code.after.get(at, 0))
    found.known &= len(seen) < STEPS
    return found


def _reads_only(code: Code, start: int, callers: tuple[Return, ...] = ()) -> bool:
    """Stores of a function that takes the lock are its book-keeping where another one drops it."""
    stores = False
    for one in (Return(code, start), *callers):
        found = _explore(one.code, one.at)
        if not found.known or found.unlocks == found.returns:
            return False
        if found.unlocks:
            return not found.stores and (not stores or found.wrapped)
        stores |= found.stores
    return False


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


def _one(found: set[Section | None]) -> Section | None:
    if len(found) == 1:
        return next(iter(found))
    kinds = {one.kind for one in found if one}
    return Section("read") if None not in found and kinds == {"read", "empty"} else None


def section(text: str, start: int) -> Section | None:
    return _one(_walk(Code(text), start))


@functools.cache
def _dump(module: str, offset: int) -> str:
    tool = _tool()
    if tool is None or not Path(module).is_file():
        return ""
    done = subprocess.run(
        [tool, "-d", "--no-show-raw-insn", f"--start-address={offset:#x}",
         f"--stop-address={offset + BYTES:#x}", module],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return done.stdout


@functools.cache
def _code(module: str) -> Code:
    return Code("", module)


def _returns(chain: tuple[Site, ...]) -> tuple[Return, ...]:
    return tuple(Return(_code(site.module), site.offset) for site in chain)


@functools.cache
def look(site: Site, chain: tuple[Site, ...] = ()) -> Section | None:
    """The section that the call of a lock at this site begins; `chain`: who called the function
    with the site, outwards. None: it is not known."""
    return _one(_walk(_code(site.module), site.offset, _returns(chain))) if site.module else None


def is_empty(site: Site) -> bool:
    """The one that comes has nothing to do inside: it waits for the holder's sign."""
    found = look(site)
    return found is not None and found.kind == "empty"


@functools.cache
def reads_only(site: Site, chain: tuple[Site, ...] = ()) -> bool:
    """The section was seen to change nothing that other threads may see."""
    return bool(site.module) and _reads_only(_code(site.module), site.offset, _returns(chain))


def chains(facts: Facts, lock: Lock, site: Site) -> dict[tuple[Site, ...], int]:
    """Who called the function with the site, and how often they waited, or were looked at."""
    found: dict[tuple[Site, ...], int] = defaultdict(int)
    for stack in stacks.of(facts, [lock]):
        if stack.frames[0] == site and len(stack.frames) > 1:
            found[stack.frames[1 : 1 + DEEP]] += stack.count + stack.taken
    return found if sum(found.values()) >= MANY_STACKS else {}


def shares(facts: Facts, lock: Lock, site: Site) -> dict[Section | None, float]:
    """What the sections are that begin there, through functions that go on after the lock."""
    found = look(site)
    known = {} if found else chains(facts, lock, site)
    if not known:
        return {found: 1.0}
    made: dict[Section | None, float] = defaultdict(float)
    for chain, count in known.items():
        made[look(site, chain)] += count / sum(known.values())
    return made


def read_share(facts: Facts, lock: Lock, site: Site) -> float:
    """As `shares`: of the sections, how many only read."""
    if reads_only(site):
        return 1.0
    known = chains(facts, lock, site)
    reads = sum(count for chain, count in known.items() if reads_only(site, chain))
    return reads / max(sum(known.values()), 1)
