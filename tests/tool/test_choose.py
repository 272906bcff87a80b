# SPDX-License-Identifier: MIT
"""`pawl choose`: the trees, the questions, the pages."""

import html.parser
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from pawl.choose import page as choose_page
from pawl.choose import walk as choose
from pawl.cli import main
from pawl.core import errors
from pawl.kinds.costs import rows as costs_rows

DECISIONS = choose.load()
NODES = {**DECISIONS.questions, **DECISIONS.leaves}
PAGE = ROOT / "doc" / "choosing.md"


class Costs:
    """What pawl.kinds.costs.saved.load gives, with numbers that can be told apart."""

    machine = {"cpu": "Test CPU 9000"}
    raw = {
        "kernel": "Linux 9",
        "compiler": "cc 1",
        "flags": "-O2",
        "commit": "c0ffee0123456789",
        "dirty": False,
        "started": "2031-02-03T04:05:06+00:00",
    }

    def ns(self, row):
        return None if row == "membarrier_busy" else 10.0 + len(row)

    def why(self, row):
        return "only one CPU" if row == "membarrier_busy" else ""

    def lock(self, name, mode):
        if name != "pawl_spin32":
            return None
        return {
            "lock": name,
            "mode": mode,
            "available": True,
            "why": "",
            "local": {"median": 9.51},
            "moved": {"median": 1234.0},
            "half_local": 8.25,
        }

    def efficiency(self, name, mode, section, moved=False):
        return None if moved else section / (section + 9.51)


