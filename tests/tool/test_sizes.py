# SPDX-License-Identifier: MIT
"""scripts/sizes: what it keeps of the page when it writes the page again.

An idle machine wrote 40 KiB for the counter where a busy one measures 76: 16 threads that run one
after the other share cells. The next busy machine then refused the page."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from conftest import ROOT

PAGE = "| counter | 11575 | 9351 | 2888 | 108 | 3 | {} KiB | 8 |"


@pytest.fixture
def sizes():
    loader = SourceFileLoader("pawl_sizes_script", str(ROOT / "scripts/sizes"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(("page", "found", "most"), [(76, 40, 76), (40, 76, 76), (8, 8, 8)])
def test_the_most_resident_memory_stays_on_the_page(sizes, page, found, most):
    rows = {"counter": (11500, 9300, 2800, 100, 3, found, 9)}
    kept = sizes.with_most_seen(rows, sizes.numbers(PAGE.format(page)))
    assert kept == {"counter": (11500, 9300, 2800, 100, 3, most, 9)}


def test_a_new_row_is_what_was_measured(sizes):
    rows = {"new": (1, 1, 1, 1, 0, 12, 0)}
    assert sizes.with_most_seen(rows, {}) == rows
