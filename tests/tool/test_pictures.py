# SPDX-License-Identifier: MIT
"""Pictures of recorded runs show every row, and nothing of them is cut off."""

from conftest import ROOT
from pawl.core import results
from pawl.kinds.readers.plan import NULL
from pawl.kinds.readers.plot import COLOURS
from pawl.kinds.registry import KINDS

RUNS = sorted((ROOT / "bench" / "results").glob("*/run1.json.xz"))


def test_every_row_of_the_recorded_readers_is_drawn():
    """The rows _evidence and _called had no colour, and a row without one is not drawn."""
    (path,) = [p for p in RUNS if p.parent.name.endswith("-readers")]
    measured = {
        row["candidate"]
        for _, result in results.parts(path, KINDS)
        for cell in result["cells"]
        for row in cell["summary"]
    }
    assert measured - set(COLOURS) == {NULL}


def test_the_legend_of_many_rows_fits_its_picture():
    """That of the reader's pair was cut off at both ends: 23 names beside one low panel."""
    (path,) = [p for p in RUNS if p.parent.name.endswith("-readers")]
    kind, result = results.parts(path, KINDS)[0]
    for _, figure in kind.figures(result):
        figure.canvas.draw()
        box = figure.legends[0].get_window_extent()
        assert box.y0 >= 0 and box.y1 <= figure.bbox.height
