# SPDX-License-Identifier: MIT
"""`pawl costs`: the table, the file, the page; and what other tools read of it."""

import json
import os
import re
import signal

import pytest

from conftest import LONG, fake_driver, left_behind
from pawl.cli import main
from pawl.core import ranges, results
from pawl.core.errors import BadInput
from pawl.kinds.costs import plan
from pawl.kinds.costs import rows as costs_rows
from pawl.kinds.costs import saved as costs
from pawl.kinds.costs.derive import NOT_YET, derive
from pawl.kinds.costs.kind import KIND
from pawl.sim import machine

TWO = len(ranges.allowed_cpus()) > 1
needs_two = pytest.mark.skipif(not TWO, reason="one CPU is allowed here")


@pytest.fixture
def fake(tmp_path, monkeypatch):
    folder = tmp_path / "costs"
    folder.mkdir()
    fake_driver(folder / "pawl-bench-costs", "fake_costs.py")
    monkeypatch.setenv("PAWL_BENCH_DIR", str(folder))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "starts.log"))
    return folder


@pytest.fixture
def run(fake, shown):
    return shown("costs --quick --quiet")


@pytest.fixture
def saved(run, tmp_path):
    path = tmp_path / "costs.json"
    run("--json", path)
    return path


def one_cpu():
    return str(ranges.allowed_cpus()[0])


def line_of(out, label):
    return next(line for line in out.splitlines() if line.startswith(label + " "))


# ---- The table -----------------------------------------------------------------------------------


def test_under_every_row_a_sentence_says_how_it_was_measured(run):
    lines = run().out.splitlines()
    for row in costs_rows.ROWS:
        at = next(n for n, text in enumerate(lines) if re.match(rf"{row.label}\s\s", text))
        assert lines[at + 1].startswith("    " + row.how[:30])


def test_a_row_has_time_cycles_and_instructions_beside_what_was_published(run):
    words = line_of(run().out, "Atomic increment").split()
    assert words[2:4] == ["5.00", "ns"]
    assert words[-6:] == ["ns", "12.5", "50.0", "58.2", "ns", "83.1"]


def test_what_cannot_be_measured_is_a_row_that_says_why(run):
    out = run().out
    assert "not measured" in line_of(out, "Restartable section")
    assert "Here not: the test says so." in " ".join(out.split())
    assert "not measured: absl_mutex (write): install libabsl-dev" in out


def test_on_one_cpu_transfers_say_what_they_need(run, tmp_path):
    path = tmp_path / "one.json"
    out = run("--cpus", one_cpu(), "--json", path).out
    assert "not measured" in line_of(out, "Atomic increment, cache transfer")
    found = costs.load(path)
    assert found.matrix is None and "two CPUs" in found.why("wake_latency")
    assert found.lock("pawl_spin32", "w")["moved"] is None


def test_rows_that_contradict_each_other_are_pointed_out(run, monkeypatch, tmp_path):
    path = tmp_path / "costs.json"
    monkeypatch.setenv("FAKE_SLOW", "l1")
    out = run("--json", path, "--html", tmp_path / "costs.html").out
    assert "L1 cache hit came out slower than L2 cache hit, which cannot be" in out
    assert ["l1", "l2"] in json.loads(path.read_text())["costs"]["contradictions"]
    assert "which cannot be" in (tmp_path / "costs.html").read_text()


def test_rows_in_their_order_are_no_contradiction(run):
    assert "cannot be:" not in run().out


@needs_two
def test_cpus_that_transfers_run_between_are_named(run):
    first, second, *_ = ranges.allowed_cpus()
    out = run("--cpus", f"{first},{second}").out
    assert f"Transfers are between CPU {first} and CPU {second}: " in out


@pytest.mark.parametrize("width", [80, 112, 113, 119, 120, 140])
def test_no_line_is_wider_than_the_terminal(saved, width):
    import io

    from rich.console import Console

    console = Console(file=io.StringIO(), width=width)
    ((kind, result),) = results.parts(saved, {KIND.name: KIND})
    kind.show(kind, result, console)
    lines = console.file.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    assert not any("…" in line for line in lines)


def test_the_rows_can_be_listed(run):
    out = run("--list").out
    assert "rows: atomic_increment\n" in out
    assert "rows: rseq  (not measured: the test says so)" in out
    assert "locks: local/w/pawl_spin32\n" in out


# ---- The plan ------------------------------------------------------------------------------------


def test_a_quick_run_takes_fewer_samples(run, starts):
    run()
    quick = {s["part"]: s["rounds"] for s in starts()}
    assert main(["costs", "--quiet"]) == 0
    full = {s["part"]: s["rounds"] for s in starts()[len(quick) :]}
    assert all(quick[part] < full[part] for part in quick)


