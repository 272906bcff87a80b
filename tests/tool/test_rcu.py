# SPDX-License-Identifier: MIT
"""`pawl bench rcu`: what is planned, compared and drawn, and what it refuses."""

import json

import pytest

from conftest import figures, left_behind, texts
from pawl.cli import main
from pawl.core import driver, report, results
from pawl.kinds.rcu import plan as rcu
from pawl.kinds.rcu import table as rcu_table
from pawl.kinds.rcu.kind import KIND


@pytest.fixture
def run(drivers, shown):
    return shown("bench rcu --rounds 6 --quiet")


@pytest.fixture
def saved(run, tmp_path):
    path = tmp_path / "rcu.json"
    run("--json", path)
    return path


def cells_of(path):
    return {c["group"]: c for c in json.loads(path.read_text())["cells"]}


def rows_of(path):
    return {r["candidate"]: r for c in cells_of(path).values() for r in c["summary"]}


# ---- Plan ---------------------------------------------------------------------------------------


def test_each_group_is_a_cell_measured_by_one_process(run, starts, tmp_path):
    run("--json", tmp_path / "run.json")
    assert list(cells_of(tmp_path / "run.json")) == list(rcu.GROUPS)
    assert [s["groups"] for s in starts()] == list(rcu.GROUPS)
    assert [s["candidates"].split("/")[0] for s in starts()] == list(rcu.GROUPS)


def test_groups_are_measured_alone(run, starts):
    run("--groups", "sync,read")
    assert [s["groups"] for s in starts()] == ["read", "sync"]


def test_a_row_brings_liburcus_and_its_row_at_one_thread(run, starts):
    run("--candidates", "read/pawl_rcu@2")
    assert starts()[0]["candidates"].split(",") == [
        "read/pawl_rcu@1",
        "read/pawl_rcu@2",
        "read/urcu_memb@2",
    ]


@pytest.mark.parametrize(
    "name, baseline",
    [
        ("read/pawl_rcu@2", "read/urcu_memb@2"),
        ("quiet/pawl_rcu_qs@1", "quiet/urcu_qsbr@1"),
        ("sync/pawl_rcu@1+readers", "sync/urcu_memb@1+readers"),
        ("flood/pawl_rcu@1", "flood/urcu_memb@1"),
    ],
)
def test_a_row_is_compared_with_the_like(name, baseline):
    assert rcu.baseline_of(name) == baseline


def test_long_samples_are_fewer(run, starts):
    run("--rounds", "9")
    assert {s["groups"]: s["rounds"] for s in starts()} == {
        **dict.fromkeys(("read", "nested", "deref", "quiet", "sync", "busy"), 9),
        "call": 6,
        "delay": 3,
        "flood": 1,
    }


def test_options_reach_the_driver(run, starts, monkeypatch):
    monkeypatch.setattr("pawl.core.machine.describe", lambda: {"memory_mib": 65536, "cpu": "x"})
    run(
        "--groups",
        "delay",
        "--callbacks",
        "5000",
        "--period",
        "100",
        "--delays",
        "0.5",
        "--flood",
        "70000",
        "--bound",
        "8",
        "--most",
        "512",
    )
    one = starts()[0]
    assert (
        one["callbacks"],
        one["period"],
        one["seconds"],
        one["flood"],
        one["bound"],
        one["most"],
    ) == ("5000", "100", "0.5", "70000", str(8 << 20), str(512 << 20))


def test_a_flood_leaves_three_quarters_of_the_memory_alone(monkeypatch):
    monkeypatch.setattr("pawl.core.machine.describe", lambda: {"memory_mib": 1024})
    assert rcu.most_bytes(2048) == 256 << 20 and rcu.most_bytes(100) == 100 << 20


def test_quick_is_shorter_and_what_is_given_still_counts(drivers, starts):
    assert main(["bench", "rcu", "--quiet", "--quick", "--flood", "5000"]) == 0
    assert {(s["callbacks"], s["flood"]) for s in starts()} == {("100000", "5000")}
    assert starts()[0]["rounds"] == 6
    assert next(s for s in starts() if s["groups"] == "delay")["seconds"] == "0.3"


def test_the_length_of_a_run_is_known_before():
    request = rcu.Request(seconds=0.02, rounds=12, warmup=0.003, flood=1000, callbacks=1000)
    cells = rcu.plan(request, ["read/a@1", "call/a@1", "delay/a@1", "flood/a@1"])
    assert rcu.expected_seconds(cells) == pytest.approx(
        4 * 0.05 + 12 * 0.0236 + 6 * 0.0008 + 3 * 1.0036 + 0.0009
    )


