# SPDX-License-Identifier: MIT
"""What the recipes say: python3 recipes.py SOURCE VERSION."""

import json
import re
import sys
from pathlib import Path

SOURCE, VERSION = Path(sys.argv[1]), sys.argv[2]
DEBIAN = SOURCE / "packaging/debian"
faults = []


def fault(sentence):
    faults.append(sentence)
    print(sentence)


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


for check in (needed_modules, versions, vcpkg):
    check()
print(f"{len(faults)} faults")
sys.exit(1 if faults else 0)
