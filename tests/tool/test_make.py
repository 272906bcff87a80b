# SPDX-License-Identifier: MIT
"""`make install` and `make uninstall` hand on what the user typed, or say why not.

A cmake that only tells its words stands in the place of the real one; tests/package runs that."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


@pytest.fixture
def make(tmp_path):
    tree, programs = tmp_path / "tree", tmp_path / "programs"
    tree.mkdir()
    programs.mkdir()
    shutil.copy(ROOT / "Makefile", tree)
    cmake = programs / "cmake"
    cmake.write_text('#!/bin/sh\nprintf "[%s]" "$@" "DESTDIR=${DESTDIR-}"\n')
    cmake.chmod(0o755)

    def go(*words, **more):
        environment = {k: v for k, v in os.environ.items() if k not in ("PREFIX", "DESTDIR")}
        environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": "/home/her own"}
        # The target build is taken as done.
        done = subprocess.run(
            ["make", "-C", tree, "--no-print-directory", "-o", "build", *words],
            env=environment | more,
            capture_output=True,
            text=True,
            check=False,
        )
        return done

    go.tree = tree
    return go


@pytest.fixture
def built(make):
    """What the target build leaves, as far as an installation looks at it."""
    (make.tree / "build/release").mkdir(parents=True)
    (make.tree / "build/release/cmake_install.cmake").touch()


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("typed", "prefix"),
    [
        ("/opt/pawl", "/opt/pawl"),
        ("/opt/her own", "/opt/her own"),
        ("~/pawl", "/home/her own/pawl"),
        ("there", "{tree}/there"),
    ],
)
def test_install_goes_below_the_prefix(make, typed, prefix):
    prefix = prefix.format(tree=Path(make.tree).resolve())
    wanted = f"[--install][build/release][--prefix][{prefix}][DESTDIR=]"
    assert make("install", f"PREFIX={typed}").stdout == wanted
    assert make("install", PREFIX=typed).stdout == wanted


@pytest.mark.usefixtures("built")
def test_install_without_a_prefix_leaves_it_to_cmake(make):
    assert make("install").stdout == "[--install][build/release][DESTDIR=]"
    assert make("install", "DESTDIR=/tmp/her root").stdout.endswith("[DESTDIR=/tmp/her root]")


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can give a tree away")
def test_root_builds_nothing_in_the_tree_of_another_user(make):
    os.chown(make.tree, 65534, -1)
    told = subprocess.run(
        ["make", "-n", "-C", make.tree, "install"], capture_output=True, text=True, check=False
    ).stdout
    assert "--install" in told and "--preset" not in told


def test_uninstall_without_a_build_is_a_sentence(make):
    done = make("uninstall")
    assert done.returncode == 2 and "[" not in done.stdout
    assert done.stderr.startswith("Nothing was built in build/release, so nothing was installed")
    (make.tree / "build/release").mkdir(parents=True)
    assert "[--build][build/release][--target][uninstall]" in make("uninstall").stdout
