# SPDX-License-Identifier: MIT
"""The design examples notice when the point that each makes is broken.

Each case breaks one thing in the source of an example, builds it, and expects it to end with a
failure: a check that does not hold, a crash, or a deadlock that the time limit ends.
"""

import re
import shutil
import subprocess

import pytest

from conftest import ROOT

EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("design_*.c"))
# Only what deadlocks runs so long; a slow machine makes such a case slower, not wrong.
STUCK_SECONDS = 5
# A race that is there is not met in every run.
RUNS = 20

BROKEN = {
    "the fresh place counts at once": ("move_between_lists", [
        (r"atomic_load_explicit\(&p->element->at, memory_order_acquire\) == p", "p->element")]),
    "the element leaves before it arrives": ("move_between_lists", [
        (r"    link_place\(to, fresh\); /\* e names.*\n", ""),
        (r"(    pawl_drop_write\(&from->lock\);\n    /\* \[quote end\])",
         r"    pawl_drop_write(&from->lock); pawl_take_write(&to->lock); link_place(to, fresh);"
         r" pawl_drop_write(&to->lock); pawl_take_write(&from->lock);\n\1")]),
    "two locks are taken in the caller's order": ("two_locks", [
        (r"pawl_take_two_write\(&from->lock, &to->lock\);",
         "pawl_take_write(&from->lock); if (to != from) pawl_take_write(&to->lock);")]),
    "the transfer holds one of its two locks": ("two_locks", [
        (r"pawl_(take|drop)_two_write\(&from->lock, &to->lock\);",
         r"pawl_\1_write(&from->lock);")]),
    "the table is let go before the entry is held": ("hierarchical_locking", [
        (r"(\n    if \(e\)\n.*)(\n    pawl_drop_read\(&t->lock\);)", r"\2\1")]),
    "the pool has no lock": ("allocator_cache", [
        (r"pawl_(take|drop)_write\(&p->lock\);", ";")]),
    "each block is fetched one by one": ("allocator_cache", [
        (r"&c->first, BATCH\)", "&c->first, 1)"), (r"c->number \+= BATCH", "c->number += 1")]),
    "a stranger does the owner's work": ("function_shipping", [
        (r"ship\(&owners\[i\], &requests\[i\]\);",
         "requests[i].run(&owners[i], &total); requests[i].done = true;")]),
    "who waits does not serve": ("function_shipping", [
        (r"            serve\(mine\); /\* the one.*\n", "")]),
    "the handler does not ask for the lock": ("handler_and_thread", [
        (r" && pawl_try_write\(&s->lock\)", ""), (r"        pawl_drop_write\(&s->lock\);", "")]),
    "the handler waits for the thread": ("handler_and_thread", [
        (r"pawl_try_write\(&s->lock\)", "(pawl_take_write(&s->lock), true)")]),
    "a push does not notice another": ("stack_and_queue", [
        (r"while \(!atomic_compare_exchange_weak[^;]*;[^\n]*", "atomic_store(&s->top, n);")]),
    "the queue is not turned round": ("stack_and_queue", [
        (r"n = take_all_in_order\(&queue\)", "n = take_all(&queue)")]),
    "all add to one cell without a locked instruction": ("counter_dissent", [
        (r"cells\[thread\]", "cells[0]")]),
    "the agreed counter is added to in two steps": ("counter_dissent", [
        (r"after\[me\] = .*;",
         "after[me] = atomic_load(&word) + amounts[me]; atomic_store(&word, after[me]);")]),
}

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


def compile_c(*arguments):
    subprocess.run(["gcc", "-std=c11", "-O2", "-pthread", "-w", "-I", ROOT / "include",
                    *arguments], check=True)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = tmp_path_factory.mktemp("library") / "pawl.o"
    compile_c("-c", ROOT / "src" / "pawl.c", "-o", made)
    return made


def fails(program):
    """Whether it has failed by itself or by hanging, in one of a few runs."""
    for _ in range(RUNS):
        try:
            done = subprocess.run([program], capture_output=True, timeout=STUCK_SECONDS,
                                  check=False)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode != 0:
            return True
    return False


def test_each_example_has_a_case():
    assert {f"design_{name}.c" for name, _ in BROKEN.values()} == set(EXAMPLES)


@pytest.mark.parametrize("what", BROKEN)
def test_an_example_fails_when(what, library, tmp_path):
    name, changes = BROKEN[what]
    text = (ROOT / "examples" / f"design_{name}.c").read_text()
    for pattern, new in changes:
        text, count = re.subn(pattern, new, text)
        assert count > 0, f"nothing matches {pattern}"
    (tmp_path / "broken.c").write_text(text)
    compile_c("-I", ROOT / "examples", tmp_path / "broken.c", library, "-o", tmp_path / "broken")
    assert fails(tmp_path / "broken")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_of_designs_quotes(name):
    page = (ROOT / "doc" / "designs.md").read_text()
    assert f"<!-- example:begin examples/{name} -->" in page
