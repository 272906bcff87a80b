# SPDX-License-Identifier: MIT
"""scripts/lint on a tree with one file that is not formatted."""

import re
import shutil
import subprocess

import pytest

from conftest import ROOT

CONFIGURATION = (".clang-format", "scripts/lint", "scripts/setup", "tool/pyproject.toml")
UNFORMATTED = {
    "scripts/sum.py": ("x = [1,\n     2]\n", "x = [1, 2]\n"),
    "src/sum.c": ("int x[] = {1,\n  2};\n", "int x[] = {1, 2};\n"),
    "src/sum.hpp": ("class sum{int x;};\n", "class sum {\n    int x;\n};\n"),
}


@pytest.fixture
def tree(tmp_path):
    for name in ("ruff", "clang-format"):
        if not (ROOT / ".venv/bin" / name).exists():
            pytest.skip(f"scripts/setup test has not installed {name}")
    for name in CONFIGURATION:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    return tmp_path


def lint(tree, *words):
    return subprocess.run(
        [tree / "scripts/lint", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", UNFORMATTED)
def test_a_file_that_is_not_formatted_is_named_with_the_command_that_formats_it(tree, name):
    assert lint(tree, "format").returncode == 0
    before, after = UNFORMATTED[name]
    (tree / name).parent.mkdir(exist_ok=True)
    (tree / name).write_text(before)
    done = lint(tree, "format")
    assert done.returncode == 1
    assert f"{name}:" in done.stdout and "is not formatted" in done.stdout
    assert "scripts/lint --fix" in done.stdout
    assert (tree / name).read_text() == before
    lint(tree, "--fix")
    assert (tree / name).read_text() == after
    assert lint(tree, "format").returncode == 0


def test_a_formatter_of_another_version_is_not_asked(tree):
    setup = tree / "scripts/setup"
    setup.write_text(setup.read_text().replace("==", "==0.0."))
    done = lint(tree, "format")
    assert done.returncode == 77
    assert done.stderr.count("which scripts/setup test installs") == 2


def test_each_folder_with_python_is_looked_at():
    (looked,) = re.findall(
        r"^    for path in ([a-z ]+); do$", (ROOT / "scripts/lint").read_text(), re.M
    )
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not listed:
        pytest.skip("no git here")
    # What pages quote is as short as a page wants it.
    assert {name.split("/")[0] for name in listed} - {"examples"} == set(looked.split())
