# SPDX-License-Identifier: MIT
"""The RCU examples notice when the point that each makes is broken.

As in test_designs.py, but built with AddressSanitizer: what is broken is mostly that something is
freed too early.
"""

import shutil

import broken
import pytest

from conftest import ROOT

EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("rcu_*.c"))
FLAGS = ["-O1", "-g", "-fsanitize=address"]
MORE = "8"  # times the usual work, which sanitizers make small

BROKEN = {
    "a deleted element is freed at once": ("reader_writer", [
        (r"pawl_rcu_defer_free\(p, rcu\);", "free(p);")]),
    "the original is freed at once": ("copy", [
        (r"pawl_rcu_defer_free\(old, rcu\);", "free(old);")]),
    "fields change where readers see them": ("copy", [
        (r"        pawl_list_replace_rcu\(.*",
         "        old->route.gateway = gateway; window();\n"
         "        old->route.port = port_of(gateway);\n\\g<0>")]),
    "the size is another array's": ("indirection", [
        (r"return i < a->size \?", "window(); return i < t->array->size ?"),
        (r"    pawl_drop_write\(&t->lock\);\n", r"\g<0>    if (i < 64) let_others_run();\n")]),
    "the old array is freed at once": ("indirection", [
        (r"pawl_rcu_defer_free\(old, rcu\);", "free(old);")]),
    "the array is loaded before the size": ("ordered_growth", [
        (r"    /\* Acquire: .*\n",
         "    items = pawl_rcu_dereference(t->items); window();\n"),
        (r"    items = pawl_rcu_dereference\(t->items\);\n", ""),
        (r"    pawl_drop_write\(&t->lock\);\n", r"\g<0>    if (i < 64) let_others_run();\n")]),
    "nobody looks for the mark": ("deleted_flag", [
        (r"if \(a->closed\) \{", "if (0) {"),
        (r"pawl_take_write\(&a->lock\); /\*", "window(); \\g<0>")]),
    "a miss is believed": ("rename", [
        (r"while \(!e && pawl_seq_retry\(&d->renames, begun\)\)", "while ((void)begun, 0)")]),
    "an audit lets updates go on": ("stall_updates", [
        (r"        sum \+= balance_of\(a\);\n    pawl_drop_read\(&l->updates\);",
         "        sum += balance_of(a);"),
        (r"    pawl_take_read\(&l->updates\);\n", "")]),
    "a handler is taken down while it runs": ("handlers", [
        (r"    pawl_rcu_synchronize\(\);\n", "")]),
    "nobody waits before the last word": ("existence", [
        (r"    if \(h\)\n        pawl_rcu_synchronize\(\);.*\n", "")]),
    "a node that was taken out is freed at once": ("nonblocking_writers", [
        (r"pawl_rcu_defer_free\(n, rcu\);", "free(n);")]),
    "a node is deleted twice": ("nonblocking_writers", [
        (r"!is_marked\(next\) &&", "")]),
    "old settings are freed at once": ("event_loop", [
        (r"    pawl_rcu_domain_synchronize\(pawl_rcu_qs\(\)\);.*\n", "")]),
    "a frame is overwritten unasked": ("polled", [
        (r"if \(!pawl_rcu_poll\(b->cookie\)\)", "if (0)")]),
    "who draws is no reader": ("domains", [
        (r"    pawl_rcu_domain_read_(lock|unlock)\(&thumbnails\);\n", "")]),
}  # fmt: skip

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return broken.library(tmp_path_factory.mktemp("library"), *FLAGS)


def test_each_example_has_a_case():
    assert {f"rcu_{name}.c" for name, _ in BROKEN.values()} == set(EXAMPLES)


@pytest.mark.parametrize("what", BROKEN)
def test_an_example_fails_when(what, library, tmp_path):
    name, changes = BROKEN[what]
    program = broken.build(f"rcu_{name}", changes, tmp_path, *FLAGS, library)
    assert broken.fails(program, MORE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_quotes(name):
    pages = [(ROOT / "doc" / page).read_text() for page in ("rcu.md", "rcu_designs.md")]
    assert any(f"<!-- example:begin examples/{name} -->" in page for page in pages)