def test_the_time_is_told_before_anything_is_measured(drivers, capsys):
    assert main(["bench", "rcu", "--groups", "read"]) == 0
    assert "1 cell, 108 samples, about" in capsys.readouterr().err.splitlines()[0]


# ---- Rows ---------------------------------------------------------------------------------------


def test_times_are_of_one_thread_and_rates_of_all(saved):
    row = rows_of(saved)["read/pawl_rcu@2"]
    assert row["median"] == pytest.approx(0.6, rel=0.02)
    assert row["million_per_second"] == pytest.approx(2 / 0.6 * 1000, rel=0.02)
    assert row["scaling"] == pytest.approx(2, rel=0.03)


def test_ratios_are_of_times_with_liburcus(saved):
    row = rows_of(saved)["sync/pawl_rcu@1"]
    assert row["ratio_to_baseline"] == pytest.approx(0.45, rel=0.03)
    assert row["ratio_ci95_low"] <= row["ratio_to_baseline"] <= row["ratio_ci95_high"]


def test_delays_are_quantiles_of_all_rounds_and_compared_by_their_p99(saved):
    row = rows_of(saved)["delay/pawl_rcu@1"]
    assert row["median"] == pytest.approx(1e5, rel=0.02)
    assert row["delay_ns"]["p99"] == pytest.approx(1.1e5, rel=0.02)
    assert row["delay_ns"]["p99.9"] == pytest.approx(1.1e5, rel=0.02)
    assert row["delay_ns"]["max"] == 300007
    assert row["ratio_to_baseline"] == pytest.approx(0.01, rel=0.03)


def test_quantiles_of_delays_count_callbacks_not_rounds():
    def sample(pairs, most):
        return {"delays_ns": pairs, "delay_ns": {"max": most}}

    found = rcu_table.merged(
        [sample([[10, 500]], 10), sample([[10, 490], [900, 9], [7000, 1]], 7100)]
    )
    assert found == {
        "p25": 10,
        "p50": 10,
        "p75": 10,
        "p90": 10,
        "p99": 10,
        "p99.9": 900,
        "max": 7100,
    }


def test_a_flood_tells_what_it_held_and_what_bounded_it(saved):
    ours, theirs = (rows_of(saved)[f"flood/{n}@1"] for n in ("pawl_rcu", "urcu_memb"))
    assert ours["peak_bytes"] < ours["bound_bytes"] == 64 << 20 and not ours["stopped"]
    assert theirs["bound_bytes"] is None and theirs["peak_bytes"] > 600e6


def test_a_flood_that_the_bench_stopped_says_so(run):
    shown = run("--groups", "flood", "--most", "100")
    assert "stopped" in shown.out and "100.0 MiB" in shown.out


def test_a_call_tells_what_the_call_alone_costs(saved):
    row = rows_of(saved)["call/pawl_rcu@1"]
    assert row["call_ns"] == 25 and row["million_per_second"] == pytest.approx(20, rel=0.02)


def test_a_sample_without_callbacks_is_left_out():
    samples = [
        {
            "candidate": "delay/x@1",
            "round": n,
            "ops": 0,
            "seconds": 1,
            "delays_ns": [],
            "delay_ns": {"max": 0},
        }
        for n in range(3)
    ]
    assert KIND.summarise(samples, "", ["delay/x@1"]) == []


def test_losses_are_ours_behind_liburcu_beyond_the_noise(saved):
    cells = cells_of(saved)
    lost = {r["candidate"] for c in cells.values() for r in KIND.losses(c["summary"])}
    assert lost <= {
        "read/pawl_rcu@1",
        "nested/pawl_rcu@1",
        "deref/pawl_rcu@1",
        "read/pawl_rcu@2",
        "quiet/pawl_rcu_qs@1",
        "read/pawl_rcu_domain@1",
    }
    assert "read/pawl_rcu_domain@1" in lost
    assert all("/pawl_" in name for name in lost)


def test_a_row_that_was_not_built_is_missing_in_its_own_group_only(saved, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(saved), "--html", str(page)]) == 0
    assert page.read_text().count("<td>read/ck_epoch@1</td>") == 1


def test_a_row_has_a_text_for_each_column_of_its_group(saved):
    result = json.loads(saved.read_text())
    heads = {}
    for cell in result["cells"]:
        for row in cell["summary"]:
            found = texts(result, cell, row["candidate"])
            assert all(isinstance(text, str) for _, text in found)
            heads[cell["group"]] = [head for head, _ in found]
    assert heads["flood"][2] == "queued\nat most" and heads["delay"][4] == "\np99"
    assert heads["call"][3] == "a call\nand its run" and heads["read"] == heads["sync"]