@pytest.fixture
def typed(monkeypatch, capsys):
    """Runs `pawl choose` with these lines as its standard input."""

    def run(lines, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{x}\n" for x in lines)))
        code = main(["choose", *arguments])
        return code, capsys.readouterr()

    return run


def path_to(leaf):
    """One list of answers that leads to the leaf."""

    def search(node, steps):
        if node == leaf:
            return steps
        for answer in DECISIONS.questions[node].answers if node in DECISIONS.questions else ():
            if (found := search(answer.to, [*steps, (node, answer.key)])) is not None:
                return found
        return None

    return search(DECISIONS.start, [])


# ---- The trees ----------------------------------------------------------------------------------


def test_every_answer_leads_somewhere():
    assert all(a.to in NODES for q in DECISIONS.questions.values() for a in q.answers)


def test_no_name_is_both_a_question_and_a_leaf():
    assert not DECISIONS.questions.keys() & DECISIONS.leaves.keys()


@pytest.mark.parametrize("name", NODES)
def test_everything_can_be_reached(name):
    assert path_to(name) is not None


@pytest.mark.parametrize("name", DECISIONS.questions)
def test_no_walk_comes_back_to_its_question(name):
    todo, seen = [a.to for a in DECISIONS.questions[name].answers], set()
    while todo:
        node = todo.pop()
        assert node != name
        if node in DECISIONS.questions and node not in seen:
            seen.add(node)
            todo += [a.to for a in DECISIONS.questions[node].answers]


@pytest.mark.parametrize("name", DECISIONS.questions)
def test_a_question_has_words_that_differ_and_none_that_is_a_command(name):
    keys = [a.key for a in DECISIONS.questions[name].answers]
    assert 2 <= len(keys) == len(set(keys))
    assert all(re.fullmatch("[a-z]{2,}", k) and k not in ("quit", "back") for k in keys)


@pytest.mark.parametrize("name", NODES)
def test_everything_is_in_a_tree(name):
    assert NODES[name].tree in DECISIONS.trees


@pytest.mark.parametrize("name", DECISIONS.leaves)
def test_a_leaf_names_files_that_exist_and_costs_that_have_a_name(name):
    leaf = DECISIONS.leaves[name]
    missing = [f for f in (*leaf.links, *leaf.examples) if not (ROOT / f).is_file()]
    assert missing == []
    assert all(c in DECISIONS.cost_names for c in leaf.costs) and leaf.costs


def test_every_name_of_a_cost_is_used():
    used = {c for leaf in DECISIONS.leaves.values() for c in leaf.costs}
    assert used == set(DECISIONS.cost_names)


def test_costs_are_rows_and_locks_that_pawl_costs_knows():
    rows = {c for c in DECISIONS.cost_names if "/" not in c}
    assert rows <= set(costs_rows.BY_ID)


def test_nothing_is_recommended_that_the_library_lacks():
    assert [x.id for x in DECISIONS.leaves.values() if x.later] == []
    assert "not in this library yet" not in PAGE.read_text()


def test_what_the_library_lacks_would_say_so():
    leaf = choose.Leaf("x", "locking", "Teleportation", "", later=True)
    assert leaf.label == "Teleportation (later: not in this library yet)"


def test_every_design_example_is_reached_from_the_page():
    named = {e for x in DECISIONS.leaves.values() for e in x.examples}
    designs = {
        f"examples/{p.name}"
        for kind in ("design", "rcu")
        for p in (ROOT / "examples").glob(f"{kind}_*.c")
    }
    assert designs - named == {"examples/design_counter_dissent.c"}
    assert "examples/design_counter_dissent.c" in PAGE.read_text()


# ---- Given answers ------------------------------------------------------------------------------


@pytest.mark.parametrize("leaf", DECISIONS.leaves)
def test_answers_lead_to_the_leaf_without_a_question(leaf, typed):
    given = [w for q, a in path_to(leaf) for w in ("--answer", f"{q}={a}")]
    code, shown = typed([], *given)
    assert code == 0 and DECISIONS.leaves[leaf].title in shown.out
    assert "why this is asked" not in shown.out


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--answer", "what"], "is not question=answer"),
        (["--answer", "=number"], "is not question=answer"),
        (["--answer", "what="], "is not question=answer"),
        (["--answer", ""], "is not question=answer"),
        (["--answer", "waht=number"], "did you mean what"),
        (["--answer", "zzzzzzzz=number"], "--json` names them all"),
        (["--answer", "what=nmber"], "say one of number, structure"),
        (["--answer", "what=number", "--answer", "what=structure"], "answered twice"),
        (["--json", "--answer", "words=one"], "not asked on this path"),
        (["--json", "--html", "x.html"], "--json: prints instead"),
        (["--answer", "what=number", "--html", "x.html"], "--answer: a page shows all"),
        (["--html", "/nonexistent/x.html"], "does not exist"),
        (["--costs", "/nonexistent/costs.json", "--json"], "costs.json"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, refused):
    assert sentence in refused("choose", *arguments)


def test_an_answer_beside_the_path_is_refused_at_the_leaf(typed):
    code, shown = typed(
        ["one"], "--answer", "what=number", "--answer", "updates=rare", "--answer", "reads=limit"
    )
    assert code == 2 and "reads is not asked on this path" in shown.err


def test_the_same_answer_twice_is_one_answer(typed):
    code, _ = typed(["rare", "one"], "--answer", "what=number", "--answer", "what=number")
    assert code == 0


# ---- Asking -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines", [["number", "rare", "one"], ["1", "1", "1"], ["NUMB", " rare ", "o"]]
)
def test_numbers_words_and_beginnings_answer(lines, typed):
    code, shown = typed(lines)
    assert code == 0 and DECISIONS.leaves["plain_atomic"].title in shown.out


@pytest.mark.parametrize(
    "line",
    [
        "",
        "0",
        "7",
        "99999999999999999999",
        "-1",
        "1.5",
        "x",
        "\0",
        "²",
        "[/red]",
        "number number",
        "x" * 500,
    ],
)
def test_a_wrong_answer_is_explained_and_asked_again(line, typed):
    code, shown = typed([line, "number", "rare", "one"])
    assert code == 0 and "does not answer this" in shown.out
    assert "from 1 to 6, or one of: number, structure" in shown.out


def test_a_beginning_of_two_words_is_none():
    assert (
        choose.chosen(
            "s",
            choose.Question(
                "q", "t", "?", "", (choose.Answer("sum", "", ""), choose.Answer("sort", "", ""))
            ),
        )
        is None
    )


def test_a_question_mark_says_why(typed):
    code, shown = typed(["?", "number", "rare", "one"])
    assert code == 0 and "most of those need no lock" in shown.out


def test_back_goes_to_the_question_before(typed):
    code, shown = typed(["structure", "b", "number", "rare", "one"])
    assert code == 0 and DECISIONS.leaves["plain_atomic"].title in shown.out


def test_back_passes_over_given_answers(typed):
    code, shown = typed(["b", "common", "back", "rare", "one"], "--answer", "what=number")
    assert code == 0 and "no question before this one" in shown.out
    assert DECISIONS.leaves["plain_atomic"].title in shown.out


