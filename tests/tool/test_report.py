# SPDX-License-Identifier: MIT
"""Pages and pictures: self-contained, whole, and known to be stale when they are."""

import json
import re
import xml.etree.ElementTree as xml

import pytest
from PIL import Image

from conftest import figures
from pawl.cli import main
from pawl.kinds.lru import plot


def report(*arguments):
    return main(["report", *map(str, arguments)])


def test_the_page_needs_nothing_from_outside(result, tmp_path):
    page = tmp_path / "run.html"
    assert report(result, "--html", page) == 0
    text = page.read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', text) == []
    assert "url(" not in text and "@import" not in text


def test_the_page_tells_machine_compiler_and_command(result, tmp_path):
    run = json.loads(result.read_text())
    page = tmp_path / "run.html"
    report(result, "--html", page)
    text = page.read_text()
    for fact in (run["machine"]["cpu"], "fake 1.0", "-O2", "measured 99.76 %", "Commit"):
        assert fact in text, fact
    assert "Slower than r+w/pthread_rwlock here" in text


def test_names_from_a_result_cannot_break_the_page(result, tmp_path):
    run = json.loads(result.read_text())
    run["title"] = "<script>alert(1)</script>"
    result.write_text(json.dumps(run))
    page = tmp_path / "run.html"
    report(result, "--html", page)
    assert "<script>" not in page.read_text()


def test_several_results_share_a_page_and_a_picture(result, drivers, tmp_path):
    pairs = tmp_path / "pairs.json"
    assert main(["bench", "pairs", "--quiet", "--json", str(pairs)]) == 0
    page, one, both = (tmp_path / n for n in ("both.html", "one.png", "both.png"))
    drawing = tmp_path / "both.svg"
    assert report(result, "--png", one) == 0
    assert report(result, pairs, "--html", page, "--png", both, "--svg", drawing) == 0
    text = page.read_text()
    assert text.count("<h2 id=") == 2
    # The verdict of each stands above all of them, and leads to its part.
    top = text[text.index("<h1>") : text.index("<h2 id=")]
    assert "In short, on" in top and "At 1 thread " in top
    assert re.findall(r'href="#(.*?)"', top) == re.findall(r'<h2 id="(.*?)"', text)
    assert Image.open(both).height > Image.open(one).height
    assert xml.parse(drawing).getroot().tag.endswith("svg")


def test_a_grid_draws_a_panel_for_each_cell(bench, tmp_path):
    path, page = tmp_path / "grid.json", tmp_path / "grid.html"
    bench("--grid", "--candidates", "published", "--json", path, "--html", page)
    figure = figures(json.loads(path.read_text()))[0][1]
    titles = [a.get_title(loc="left") for a in figure.axes]
    assert "hit 99 %, cost 300" in titles and len(titles) == 18
    assert page.read_text().count("<details>\n<summary>nominal hit") == 36


def test_a_grid_at_one_thread_count_draws_ratios(bench, tmp_path):
    path = tmp_path / "grid.json"
    bench("--grid", "--threads", "2", "--candidates", "published", "--json", path)
    figure = figures(json.loads(path.read_text()))[0][1]
    assert [a.get_title(loc="left") for a in figure.axes] == [
        "miss cost 30",
        "miss cost 100",
        "miss cost 300",
    ]


def test_ratios_of_the_strategy_on_other_locks_are_drawn_too(bench, tmp_path):
    """A page of recorded runs compared four locks and drew a line for the baseline alone."""
    path = tmp_path / "grid.json"
    rows = [f"r+s>w/pawl_{lock}" for lock in ("spin32", "spin64", "lock32", "lock64")]
    bench("--grid", "--threads", "2", "--candidates", ",".join(rows), "--json", path)
    drawn = figures(json.loads(path.read_text()))[0][1].axes
    assert {t.get_text() for t in drawn[-1].texts} >= set(rows)


def test_every_axis_of_values_starts_at_zero(bench, tmp_path):
    path = tmp_path / "three.json"
    bench("--threads", "1:3", "--json", path)
    for _, figure in figures(json.loads(path.read_text())):
        curves, bars = figure.axes
        assert curves.get_ylim()[0] == 0 and bars.get_xlim()[0] == 0


def test_two_thread_counts_are_two_rankings_from_zero(result):
    for _, figure in figures(json.loads(result.read_text())):
        assert [a.get_title(loc="left") for a in figure.axes] == ["1 thread", "2 threads"]
        assert [a.get_xlim()[0] for a in figure.axes] == [0, 0]


def test_a_run_with_one_sample_of_one_row_can_be_drawn(bench, tmp_path):
    path = tmp_path / "run.json"
    bench(
        "--rounds",
        "1",
        "--threads",
        "1",
        "--candidates",
        "pthread",
        "--json",
        path,
        "--png",
        tmp_path / "run.png",
        "--html",
        tmp_path / "run.html",
    )
    assert report(path) == 0


@pytest.mark.parametrize("form", ["html", "png", "svg"])
def test_a_drawing_of_other_data_is_stale(form, result, bench, tmp_path, capsys):
    drawn = tmp_path / f"run.{form}"
    assert report(result, f"--{form}", drawn) == 0
    assert report(result, f"--{form}", drawn, "--check") == 0
    bench("--candidates", "pthread", "--json", result)
    assert report(result, f"--{form}", drawn, "--check") == 1
    assert "is stale" in capsys.readouterr().err


def test_a_drawing_is_the_same_each_time(result, tmp_path):
    for name in ("a.svg", "b.svg"):
        report(result, "--svg", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_labels_are_moved_apart_by_as_little_as_is_needed():
    assert plot._spread([1.0, 5.0], 1) == [1, 5]
    assert plot._spread([5.0, 5.0], 1) == [4.5, 5.5]
    moved = sorted(plot._spread([1.0, 1.1, 1.2, 9.0], 1))
    assert [round(b - a, 6) for a, b in zip(moved, moved[1:3], strict=False)] == [1, 1]
    assert moved[-1] == 9


def test_one_part_of_several_can_be_drawn_alone(result, tmp_path, capsys):
    page = tmp_path / "second.html"
    assert main(["report", str(result), str(result), "--part", "2", "--html", str(page)]) == 0
    assert page.read_text().count("<h2 id=") == 1
    assert main(["report", str(result), str(result), "--part", "3", "--html", str(page)]) == 2
    assert "there are only 2 results" in capsys.readouterr().err


@pytest.mark.parametrize(
    "kind, says",
    [("advice", "pawl advise TRACE --html"), ("diff", "the two files"), ("replay", "--replay")],
)
def test_a_file_of_another_command_is_told_what_shows_it(kind, says, tmp_path, capsys):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"schema": 1, "kind": kind}))
    assert main(["report", str(path)]) == 2
    assert says in capsys.readouterr().err
    assert main(["diff", str(path), str(path)]) == 2
    assert says in capsys.readouterr().err


def test_a_trace_is_no_result(tmp_path, capsys):
    path = tmp_path / "a.trace"
    path.write_bytes(b"SQLite format 3\0")
    assert main(["report", str(path)]) == 2
    assert f"pawl advise {path}" in capsys.readouterr().err
