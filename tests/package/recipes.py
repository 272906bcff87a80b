# SPDX-License-Identifier: MIT
"""The recipes beside the installed tree: python3 recipes.py SOURCE PREFIX VERSION."""

import json
import re
import sys
from pathlib import Path

SOURCE, PREFIX, VERSION = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
DEBIAN = SOURCE / "packaging/debian"
ARCH = "usr/lib/triplet"
faults = []


def fault(sentence):
    faults.append(sentence)
    print(sentence)


def words(path):
    return [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]


def in_debian(path):
    """Where the Debian build has an installed file."""
    name = path.relative_to(PREFIX).as_posix()
    if match := re.fullmatch(r"lib/([^/]*-gdb\.py)", name):
        return f"usr/share/gdb/auto-load/{ARCH}/{match[1]}"
    if name.startswith("lib/"):
        return f"{ARCH}/{name.removeprefix('lib/')}"
    return f"usr/{name}"


def names(line, name):
    """Whether a line of a list means the file: a pattern of it, or of a folder above it."""
    pattern = re.escape(line).replace(r"\*", "[^/]*")
    return re.fullmatch(f"{pattern}(/.*)?", name) is not None


def lists():
    """Each installed file is in one package, and each line of a list finds a file."""
    found = {path.name.removesuffix(".install"): words(path) for path in DEBIAN.glob("*.install")}
    used = set()
    for path in sorted(PREFIX.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        name = in_debian(path)
        if name.startswith("usr/share/doc/"):
            continue  # Debian's own copyright file is there
        if re.match(r"usr/share/man/man[37]/", name):
            continue  # pawl-doc.manpages
        by = {
            (package, line)
            for package, lines in found.items()
            for line in lines
            if names(line, name)
        }
        used |= by
        if len(by) != 1:
            fault(f"{name} is in {sorted(by) or 'no package'}: mend packaging/debian/*.install")
    for package, lines in found.items():
        for line in lines:
            if (package, line) not in used:
                fault(f"packaging/debian/{package}.install: {line} names no installed file")


def needed_modules():
    """pawl-bench depends on what the command imports, or recommends it."""
    text = (SOURCE / "tool/pyproject.toml").read_text(encoding="utf-8")
    needed = re.findall(r'^  "([\w-]+)[<>=]', text, re.MULTILINE)
    control = (DEBIAN / "control").read_text(encoding="utf-8")
    renamed = {"pillow": "pil"}
    for name in needed:
        if not re.search(rf"python3-{renamed.get(name, name)}\b", control):
            fault(f"packaging/debian/control: pawl-bench needs python3-{name}")
    launcher = (SOURCE / "tool/pawl/core/missing.py").read_text(encoding="utf-8")
    for name in needed:
        if f'"python3-{renamed.get(name, name)}"' not in launcher:
            fault(f"tool/pawl/core/missing.py: python3-{name} is not among the packages")


def versions():
    """One version everywhere."""
    manifest = json.loads((SOURCE / "packaging/vcpkg/vcpkg.json").read_text(encoding="utf-8"))
    told = {
        "packaging/vcpkg/vcpkg.json": manifest["version-semver"],
        "packaging/debian/changelog": re.search(
            r"\((.*)-\d+\)", (DEBIAN / "changelog").read_text(encoding="utf-8")
        )[1],
        "rust/Cargo.toml": re.search(
            r'^version = "(.*)"',
            (SOURCE / "rust/Cargo.toml").read_text(encoding="utf-8"),
            re.MULTILINE,
        )[1],
        "tool/pyproject.toml": re.search(
            r'^version = "(.*)"',
            (SOURCE / "tool/pyproject.toml").read_text(encoding="utf-8"),
            re.MULTILINE,
        )[1],
    }
    for name, version in told.items():
        if version != VERSION:
            fault(f"{name} has version {version}, and include/pawl/version.h {VERSION}")
    newest = re.findall(
        r"^PAWL_([\d.]+) \{",
        (SOURCE / "packaging/abi/libpawl.map").read_text(encoding="utf-8"),
        re.MULTILINE,
    )[-1]
    if not VERSION.startswith(newest + "."):
        fault(f"packaging/abi/libpawl.map ends with PAWL_{newest}, and this is {VERSION}")


def vcpkg():
    """The manifest's fields, and the options that the port sets."""
    manifest = json.loads((SOURCE / "packaging/vcpkg/vcpkg.json").read_text(encoding="utf-8"))
    for field in ("name", "version-semver", "description", "license", "dependencies"):
        if not manifest.get(field):
            fault(f"packaging/vcpkg/vcpkg.json has no {field}")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]):
        fault("packaging/vcpkg/vcpkg.json: the name is not of vcpkg's form")
    options = "".join(
        (SOURCE / name).read_text(encoding="utf-8")
        for name in ("CMakeLists.txt", "bench/CMakeLists.txt")
    )
    for recipe in ("packaging/vcpkg/portfile.cmake", "packaging/debian/rules"):
        text = (SOURCE / recipe).read_text(encoding="utf-8")
        for name in re.findall(r"-D(PAWL_\w+)=", text):
            if not re.search(rf"\b(option|set|find_program)\({name}\b", options):
                fault(f"{recipe} sets {name}, which is no option")


for check in (lists, needed_modules, versions, vcpkg):
    check()
print(f"{len(faults)} faults")
sys.exit(1 if faults else 0)
