# SPDX-License-Identifier: MIT
"""Pictures of recorded runs show every row, and nothing of them is cut off."""

import pytest

from conftest import ROOT
from pawl.core import results
from pawl.kinds.readers.plan import NULL
from pawl.kinds.readers.plot import COLOURS
from pawl.kinds.registry import KINDS

RUNS = sorted((ROOT / "bench" / "results").glob("*-readers/run1.json.xz"))
of_each = pytest.mark.parametrize("path", RUNS, ids=lambda p: p.parent.name)


@of_each
def test_every_row_of_the_recorded_readers_is_drawn(path):
    """The rows _evidence and _called had no colour, and a row without one is not drawn."""
    measured = {
        row["candidate"]
        for _, result in results.parts(path, KINDS)
        for cell in result["cells"]
        for row in cell["summary"]
    }
    assert measured - set(COLOURS) == {NULL}


@of_each
def test_the_legend_of_many_rows_fits_its_picture(path):
    """That of the reader's pair was cut off at both ends: 23 names beside one low panel."""
    kind, result = results.parts(path, KINDS)[0]
    for _, figure in kind.figures(result):
        figure.canvas.draw()
        box = figure.legends[0].get_window_extent()
        assert box.y0 >= 0 and box.y1 <= figure.bbox.height
