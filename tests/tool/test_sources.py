# SPDX-License-Identifier: MIT
"""doc/sources.tsv says of each item of the six documents where it is: the places exist."""

import csv
import re
import sys
from collections import Counter
from xml.etree import ElementTree

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import pawl_pictures  # noqa: E402
import pawl_published  # noqa: E402

SIZES = {"W": 57, "P": 87, "T": 32, "A": 45, "S": 39, "M": 92}  # items of each document
OPEN = 0  # partial and missing: lower it, never raise it


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


def outside(svg, wide):
    """Words of a picture that a common font, `wide`, would cut off."""
    root = ElementTree.fromstring(svg)
    _, _, width, _ = map(float, root.get("viewBox").split())
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        length = wide("".join(text.itertext()).strip(), float(text.get("font-size"))) or 0
        x = float(text.get("x")) - length * {"start": 0, "middle": 0.5, "end": 1}[
            text.get("text-anchor", "start")
        ]  # fmt: skip
        if x < 0 or x + length > width:
            yield text.text


def test_no_words_of_a_picture_are_cut_off():
    """DejaVu Sans is the widest of the fonts that systems call sans-serif."""
    textpath = pytest.importorskip("matplotlib.textpath")
    sans = pytest.importorskip("matplotlib.font_manager").FontProperties(family="DejaVu Sans")

    def wide(words, size):
        return words and textpath.TextPath((0, 0), words, size=size, prop=sans).get_extents().x1

    found = {name: list(outside(draw(), wide)) for name, draw in pawl_pictures.DRAWN.items()}
    assert {name: cut for name, cut in found.items() if cut} == {}


def test_each_table_of_published_figures_stands_in_a_page():
    pages = "".join(path.read_text() for path in (ROOT / "doc").rglob("*.md"))
    assert sorted(re.findall(r"<!-- table: (\w+) -->", pages)) == sorted(pawl_published.MADE)
    assert all("nan" not in pawl_published.markdown(name) for name in pawl_published.MADE)


def test_the_walk_finds_each_word_of_the_header():
    """U, R, S, W and A as the head of spin.h says, and a waiting writer without a unit of R."""
    words = {(threads, word) for threads, word in pawl_published.Walk().states(2)}
    assert len(words) > 100
    for mode, word in {"R": (0, 0, 1), "S": (0, 1, 1), "W": (1, 1, 1), "A": (1, 0, 0)}.items():
        assert (tuple(sorted(("U", mode))), word) in words


PAGES = "spin tree idtable pshared sift brlock seq bigref wait rcu counter costs choosing".split()


@pytest.mark.parametrize("page", PAGES)
def test_the_source_of_a_page_has_author_title_year_and_address(page):
    text = (ROOT / f"doc/{page}.md").read_text()
    source = re.search(r"^## Source\n\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    named = r"^[A-Z]\. [A-Z]\w+,\s\[[^\]]+\]\(https?://[^)\s]+\),\s(\d{4}|undated)\b"
    assert re.search(named, source, re.M), source
