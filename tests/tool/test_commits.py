# SPDX-License-Identifier: MIT
"""scripts/commits refuses what is too large to be found by blame, in a repository made for it."""

import os
import shutil
import subprocess

import pytest

from conftest import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
MANY = "".join(f"line {number}\n" for number in range(1501))
NAMES = {
    f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


@pytest.fixture
def tree(tmp_path):
    """A repository with the rule in it; returns what commits files, and what runs the script."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/commits", tmp_path / "scripts/commits")
    shutil.copy(ROOT / ".gitattributes", tmp_path)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | NAMES

    def run(*words):
        return subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    def commit(message="A change", **files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run("git", "add", "-A")
        assert run("git", "commit", "-qm", message).returncode == 0

    run("git", "init", "-q")
    commit.folder, commit.run = tmp_path, run
    commit("Older than the rule", before=MANY)
    run("git", "rm", "-q", "--cached", "scripts/commits")
    run("git", "commit", "-q", "--amend", "--no-edit")
    commit("The rule")
    return commit


def judged(tree, *words):
    return tree.run("scripts/commits", *words)


def test_older_commits_are_not_judged(tree):
    assert judged(tree).returncode == 0


def test_a_large_commit_is_refused_and_named(tree):
    tree(new=MANY)
    done = judged(tree)
    name = tree.run("git", "log", "-1", "--format=%h").stdout.strip()
    assert done.returncode == 1 and done.stdout.startswith(f"{name} adds 1501 lines by hand")


@pytest.mark.parametrize("reason, code", [("Large: one table", 0), ("Large:", 1), ("Large one", 1)])
def test_a_trailer_says_why(tree, reason, code):
    tree(f"A change\n\n{reason}", new=MANY)
    assert judged(tree).returncode == code


def test_what_moved_does_not_count(tree):
    lines = MANY.splitlines(keepends=True)
    tree(before="", one="".join(lines[:700]), other="".join(f"  {line}" for line in lines[700:]))
    assert judged(tree).returncode == 0


def test_recordings_and_generated_files_do_not_count(tree):
    tree(**{"src/names.h": MANY, "bench/results/day/text": MANY, "Cargo": MANY[:100]})
    assert judged(tree).returncode == 0


def test_as_a_hook_it_judges_what_is_staged(tree):
    (tree.folder / "new").write_text(MANY)
    tree.run("git", "add", "new")
    message = tree.folder / "message"
    message.write_text("A change\n\n# a comment of git\n")
    assert "this commit adds 1501 lines" in judged(tree, "message").stdout
    message.write_text("A change\n\nLarge: one table\n# a comment of git\n")
    assert judged(tree, "message").returncode == 0


def test_a_shallow_clone_is_skipped(tree):
    tree.run("git", "clone", "-q", "--depth", "1", f"file://{tree.folder}", "shallow")
    done = subprocess.run(
        ["scripts/commits"],
        cwd=tree.folder / "shallow",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 77 and done.stdout.startswith("skipped: ")
