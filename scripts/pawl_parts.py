# SPDX-License-Identifier: MIT
"""Which sources some headers need, and texts with few comments. Used by scripts/single.

A compiler says it: each source is compiled alone, and an object is needed if it defines what the
headers declare, or what an object that is needed asks for. What other systems compile in place of
Linux's files stays."""

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pawl_tables import without_comments

# What the two files are without: the other variants, and programs that pawl trace sees.
IS = {
    "PAWL_CHECKED": False,
    "PAWL_HOOKS": False,
    "PAWL_VALGRIND": False,
    "PAWL_TRACED": False,
    "PAWL_TRACED_": False,
}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARED = re.compile(r"PAWL_SYMBOL(?:_SEEN)?_\((\w+)\)")
OTHERS = {"windows", "windows_wait", "darwin", "freebsd", "wasm"}


class NoCompiler(Exception):
    """What no compiler could say, in words for the user."""


def _truth(line):
    """What a condition is; None: the compiler must say."""
    line = re.sub(r"^\s*#\s*(el)?", "", without_comments(line)).strip()
    if match := re.fullmatch(r"if(n?)def (\w+)", line):
        return None if match[2] != "PAWL_TRACED" else match[1] == "n"
    match = re.fullmatch(r"if (!?)(?:defined\()?(\w+)\)?", line)
    return IS[match[2]] != bool(match[1]) if match and match[2] in IS else None


def decided(lines):
    """The lines without what IS excludes; other conditions stay."""
    stack = []  # of [is it decided, is this branch taken, was one taken]
    for line in lines:
        word = re.match(r"\s*#\s*(if|elif|else|endif)", line)
        word = word[1] if word else ""
        outside = all(taken for _, taken, _ in (stack if word in ("", "if") else stack[:-1]))
        truth = None if line.endswith("\\") else _truth(line)
        if word == "if":
            stack.append([truth is not None, truth is not False, truth is True])
        elif word == "endif":
            if not stack.pop()[0] and outside:
                yield line
            continue
        elif word and stack[-1][0]:
            _, _, done = stack[-1]
            if word == "else" or done or truth is not None:
                stack[-1][1] = not done and (word == "else" or truth is True)
                stack[-1][2] = done or stack[-1][1]
                continue
            stack[-1] = [False, True, False]
            line = line.replace("elif", "if", 1)
        elif word:
            stack[-1][1] = word == "else" or truth is not False
            if not stack[-1][1]:
                continue
        if outside and (stack[-1][1] if word == "" and stack else True):
            if word == "" or not stack[-1][0]:
                yield line


def rows_once(text, made):
    """A list of rows in which no line is a directive becomes a macro; its users name that."""
    lines = without_comments(text).split("\n")
    inner = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    name = f"PAWL_ROWS_{len(made)}_"
    name = made.setdefault(" ".join(inner), name)
    first = next(i for i, line in enumerate(lines) if line.startswith("PAWL_"))
    before = [line for line in lines[:first] if line.startswith("#")]
    return "\n".join([*before, name, *(x for x in lines[first:] if x.startswith("#"))])


def _symbols(source, root, folder):
    """What the object of the source defines, and asks for."""
    made = Path(folder) / f"{source.stem}.o"
    compiler = os.environ.get("CC", "gcc")
    command = [compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w", "-c", f"-I{root / 'include'}"]
    try:
        subprocess.run([*command, source, "-o", made], check=True, capture_output=True)
        listed = subprocess.run(["nm", made], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoCompiler(
            f"{compiler} and nm must say what {source.name} needs ({error})"
        ) from error
    rows = [line.split()[-2:] for line in listed.splitlines()]
    asked = {name for kind, name in rows if kind in "Uw"}
    return {
        name for kind, name in rows if kind not in "Uw" and kind.isupper() or kind == "u"
    }, asked


def _plain(names):
    """As the headers have them."""
    return {re.sub(r"^i?(\w+?)_v\d+_\w+_$", r"\1", name) for name in names}


def _declared(root, headers):
    """The names of functions that the headers bring, inline ones left out."""
    asked = "".join(f"#include <pawl/{header.name}>\n" for header in headers)
    command = [os.environ.get("CC", "gcc"), "-E", "-P", f"-I{root / 'include'}", "-x", "c", "-"]
    done = subprocess.run(command, input=asked, check=True, capture_output=True, text=True)
    stems = {header.stem for header in headers}
    found = set(DECLARED.findall("".join(h.read_text(encoding="utf-8") for h in headers)))
    names = _plain(re.findall(r"\bi?pawl_\w+_v\d+_\w+_(?=\W)", done.stdout))
    return found | {name for name in names if any(f"pawl_{stem}" in name for stem in stems)}


def left_out(root, headers):
    """The sources of src/pawl.c that the headers do not need."""
    sources = [p for p in sorted((root / "src").glob("*/*.c")) if p.stem not in OTHERS]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda source: _symbols(source, root, folder), sources))
    wanted = _declared(root, headers)
    needed = {n for n, (made, _) in enumerate(found) if _plain(made) & wanted}
    while more := {
        n
        for n, (made, _) in enumerate(found)
        if n not in needed and any(made & found[other][1] for other in needed)
    }:
        needed |= more
    kept = {sources[n] for n in needed} | {p for p in sources if p.stem == "variant"}
    return {source for source in sources if source not in kept}


def _squeezed(text):
    text = re.sub(r"[ \t]+\n", "\n", re.sub(r"[ \t]+\\\n", " \\\\\n", text))
    text = re.sub(r"^(?: {4})+", lambda m: "\t" * (len(m.group()) // 4), text, flags=re.M)
    return re.sub(r"\n\s*\n+", "\n", text)


def without(text):
    """A source without comments."""
    return _squeezed(without_comments(text))


def short(text):
    """Of each comment of a header the first sentence."""

    def begun(match):
        told = " ".join(re.sub(r"^\s*\*+ ?", "", x) for x in match.group()[2:-2].splitlines())
        first = re.split(r"(?<=[.:]) ", " ".join(told.split()))[0]
        return f"/* {first} */" if len(first) > 2 and "---" not in first else ""

    return _squeezed(COMMENT.sub(begun, text))
