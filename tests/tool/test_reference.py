# SPDX-License-Identifier: MIT
"""The reference of the functions: whole, of today's headers, and with the bytes of today's calls.
The site that is made of it: site_pages.py."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import ROOT
from pawl.kinds.functions.plan import DRIVER as FUNCTIONS
from pawl.kinds.functions.plan import function_of

pytest.importorskip("clang", reason="no libclang; run scripts/setup tool")


@pytest.fixture(scope="module")
def script():
    loader = SourceFileLoader("pawl_site_script", str(ROOT / "scripts/site"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference(script):
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        yield script.pawl_reference.Reference()
    finally:
        os.chdir(here)


def test_every_function_has_a_contract_and_its_bytes(reference):
    assert list(reference.faults()) == []


def test_each_picture_of_a_page_is_drawn_from_the_data_of_today(script):
    drawn = script.pawl_pictures.DRAWN
    pages = "".join(path.read_text() for path in (ROOT / "doc").rglob("*.md"))
    assert sorted(found[0] for found in script.PICTURE.findall(pages)) == sorted(drawn)
    texts = {
        name: " ".join(ElementTree.fromstring(draw()).itertext()) for name, draw in drawn.items()
    }
    for op in script.pawl_pictures.read_transitions()["OP"]:
        assert op.name in texts["transitions"]
    assert "give_back" in texts["waiter"] and "grace period" in texts["grace"]
    assert "share of writes" in texts["biased"]
    assert "rwlock" in texts["published"] and "simulated" in texts["published"]


def test_a_changed_contract_makes_the_manual_pages_anew(script, reference, tmp_path):
    (tmp_path / "made-of").write_text(script.digest(reference))
    assert script.is_fresh(reference, tmp_path)
    group = reference.parsed["lock.h"].sections[0].groups[0]
    group.contract, kept = [*group.contract, "Or not."], group.contract
    try:
        assert not script.is_fresh(reference, tmp_path)
    finally:
        group.contract = kept


@pytest.fixture(scope="module")
def man():
    """The manual pages as an installation makes them."""
    pytest.importorskip("sphinx", reason="no sphinx; run scripts/setup tool")
    folder = ROOT / "build/man"
    made = subprocess.run([sys.executable, ROOT / "scripts/site", "--man", folder], check=False)
    assert made.returncode == 0
    return folder


def test_a_function_without_a_contract_is_found(reference):
    group = reference.parsed["lock.h"].sections[0].groups[0]
    group.contract, kept = [], group.contract
    try:
        (fault,) = reference.faults()
    finally:
        group.contract = kept
    assert "pawl_lock32_init has no comment" in fault


def test_a_function_says_who_may_call_it_in_which_order_at_which_price(script, reference):
    (told,) = (page for page in reference.pages if page["header"] == "lock.h")
    text = script.pawl_rst.page(reference, told)
    upgrade = text[text.index(".. c:function:: void pawl_lock32_seek_to_write(") :]
    upgrade = upgrade[: upgrade.index(".. c:function::", 10)]
    assert ":Order: acquire" in upgrade and "Waits for readers, cannot fail." in upgrade
    assert ":Called by: a thread that holds S" in upgrade
    assert re.search(r":Bytes at the call: \d+, \d+", upgrade)
    assert re.search(r":Cost: .* ns, take and drop of R, one thread", text)
    attempt = text[text.index(".. c:function:: bool pawl_lock32_try_read(") :]
    assert "a signal handler too" in attempt[: attempt.index(".. c:function::", 10)]


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_the_manual_pages_are_sound(man):
    pages = [p for p in man.glob("man*/*") if not p.read_text().startswith(".so ")]
    assert len(pages) > 20
    for page in pages:
        done = subprocess.run(
            ["groff", "-man", "-ww", "-z", "-Tutf8", str(page)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == "" and done.returncode == 0, page


def test_every_function_of_the_headers_is_in_a_manual_page(script, reference):
    listed = subprocess.run(
        [str(ROOT / "scripts/prototypes"), "--list"], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[0] for line in listed.splitlines()}
    linked = set(script.pawl_man.pages(reference))
    assert len(names) > 300 and names <= linked


def test_a_page_of_a_function_is_short_and_found_by_what_it_is_for(script, reference):
    pages = script.pawl_man.pages(reference)
    text = pages["pawl_lock64_take_read"]
    assert "void pawl_lock64_take_read(pawl_lock64 *l)" in text
    assert "Waits for writers" in text and "pawl_lock(3)" in text
    assert max(text.count("\n") for text in pages.values()) < 45
    assert pages["pawl_take_read"] == ".so man3/pawl_lock64_take_read.3\n"
    about = {page["header"]: page["about"] for page in reference.pages}
    names = [text.split(".SH")[1] for text in pages.values() if not text.startswith(".so ")]
    assert all(any(pawl_words(one) <= pawl_words(name) for one in about.values()) for name in names)


def pawl_words(text):
    return set(re.findall(r"[a-z]{4,}", text.replace("\\", "")))


def test_every_name_that_a_header_declares_is_in_a_manual_page(script, reference):
    """Looked for by the headers' own words, not by libclang."""
    called = r"(?:PAWL_SYMBOL(?:_SEEN)?_\()?(pawl_\w*[a-z0-9])\)?\("
    declared = re.compile(rf"^PAWL_(?:API|TRY|INLINE|TRYING)\b[\w\s*]*?\b{called}", re.M)
    plain = re.compile(r"^#define (pawl_\w+)\s*\\?\s*PAWL_SYMBOL(?:_SEEN)?_\(\1\)", re.M)
    names = set()
    for page in reference.pages:
        text = (ROOT / "include/pawl" / page["header"]).read_text(encoding="utf-8")
        given = set(plain.findall(text))
        # A symbol without a macro of its name is internal; so is the cold part of an operation.
        names |= given | {
            match.group(1)
            for match in declared.finditer(text)
            if match.group(1) in given or "PAWL_SYMBOL" not in match.group()
        }
    names = {n for n in names if not re.search(r"_slow$|_(take|try|drop)_\w+_call$", n)}
    linked = set(script.pawl_man.pages(reference))
    assert {"pawl_robust_lock_take_read", "pawl_rcu_call"} <= names
    assert names - linked - {page["man"] for page in reference.pages} == set()


