# SPDX-License-Identifier: MIT
"""What lies below bench/results: data and no drawings, few bytes, and what the pages say of it."""

import functools
import lzma
import re
import subprocess

import pytest

from conftest import REGISTRY, ROOT
from pawl import targets
from pawl.cli import main
from pawl.core import overview, record, results

RESULTS = ROOT / "bench" / "results"
PAGE = RESULTS / "README.md"
FOLDERS = overview.folders(PAGE)
KIB = 1024
MOST_OF_RUN, MOST_OF_PICTURE, MOST_OF_PAGE = 400 * KIB, 300 * KIB, 56 * KIB
MOST_TOGETHER = 6 * KIB * KIB  # three runs of each set, some on two machines
# A picture is one part of a run: the options that draw it.
DRAWN = {"amd-epyc-2026-11-21/published-cell.png": ["--part", "2"]}


def test_contributing_tells_the_limits():
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    assert f"at most {MOST_OF_RUN // KIB} KiB each" in text
    assert f"at most {MOST_OF_PICTURE // KIB} KiB)" in text
    assert f"All together have at most {MOST_TOGETHER // KIB // KIB} MiB." in text


def committed():
    """All files that are there, but for results of one's own."""
    return [
        p
        for p in sorted(RESULTS.rglob("*"))
        if p.is_file() and overview.LOCAL not in p.relative_to(RESULTS).parts
    ]


def shown_pictures():
    """Every picture that a page of the repository shows, as a path."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    pages = [ROOT / name for name in listed] or list(ROOT.glob("*.md"))
    return {
        (page.parent / name).resolve()
        for page in pages
        if page.is_file()
        for name in re.findall(r"!\[[^]]*\]\(([^)]+\.png)\)", page.read_text())
    }


def test_there_are_committed_results():
    assert len(FOLDERS) >= 5


@pytest.mark.parametrize("path", committed(), ids=lambda p: str(p.relative_to(RESULTS)))
def test_only_data_pictures_that_a_page_shows_and_one_page_are_there(path):
    if path == PAGE:
        assert path.stat().st_size <= MOST_OF_PAGE
    elif path.suffix == ".png":
        assert path in shown_pictures(), "no page shows it; pawl report draws it on demand"
        assert path.stat().st_size <= MOST_OF_PICTURE
    else:
        assert re.fullmatch(r"run[0-9]+\.json\.xz", path.name) and path.parent in FOLDERS
        assert path.stat().st_size <= MOST_OF_RUN


def test_all_of_it_together_is_small():
    assert sum(p.stat().st_size for p in committed()) <= MOST_TOGETHER


@pytest.mark.parametrize(
    "path",
    [p for f in FOLDERS for p in record.files_of(f)],
    ids=lambda p: f"{p.parent.name}-{p.name}",
)
def test_a_run_is_data_alone_as_the_command_writes_it(path):
    run = results.load(path, REGISTRY)
    assert results.bare(run) == run
    assert results.short(run) == lzma.decompress(path.read_bytes()), "write it with pawl"


def test_every_picture_is_known_here():
    assert {str(p.relative_to(RESULTS)) for p in committed() if p.suffix == ".png"} == set(DRAWN)


@pytest.mark.parametrize("name", DRAWN)
def test_a_committed_picture_is_of_the_data_beside_it(name):
    path = RESULTS / name
    run = path.with_name("run1.json.xz")
    assert main(["report", str(run), *DRAWN[name], "--png", str(path), "--check"]) == 0


@pytest.fixture(scope="module", autouse=True)
def judged_once():
    """Every judgement of all runs takes seconds, and has one outcome."""
    with pytest.MonkeyPatch.context() as patch:
        judge = functools.cache(
            functools.partial(overview.block, PAGE, targets.KINDS, targets.SETS)
        )
        patch.setattr(overview, "block", lambda *_: judge())
        yield


def test_the_page_says_what_the_runs_found():
    assert targets.main(["--check"]) == 0, "run scripts/targets --write"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(" met |", " reached |", 1),
        lambda text: text.replace("| spin |", "| spun |", 1),
    ],
)
def test_a_page_that_says_something_else_is_stale(spoil, tmp_path, monkeypatch, capsys):
    for folder in FOLDERS:
        (tmp_path / folder.name).symlink_to(folder)
    page = tmp_path / "README.md"
    page.write_text(spoil(PAGE.read_text()))
    monkeypatch.setattr(targets, "_page", lambda: page)
    assert targets.main(["--check"]) == 1 and "is stale" in capsys.readouterr().err
    assert targets.main(["--write"]) == 0 and page.read_text() == PAGE.read_text()