# ---- Files --------------------------------------------------------------------------------------


def test_the_page_and_the_pictures_are_drawn_from_the_file(saved, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "picture.png"
    assert main(["report", str(saved), "--html", str(page), "--png", str(picture)]) == 0
    text = page.read_text()
    assert KIND.title in text and "delay/pawl_rcu@1" in text and "queued" in text
    assert text.count("data:image/svg+xml") == len(rcu.GROUPS)
    report.check(results.parts(saved, {KIND.name: KIND}), [page])


def test_each_group_has_a_figure_of_its_kind(saved):
    drawn = dict(figures(json.loads(saved.read_text())))
    assert list(drawn) == list(rcu.GROUPS.values())
    delay = drawn[rcu.GROUPS["delay"]].axes[0]
    assert delay.get_xscale() == "log" and delay.get_ylabel() == "% of the callbacks"
    flood = drawn[rcu.GROUPS["flood"]].axes[0]
    assert [t.get_text() for t in flood.get_legend().get_texts()] == [
        "pawl_rcu@1",
        "pawl_rcu_wait@1",
        "urcu_memb@1",
        "pawl_rcu@1+readers",
        "urcu_memb@1+readers",
        "pawl_rcu@2",
        "our bound",
    ]


def test_the_plan_goes_on_where_it_was_interrupted(run, saved, starts):
    half = json.loads(saved.read_text())
    del half["cells"][3:]
    half["interrupted"] = True
    saved.write_text(json.dumps(half))
    before = len(starts())
    run("--json", saved)
    assert [s["groups"] for s in starts()[before:]] == list(rcu.GROUPS)[3:]
    assert left_behind(saved.parent) == []


@pytest.mark.parametrize(
    "group, spoil",
    [
        ("read", lambda c: c.pop("group")),
        ("read", lambda c: c["samples"][0].pop("ops")),
        ("read", lambda c: c["samples"][0].update(candidate="nothing@1")),
        ("call", lambda c: c["samples"][0].pop("call_ns")),
        ("delay", lambda c: c["samples"][0].update(delays_ns=[[1]])),
        ("delay", lambda c: c["samples"][0]["delay_ns"].pop("max")),
        ("flood", lambda c: c["samples"][0].update(held=[["now", 7]])),
        ("flood", lambda c: c["samples"][0].update(stopped="no")),
    ],
)
def test_a_damaged_file_is_bad_input(group, spoil, saved, capsys):
    content = json.loads(saved.read_text())
    spoil(next(c for c in content["cells"] if c["group"] == group))
    saved.write_text(json.dumps(content))
    assert main(["report", str(saved)]) == 2
    assert "is not a result of pawl" in capsys.readouterr().err


# ---- Bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--groups", "reads"], "there is no group 'reads'; choose among read, nested, deref"),
        (["--groups", ""], "there is no group ''"),
        (["--pin", "none"], "each has a CPU of its own"),
        (["--pin", "0,x"], "--pin: 'x' is not a whole number"),
        (["--candidates", "read/pawl_rcv@1"], "did you mean read/pawl_rcu@1"),
        (["--candidates", "read/ck_epoch@1"], "was not built; install libtbb-dev"),
        (["--candidates", "sync/*", "--groups", "read"], "there is no 'sync/*'"),
        (["--rounds", "0"], "--rounds"),
        (["--seconds", "nan"], "not a finite number"),
        (["--callbacks", "0"], "--callbacks"),
        (["--flood", "many"], "--flood"),
        (["--bound", "0"], "--bound"),
        (["--most", "0"], "--most"),
        (["--period", "0"], "--period"),
        (["--delays", "0"], "--delays"),
        (["--json", "/nonexistent/x.json"], "does not exist"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, drivers, refused):
    assert sentence in refused("bench", "rcu", *arguments)


def test_a_driver_of_other_sources_is_bad_input():
    with pytest.raises(Exception, match="build both from the same sources"):
        rcu.plan(rcu.Request(), ["write/pawl_rcu@1"])


@pytest.mark.parametrize("mode", ["crash", "garbage", "broken-lock", "bad-list"])
def test_a_driver_that_fails_ends_the_command_with_a_sentence(mode, run, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", mode)
    shown = run(code=1)
    assert shown.err.startswith("pawl: ") and "Traceback" not in shown.err


def test_an_unbuilt_driver_says_what_to_run(monkeypatch, capsys):
    monkeypatch.delenv("PAWL_BENCH_DIR", raising=False)
    monkeypatch.setattr(driver, "_places", lambda name: iter(()))
    assert main(["bench", "rcu"]) == 2
    assert "pawl-bench-rcu is not built; run `make build`" in capsys.readouterr().err