def test_a_cost_says_on_what_it_was_measured(script, reference):
    (told,) = (page for page in reference.pages if page["header"] == "rcu_call.h")
    text = script.pawl_rst.page(reference, told)
    call, attempt = (
        text[text.index(f".. c:function:: int pawl_rcu_{name}(") :].partition("\n.. ")[0]
        for name in ("call", "try_call")
    )
    assert re.search(r":Cost: .* ns, a call and .* \(intel-xeon-2026-11-22-rcu\)", call)
    assert re.search(r":Cost: .* ns, one call of 64 in turn, .*-functions\)", attempt)
    assert "pawl_rcu_domain_try_call`, of the default" in attempt
    assert re.search(
        r"``intel-xeon-2026-11-22-rcu``\n   Intel.*2 CPUs, virtual, KVM\), gcc 12.* "
        r"commit d01eb78, 3 runs",
        text,
    )
    for folder in {rule["run"] for rule in [*reference.said["ns"], reference.said["calls"]]}:
        runs = script.pawl_reference.pawl_figures.runs_of(ROOT, folder)
        parts = [(p["commit"], p["machine"]["cpu"]) for run in runs for p in run["parts"]]
        assert len(set(parts)) == 1, f"{folder} is of several commits or machines"


@pytest.mark.parametrize("where", ["ns", "of", "none"])
def test_a_cost_of_no_function_is_found(reference, where):
    rule = {"functions": "pawl_gone", "run": "none", "how": "ns none", "what": "nothing"}
    rules = reference.said["ns"] if where == "ns" else reference.said["calls"][where]
    rules.append(rule)
    try:
        (fault,) = reference.faults()
    finally:
        rules.remove(rule)
    assert "doc/reference.toml: no function is called pawl_gone" in fault


@pytest.mark.parametrize(
    "name", ["pawl_lock64_seek_to_write", "pawl_rcu_dereference", "pawl_cond_wait_with"]
)
def test_a_function_without_nanoseconds_and_without_a_reason_is_found(reference, name):
    row, reasons = reference.rows.pop(name, None), reference.said["calls"]["none"]
    reference.said["calls"]["none"] = []
    try:
        faults = list(reference.faults())
    finally:
        reference.said["calls"]["none"] = reasons
        if row:
            reference.rows[name] = row
    assert [f for f in faults if f"no nanoseconds of {name}: give it a row" in f]


