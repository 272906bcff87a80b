# SPDX-License-Identifier: MIT
"""A 32-bit program of narrow spinlocks refers to no atomic operation of 64 bits. For a processor
without them gcc calls a function for each, which the linker does not find."""

import re
import shutil
import subprocess

import pytest

from conftest import ROOT

PROGRAM = """
#include <pawl/spin.h>
static pawl_spin{0} lock;
int main(void)
{{
    pawl_take_read(&lock), pawl_drop_read(&lock), pawl_take_seek(&lock);
    pawl_seek_to_write(&lock), pawl_drop_write(&lock), pawl_take_write(&lock);
    pawl_write_to_seek(&lock), pawl_drop_seek(&lock), pawl_take_atomic(&lock);
    return pawl_atomic_to_read(&lock) != PAWL_REGAIN_KEPT;
}}
"""


def run(*words, **more):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, **more)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    (folder / "empty.c").write_text("#include <unistd.h>\nint main(void) { return 0; }\n")
    flags = ["-m32", "-march=i486", "-O2", "-D_GNU_SOURCE", f"-I{ROOT}/include"]
    if not shutil.which("gcc") or run("gcc", *flags, "empty.c", cwd=folder).returncode:
        pytest.skip("gcc makes no 32-bit programs here")
    other = re.compile(r"windows|darwin|freebsd|wasm")
    sources = [
        path
        for pattern in ("os/*.c", "base/*.c", "lock/spin*.c")
        for path in sorted((ROOT / "src").glob(pattern))
        if not other.search(path.name)
    ]
    made = run("gcc", *flags, "-c", *sources, cwd=folder)
    assert made.returncode == 0, made.stderr
    run("ar", "rcs", "libwords.a", *sorted(folder.glob("*.o")), cwd=folder)

    def go(bits):
        (folder / "program.c").write_text(PROGRAM.format(bits))
        return run("gcc", *flags, "program.c", "-L.", "-lwords", "-pthread", cwd=folder).stderr

    return go


@pytest.mark.parametrize("bits", [16, 32])
def test_a_narrow_spinlock_refers_to_no_wide_atomic(build, bits):
    assert build(bits) == ""


def test_a_wide_one_does(build):
    assert re.search(r"undefined reference to `__atomic_\w+_8'", build(64))
