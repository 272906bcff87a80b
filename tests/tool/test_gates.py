# SPDX-License-Identifier: MIT
"""Each check among the scripts fails, and says where, on a fault planted in a copy of the tree."""

import re
import shutil
import subprocess

import pytest

from conftest import ROOT

GATES = {  # script and options: file, what stands there, the fault, what the script says
    "no_timeouts": (
        "src/lock/wait.c",
        "#undef NATIVE_BITS",
        "void planted(void)\n{\n    nanosleep(0, 0);\n}\n#undef NATIVE_BITS",
        "src/lock/wait.c",
    ),
    "orders --check": (
        "include/pawl/detail/tags.def",
        "PAWL_TAG(SPIN_W_DRAIN, acquire",
        "PAWL_TAG(SPIN_W_DRAIN, release",
        "SPIN_W_DRAIN",
    ),
    "promises": ("doc/lock.md", "Exclusion, visibility and", "Exclusion and", "no longer says"),
    "prose --check": (
        "hardware/watchdog/README.md",
        "A command that cuts power",
        "What cuts power",
        "watchdog/README.md",
    ),
    "quote --check": (
        "examples/spin_tree_insert.c",
        "readers go on, other inserters wait",
        "readers wait",
        "spin.md",
    ),
    "spdx": ("src/pawl.c", "-Identifier: MIT", "", "src/pawl.c"),
    "transitions --check": ("doc/spin.md", "| `take_read` | U → R | +R |", "| |", "spin.md"),
}
ELSEWHERE = {  # these have a test file of their own
    name: f"tests/tool/test_{name}.py"
    for name in ("commits", "floors", "lint", "names", "prose", "prototypes", "release", "weigh")
} | {"abi": "tests/tool/test_gates.py"}  # it compares a library that was built: below


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Links to the files, but for the scripts, which look for the tree around themselves."""
    root = tmp_path_factory.mktemp("tree")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, check=False, text=True
    ).stdout.split("\n")[:-1]
    if not listed:
        pytest.skip("no git here")
    for name in listed:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if name.startswith("scripts/") or name == ".gitignore":
            shutil.copy(ROOT / name, root / name)
        elif (ROOT / name).is_file():
            (root / name).symlink_to(ROOT / name)
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "-A"], check=True)
    return root


def said(tree, gate):
    script, *options = gate.split()
    done = subprocess.run(
        [tree / "scripts" / script, *options], capture_output=True, check=False, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("gate", GATES)
def test_a_planted_fault_shuts_the_gate(tree, gate):
    name, old, new, says = GATES[gate]
    text = (ROOT / name).read_text()
    assert old in text
    assert said(tree, gate)[0] == 0
    (tree / name).unlink()
    (tree / name).write_text(text.replace(old, new, 1))
    code, output = said(tree, gate)
    (tree / name).unlink()
    (tree / name).symlink_to(ROOT / name)
    assert code == 1 and says in output, output


def test_each_gate_has_such_a_fault():
    gates = {
        path.name
        for path in (ROOT / "scripts").iterdir()
        if path.is_file() and re.search(r"^# ctest:", path.read_text(), re.M)
    }
    assert gates == {gate.split()[0] for gate in GATES} | set(ELSEWHERE)
    assert all((ROOT / where).is_file() for where in ELSEWHERE.values())


@pytest.mark.parametrize(
    ("versions", "says"),
    [("", "pawl_planted"), ("PAWL_0.1 { global: pawl_*; local: *; };", "The ABI differs")],
)
def test_a_name_without_a_version_and_names_that_are_gone_shut_the_gate_of_the_abi(
    tmp_path, versions, says
):
    library, script = tmp_path / "libpawl.so", tmp_path / "names.map"
    script.write_text(versions)
    mapped = [f"-Wl,--version-script={script}"] if versions else []
    source = "void pawl_planted(void);\nvoid pawl_planted(void) {}\n"
    subprocess.run(
        ["gcc", "-g", "-shared", "-fPIC", *mapped, "-o", library, "-x", "c", "-"],
        input=source,
        text=True,
        check=True,
    )
    code, output = said(ROOT, f"abi {tmp_path}")
    if code == 77:
        pytest.skip(output)
    assert code == 1 and says in output, output