def test_a_reason_for_what_is_measured_is_found(reference):
    rule = {"functions": "pawl_now", "why": "no number"}
    reference.said["calls"]["none"].append(rule)
    try:
        (fault,) = reference.faults()
    finally:
        reference.said["calls"]["none"].remove(rule)
    assert "pawl_now has a reason, and is measured" in fault


def test_every_function_shows_nanoseconds_or_why_there_are_none(script, reference):
    shown = 0
    for told in reference.pages:
        for section in reference.parsed[told["header"]].sections:
            for group in section.groups:
                costs = [line for line in script.pawl_rst.cost_rows(reference, group)]
                if set(group.names) <= reference.callable:
                    assert costs and all(c.count(" ns, ") or "no " in c for c in costs)
                    shown += len(group.names)
    assert shown == len(reference.callable) > 600


def test_widths_stand_in_their_order_and_equal_figures_once(script, reference, monkeypatch):
    group = script.pawl_reference.Group(names=["a32", "a64"])
    for first, second, says in (("1", "2 to 3", "1, 2 to 3 ns, told"), ("1", "1", "1 ns, told")):
        ns = {"a32": first, "a64": second}
        monkeypatch.setattr(reference, "costs", lambda name, ns=ns: [(ns[name], "told")])
        assert list(script.pawl_rst.cost_rows(reference, group)) == [says]
    group.names = ["take", "drop"]
    monkeypatch.setattr(reference, "costs", lambda name: [("1" if name == "take" else "2", "told")])
    assert list(script.pawl_rst.cost_rows(reference, group)) == ["take 1, drop 2 ns, told"]
    group.names = ["a32", "a64"]
    monkeypatch.setattr(reference, "costs", lambda name: [("1", "told")] if name == "a32" else [])
    assert list(script.pawl_rst.cost_rows(reference, group)) == ["a32: 1 ns, told"]


def test_the_driver_has_a_row_for_each_function_that_the_pages_want(reference):
    """So a new function cannot be forgotten until the next recording."""
    program = Path(os.environ.get("PAWL_BUILD_DIR", ROOT / "build/dev")) / "bench" / FUNCTIONS
    if not program.exists():
        pytest.skip(f"{FUNCTIONS} is not built")
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    rows = {function_of(row["name"]) for row in json.loads(listed)} - {"empty_loop", "atomic_add"}
    assert rows == {name for name in reference.callable if not reference.why_none(name)}


def test_the_overview_names_every_manual_page(reference):
    pages = {page["man"] for page in reference.pages}
    named = set(re.findall(r"`(pawl_\w+)\(3\)`", (ROOT / "doc/overview.md").read_text()))
    assert named == pages


def test_a_link_that_leads_nowhere_is_found(script, tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">b</a><a id="here" href="#gone">x</a>'
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<a href="c.html">c</a><a href="a.html#here">a</a>')
    faults = list(script.link_faults(tmp_path))
    assert faults == [
        "a.html fetches https://example.org/x.js from the network",
        "a.html leads to b.html#there, and that page has no such place",
        "a.html leads to #gone, and that page has no such place",
        "b.html leads to c.html, which is not there",
    ]


def test_the_bytes_at_the_calls_are_what_the_compiler_makes(script, reference):
    version = subprocess.run(
        ["gcc", "-dumpfullversion"], capture_output=True, text=True, check=False
    ).stdout
    if not version.startswith("12.") or os.uname().machine != "x86_64":
        pytest.skip("the recorded bytes are those of gcc 12 on x86-64")
    rows = (ROOT / "doc/callsites.tsv").read_text().splitlines()
    kept = {
        name: int(size)
        for name, size in (row.split("\t") for row in rows if not row.startswith("#"))
    }
    found = script.callsites(reference)
    assert kept.keys() == found.keys(), "run: scripts/site --callsites"
    off = {
        name: (kept[name], found[name])
        for name in kept
        if abs(kept[name] - found[name]) > 16 + kept[name] // 10
    }
    assert off == {}, "run: scripts/site --callsites"
