# SPDX-License-Identifier: MIT
"""The lid on growth: what is above its budget is named, and pages are counted without code."""

import subprocess

import pytest

from conftest import ROOT

FILES = ("scripts/weigh", "scripts/budgets", ".gitattributes")


@pytest.fixture
def tree(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "scripts/weigh").chmod(0o755)
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc/page.md").write_text("Three words here.\n\n```\nnot these\n```\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "-A"], check=True)
    return tmp_path


def said(tree, *words):
    done = subprocess.run(
        [tree / "scripts/weigh", *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_a_weight_above_its_budget_is_named(tree):
    assert said(tree, "--write") == (0, "")
    assert said(tree, "--check") == (0, "")
    (tree / "doc/page.md").write_text("Three words here, and three more.\n")
    code, text = said(tree, "--check")
    assert code == 1
    assert text == "words of doc/ but design: 6, and the budget is 3 (scripts/budgets)\n"


def test_a_long_design_note_is_named(tree):
    assert said(tree, "--write") == (0, "")
    budget = "700 words of the longest design note\n"
    assert budget in (ROOT / "scripts/budgets").read_text()
    (tree / "scripts/budgets").write_text(budget)
    (tree / "doc/design").mkdir()
    (tree / "doc/design/001-long.md").write_text("word " * 701)
    (tree / "doc/design/002-short.md").write_text("word " * 700)
    subprocess.run(["git", "-C", tree, "add", "-A"], check=True)
    code, text = said(tree, "--check")
    assert code == 1
    assert text == (
        "words of the longest design note: 701, and the budget is 700 (doc/design/001-long.md)\n"
    )
    (tree / "doc/design/001-long.md").write_text("word " * 700)
    assert said(tree, "--check") == (0, "")


def test_recordings_and_generated_files_weigh_nothing(tree):
    before = said(tree)
    (tree / "doc/choosing.md").write_text("Written by a program.\n")
    subprocess.run(["git", "-C", tree, "add", "-A"], check=True)
    assert said(tree) == before
