# SPDX-License-Identifier: MIT
"""`pawl advise`: faults in other forms than those of tests/advise, and innocent look-alikes."""

import platform
import re
import subprocess
from types import SimpleNamespace

import pytest

from conftest import ROOT, needs_recorder, recording
from pawl.advise import remarks, sections
from pawl.advise.facts import WAKE_NS, Facts, Lock, Process, Use
from pawl.advise.finding import SPREAD, Finding, Match, texts
from pawl.advise.remarks import nothing
from pawl.advise.rules import RULES
from pawl.trace import collect, store

needs_code = pytest.mark.skipif(
    sections._tool() is None or platform.machine() != "x86_64",
    reason="machine code is read on x86-64, by llvm-objdump or objdump",
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("shapes") / "shapes"
    source = ROOT / "tests/trace/shapes.c"
    now = "-Wl,-z,relro,-z,now"  # as distributions do
    subprocess.run(["gcc", "-O2", "-g", now, "-o", made, source, "-pthread"], check=True)
    return made


@pytest.fixture
def record(program, tmp_path):
    def go(word):
        raw = tmp_path / "raw"
        raw.mkdir()
        subprocess.run([program, word], check=True, timeout=300, env=recording(raw))
        with store.create(tmp_path / "trace") as db:
            collect.collect(raw, db, {})
        return Facts(store.open_trace(tmp_path / "trace"))

    return go


@needs_recorder
@needs_code
@pytest.mark.parametrize(
    ("word", "rule"),
    [("two_places", "counter"), ("wrapped", "counter"), ("yields", "polling"), ("naps", "polling")],
)
def test_a_fault_in_another_form_is_found(record, word, rule):
    (match,) = RULES[rule](record(word))
    assert match.evidence and match.sites


@needs_recorder
@pytest.mark.parametrize(
    ("word", "rules"),
    [
        ("ids", ["counter"]),
        ("wrapped_ids", ["counter", "only_reads"]),
        ("random", ["counter"]),
        ("nodes", ["counter"]),
        ("monitor", ["counter"]),
        ("parks", ["counter", "long_holds", "saturated", "could_be_split", "only_reads"]),
        ("flushes", ["polling", "counter"]),
        ("walks", ["lock_order", "could_be_split"]),
        ("in_turn", ["many_short_reads"]),
        ("ends", ["lock_order"]),
    ],
)
def test_an_innocent_look_alike_is_not_accused(record, word, rules):
    facts = record(word)
    assert [(rule, m.evidence) for rule in rules for m in RULES[rule](facts)] == []


CODE = """
#include <pthread.h>
struct s { pthread_mutex_t m; long a, b; };
pthread_mutex_t m;
long n, o;
#define SECTION(name, arguments, lock, does) \\
    void name arguments { pthread_mutex_lock(lock); does; pthread_mutex_unlock(lock); }
SECTION(add, (void), &m, n++)
SECTION(add_some, (long x), &m, n -= x)
SECTION(add_in, (struct s *s, long x), &s->m, s->a += x)
SECTION(park, (void), &m, (void)0)
SECTION(two, (void), &m, (n++, o++))
SECTION(move, (struct s *s), &s->m, s->a += s->b)
SECTION(most, (void), &m, if (n < 100) n++)
SECTION(perhaps, (int x), &m, if (x) n++)
SECTION(set, (void), &m, n = 1)
SECTION(twice, (void), &m, n *= 2)
SECTION(entry, (long *all, int i), &m, all[i]++)
long look(void) { long x; pthread_mutex_lock(&m); x = n; pthread_mutex_unlock(&m); return x; }
int search(const long *all, long x) {
    int i = 0;
    pthread_mutex_lock(&m);
    while (all[i] != x) i++;
    pthread_mutex_unlock(&m);
    return i;
}
long id(void) { long x; pthread_mutex_lock(&m); x = n++; pthread_mutex_unlock(&m); return x; }
long count(void) { long x; pthread_mutex_lock(&m); x = ++n; pthread_mutex_unlock(&m); return x; }
int main(void) { return 0; }
"""
KINDS = {
    "add": "add", "add_some": "add", "add_in": "add", "park": "empty", "look": "read",
    "search": None,
    **dict.fromkeys(("two", "move", "most", "perhaps", "set", "twice", "entry", "id", "count")),
}  # fmt: skip


@needs_code
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_what_the_machine_code_of_a_section_does(tmp_path, level):
    made = tmp_path / "code"
    subprocess.run(
        ["gcc", level, "-fno-inline", "-x", "c", "-", "-o", made, "-pthread"],
        input=CODE, text=True, check=True,
    )  # fmt: skip
    dump = subprocess.run(
        [sections._tool(), "-d", "--no-show-raw-insn", made],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found, only_read = {}, set()
    for part in dump.split("\n\n"):
        name = part.strip().split("<")[-1 if "<" not in part else 1].split(">")[0]
        code = sections.Code(part)
        call = next((a for a, line in code.lines.items() if "mutex_lock" in line[2]), None)
        if name in KINDS and call is not None:
            one = sections.section(part, code.after[call])
            found[name] = one and one.kind
            only_read |= {name} if sections._reads_only(code, code.after[call]) else set()
    assert found == KINDS and only_read == {"look", "park", "search"}


WRAPPERS = """
#include <pthread.h>
struct s { pthread_mutex_t m; pthread_t owner; long takes, a, b; } s;
void take(struct s *p) { if (pthread_mutex_lock(&p->m) != 0) __builtin_trap();
    p->owner = pthread_self(); p->takes++; }
void drop(struct s *p) { p->owner = 0; pthread_mutex_unlock(&p->m); }
void takeouter(struct s *p) { take(p); p->takes++; }
long takeget(struct s *p) { pthread_mutex_lock(&p->m); return p->a; }
long takeswap(struct s *p) { long a; pthread_mutex_lock(&p->m);
    a = p->a; p->a = p->b; p->b = a; return 0; }
void up(struct s *p) { p->a++; }
#define SECTION(name, does) void name(struct s *p, long x) { take(p); does; drop(p); }
SECTION(add, p->a += x)
SECTION(add_by_call, up(p))
SECTION(add_twice, (up(p), p->b++))
SECTION(set, p->a = x)
SECTION(park, (void)x)
void add_outer(struct s *p) { takeouter(p); p->a++; drop(p); }
void add_and_drop(struct s *p) { take(p); p->a++; pthread_mutex_unlock(&p->m); }
void after_get(struct s *p) { if (takeget(p)) p->b++; drop(p); }
void after_swap(struct s *p) { takeswap(p); p->takes++; drop(p); }
long look(struct s *p) { long x; take(p); x = p->a; drop(p); return x; }
long id(struct s *p) { long x; take(p); x = p->a++; drop(p); return x; }
int main(void) { return 0; }
"""
WRAPPED = {
    "add": "add", "add_by_call": "add", "add_outer": "add", "look": "read",
    # An addition of the wrapper that another function undoes is no part of the section.
    **dict.fromkeys(
        ("add_twice", "set", "add_and_drop", "after_get", "after_swap", "id")
    ),
}  # fmt: skip


@needs_code
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_sections_are_followed_through_functions_that_go_on_after_the_lock(tmp_path, level):
    made = tmp_path / "code"
    subprocess.run(
        ["gcc", level, "-fno-inline", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-icf", "-x", "c",
         "-", "-o", made, "-pthread"],
        input=WRAPPERS, text=True, check=True,
    )  # fmt: skip
    dump = subprocess.run(
        [sections._tool(), "-d", "--no-show-raw-insn", made],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    code, calls, function = sections.Code(dump), {}, ""
    for line in dump.splitlines():
        if head := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            function = head[1]
        elif re.search(r"call.*<(take\w*|pthread_mutex_lock)", line):
            found = sections.LINE.match(line)
            calls[function] = int(found[1], 16)

    def look(name):
        chain, to = [], name
        while to.startswith("take") or to in WRAPPED or to == "park":
            chain.append(sections.Return(code, code.after[calls[to]]))
            to = code.lines[calls[to]][2].split("@")[0]
        first, *others = reversed(chain)
        one = sections._one(sections._walk(code, first.at, tuple(others)))
        return one and one.kind, sections._reads_only(code, first.at, tuple(others))

    assert {name: look(name)[0] for name in WRAPPED} == WRAPPED
    assert {name for name in (*WRAPPED, "park") if look(name)[1]} == {"look", "park"}


def test_no_more_waiting_goes_than_holds_explain():
    """Of git's lock: it was held for 8 ms and waited for 4.7 s, as the processors were few."""
    process = Process(1, "git", 10_000_000_000, 5_000_000_000, 4)
    lock = Lock(1, "lock", "mutex", process, 1000, 900, 4_700_000_000, 8_000_000, False, None)
    lock.uses = [Use("mutex", None, None, {"threads": 4}, None)]
    match = Match([lock], ["x"], "high", [], lock.wait_ns)
    finding = Finding("convoy", "", match, texts()["convoy"])
    assert finding.gain == pytest.approx((0.0024 / SPREAD, 0.0024)) and not finding.is_worth_a_word


def waited_for(threads, count, waits, wait_ns, hold_ns, cpu_ns):
    process = Process(1, "x", cpu_ns + wait_ns, 10**9, threads, 20, 0, cpu_ns, waits)
    facts = SimpleNamespace(processors=2)
    lock = Lock(1, "lock", "mutex", process, count, waits, wait_ns, hold_ns, False, facts)
    lock.uses = [Use("mutex", None, None, {"threads": threads}, None)]
    return lock


def test_a_release_while_one_waits_wakes_it():
    """One holder is always back first: one wait, and a wake for each of its 200 holds."""
    lock = waited_for(2, 200, 1, 40_000_000, 40_000_000, 100_000_000)
    assert lock.without(40_000_000) == (40_000_000, 200 * WAKE_NS)
    lock = waited_for(2, 200, 200, 40_000_000, 40_000_000, 1_000_000)  # a wake cannot cost more
    assert lock.without(40_000_000) == (40_000_000, 1_000_000)


@pytest.mark.parametrize("threads", (3, 4, 8))
def test_more_threads_than_processors_wait_for_those_that_have_none(threads):
    """Their sections take all of their time: on two processors half of it goes, and no more."""
    ran = 1_000_000_000
    lock = waited_for(threads, 1000, 0, (threads - 1) * ran, ran, ran)
    waits, _ = lock.without(lock.wait_ns)
    assert waits / lock.process.thread_ns == pytest.approx(1 / 2)


@needs_recorder
def test_much_waiting_that_no_rule_knows_is_said(record):
    facts = record("parks")
    assert facts.wait_ns >= facts.thread_ns / 2
    said, *heaviest = nothing(facts, [])
    assert "no rule knows why" in said and "parked" in heaviest[0]
    assert "; behind what was taken at " in heaviest[0]


@pytest.fixture
def made(tmp_path):
    """A trace that no program made, with these rows."""

    def go(**rows):
        process = (1, 9, 1, "/bin/x", 0, 10**9, 1, 3, 10**9, 100, 100, 20, 2 * 10**8, 20)
        with store.create(tmp_path / "made") as db:
            store.insert(db, "meta", [("finished", "yes")])
            store.insert(db, "process", [process])
            for table, several in rows.items():
                store.insert(db, table, several)
        return Facts(store.open_trace(tmp_path / "made"))

    return go


def test_what_a_reader_must_know_comes_first(made):
    lost = [(1, "without_lane", 600, "calls without a lane")]
    module = [(1, 0, 4096, "/opt/jdk/lib/server/libjvm.so", 1)]
    first, *others = remarks.first(made(loss=lost, module=module))
    assert first.startswith("Most calls are missing (75 %)")
    assert "Java" in others[1] and "monitors" in others[1]


def test_files_without_names_have_their_packages(made, tmp_path, monkeypatch):
    """Debian has a library by one of two paths, and names its architecture."""
    tool = tmp_path / "dpkg-query"
    tool.write_text(
        "#!/bin/sh\n"
        "[ $# = 3 ] && [ $2 = /usr/lib/libz.so.1 ] && echo zlib1g:amd64: /lib/libz.so.1\n"
        "exit 1\n"
    )
    tool.chmod(0o755)
    site = [(1, 1, 16, "/usr/lib/libz.so.1", 16, "", "", 0, "libz.so.1+0x10", "[]")]
    facts = made(site=site)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    (line,) = remarks.first(facts)
    assert "libz.so.1. Install their debug symbols (zlib1g-dbgsym)" in line
    monkeypatch.setenv("PATH", "/nowhere")
    assert "packages that end with -dbgsym" in remarks.first(facts)[0]


def test_every_program_is_told_what_was_held_and_waited_for(made):
    assert remarks.most(made()) == ["No lock was held that the recorder sees."]


@needs_recorder
def test_waiting_beside_a_finding_is_said(record):
    """A finding about another lock was enough for silence."""
    facts = record("parks")
    other = Lock(99, "other", "mutex", facts.processes[1], 1, 0, 0, 0, False, facts)
    one = Finding("convoy", "", Match([other], ["x"], "high", [], 10**9), texts()["convoy"])
    assert "waiting for other locks" in nothing(facts, [one])[0]
    every = [Match([lock], ["x"], "high", [], 10**9) for lock in facts.locks.values()]
    assert nothing(facts, [Finding("convoy", "", m, texts()["convoy"]) for m in every]) == []
    held, waited = remarks.most(facts)
    assert held.startswith("Most held: ") and waited.startswith("Most waited for: ")
