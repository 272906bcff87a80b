# SPDX-License-Identifier: MIT
"""scripts/floors on trees with one mistake planted."""

import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT


@pytest.fixture
def tree(tmp_path):
    for folder in ("src", "include"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "packaging/cmake").mkdir(parents=True)
    shutil.copy(ROOT / "packaging/cmake/PawlLibrary.cmake", tmp_path / "packaging/cmake")
    script = (ROOT / "scripts/floors").read_text(encoding="utf-8")
    for folder in re.findall(r'"(.*?)"', re.search(r"^OTHERS = .*", script, re.M).group()):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def floors(tree):
    # What has no mistake planted is as the build has compiled it.
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "scripts/floors"),
            "--root",
            str(tree),
            "--build",
            BUILD,
            "--variants",
            "release",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def plant(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_the_tree_as_it_is_passes(tree):
    code, said = floors(tree)
    assert code == 0, said


PLANTED = {
    "pasted name in the waiting half": (
        "src/lock/lock_wait.c",
        "#define JOINED(one, two) one##two\n",
        "src/lock/lock_wait.c: pastes a name (##)",
    ),
    "second definition in the waiting half": (
        "src/lock/lock_wait.c",
        "bool lock_drain(void)\n{\n    return false;\n}\n",
        "src/lock: lock_drain has 2 definitions",
    ),
    "long write path": ("src/lock/table.c", "\n" * 300, "lines on the write path, more than 1100"),
    "upward include": (
        "src/base/drain.c",
        '#include "../lock/table.h"\n',
        "lock/table.h, above it",
    ),
    "include of a header that is no face": (
        "src/count/counter.c",
        '#include "../base/latch.h"\n',
        "the face of base is base.h",
    ),
    "upward call": (
        "src/base/drain.c",
        "void *PAWL_SYMBOL_(pawl_rcu_default)(void);\n"
        "void *PAWL_SYMBOL_(pawl_planted)(void);\n"
        "void *PAWL_SYMBOL_(pawl_planted)(void)\n"
        "{\n    return PAWL_SYMBOL_(pawl_rcu_default)();\n}\n",
        "uses ipawl_rcu_default_v3_release_ of src/rcu/rcu_state.c, above it",
    ),
    "undecorated export": (
        "src/base/drain.c",
        "int pawl_planted;\n",
        "pawl_planted carries no version and variant",
    ),
    "source that does not compile alone": (
        "src/rcu/rcu_stall.c",
        "static int rcu_planted = SECTIONS_BEFORE_ANOTHER_TRY;\n",
        "src/rcu/rcu_stall.c: does not compile alone",
    ),
    "shared object that is not listed": (
        "src/base/drain.c",
        "PAWL_SHARED_DEFINE(uint32_t, planted_object);\n",
        "differ in ipawl_planted_object_v3",
    ),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_mistake_is_found(tree, what):
    where, text, says = PLANTED[what]
    plant(tree / where, text)
    code, said = floors(tree)
    assert code == 1 and says in said, said


def test_a_circle_of_two_sources_is_found(tree):
    for where, own, other in (("drain", "a", "b"), ("fences", "b", "a")):
        plant(
            tree / f"src/base/{where}.c",
            f"void PAWL_SYMBOL_(pawl_{own})(void);\nvoid PAWL_SYMBOL_(pawl_{other})(void);\n"
            f"void PAWL_SYMBOL_(pawl_{own})(void)\n{{\n    PAWL_SYMBOL_(pawl_{other})();\n}}\n",
        )
    code, said = floors(tree)
    assert code == 1 and "src/base/drain.c, src/base/fences.c: call each other" in said, said


def test_circles_beside_the_library_are_found(tree):
    for folder in ("tool/shim", "tool/trace"):
        for own, other in (("one", "two"), ("two", "one")):
            text = f"void {own}(void)\n{{\n    {other}();\n}}\n"
            (tree / f"{folder}/{own}.c").write_text(text, encoding="utf-8")
    code, said = floors(tree)
    assert code == 1, said
    for folder in ("tool/shim", "tool/trace"):
        assert f"{folder}/one.c, {folder}/two.c: call each other in a circle" in said, said


def test_what_stands_behind_a_function_is_not_the_function(tree):
    (tree / "tool/trace/one.c").write_text("void one(void)\n{\n    two();\n}\n", encoding="utf-8")
    text = 'void two(void)\n{\n    next()->one("one");\n}\n'
    (tree / "tool/trace/two.c").write_text(text, encoding="utf-8")
    code, said = floors(tree)
    assert code == 0, said


def test_circles_of_headers_are_found(tree):
    (tree / "sim/up.hpp").write_text('#include "engine/down.hpp"\n', encoding="utf-8")
    (tree / "sim/down.cpp").write_text('#include "up.hpp"\n', encoding="utf-8")
    code, said = floors(tree)
    assert code == 1, said
    assert "sim/down.cpp, sim/up.hpp: call each other in a circle" in said, said


def test_a_bare_name_that_two_sources_have_is_found(tree):
    for where in ("src/base/drain.c", "src/count/bigref.c"):
        plant(tree / where, "__attribute__((noinline, used)) static void grow(void)\n{\n}\n")
    code, said = floors(tree)
    assert code == 1 and "both have a static grow" in said, said
