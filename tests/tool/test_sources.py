# SPDX-License-Identifier: MIT
"""doc/sources.tsv says of each item of the six documents where it is: the places exist."""

import csv
from collections import Counter

from conftest import ROOT

SIZES = {"W": 57, "P": 87, "T": 32, "A": 45, "S": 39, "M": 92}  # items of each document
OPEN = 54  # partial and missing: lower it, never raise it


def items():
    with open(ROOT / "doc/sources.tsv", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_each_item_stands_once_and_has_a_place_that_exists():
    rows = items()
    assert Counter(row[0][0] for row in rows) == SIZES
    assert len({row[0] for row in rows}) == len(rows)
    assert [row for row in rows if not (ROOT / row[2]).is_file()] == []


def test_states_are_known_and_what_is_not_here_has_a_reason():
    for number, state, _, what, remark in items():
        assert state in ("better", "equal", "partial", "missing", "not here"), number
        assert what and bool(remark) == (state == "not here"), number


def test_open_items_do_not_become_more():
    assert sum(row[1] in ("partial", "missing") for row in items()) <= OPEN
