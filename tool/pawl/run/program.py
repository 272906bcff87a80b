# SPDX-License-Identifier: MIT
"""What kind of program a file is, and why another one's locks cannot be put in front of it."""

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from pawl.core.elf import Elf, ElfError
from pawl.core.errors import BadInput

# Scripts that name a script as their interpreter: the kernel follows as many.
MOST_INTERPRETERS = 4
SERVERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # a user's PATH is often without them
MOST_PANICS = 64 << 20  # bytes of read-only data that are searched for traces of Rust


@dataclass
class Program:
    """The ELF file that will run in the end; `bits` and `machine` are those of its processor."""

    path: Path
    bits: int
    machine: str
    preload_first: str = ""  # a sanitizer's library, which insists on being the first one


def find(name: str) -> Path:
    """As a shell finds it."""
    found = shutil.which(name)
    if found:
        return Path(found)
    if os.path.sep in name and Path(name).is_dir():
        raise BadInput(f"{name} is a folder; name a program in it.")
    if os.path.sep in name and Path(name).exists():
        raise BadInput(f"{name} is not executable; make it so (chmod +x), or name another.")
    if not name.strip():
        raise BadInput("the name of the program is empty; say which program to run.")
    if any(c in name for c in "|&;<>$"):
        raise BadInput(
            f"there is no program '{name}'; a shell runs such a line, as in "
            "pawl run -- sh -c '...'."
        )
    if "=" in Path(name).name:
        raise BadInput(
            f"there is no program {name}; set variables in front of pawl, or with env, "
            f"as in pawl run -- env {name} PROGRAM."
        )
    for folder in SERVERS:
        if os.path.sep not in name and os.access(Path(folder) / name, os.X_OK):
            raise BadInput(f"there is no program {name} in PATH; say where it is: {folder}/{name}.")
    raise BadInput(f"there is no program {name}; say where it is, as in ./{Path(name).name}.")


def _interpreter(path: Path) -> str | None:
    """The program that runs a script; None when the file is no script."""
    try:
        with path.open("rb") as file:
            head = file.read(256)
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read ({error.strerror}), so what it needs cannot be "
            "told; run it as a user who may read it."
        ) from error
    if not head.startswith(b"#!"):
        return None
    words = head[2:].split(b"\n", 1)[0].split()
    if not words:
        raise BadInput(f"{path}: its first line names no interpreter; put one behind #!.")
    if Path(os.fsdecode(words[0])).name == "env" and len(words) > 1:
        plain = [w for w in words[1:] if not w.startswith(b"-") and b"=" not in w]
        return os.fsdecode(plain[0]) if plain else os.fsdecode(words[0])
    return os.fsdecode(words[0])


def _refuse_privileges(path: Path) -> None:
    mode = path.stat()
    gains = [
        word
        for bit, word, same in (
            (stat.S_ISUID, "setuid", mode.st_uid == os.geteuid()),
            (stat.S_ISGID, "setgid", mode.st_gid == os.getegid()),
        )
        if mode.st_mode & bit and not same
    ]
    try:
        if os.getxattr(path, "security.capability") and os.geteuid() != 0:
            gains.append("has capabilities of its own")
    except OSError:
        pass  # no such attribute, or a file system without them
    if gains:
        raise BadInput(
            f"{path} is {' and '.join(gains)}: the loader ignores LD_PRELOAD there. Run "
            "it as the user that it becomes, or run a copy without these rights."
        )


def _is_go(elf: Elf) -> bool:
    return any(elf.section(name) for name in (".go.buildinfo", ".note.go.buildid"))


def _is_rust(elf: Elf) -> bool:
    """The standard library's own files are named in the messages of its panics."""
    comment = elf.section(".comment")
    if comment and b"rustc version" in elf.data(comment):
        return True
    data = elf.section(".rodata")
    return bool(data and data.size <= MOST_PANICS and b"/library/std/src/" in elf.data(data))


def _refuse_kind(path: Path, elf: Elf, loader: str) -> None:
    if _is_go(elf):
        raise BadInput(
            f"{path} is written in Go, whose locks are its own and not those of the C "
            "library: there is nothing to replace."
        )
    if path.name.startswith("ld-") and not loader:
        raise BadInput(f"{path} is the loader itself; name the program that it loads.")
    if not loader:
        raise BadInput(
            f"{path} is linked statically, so its locks are inside it and cannot be "
            "replaced; link it dynamically."
        )
    if "musl" in loader:
        raise BadInput(
            f"{path} was built for musl; these locks fit the GNU C library only. Build it for that."
        )
    if _is_rust(elf) and not any("pthread_rwlock_" in name for name in elf.imports()):
        raise BadInput(
            f"{path} is written in Rust, whose standard locks are its own and not those "
            "of the C library: there is nothing to replace."
        )


def _read(path: Path) -> Program:
    try:
        with path.open("rb") as file:
            elf = Elf(file)
            _refuse_kind(path, elf, elf.interpreter())
            first = next((n for n in elf.needed() if n.startswith(("libasan.", "libtsan."))), "")
            return Program(path, elf.bits, elf.machine, first)
    except ElfError as error:
        raise BadInput(
            f"{path} is neither a program of this system nor a script that names its "
            "interpreter (#!)."
        ) from error


def examine(name: str) -> Program:
    """The program that runs in the end, if the locks can be put in front of it."""
    path = find(name)
    for _ in range(MOST_INTERPRETERS):
        _refuse_privileges(path)
        interpreter = _interpreter(path)
        if interpreter is None:
            return _read(path.resolve())
        path = find(interpreter)
    raise BadInput(
        f"{name}: its interpreter is a script of a script and so on; name the program itself."
    )
