# SPDX-License-Identifier: MIT
"""scripts/release finds the file that names another version, on a copy of what it reads."""

import hashlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

READ = [
    "include/pawl/version.h",
    "packaging/vcpkg/vcpkg.json",
    "packaging/debian/changelog",
    "rust/Cargo.toml",
    "rust/Cargo.lock",
    "tool/pyproject.toml",
    "CHANGELOG.md",
    "doc/install.md",
    "packaging/abi/libpawl.map",
    "scripts/release",
]


@pytest.fixture
def tree(tmp_path):
    for name in READ:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def asked(tree, *arguments):
    done = subprocess.run(
        [sys.executable, str(tree / "scripts/release"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_all_files_of_this_tree_name_one_version(tree):
    assert asked(tree, "--check")[0] == 0


@pytest.mark.parametrize("name", [name for name in READ[1:8]])
def test_a_file_that_names_another_version_is_found(tree, name):
    path = tree / name
    now = asked(tree, "--check")[1].split(":")[0]
    path.write_text(path.read_text().replace(now, "0.9.9"))
    code, said = asked(tree, "--check")
    assert code == 1 and said.startswith(f"{name} names 0.9.9")
    assert len(said.splitlines()) == 1


def test_a_minor_version_without_a_node_of_symbols_is_found(tree):
    path = tree / "include/pawl/version.h"
    path.write_text(re.sub(r"(VERSION_MINOR) \d+", r"\1 9999", path.read_text()))
    assert "needs a node of its own" in asked(tree, "--check")[1]


@pytest.mark.parametrize("heading", ["## 0.2.0, unreleased", "## Unreleased\n\n- A line."])
def test_an_unreleased_part_is_missing_for_a_release_only(tree, heading):
    path = tree / "CHANGELOG.md"
    path.write_text(f"# Changelog\n\n{heading}\n\n" + released(path.read_text()))
    assert asked(tree, "--check")[0] == 0
    code, said = asked(tree)
    assert code == 1 and "the first heading says unreleased" in said


def released(changes):
    """The changelog from its first version on."""
    return changes[re.search(r"^## \d", changes, re.M).start() :]


def library(folder, name, *functions):
    source = folder / "functions.c"
    # Objects of which there is one in a process have a letter of their own in nm's list.
    unique = (
        ".data\\n.globl pawl_one\\n.type pawl_one, %gnu_unique_object\\n.size pawl_one, 4\\n"
        "pawl_one: .long 0\\n.text"
    )
    source.write_text(
        f'__asm__("{unique}");\n'
        + "".join(f"int {one}(void);\nint {one}(void) {{ return 0; }}\n" for one in functions)
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / name, source], check=True)


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_the_node_of_symbols_has_the_names_of_all_variants(tree, tmp_path):
    library(tmp_path, "libpawl.so", "pawl_take", "other_name")
    library(tmp_path, "libpawl-checked.so", "pawl_take", "pawl_check_take")
    code, said = asked(tree, "--symbols", str(tmp_path))
    assert code == 0
    assert re.sub(r"\s+", " ", said).endswith(
        "{ global: pawl_check_take; pawl_one; pawl_take; "
        "pawl_*_needs_a_library_built_with_fsanitize_thread_*; local: *; }; "
    )
    path = tree / "packaging/abi/libpawl.map"
    path.write_text(re.sub(r"\{[^}]*\}", "{\n    global: pawl_*;\n}", path.read_text()))
    before = asked(tree)[1]
    path.write_text(said)
    after = asked(tree)[1]
    assert "the last node takes all names" in before and "the last node" not in after


def test_a_folder_without_libraries_is_refused(tree, tmp_path):
    code, said = asked(tree, "--symbols", str(tmp_path))
    assert code == 2 and "has no libpawl.so" in said


@pytest.fixture
def ready(tree):
    """A tree under git, whose other scripts note that they ran."""
    for name in ("site", "names", "targets"):
        script = tree / "scripts" / name
        script.write_text(f'#!/bin/sh\necho {name} "$@" >>ran\n! [ -e fault-{name} ]\n')
        script.chmod(0o755)
    (tree / ".gitignore").write_text("ran\nfault-*\nbuild\n")
    path = tree / "CHANGELOG.md"
    path.write_text(f"# Changelog\n\n## Unreleased\n\n- New.\n\n{released(path.read_text())}")
    path = tree / "packaging/debian/changelog"
    path.write_text(path.read_text().replace(" unstable;", " UNRELEASED;", 1))
    path = tree / "packaging/abi/libpawl.map"
    path.write_text(path.read_text().replace("pawl_*;", "pawl_one;"))
    git(tree, "init", "--quiet")
    commit(tree)
    return tree


def git(tree, *words):
    subprocess.run(["git", "-C", tree, *words], check=True, capture_output=True)


def commit(tree):
    git(tree, "add", "-A")
    git(tree, "-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "-qm", "All")


def test_one_command_cuts_a_release(ready):
    before = (ready / "CHANGELOG.md").read_text()
    assert asked(ready)[0] == 1
    code, said = asked(ready, "--cut", "bookworm")
    assert code == 0 and "is cut" in said and "git tag -s v" in said
    now = said.splitlines()[-1].split()[0]
    changes = (ready / "CHANGELOG.md").read_text()
    assert (
        re.findall(r"^## .*", changes, re.M)[0] == re.search(rf"## {now}, [\d-]{{10}}", changes)[0]
    )
    assert "Unreleased" not in changes.split("- New.")[0] and changes.count(f"## {now}") == 1
    lines = [line for line in before.splitlines() if line and not line.startswith("## ")]
    assert sorted(lines) == sorted(
        line for line in changes.splitlines() if line and not line.startswith("## ")
    )
    debian = (ready / "packaging/debian/changelog").read_text().splitlines()
    assert debian[0].endswith(") bookworm; urgency=medium")
    assert (ready / "ran").read_text().split("\n")[:-1] == [
        "site", "names", "targets --check",
    ]  # fmt: skip
    commit(ready)
    (ready / "build/watchdog").mkdir(parents=True)
    (ready / "build/watchdog/SHA256SUMS").touch()
    assert asked(ready) == (0, f"{now}: all files agree, and nothing is missing\n")
    git(ready, "tag", f"v{now}")
    code, said = asked(ready, "--cut")
    assert code == 1 and f"v{now} is a tag already" in said


def test_a_release_of_a_changed_tree_is_not_cut(ready):
    (ready / "doc/install.md").write_text("Changed.\n")
    before = (ready / "CHANGELOG.md").read_text()
    code, said = asked(ready, "--cut")
    assert code == 1 and "changes that are not committed" in said
    assert (ready / "CHANGELOG.md").read_text() == before and not (ready / "ran").exists()


def test_a_page_with_a_fault_stops_the_cut(ready):
    (ready / "fault-names").touch()
    code, said = asked(ready, "--cut")
    assert code == 1 and said.endswith(
        "scripts/names found a fault: mend it, commit, and cut again\n"
    )


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_the_cut_lists_the_symbols_that_are_still_open(ready):
    path = ready / "packaging/abi/libpawl.map"
    closed = path.read_text()
    node = re.findall(r"^PAWL_[\d.]+", closed, re.M)[-1]
    path.write_text(f"/* old */\nPAWL_0.0 {{\n    global: pawl_a;\n}};\n{node} {{\n"
                    "    global: pawl_*;\n} PAWL_0.0;\n")  # fmt: skip
    commit(ready)
    code, said = asked(ready, "--cut")
    assert code == 1 and "run `make build` before" in said
    (ready / ".gitignore").write_text("ran\nbuild\nfunctions.c\n")
    commit(ready)
    (ready / "build/release").mkdir(parents=True)
    library(ready / "build/release", "libpawl.so", "pawl_take")
    assert asked(ready, "--cut")[0] == 0
    said = path.read_text()
    assert said.endswith("} PAWL_0.0;\n") and "pawl_take;" in said and "pawl_*;" not in said


@pytest.mark.parametrize("words", [["--cut", "--now"], ["--cut", "a", "b"]])
def test_a_cut_with_words_that_it_does_not_know_is_refused(tree, words):
    assert asked(tree, *words)[0] == 2


def test_unknown_words_are_refused_and_explained(tree):
    assert asked(tree, "--send")[0] == 2
    assert asked(tree, "--help")[0] == 0


def test_a_release_has_the_images_of_the_watchdog_with_their_sums(tree):
    folder = tree / "build/watchdog"
    assert "run `make watchdog`" in asked(tree)[1]
    folder.mkdir(parents=True)
    (folder / "watchdog-hid.hex").write_bytes(b":00000001FF\n")
    digest = hashlib.sha256(b":00000001FF\n").hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  watchdog-hid.hex\n")
    assert "watchdog" not in asked(tree)[1]
    (folder / "watchdog-hid.hex").write_bytes(b"another")
    assert "watchdog-hid.hex is not the image" in asked(tree)[1]