def test_the_end_of_input_says_how_to_go_on(typed):
    code, shown = typed(["number"])
    assert code == 2
    assert "go on with `pawl choose --answer what=number --answer updates=...`" in shown.err


def test_no_input_at_all_is_bad_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["choose"]) == 2
    assert "the input ended" in capsys.readouterr().err


def test_quit_ends_as_an_interrupt_does(typed):
    code, shown = typed(["number", "q"])
    assert code == 130 and "--answer what=number" in shown.err


def test_a_stream_that_never_answers_is_ended(typed):
    code, shown = typed(["y"] * 1000)
    assert code == 2 and f"none of {choose.MOST_WRONG_LINES} lines" in shown.err


def as_program(stdin, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "pawl", "choose", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tool"), "PYTHONUTF8": "1"},
    )


@pytest.mark.parametrize("stdin", [b"\xff\xfe\n", b"\0" * 100_000, b"x" * 100_000])
def test_input_that_is_no_text_ends_with_a_sentence(stdin):
    done = as_program(stdin)
    assert done.returncode == 2 and b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"pawl: ")


def read_until(terminal, wanted, seconds=300):
    text, end = b"", time.monotonic() + seconds
    while wanted not in text and time.monotonic() < end:
        try:
            text += os.read(terminal, 4096)
        except OSError:
            break
    assert wanted in text, text
    return text


@pytest.fixture
def at_terminal():
    """`pawl choose` with a terminal for its input and output."""
    ours, theirs = pty.openpty()
    # A shell that runs the tests in the background has SIGINT ignored, which would be inherited.
    process = subprocess.Popen(
        [sys.executable, "-m", "pawl", "choose"],
        stdin=theirs,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tool")},
    )
    os.close(theirs)
    yield process, ours
    process.kill()
    process.wait()
    os.close(ours)


def test_at_a_terminal_ctrl_c_ends_with_one_sentence(at_terminal):
    process, terminal = at_terminal
    read_until(terminal, b"q quit")
    process.send_signal(signal.SIGINT)
    text = read_until(terminal, b"go on with")
    assert b"Traceback" not in text and process.wait(300) == 130


def test_at_a_terminal_ctrl_d_ends_with_one_sentence(at_terminal):
    process, terminal = at_terminal
    read_until(terminal, b"q quit")
    os.write(terminal, b"\x04")
    text = read_until(terminal, b"go on with")
    assert b"Traceback" not in text and process.wait(300) == 2


def test_at_a_terminal_wrong_answers_never_end_it(at_terminal):
    process, terminal = at_terminal
    for _ in range(choose.MOST_WRONG_LINES + 5):
        read_until(terminal, b"q quit")
        os.write(terminal, b"nonsense\n")
    read_until(terminal, b"q quit")
    os.write(terminal, b"handler\n")
    read_until(terminal, b"What does the handler do")
    assert process.poll() is None


# ---- JSON ---------------------------------------------------------------------------------------