@pytest.mark.parametrize(("cpus", "quick"), [(2, True), (128, True), (2, False), (128, False)])
def test_pairs_of_many_cpus_share_the_time(cpus, quick):
    about = {
        "cpus": [
            {"cpu": n, "core": n, "package": 0, "node": 0, "siblings": [n], "caches": []}
            for n in range(cpus)
        ]
    }
    pairs = [f"{a}-{b}" for a in range(cpus) for b in range(a)]
    cell = plan.plan(about, {"matrix": pairs}, quick)[0]
    spent = len(pairs) * cell.parameters["rounds"] * cell.parameters["seconds"]
    assert cell.parameters["rounds"] >= plan.LEAST_ROUNDS
    assert (
        spent
        <= max(plan.MATRIX_SECONDS[quick], len(pairs) * plan.LEAST_ROUNDS * plan.LEAST_SECONDS)
        * 1.01
    )


def test_the_driver_gets_cpus_and_cache_sizes(run, starts):
    run("--cpus", one_cpu())
    assert {s["cpus"] for s in starts()} == {one_cpu()}
    assert all(re.fullmatch(r"\d+,\d+,\d+", s["caches"]) for s in starts())


# ---- The file ------------------------------------------------------------------------------------


def test_the_file_holds_every_row_in_three_units(saved):
    found = json.loads(saved.read_text())
    assert found["kind"] == "costs" and found["interrupted"] is False
    rows = {r["id"]: r for r in found["costs"]["rows"]}
    assert list(rows) == [r.id for r in costs_rows.ROWS]
    row = rows["atomic_increment"]
    assert row["median"] == pytest.approx(5) and row["q1"] < row["median"] < row["q3"]
    assert row["cycles"] == pytest.approx(12.5) and row["instructions"] == pytest.approx(50)
    assert row["source_ns"] == 58.2 and row["how"].endswith(".")
    assert rows["rseq"]["median"] is None and rows["rseq"]["why"] == "the test says so"


def test_the_clocks_are_stated(saved):
    clock = costs.load(saved).clock
    assert clock["core_ghz"] == pytest.approx(2.5) and clock["tsc_ghz"] == pytest.approx(2)


@needs_two
def test_the_matrix_is_symmetric_and_names_every_pair(run, tmp_path):
    path = tmp_path / "two.json"
    first, second, *_ = ranges.allowed_cpus()
    run("--cpus", f"{first},{second}", "--json", path)
    matrix = costs.load(path).matrix
    assert matrix["ns"][0][1] == matrix["ns"][1][0] == pytest.approx(50 + first + second)
    assert matrix["ns"][0][0] is None
    assert [(p["a"], p["b"]) for p in matrix["pairs"]] == [(first, second)]
    assert matrix["pairs"][0]["relation"]


def test_efficiency_follows_the_formula_and_is_measured_too(saved):
    found = costs.load(saved)
    assert found.efficiency("pawl_spin32", "w", 10.0) == pytest.approx(0.5)
    lock = found.lock("pawl_spin32", "w")
    assert lock["half_local"] == pytest.approx(10)
    assert (lock["local"]["take"], lock["local"]["drop"]) == pytest.approx((7.5, 2.5))
    assert [s["efficiency"] for s in lock["sections"]] == pytest.approx([4 / 14, 16 / 26, 64 / 74])


@needs_two
def test_a_lock_that_comes_from_another_core_has_a_cost_of_its_own(saved):
    assert costs.load(saved).efficiency("pawl_spin32", "w", 50.0, moved=True) == pytest.approx(0.5)


def test_other_tools_read_numbers_and_reasons(saved):
    found = costs.load(str(saved))
    assert found.ns("l2") == pytest.approx(6) and found.why("l2") == ""
    assert found.ns("rseq") is None and found.why("rseq") == "the test says so"
    assert found.lock("absl_mutex", "w")["why"].startswith("install")
    assert found.lock("no_lock", "w") is None and found.efficiency("no_lock", "w", 1) is None
    with pytest.raises(KeyError, match="no row 'l9'"):
        found.ns("l9")


def test_costs_are_made_of_the_samples_and_not_believed(saved):
    found = json.loads(saved.read_text())
    found["costs"] = {"rows": "edited"}
    saved.write_text(json.dumps(found))
    assert costs.load(saved).ns("l2") == pytest.approx(6)


def test_a_result_of_another_kind_is_refused(result):
    with pytest.raises(BadInput, match="kind lru; name a file written with pawl costs --json"):
        costs.load(result)


