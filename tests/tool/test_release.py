# SPDX-License-Identifier: MIT
"""scripts/release finds the file that names another version, on a copy of what it reads."""

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
    "abi/libpawl.map",
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


@pytest.mark.parametrize("heading", ["## 0.1.0, unreleased", "## Unreleased\n\n- A line."])
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
    path = tree / "abi/libpawl.map"
    path.write_text(re.sub(r"\{[^}]*\}", "{\n    global: pawl_*;\n}", path.read_text()))
    before = asked(tree)[1]
    path.write_text(said)
    after = asked(tree)[1]
    assert "the last node takes all names" in before and "the last node" not in after


def test_a_folder_without_libraries_is_refused(tree, tmp_path):
    code, said = asked(tree, "--symbols", str(tmp_path))
    assert code == 2 and "has no libpawl.so" in said


def test_unknown_words_are_refused_and_explained(tree):
    assert asked(tree, "--cut")[0] == 2
    assert asked(tree, "--help")[0] == 0
