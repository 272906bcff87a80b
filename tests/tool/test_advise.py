# SPDX-License-Identifier: MIT
"""`pawl advise`: each rule speaks of the program that shows its fault, and is silent about the same
program when it is mended; what it writes can be read by others."""

import contextlib
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from types import SimpleNamespace

import fastjsonschema
import large_trace
import pytest

from conftest import BUILD, ROOT, needs_recorder, recording
from pawl.advise import command, cycles, export, finding, page, patterns, replayed, schema, sketch
from pawl.advise.command import as_json
from pawl.advise.facts import Facts, Lock, Process, Site, Use, percent
from pawl.advise.finding import Finding, Match, find, texts
from pawl.advise.limits import parse
from pawl.advise.remarks import MUCH, nothing
from pawl.advise.rules import RULES, SATURATED, _usually_held
from pawl.cli import main
from pawl.core.errors import BadInput
from pawl.trace import collect, store

PROGRAMS = ROOT / "tests/advise"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The trace of a program of tests/advise, or of its mended twin; each is recorded once."""
    made = {}

    def go(rule, word="fault"):
        if (rule, word) in made:
            return made[rule, word]
        folder = tmp_path_factory.mktemp(rule)
        program, raw = folder / rule, folder / "raw"
        raw.mkdir()
        source = PROGRAMS / f"{rule}.c"
        ours = [os.path.join(BUILD, "libpawl.a")] if "<pawl/" in source.read_text() else []
        words = f"gcc -O1 -g -fPIE -I{ROOT}/include -pthread -o {program} {source}".split()
        subprocess.run([*words, *ours], check=True)
        done = subprocess.run([program, word], check=False, timeout=60, env=recording(raw))
        if done.returncode == 77:
            pytest.skip("the system does not allow what the program shows")
        with store.create(folder / "trace") as db:
            collect.collect(raw, db, {"command": f"{rule} {word}"})
        made[rule, word] = folder / "trace"
        return made[rule, word]

    return go


@needs_recorder
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_finds_its_fault(record, rule):
    # Of the rule itself: on a busy machine the threads' time grows, and the gain's share falls.
    facts = Facts(store.open_trace(record(rule)))
    found = list(RULES[rule](facts))
    if not found and facts.short >= MUCH:
        pytest.skip(f"for {percent(facts.short)} of their time the threads had no processor")
    assert len(found) == 1 and found[0].evidence and found[0].sites
    assert all("?" not in lock.name for lock in found[0].locks)
    low, high = Finding(rule, "", found[0], {}).gain
    assert found[0].unknown or low <= high <= max(2 * low, low + 0.1) + 1e-9


def test_a_holder_that_was_kept_off_its_processor_does_not_hide_a_saturated_lock():
    """Of 200 holds of 0.4 ms some lasted for 20 ms: the time was longer, and not the share."""
    process = Process(1, "x", 10**9, 443_000_000, 2)
    lock = Lock(1, "m", "mutex", process, 200, 35, 0, 390_000_000, False, None, 390_000_000)
    row = {"hold_ns": 390_000_000, "count": 200, "hold_p50": 390_000}
    lock.uses = [Use("mutex", None, None, row, None)]
    assert _usually_held(lock) > SATURATED
    row["hold_p50"] = 10_000
    assert _usually_held(lock) < 0.1


@needs_recorder
def test_no_look_is_lost_where_a_sleep_fills_the_ring(record):
    """The thread's entries are hold, sleep, hold, sleep: each 64th is a sleep, and the small ring
    that only a release made grow kept 64 of them for ever. The rule then missed most looks."""
    db = store.open_trace(record("polling"))
    sleeps = db.execute("SELECT count(*) FROM event WHERE mode = 'sleep'").fetchone()[0]
    assert sleeps >= 300 - 64  # another thread may go on in the small ring, and write over it


@needs_recorder
def test_those_who_wait_until_a_crowd_has_gone_by_are_counted(record):
    facts = Facts(store.open_trace(record("broadcast_storm")))
    conds = {lock.name: lock for lock in facts.kind("cond")}
    beside = patterns._sleeps_beside(facts, conds["there"], list(facts.kind("mutex")))
    assert beside == conds["idle"].of("cond-wait").sum("waits") > 0
    assert patterns._sleeps_beside(facts, conds["there"], []) == 0


@needs_recorder
def test_what_gains_too_little_is_not_said(record, monkeypatch):
    monkeypatch.setattr(finding, "LEAST_NS", 0)
    facts = Facts(store.open_trace(record("counter")))
    lock = next(iter(facts.locks.values()))

    def rule(share):
        return {
            "counter": lambda _: [
                Match([lock], ["x"], "high", [], 0, share * lock.process.thread_ns)
            ]
        }

    assert find(facts, rule(0.019)) == [] and len(find(facts, rule(0.021))) == 1
    assert "Nothing here would gain" not in nothing(facts, find(facts, rule(0.021)))
    fault = {"lock_order": lambda _: [Match([lock], ["x"], "high")]}
    assert find(facts, fault)[0].is_fault and nothing(facts, find(facts, fault))


@needs_recorder
def test_a_sketch_has_the_name_of_the_lock_and_the_lines_of_the_source(record):
    facts = Facts(store.open_trace(record("read_then_write")))
    (match,) = RULES["read_then_write"](facts)
    lines = Finding("read_then_write", "", match, texts()["read_then_write"]).sketch.splitlines()
    source = (PROGRAMS / "read_then_write.c").read_text().splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("@@")]
    assert len(heads) == len(set(match.sites)) == 2
    for i, site in zip(heads, match.sites, strict=True):
        assert lines[i] == f"@@ read_then_write.c:{site.line} look_then_write @@"
        assert lines[i + 1] == f" {source[site.line - 1].strip()}" and "lock(" in lines[i + 1]
    assert "-pthread_rwlock_rdlock(&lock);" in lines and "+pawl_take_seek(&lock);" in lines


@needs_recorder
def test_a_sketch_of_two_locks_has_both_names(record):
    facts = Facts(store.open_trace(record("lock_order")))
    (match,) = RULES["lock_order"](facts)
    match.locks.sort(key=lambda lock: lock.name, reverse=True)
    assert [lock.name for lock in match.locks] == ["b", "a"]
    text = Finding("lock_order", "", match, texts()["lock_order"]).sketch
    assert text.endswith("-pthread_mutex_lock(&a);\n pthread_mutex_lock(&b);\n"
                         "+pthread_mutex_lock(&a);\n")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("table.locks[3]", False, "-pthread_mutex_lock(&table.locks[3]);"),
        ("cache.map", True, " /* m: cache.map */\n-pthread_mutex_lock(&m);"),
        ("table+0x28", False, " /* m: table+0x28 */\n-pthread_mutex_lock(&m);"),
    ],
)
def test_a_name_that_is_no_variable_stands_beside_the_sketch(name, given, code):
    lock = Lock(1, name, "mutex", None, 0, 0, 0, 0, given, None)
    site = Site("secret (passwd:1)", "secret", "/etc/passwd", 1)
    text = sketch.sketch("\n-pthread_mutex_lock(&m);\n", "one_thread", [lock], [site])
    assert text == f"@@ passwd:1 secret @@\n{code}\n"  # of no file but a source a line is shown


def measured(lock, ratio, near=True):
    """An answer of `pawl replay` about this lock."""
    row = {
        "candidate": "exclusive/pawl_spin32",
        "gain": {"ratio": ratio, "low": None, "high": None},
    }
    return {"replaced": [lock.name], "rows": [row], "fidelity": {"near": near}}


@needs_recorder
def test_a_measured_gain_ranks_before_an_estimate(record):
    lock = next(iter(Facts(store.open_trace(record("counter"))).locks.values()))
    whole = lock.process.thread_ns

    def found(rule, share):
        match = Match([lock], ["x"], "high", [], 0, share * whole)
        return Finding(rule, rule, match, texts()[rule])

    convoy, counter = found("convoy", 0.9), found("counter", 0.3)  # a replay speaks of a convoy
    fault = Finding("lock_order", "", Match([lock], ["x"], "high"), texts()["lock_order"])
    every = [counter, convoy, fault]

    def order(*answer):
        return replayed.ranked(every, measured(lock, *answer) if answer else None)

    assert order() == [fault, convoy, counter]
    assert order(2.0) == [fault, convoy, counter]  # a half of the time
    assert order(1.1) == [fault, counter, convoy]  # a tenth
    assert order(1.1, False) == [fault, convoy, counter]  # not near the recording


@needs_recorder
def test_the_gain_is_that_of_the_replay_where_there_is_one(record):
    lock = next(iter(Facts(store.open_trace(record("counter"))).locks.values()))
    match = Match([lock], ["x"], "high", [], 0, 0.7 * lock.process.thread_ns)
    one = Finding("convoy", "", match, texts()["convoy"])

    def said(*answer):
        return replayed.expected(one, replayed.best(one, measured(lock, *answer)))

    assert said(2.0).startswith("expected gain 50 % of the threads' time, by replay; the estimate")
    assert said(1.01).startswith("no gain worth a change, by replay (1.0 %)")
    assert said(2.0, False) == "expected gain 50 % to 98 % of the threads' time, an estimate"
    assert replayed.expected(one, None) == said(2.0, False)


@needs_recorder
@pytest.mark.parametrize("rule", RULES)
def test_no_rule_speaks_of_the_mended_twin(record, rule):
    facts = Facts(store.open_trace(record(rule, "mended")))
    assert [(f.rule, f.match.evidence) for f in find(facts, RULES)] == []
    assert nothing(facts, [])


@needs_recorder
def test_a_thread_without_a_cpu_is_no_pattern(record, tmp_path):
    """The system takes the CPU from a reader inside for a second, and a writer waits for it: that
    writer had no reader go past it, and one hold was long."""
    trace = tmp_path / "trace"
    shutil.copy(record("writers_leave_early", "mended"), trace)
    with contextlib.closing(sqlite3.connect(trace)) as db, db:
        late = 1_000_000_000
        db.execute(
            "UPDATE use SET wait_ns = wait_ns + ?, wait_max = ?, waits = waits + 1 "
            "WHERE mode = 'write'",
            (late, late),
        )
        db.execute(
            "UPDATE use SET hold_ns = hold_ns + ?, hold_max = ?, hold_p99 = ?, "
            "hold_histogram = ? WHERE id = (SELECT max(id) FROM use WHERE mode = 'read')",
            (late, late, late, json.dumps([[20, 419], [late, 1]])),
        )
    facts = Facts(store.open_trace(trace))
    assert [f.rule for f in find(facts, RULES)] == []


@needs_recorder
def test_reads_that_share_a_line_have_the_price_of_a_pair(record, tmp_path):
    """What was timed goes into the bounds: of the time as recorded, and without the recorder."""
    trace = tmp_path / "trace"
    shutil.copy(record("many_short_reads"), trace)
    with contextlib.closing(sqlite3.connect(trace)) as db, db:
        db.execute("UPDATE process SET cpu_ns = 40000000, thread_ns = 40000000, pair_ns = 20")
        db.execute("UPDATE process SET own_ns = 10")
        db.execute(
            "UPDATE use SET priced = 50, take_ns = 60, drop_ns = 40, own_ns = 70, note_ns = 20, "
            "wait_ns = 0, waits = 0"
        )
    facts = Facts(store.open_trace(trace))
    (match,) = RULES["many_short_reads"](facts)
    assert "cost 120 ns here, and 20 ns where no other thread" in " ".join(match.evidence)
    count = sum(lock.of("read").count for lock in match.locks)
    assert match.calls[0] == pytest.approx(100 * count)  # a quarter of the time
    whole = facts.thread_ns
    assert match.calls[1] == pytest.approx(100 * count * whole / (whole - 100 * count), rel=0.01)
    assert "between 25 %" in match.unknown and "33 %" in match.unknown


HEAD = re.compile("^#+ (.*)$", re.MULTILINE)


@needs_recorder
@pytest.mark.parametrize("rule", ["many_short_reads", "counter"])
def test_a_line_has_the_price_of_the_machine_where_that_is_known(record, rule):
    facts = Facts(store.open_trace(record(rule)))
    row = {"local": {"median": 20.0}, "moved": {"median": 70.0}}
    facts.costs = SimpleNamespace(lock=lambda lock, mode: row if (lock, mode) in PRICED else None)
    (match,) = RULES[rule](facts)
    assert "50 ns" in " ".join([*match.evidence, match.unknown]) and (
        "by `pawl costs`" in " ".join([*match.evidence, match.unknown])
    )
    count = sum(lock.count for lock in match.locks)
    assert match.calls[1] >= 0.9 * 50 * count


PRICED = [("pthread_rwlock", "r"), ("pthread_mutex", "w")]


def test_each_rule_has_its_words_and_its_program():
    assert set(texts()) == set(RULES) == {p.stem for p in PROGRAMS.glob("*.c")}
    for words in texts().values():
        page, section = words["page"].split("#")
        text = (ROOT / "doc" / page).read_text()
        heads = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in HEAD.findall(text)}
        assert section in heads or f'<a id="{section}">' in text
        assert set(words) == {"title", "instead", "why", "against", "sketch", "page"}


@needs_recorder
def test_the_sites_of_a_read_before_a_write(record):
    facts = Facts(store.open_trace(record("read_then_write")))
    match = next(iter(RULES["read_then_write"](facts)))
    assert {s.function for s in match.sites} == {"look_then_write"}
    # A thread that is preempted between the two for more than a millisecond does not count.
    count = int(match.evidence[0].split()[0].replace(",", ""))
    assert 100 <= count <= 40_000
    assert match.locks[0].name == "lock"


@needs_recorder
def test_a_whole_run(record, tmp_path, capsys):
    files = {n: tmp_path / n for n in ("json", "html", "folded", "pprof", "chrome")}
    options = [word for n, path in files.items() for word in (f"--{n}", str(path))]
    trace = str(record("long_holds"))
    assert main(["advise", trace, *options, "--fail-on", "lock=mutex max_hold>1ms"]) == 1
    said = capsys.readouterr()
    assert "1. mutex: others wait while a lock is held for long" in said.out
    assert "mutex: max_hold is" in said.err
    result = json.loads(files["json"].read_text())
    fastjsonschema.compile(schema.schema())(result)
    assert result["findings"][0]["rule"] == "long_holds" and len(result["broken"]) == 1
    (mutex,) = (lock for lock in result["locks"] if lock["name"] == "mutex")
    assert 0 < mutex["held_share"] <= 1 and mutex["waited_share"] == 1
    html = files["html"].read_text()
    assert f'href="{(ROOT / "doc/choosing.md").as_uri()}#restructure"' in html
    assert "slow_inside" in html and 'class="wait"' in html and "<script" not in html
    stacks = dict(x.rsplit(" ", 1) for x in files["folded"].read_text().splitlines())
    assert (
        sum(
            int(ns)
            for text, ns in stacks.items()
            if text.startswith("mutex (mutex);") and text.endswith(";waiter")
        )
        > 0
    )
    events = json.loads(files["chrome"].read_text())["traceEvents"]
    assert {e["ph"] for e in events} == {"X", "M"}
    assert any(e.get("cat") == "wait" and e["dur"] > 0 for e in events)
    profile = gzip.decompress(files["pprof"].read_bytes())
    for text in (b"contentions", b"delay", b"nanoseconds", b"waiter", b"lock", b"mutex"):
        assert text in profile
    assert main(["advise", trace, "--fail-on", "lock=nothing max_hold>1ms"]) == 0


@needs_recorder
def test_a_long_trace_shows_how_far_it_is(record, capfd, monkeypatch):
    monkeypatch.setattr(command, "LONG_TRACE", 0)
    trace = str(record("long_holds"))
    assert main(["advise", trace]) == 0
    assert capfd.readouterr().err == ""  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["advise", trace]) == 0
    assert "100 %" in capfd.readouterr().err


@needs_recorder
def test_uses_and_histograms_stay_in_the_file(record):
    """A large trace has millions of rows, and their histograms are most of it."""
    facts = Facts(store.open_trace(record("long_holds")))
    assert not [lock for lock in facts.locks.values() if "uses" in vars(lock)]
    use = next(u for lock in facts.locks.values() for u in lock.uses if u.release)
    assert not [name for name in use.row.keys() if "histogram" in name]
    assert sum(count for _, count in use.histogram("hold")) == use.count


def test_a_trace_of_many_processes(tmp_path, capsys):
    path = tmp_path / "large.trace"
    assert large_trace.write(path, 3) > 1000
    assert main(["advise", str(path)]) == 0
    assert "The heaviest locks:" in capsys.readouterr().out


@needs_recorder
def test_a_page_of_a_program_whose_threads_did_nothing(tmp_path):
    """The share that waits was divided by no time, and the trace was called damaged."""
    trace, page = str(tmp_path / "idle.trace"), tmp_path / "idle.html"
    assert main(["trace", "-o", trace, "true"]) == 0
    assert main(["advise", trace, "--html", str(page)]) == 0 and page.stat().st_size


def test_what_stands_in_long_brackets_is_left_out():
    text = (
        "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
        "int>::find(std::__cxx11::basic_string<char, std::char_traits<char> > const&) (map.h:12), "
        "DB::DB(DBOptions const&, int (*)(void*), bool) (db.cc:3) and get(int)"
    )
    said = "std::map<…>::find(…) (map.h:12), DB::DB(…) (db.cc:3) and get(int)"
    assert command._fold(text).replace("\n", " ") == said


def test_lines_fit_and_long_names_lose_their_middle(monkeypatch):
    name = "rocksdb::" + "x" * 400 + "::Open"
    lines = command._fold(f"3 waits: {name} behind {name} " * 3, "   - ").splitlines()
    assert all(len(line) <= command.WIDTH for line in lines) and "rocksdb::xx" in lines[0]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    assert all(len(line) <= 50 for line in command._fold("waits " * 99).splitlines())


def test_numbers_of_pprof_are_varints():
    assert export._number(0) == b"\0" and export._number(300) == b"\xac\x02"
    assert export._int(1, 0) == b"" and export._bytes(6, b"ab") == b"\x32\x02ab"


@needs_recorder
def test_a_broken_advice_does_not_pass_the_schema(record):
    facts = Facts(store.open_trace(record("lock_order")))
    made = as_json(facts, find(facts, RULES), [])
    check = fastjsonschema.compile(schema.schema())
    check(made)
    made["findings"][0]["confidence"] = "certain"
    with pytest.raises(fastjsonschema.JsonSchemaValueException):
        check(made)
    assert "Findings" in page.render(facts, find(facts, RULES))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "says no condition"),
        ("lock=x", "says no condition"),
        ("p99_wait>2h", "no condition"),
        ("wait>2ms", "is no condition"),
        ("rule=none", "no rule none"),
        ("waits>1.2.3", "no number"),
    ],
)
def test_limits_that_are_none(text, says):
    with pytest.raises(BadInput, match=says):
        parse(text, tuple(RULES))


@needs_recorder
def test_a_chain_of_three_locks_that_ends_where_it_began(record):
    """Only pairs of locks were compared."""
    (match,) = RULES["lock_order"](Facts(store.open_trace(record("lock_order", "three"))))
    names = [lock.name.removeprefix("one_of_three.") for lock in match.locks]
    assert len(set(names)) == 3 and match.confidence == "medium"
    assert "seen once" in match.evidence[3]
    for line, held, taken in zip(match.evidence[:3], names, names[1:] + names[:1], strict=True):
        assert f"1 times {held} at" in line and f"then {taken} at" in line


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ([], []),
        ([(1, 2), (2, 3)], []),
        ([(1, 2), (2, 1), (2, 3), (3, 1)], [[1, 2], [1, 2, 3]]),
        ([(1, 2), (2, 3), (3, 4), (4, 1), (4, 5), (6, 1)], [[1, 2, 3, 4]]),
    ],
)
def test_cycles_of_locks_are_found_shortest_first(edges, found):
    threads = {edge: frozenset([thread]) for thread, edge in enumerate(edges)}
    assert [sorted(cycle) for cycle in cycles.cycles(threads)] == found


@pytest.mark.parametrize(
    ("by_thread", "found"),
    [
        # Thread 1 takes 1 and 2 in both orders. That closes nothing, but an edge of it went, and
        # with it the chain that thread 2 closes.
        ({1: [(1, 2), (2, 1)], 2: [(1, 3), (3, 2)]}, [[1, 2, 3]]),
        ({1: [(1, 2), (2, 1)]}, []),
        ({1: [(1, 2), (2, 3), (3, 1)]}, []),
        ({1: [(1, 2), (2, 3), (3, 1)], 2: [(3, 4), (4, 1)]}, [[1, 2, 3, 4]]),
        # They meet in one lock only: each has a circle of its own.
        ({1: [(1, 2), (2, 1)], 2: [(2, 3), (3, 2)]}, []),
        ({1: [(1, 2)], 2: [(1, 2), (2, 1)]}, [[1, 2]]),
    ],
)
def test_one_thread_closes_no_cycle_and_hides_none(by_thread, found):
    threads = {}
    for thread, edges in by_thread.items():
        for edge in edges:
            threads[edge] = threads.get(edge, frozenset()) | {thread}
    assert cycles.closed([*threads, (1, 90), (90, 91), (92, 1)]) >= set(threads)
    assert not cycles.closed([*threads, (1, 90), (90, 91)]) - set(threads)
    assert [sorted(cycle) for cycle in cycles.cycles(threads)] == found


@needs_recorder
def test_limits_on_rules(record):
    facts = Facts(store.open_trace(record("lock_order")))
    found = find(facts, RULES)
    for text, broken in (
        ("rule=lock_*", 1),
        ("finding", 1),
        ("rule=convoy", 0),
        ("lock=a count>=2", 1),
        ("lock=a count>2", 0),
    ):
        assert len(parse(text, tuple(RULES)).broken(facts, found)) == broken, text