DAMAGE = {
    "no part": lambda r: r["cells"][0].pop("part"),
    "cpus are no list": lambda r: r["cells"][0].update(cpus=7),
    "a sample without ops": lambda r: r["cells"][0]["samples"][0].pop("ops"),
    "a pair that is none": lambda r: r["cells"][1].update(
        part="matrix", summary=[dict(r["cells"][0]["summary"][0], candidate="x-y")]
    ),
    "topology is a number": lambda r: r.update(topology=3),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_bad_input(damage, saved, capsys):
    found = json.loads(saved.read_text())
    damage(found)
    saved.write_text(json.dumps(found))
    capsys.readouterr()
    code = main(["report", str(saved)])
    text = capsys.readouterr().err
    if code == 0:  # what no number depends on may be anything
        costs.load(saved)
        return
    assert code == 2 and text.count("\n") == 1 and "Traceback" not in text


def test_an_interrupt_leaves_a_valid_file_and_the_same_command_goes_on(
    fake, program, standstill, tmp_path, monkeypatch
):
    path = tmp_path / "costs.json"
    stands_still = standstill(5)
    process = program("costs", "--quick", "--quiet", "--json", path)
    stands_still(process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=LONG)
    assert process.returncode == 130 and "the same command goes on from" in error
    assert json.loads(path.read_text())["interrupted"] is True and left_behind(tmp_path) == []
    assert costs.load(path).why("signal") in ("", NOT_YET)
    monkeypatch.delenv("FAKE_STOP")
    again = program("costs", "--quick", "--quiet", "--json", path)
    _, error = again.communicate(timeout=LONG)
    assert again.returncode == 0, error
    assert costs.load(path).ns("signal") == pytest.approx(1200)


# ---- The page ------------------------------------------------------------------------------------


def test_the_page_holds_table_heat_map_and_curves_and_needs_nothing_else(run, saved, tmp_path):
    page = tmp_path / "costs.html"
    assert main(["report", str(saved), "--html", str(page)]) == 0
    text = page.read_text()
    for row in costs_rows.ROWS:
        assert f"<td>{row.label}<small>" in text
    pictures = re.findall(r'<img alt="Plot: ([^".]*)[^"]*" src="data:image/svg', text)
    wanted = ["what single operations cost", "efficiency of critical sections"]
    if TWO:
        wanted.insert(1, "a line between any two CPUs")
    assert pictures == wanted
    assert not re.search(r'(src|href)="(?!data:)', text)


def test_a_page_knows_the_data_it_was_drawn_from(saved, tmp_path):
    page = tmp_path / "costs.html"
    assert main(["report", str(saved), "--html", str(page)]) == 0
    assert main(["report", str(saved), "--html", str(page), "--check"]) == 0
    found = json.loads(saved.read_text())
    found["title"] = "changed"
    saved.write_text(json.dumps(found))
    assert main(["report", str(saved), "--html", str(page), "--check"]) == 1


def test_the_heat_map_of_many_cpus_is_drawn(saved, tmp_path):
    from pawl.kinds.costs import plot

    ((_, result),) = results.parts(saved, {KIND.name: KIND})
    found = derive(result)
    ns = [[None if a == b else 50.0 + abs(a - b) for a in range(64)] for b in range(64)]
    found["matrix"] = {"cpus": list(range(64)), "ns": ns, "pairs": [{}]}
    assert plot.heat_map(result, found) is not None


# ---- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cpus", "says"),
    [
        ("99999", "--cpus: this process may not run on CPU 99999"),
        ("x", "--cpus: 'x' is not"),
        ("3-1", "--cpus: '3-1' is not a range"),
        ("", "--cpus: ''"),
    ],
)
def test_cpus_that_cannot_be_used_are_refused(cpus, says, fake, refused):
    assert says in refused("costs", "--cpus", cpus)


def test_outputs_are_checked_before_anything_is_measured(fake, refused, tmp_path):
    assert "--json: the folder" in refused("costs", "--json", tmp_path / "nowhere" / "x.json")


def test_a_driver_that_is_not_built_is_named(monkeypatch, refused, tmp_path):
    monkeypatch.setenv("PAWL_BENCH_DIR", os.fspath(tmp_path))
    assert "pawl-bench-costs" in refused("costs")


# ---- A model for the simulator -------------------------------------------------------------------


def test_the_machine_becomes_a_model_with_the_source_of_each_value(run, tmp_path):
    path = tmp_path / "here.toml"
    assert f"written: {path}" in run("--machine", path).err
    found = machine.load(str(path))
    values = machine.flat(found["values"])
    assert (values["load"], values["rmw"], values["syscall"]) == (1.6, 5, 80)
    assert values["futex_wake"] == 2000 - 80 and values["wake_latency"] == 3000
    assert machine.cores(found) == len(ranges.allowed_cpus())
    if len(ranges.allowed_cpus()) > 1:
        nearest = min(v for k, v in values.items() if k.startswith("transfer."))
        assert nearest == 40 - 5
    for line in path.read_text().split("[values]\n")[1].splitlines():
        assert re.search(r" # (assumed|pawl costs|half)|as much more", line), line


def test_what_was_not_measured_is_assumed_in_the_model(run, tmp_path):
    path = tmp_path / "one.toml"
    run("--cpus", one_cpu(), "--machine", path)
    text = path.read_text()
    assert "wake_latency = 5000 # assumed" in text and "transfer.cluster = 60 # assumed" in text


def test_a_model_is_not_made_of_prices_without_optimisation(run, tmp_path, monkeypatch):
    path = tmp_path / "here.toml"
    monkeypatch.setenv("FAKE_FLAGS", "-O2 -g1 -O0")
    assert "-O0" in (said := run("--machine", path, code=2).err) and "make build" in said
    assert not path.exists()
    monkeypatch.setenv("FAKE_FLAGS", "-O0 -O2")
    run("--machine", path)
    assert path.exists()


def test_a_model_that_cannot_be_written_is_refused_before_measuring(run):
    assert "does not exist" in run("--machine", "/nowhere/here.toml", code=2).err
