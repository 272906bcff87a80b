# SPDX-License-Identifier: MIT
"""`pawl bench latency`: what is planned, put together, shown, and refused."""

import json
import signal

import pytest

from conftest import LONG, fake_driver, figures, left_behind, losses
from pawl.cli import main
from pawl.kinds.latency import plan as latency
from pawl.kinds.latency import samples as latency_samples
from pawl.kinds.latency import table as latency_table
from pawl.kinds.latency.kind import KIND

OFFERED = ["pawl_sift", "pthread_rwlock", "pthread_rwlock_nonrecursive", "none"]


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The fake driver, found through the environment."""
    folder = tmp_path / "drivers"
    folder.mkdir()
    fake_driver(folder / latency.DRIVER, "fake_latency.py")
    monkeypatch.setenv("PAWL_BENCH_DIR", str(folder))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "starts.log"))
    return folder


@pytest.fixture
def run(fake, benches):
    return benches("latency")


def cell_of(result, scenario):
    return next(c for c in result["cells"] if c["scenario"] == scenario)


def line_of(result, scenario, lock):
    return next(
        x for x in latency_table.overview(cell_of(result, scenario)) if x["candidate"] == lock
    )


# ---- The plan ------------------------------------------------------------------------------------


def test_all_scenarios_take_about_two_minutes():
    cells = latency.plan(latency.Request(), [*OFFERED, *"abcd"], [f"r/{n}" for n in range(25)])
    assert [c.parameters["scenario"] for c in cells] == list(latency.SCENARIOS)
    assert latency.expected_seconds(cells) < 120


def test_a_scenario_has_its_own_lengths_unless_it_is_told():
    def found(**options):
        cells = latency.plan(
            latency.Request(scenarios=["placed", "handlers"], **options), OFFERED, []
        )
        return [
            (
                c.parameters["write_section_us"],
                c.parameters["writer_delay_us"],
                c.parameters["handler_period_ms"],
            )
            for c in cells
        ]

    assert found() == [(1, 100, 100), (20, 20, 1)]
    assert found(write_section_us=5, writer_delay_us=7, handler_period_ms=9) == [(5, 7, 9)] * 2


def test_high_contention_is_that_of_the_source():
    parameters = latency.plan(latency.Request(scenarios=["contention"]), OFFERED, [])[0].parameters
    assert {
        k: parameters[k]
        for k in (
            "writer_delay_us",
            "trylock_delay_us",
            "tries",
            "handler_period_ms",
            "slow_section_us",
        )
    } == {
        "writer_delay_us": 100,
        "trylock_delay_us": 1000,
        "tries": 100,
        "handler_period_ms": 100,
        "slow_section_us": 3000,
    }


def test_options_reach_the_driver(run, starts):
    run(
        "--quiet",
        "--scenarios",
        "contention",
        "--slow-section",
        "500",
        "--slow-every",
        "20",
        "--read-section",
        "2",
        "--tries",
        "9",
        "--trylock-delay",
        "400",
        "--realtime-share",
        "30",
        "--realtime",
        "no",
        "--seconds",
        "2",
        "--warmup",
        "0.01",
        "--rounds",
        "2",
        "--pin",
        "auto",
    )
    one = starts()[0]
    assert (one["scenario"], one["rounds"], one["realtime"], one["pin"]) == (
        "contention",
        2,
        "no",
        "auto",
    )
    assert "absl_mutex" in one["candidates"]
    assert [
        float(one[k])
        for k in (
            "slow_section",
            "slow_every",
            "read_section",
            "tries",
            "trylock_delay",
            "realtime_share",
            "seconds",
            "warmup",
        )
    ] == [500, 20, 2, 9, 400, 30, 2, 0.01]


def test_baseline_and_floor_are_measured_even_if_not_named(run, starts):
    run("--quiet", "--scenarios", "placed", "--candidates", "pawl_sift")
    assert starts()[0]["candidates"].split(",") == ["pawl_sift", "pthread_rwlock", "none"]


def test_a_lock_that_spins_for_a_preempted_holder_is_not_put_beside_real_time_threads(run, starts):
    run("--quiet", "--scenarios", "readers,placed")
    assert [("absl_mutex" in s["candidates"]) for s in starts()] == [True, False]


def test_pairs_have_the_rows_of_the_chosen_locks_and_all_floors(run, starts):
    run("--quiet", "--scenarios", "pairs", "--candidates", "pawl_sift")
    names = starts()[0]["candidates"].split(",")
    assert {
        "floor/cas_sub",
        "calls/signal_mask",
        "w/pawl_sift_net",
        "w/pthread_rwlock_masked",
        "r/pthread_rwlock",
    } <= set(names)
    assert not {"r/pawl_lock64", "r/pthread_rwlock_nonrecursive"} & set(names)


def test_a_lock_is_known_by_the_longest_name_that_fits():
    assert latency.lock_of("w/pthread_rwlock_masked", OFFERED) == "pthread_rwlock"
    assert latency.lock_of("r/pthread_rwlock_nonrecursive", OFFERED) == (
        "pthread_rwlock_nonrecursive"
    )
    assert latency.lock_of("calls/signal_mask", OFFERED) is None


def test_the_time_is_told_before_anything_is_measured(run):
    shown, _ = run("--scenarios", "placed", "--seconds", "10")
    assert shown.err.splitlines()[0] == "1 cell, 6 samples, about 61 s"


def test_list_names_the_locks(run):
    shown, _ = run("--list")
    assert "pthread_rwlock_nonrecursive\n" in shown.out
    assert "nsync_mu  (not built: install libnsync-dev" in shown.out


# ---- What samples say ----------------------------------------------------------------------------


def test_blocked_times_of_all_threads_are_one_distribution():
    def row(who, pairs):
        return {
            "who": who,
            "blocked": pairs,
            "interrupt": {
                "count": sum(n for _, n in pairs),
                "min": 1,
                "avg": 5,
                "max": pairs[-1][0],
                "p50": 0,
                "p99": 0,
                "p99.9": 0,
                "p99.99": 0,
            },
        }

    samples = [
        {
            "rows": [
                row("writer/0", [[10, 9000], [50, 1]]),
                row("writer/1", [[10, 900]]),
                row("reader/0", [[70, 99]]),
            ]
        }
    ]
    tries = row("trylock_writer/0", [[1, 10**6]])
    found = latency_samples.blocked(samples)
    assert (found["p50"], found["p99"], found["p99.9"], found["max"], found["count"]) == (
        10,
        10,
        70,
        70,
        10000,
    )
    assert latency_samples.blocked(samples + [{"rows": [tries]}]) == found
    assert latency_samples.blocked([{"rows": [tries]}])["p50"] == 1


def test_a_row_of_several_rounds_has_the_extremes_of_all():
    def one(least, most, count):
        return {
            "count": count,
            "min": least,
            "avg": 10 * count,
            "max": most,
            **dict.fromkeys(latency_samples.QUANTILES, most / 2),
        }

    found = latency_samples.together([one(3, 40, 1), None, one(2, 60, 3)])
    assert (found["count"], found["min"], found["max"], found["p99"]) == (4, 2, 60, 25)
    assert found["avg"] == (10 * 1 + 30 * 3) / 4
    assert latency_samples.together([None, None]) is None


def test_a_thread_has_one_row_whatever_the_rounds(run):
    _, result = run("--quiet", "--scenarios", "contention", "--rounds", "3", "--seconds", "1")
    samples = latency_samples.of_lock(cell_of(result, "contention"), "pawl_sift")
    found = {r["who"]: r for r in latency_samples.rows(samples)}
    assert found["writer/0"]["iterations"] == 3 * 5000
    assert found["trylock_writer/0"]["failed"] == 21


def test_the_short_table_has_shares_blocked_times_and_waits(run):
    shown, result = run("--quiet", "--scenarios", "placed,contention")
    line = line_of(result, "contention", "pawl_sift")
    assert line["writers"] == [20000, 19960]
    assert line["blocked"]["p99.99"] == 18000 and line["blocked"]["max"] == 60000
    assert line["raised"]["max"] == 180000
    assert line["waits"]["handlers"] == 84000 and line["waits"]["readers"] == 60000
    assert latency_table.short_texts(line)[:7] == [
        "pawl_sift",
        "20,000 19,960",
        "39,960",
        "1.50 us",
        "9.00 us",
        "30.0 us",
        "90.0 us",
    ]
    assert "20,000 19,960" in shown.out


def test_the_long_table_has_the_sources_columns_and_order(run):
    shown, result = run("--quiet", "--scenarios", "placed", "--candidates", "pawl_sift")
    assert "pawl_sift, cycles" in shown.out and "trylock_reader/0: 7 tries failed" in shown.out
    samples = latency_samples.of_lock(cell_of(result, "placed"), "pawl_sift")
    texts = latency_table.long_texts(latency_samples.rows(samples))
    assert [t[:2] for t in texts[:4]] == [
        ["writer/0", "interrupt signals blocked"],
        ["writer/0", "deferred signals blocked"],
        ["writer/0", "preemption raised"],
        ["writer/0", "lock delay"],
    ]
    assert texts[0][2:] == [
        "20,000",
        "1,500",
        "3,000",
        "60,000",
        "3,000",
        "6,000",
        "18,000",
        "18,000",
    ]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_short_table_fits_and_always_says_how_long_signals_were_blocked(width):
    heads = [latency_table.SHORT_HEADS[n] for n in latency_table.shown(width)]
    assert {"lock", "writes", "\np99.99", "\nmax", "max wait\nhandlers"} <= set(heads)
    usual = {"lock": 27, "writes": 13, "blocked\ntimes": 9}
    assert sum(usual.get(h, max(map(len, h.split("\n")))) + 2 for h in heads) <= width


def test_many_scenarios_are_shown_by_their_short_tables(run):
    shown, _ = run("--quiet")
    assert "high contention: all at once" in shown.out and "pawl_sift, cycles" not in shown.out


def test_the_counter_and_its_own_cost_are_told(run):
    shown, _ = run("--quiet", "--scenarios", "writer")
    assert (
        "rdtsc takes [min,avg,max] 15,30,1,800 cycles at 2.000 cycles a ns; results are less "
        "its median of 30"
    ) in " ".join(shown.out.split())


def test_pairs_are_told_in_nanoseconds_cycles_and_times_the_floor(run):
    shown, result = run("--quiet", "--scenarios", "pairs")
    row = next(r for r in cell_of(result, "pairs")["summary"] if r["candidate"] == "r/pawl_sift")
    assert row["median"] == pytest.approx(10.1, rel=0.02)
    assert latency_table.pair_texts(row | {"median": 10.1}, 2.0)[3] == "20.2"
    assert "calls/signal_mask" in shown.out and "w/pawl_sift_net" in shown.out


def test_without_the_right_to_real_time_it_says_what_that_changes(run, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "no-right")
    shown, result = run("--quiet")
    text = " ".join(shown.out.split())
    assert "no real-time threads: real-time scheduling is not permitted" in text
    assert "no writer was raised" in text
    assert {"candidate": "calls/scheduling", "why": result["unavailable"][-1]["why"]} in (
        result["unavailable"]
    )
    assert "calls/scheduling" not in cell_of(result, "pairs")["candidates"]


def test_threads_that_had_to_be_rescued_are_told(run, monkeypatch, tmp_path):
    monkeypatch.setenv("FAKE_MODE", "spins")
    shown, _ = run("--quiet", "--scenarios", "placed", "--html", tmp_path / "page.html")
    says = "pawl_lock64: 2 real-time threads spun for half a second"
    assert says in " ".join(shown.out.split()) and shown.out.count("spun for") == 1
    assert says in (tmp_path / "page.html").read_text()


def test_a_lock_that_was_not_built_is_a_line_that_says_so(run):
    shown, _ = run("--quiet", "--scenarios", "writer")
    assert "not measured: nsync_mu: install libnsync-dev" in shown.out


# ---- Reports and files ---------------------------------------------------------------------------


def test_pictures_show_distributions_and_pairs(run, tmp_path):
    page = tmp_path / "latency.html"
    _, result = run(
        "--quiet",
        "--html",
        page,
        "--svg",
        tmp_path / "latency.svg",
        "--png",
        tmp_path / "latency.png",
    )
    drawn = dict(figures(result))
    panels = [a.get_title(loc="left") for a in drawn[latency.SCENARIOS["placed"].says].axes]
    assert panels == ["signals blocked", "a writer's wait", "a handler's wait"]
    assert len(drawn) == 6  # readers alone block nothing, and neither write nor handle
    text = page.read_text()
    assert "pawl_sift: every thread, in cycles" in text and "rdtsc takes" in text
    assert "write sections of 20 us" in text
    assert main(["report", str(tmp_path / "latency.json"), "--html", str(page), "--check"]) == 0


def test_a_measurement_goes_on_after_an_interrupt(run, starts, tmp_path):
    run("--quiet", "--scenarios", "writer,reader")
    path = tmp_path / "latency.json"
    half = json.loads(path.read_text())
    del half["cells"][1:]
    half["interrupted"] = True
    path.write_text(json.dumps(half))
    _, result = run("--quiet", "--scenarios", "writer,reader")
    assert len(starts()) == 3 and len(result["cells"]) == 2


def test_an_interrupt_leaves_valid_json(fake, program, standstill, tmp_path):
    path = tmp_path / "latency.json"
    stands_still = standstill(5)
    process = program("bench", "latency", "--quiet", "--scenarios", "pairs", "--json", path)
    stands_still(process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=LONG)
    assert process.returncode == 130, error
    assert json.loads(path.read_text())["interrupted"] is True


def test_rows_of_threads_do_not_compete(run):
    _, result = run("--quiet", "--scenarios", "placed")
    assert losses(result, result["cells"][0]) == [] and KIND.views(KIND, result) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--scenarios", "crowd"], "there is no scenario 'crowd'; choose among pairs, writer"),
        (["--seconds", "0"], "--seconds"),
        (["--seconds", "nan"], "--seconds"),
        (["--rounds", "0"], "--rounds"),
        (["--slow-section", "-1"], "--slow-section"),
        (["--realtime-share", "60"], "--realtime-share"),
        (["--realtime", "maybe"], "--realtime"),
        (["--tries", "0"], "--tries"),
        (["--handler-period", "0"], "--handler-period"),
        (["--pin", "none"], "handlers read on every CPU"),
        (["--pin", "9999"], "may not run on CPU 9999"),
        (["--candidates", "pawl_shift"], "did you mean pawl_sift"),
        (["--candidates", "nsync_mu"], "was not built; install libnsync-dev"),
        (["--json", "/nowhere/at/all.json"], "does not exist"),
    ],
)
def test_bad_input_is_refused_before_measuring(arguments, says, fake, refused):
    assert says in refused("bench", "latency", *arguments)


@pytest.mark.parametrize("mode", ["garbage", "crash", "hangs", "bad-list"])
def test_a_driver_that_fails_leaves_nothing(mode, run, monkeypatch, tmp_path):
    monkeypatch.setenv("FAKE_MODE", mode)
    shown, result = run("--quiet", "--scenarios", "placed", code=1)
    assert result is None and left_behind(tmp_path) == []
    assert shown.err.startswith("pawl: ") and "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("scenario",), 7),
        (("samples", 0, "counter"), {}),
        (("samples", 0, "realtime_error"), None),
        (("samples", 0, "rows"), [1]),
        (("samples", 0, "rows", 0, "who"), 3),
        (("samples", 0, "rows", 0, "lock", "p99.9"), "long"),
        (("samples", 0, "rows", 0, "blocked"), [[1]]),
        (("samples", 0, "rows", 0, "blocked"), []),
        (("samples", 0, "counter", "per_ns"), 0),
        (("samples", 0, "counter", "cost"), 9),
    ],
)
def test_a_damaged_result_is_refused(place, value, run, refused_damaged):
    _, result = run("--quiet", "--scenarios", "placed")
    refused_damaged(result, place, value)
