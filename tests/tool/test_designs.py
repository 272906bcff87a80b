# SPDX-License-Identifier: MIT
"""The design examples notice when the point that each makes is broken.

Each case breaks one thing in the source of an example, builds it, and expects it to end with a
failure: a check that does not hold, a crash, or a deadlock that the time limit ends.
"""

import shutil

import broken
import pytest

from conftest import ROOT

EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("design_*.c"))

BROKEN = {
    "the fresh place counts at once": ("move_between_lists", [
        (r"atomic_load_explicit\(&p->element->at, memory_order_acquire\) == p", "p->element"),
        (r"link_place\(to, fresh\);.*\n    pawl_drop_write\(&to->lock\);", r"\g<0> window();")]),
    "the element leaves before it arrives": ("move_between_lists", [
        (r"    link_place\(to, fresh\); /\* e names.*\n", ""),
        (r"(    pawl_drop_write\(&from->lock\);\n    /\* \[quote end\])",
         r"    pawl_drop_write(&from->lock); window();"
         r" pawl_take_write(&to->lock); link_place(to, fresh); pawl_drop_write(&to->lock);"
         r" pawl_take_write(&from->lock);\n\1")]),
    "two locks are taken in the caller's order": ("two_locks", [
        (r"pawl_take_two_write\(&from->lock, &to->lock\);",
         "pawl_take_write(&from->lock); if (to != from) pawl_take_write(&to->lock);")]),
    "the transfer holds one of its two locks": ("two_locks", [
        (r"pawl_(take|drop)_two_write\(&from->lock, &to->lock\);",
         r"pawl_\1_write(&from->lock);"),
        (r"to->balance \+= amount;",
         "{ long was = to->balance; window(); to->balance = was + amount; }")]),
    "the table is let go before the entry is held": ("hierarchical_locking", [
        (r"(\n    if \(e\)\n.*)(\n    pawl_drop_read\(&t->lock\);)", r"\2 window();\1"),
        (r"    free\(gone\);\n", r"\g<0>    window();\n")]),
    "the pool has no lock": ("allocator_cache", [
        (r"pawl_(take|drop)_write\(&p->lock\);", ";"),
        (r"\*from = b->next;", r"window(); \g<0>")]),
    "each block is fetched one by one": ("allocator_cache", [
        (r"&c->first, BATCH\)", "&c->first, 1)"), (r"c->number \+= BATCH", "c->number += 1")]),
    "a stranger does the owner's work": ("function_shipping", [
        (r"ship\(&owners\[i\], &requests\[i\]\);",
         "requests[i].run(&owners[i], &total); requests[i].done = true;")]),
    "who waits does not serve": ("function_shipping", [
        (r"            serve\(mine\); /\* the owner.*\n", "")]),
    "settings go to another owner": ("owner_reads", [
        (r"&workers\[worker\]", "&workers[0]")]),
    "the handler does not ask for the lock": ("handler_and_thread", [
        (r" && pawl_try_write\(&s->lock\)", ""), (r"        pawl_drop_write\(&s->lock\);", "")]),
    "the handler waits for the thread": ("handler_and_thread", [
        (r"pawl_try_write\(&s->lock\)", "(pawl_take_write(&s->lock), true)")]),
    "a push does not notice another": ("stack_and_queue", [
        (r"while \(!atomic_compare_exchange_weak[^;]*;[^\n]*",
         "window(); atomic_store(&s->top, n);")]),
    "the queue is not turned round": ("stack_and_queue", [
        (r"n = take_all_in_order\(&queue\)", "n = take_all(&queue)")]),
    "all add to one cell without a locked instruction": ("counter_dissent", [
        (r"cells\[thread\]", "cells[0]")]),
    "the agreed counter is added to in two steps": ("counter_dissent", [
        (r"after\[me\] = .*;",
         "after[me] = atomic_load(&word) + amounts[me]; window();"
         "atomic_store(&word, after[me]);")]),
}  # fmt: skip

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return broken.library(tmp_path_factory.mktemp("library"), "-O2")


def test_each_example_has_a_case():
    assert {f"design_{name}.c" for name, _ in BROKEN.values()} == set(EXAMPLES)


@pytest.mark.parametrize("what", BROKEN)
def test_an_example_fails_when(what, library, tmp_path):
    name, changes = BROKEN[what]
    assert broken.fails(broken.build(f"design_{name}", changes, tmp_path, "-O2", library))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_of_designs_quotes(name):
    page = (ROOT / "doc" / "designs.md").read_text()
    assert f"<!-- example:begin examples/{name} -->" in page
