# SPDX-License-Identifier: MIT
"""scripts/prototypes finds what is wrong with the prototypes and contracts of the headers."""

import shutil
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from conftest import ROOT


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    loader = SourceFileLoader("pawl_prototypes_script", str(ROOT / "scripts/prototypes"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    shutil.copytree(ROOT / "include/pawl", tmp_path / "pawl")
    module.FOLDER = tmp_path / "pawl"
    return module


def test_the_headers_of_today_are_right(script):
    assert script.all_functions() and script.wrong == []


@pytest.mark.parametrize(("was", "becomes", "says"), [
    ("PAWL_TRYING bool pawl_lock32_try_read(", "PAWL_INLINE bool pawl_lock32_try_read(", "TRYING"),
    ("void pawl_lock64_take_write(", "bool pawl_lock64_take_write(",
     "differs from the width before"),
    ("void pawl_lock32_take_write(pawl_lock32 *l);", "", "take_write lacks a width"),
    ("/* U -> S. Waits", "/* U -> R. Waits", "the contract of take_seek begins with U -> S"),
    ("/* U -> R as take_read; false", "/* S -> R; false", "take_read_until begins with U -> R"),
    ("/* W -> U. Release. */\n", "/* ---- */\n", "pawl_lock32_drop_write has no contract"),
    ("_seek_to_write(", "_seek_to_writ(", "lock.h has no seek_to_write"),
    ("pawl_lock32_hand_off(", "pawl_lock16x_hand_off(", "is none of its functions"),
])  # fmt: skip
def test_a_mistake_is_found(was, becomes, says, script):
    path = script.FOLDER / "lock.h"
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, becomes))
    script.all_functions()
    assert says in "\n".join(script.wrong)