def shown_json(capsys, *arguments):
    assert main(["choose", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_holds_the_trees_the_path_and_what_is_open(capsys):
    found = shown_json(capsys, "--answer", "what=number")
    assert found["kind"] == "choose" and found["start"] == "what"
    assert {q["id"] for q in found["questions"]} == set(DECISIONS.questions)
    assert {x["id"] for x in found["leaves"]} == set(DECISIONS.leaves)
    assert found["answers"] == {"what": "number"}
    assert found["path"] == [{"question": "what", "answer": "number", "to": "updates"}]
    assert found["next"] == "updates" and found["leaf"] is None


def test_json_ends_at_a_leaf_with_its_links(capsys):
    found = shown_json(capsys, "--answer", "what=handler", "--answer", "handler_does=read")
    assert found["next"] is None and found["leaf"]["id"] == "latch"
    assert found["leaf"]["links"] == ["doc/seq.md"]


# ---- Costs --------------------------------------------------------------------------------------


@pytest.fixture
def costs(monkeypatch, tmp_path):
    """A file of costs, and a reader of it that knows the numbers above."""
    from pawl.choose import command

    path = tmp_path / "costs.json"
    path.write_text("{}")
    monkeypatch.setattr(command, "_costs", lambda p: Costs() if p else None)
    return path


def test_a_leaf_says_what_it_costs_on_this_machine(costs, typed):
    code, shown = typed(["number", "rare", "one"], "--costs", str(costs))
    assert code == 0 and "Test CPU 9000" in shown.out
    assert f"a plain increment: {10 + len('increment')} ns" in shown.out


def test_a_lock_says_what_it_costs_when_it_has_moved():
    text = choose.cost_text("pawl_spin32/w", Costs())
    assert text == (
        "9.51 ns, 1.23 us when another CPU had it; half of the time in a section of 8.25 ns"
    )


def test_what_was_not_measured_says_why():
    assert choose.cost_text("membarrier_busy", Costs()) == "not measured: only one CPU"
    assert choose.cost_text("pawl_lock32/w", Costs()) == "not measured: not in this build"


@pytest.mark.parametrize(
    "nanoseconds, text",
    [(0.2345, "0.234 ns"), (999.4, "999 ns"), (1000, "1 us"), (2.5e6, "2.5 ms")],
)
def test_a_duration_has_three_digits(nanoseconds, text):
    assert choose.duration(nanoseconds) == text


def test_json_with_costs_prices_every_leaf(costs, capsys):
    found = shown_json(capsys, "--costs", str(costs))
    assert found["machine"] == Costs.machine
    assert all(c["text"] for x in found["leaves"] for c in x["costs"])


# ---- Pages --------------------------------------------------------------------------------------


def test_the_committed_page_is_what_the_command_writes(tmp_path, monkeypatch):
    """Made again by the command that it names, with the costs that it names."""
    made = re.search(r"<!-- made by: pawl (choose [^>]*?) -->", PAGE.read_text())[1].split()
    assert made[-1] == "doc/choosing.md"
    monkeypatch.chdir(ROOT)
    costs_path = made[made.index("--costs") + 1] if "--costs" in made else None
    loaded = None
    if costs_path:
        from pawl.kinds.costs import saved

        loaded = saved.load(ROOT / costs_path)
    text = choose_page.markdown(DECISIONS, PAGE, loaded, ROOT / costs_path if costs_path else None)
    assert PAGE.read_text() == text, f"run: pawl {' '.join(made)}"


def test_links_and_anchors_of_the_page_lead_somewhere():
    text = PAGE.read_text()
    anchors = re.findall(r'<a id="([^"]+)">', text)
    assert len(anchors) == len(set(anchors)) and set(anchors) == set(NODES)
    for to in re.findall(r"\]\((?!http)([^)]+)\)", text):
        assert to[1:] in anchors if to[0] == "#" else (PAGE.parent / to).is_file(), to


def test_a_page_elsewhere_names_files_without_linking_to_them(tmp_path):
    text = choose_page.markdown(DECISIONS, tmp_path / "page.md")
    assert "`doc/counter.md`" in text and "](../" not in text


def test_the_markdown_page_with_costs_has_them_at_each_leaf(costs, tmp_path):
    path = tmp_path / "page.md"
    assert main(["choose", "--costs", str(costs), "--markdown", str(path)]) == 0
    text = path.read_text()
    assert "--costs costs.json" in text
    assert "Test CPU 9000, Linux 9, cc 1, -O2, commit c0ffee0123, 2031-02-03" in " ".join(
        text.split()
    )
    assert text.count("| on this machine | |") == len(DECISIONS.leaves)
    assert "| pawl_spin32 taken and dropped for writing | 51% / - | 91% / - | 99% / - |" in text


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.targets += [found["href"]] if tag == "a" else []
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("with_costs", [False, True])
def test_the_html_page_is_whole_and_stands_alone(with_costs, costs, tmp_path):
    path = tmp_path / "page.html"
    assert main(["choose", "--html", str(path), *(["--costs", str(costs)] * with_costs)]) == 0
    text = path.read_text()
    page = Page(text)
    assert page.open == [] and set(page.ids) == set(NODES)
    assert {t[1:] for t in page.targets} <= set(NODES)
    assert "http://" not in text and "https://" not in text
    assert ("Test CPU 9000" in text) == with_costs


def test_a_page_replaces_only_when_it_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "page.md"
    path.write_text("old")
    monkeypatch.setattr(
        choose_page, "markdown", lambda *_: (_ for _ in ()).throw(errors.Failure("no."))
    )
    assert main(["choose", "--markdown", str(path)]) == 1
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["page.md"]
