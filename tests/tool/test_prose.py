# SPDX-License-Identifier: MIT
"""scripts/prose --check finds each kind of sentence that breaks a rule, and no other."""

import subprocess

import pytest

from conftest import ROOT

LONG = "Locks " + "waits and " * 17 + "ends."


def said(path):
    done = subprocess.run(
        [ROOT / "scripts/prose", "--check", path], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.fixture
def page():
    (ROOT / "build").mkdir(exist_ok=True)
    path = ROOT / "build/prose-test.md"
    yield path
    path.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What the lock does is wait.", "begins with What"),
        ("Whoever comes later enters after it.", "begins with Whoever"),
        ("Nobody knows the lock.", "begins with Nobody"),
        (LONG, "36 words, more than 35"),
        ("The scan is too dear for a lock.", '"dear": say costly'),
        ("The waker looks there in vain.", '"in vain": say for nothing'),
        ("A call and its kin are compiled.", '"and its kin": say and the like'),
        ("It takes so many reads as the lock has.", "say this many"),
        ("The caller drops the lock himself.", "say itself"),
    ],
)
def test_a_sentence_that_is_not_plain_is_found(page, text, words):
    page.write_text(f"A plain sentence stands here.\n{text}\n")
    code, out = said(page)
    assert code == 1 and f"{words}" in out and out.endswith("1 files, 1 faults\n")


@pytest.mark.parametrize(
    "text",
    [
        "Who holds the lock?",
        "The macro `What` is code.",
        'It says "what a dear lock" of it.',
        "```\nWhat a dear lock in vain\n```",
        LONG.replace("waits and ", "", 1),
    ],
)
def test_questions_code_and_quotations_are_exempt(page, text):
    page.write_text(f"{text}\n")
    assert said(page) == (0, "1 files, 0 faults\n")


def test_a_term_of_the_comments_that_words_lacks_is_found(tmp_path):
    for part in ("a", "b", "c"):
        path = ROOT / f"build/prose-{part}.h"
        path.write_text("/* A reader that finds WOMBAT waits. */\n")
    done = subprocess.run(
        [ROOT / "scripts/prose", "--check", *ROOT.glob("build/prose-?.h")],
        capture_output=True,
        text=True,
        check=False,
    )
    for path in ROOT.glob("build/prose-?.h"):
        path.unlink()
    assert done.returncode == 1 and "doc/words.md lacks WOMBAT" in done.stdout
