# SPDX-License-Identifier: MIT
"""Time in `pawl replay`: the pauses of its threads, and the ends of its window. No clock is asked:
the times are made up."""

import sqlite3
import subprocess

import pytest

from conftest import ROOT
from pawl.replay import rows, show, steps
from pawl.replay.window import Event, Lane, Window, largest
from pawl.trace import store


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """The length of a round of tests/trace/pauses.cpp, and the part of it that is pause."""
    made = tmp_path_factory.mktemp("pauses") / "pauses"
    subprocess.run(
        ["g++", "-std=c++17", f"-I{ROOT}", "-o", made, ROOT / "tests/trace/pauses.cpp"], check=True
    )

    def go(late=0, pause=0, between=0, overslept=0, stolen=0, waited=0, kind=0):
        words = [made, *map(str, (late, pause, between, overslept, stolen, waited, kind))]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        return tuple(map(int, done.stdout.split()))

    return go


def test_a_pause_lasts_as_long_as_it_did(rounds):
    assert rounds(pause=50_000, between=10_000) == (60_000, 50_000)
    assert rounds(late=5000, pause=50_000, between=10_000, overslept=5000)[0] == 60_000


def test_a_sleep_that_ends_late_makes_the_next_one_shorter(rounds):
    """Each sleep was measured from its own begin, so a thousand late ones were a thousand times as
    late as one."""
    assert rounds(late=5000, pause=50_000, between=10_000, overslept=20_000)[0] == pytest.approx(
        60_000, abs=100
    )


def test_pauses_too_short_to_be_slept_come_together(rounds):
    """They were left out."""
    assert rounds(late=60_000, pause=20_000, between=10_000, overslept=60_000)[0] == pytest.approx(
        30_000, abs=100
    )


def test_a_pause_may_have_been_time_without_the_processor(rounds):
    """The recording cannot tell which it was. Such time was slept, and lost here once more."""
    assert rounds(pause=50_000, between=10_000, stolen=30_000, kind=steps.ANY) == (60_000, 50_000)
    assert rounds(pause=50_000, between=10_000, stolen=70_000, kind=steps.ANY) == (80_000, 50_000)


def test_a_sleep_that_was_recorded_is_no_such_time(rounds):
    assert rounds(pause=50_000, between=10_000, stolen=30_000) == (90_000, 50_000)


def test_a_wait_for_a_lock_is_no_part_of_the_pauses(rounds):
    for kind in (0, steps.ANY, steps.ALONE):
        made = rounds(pause=50_000, between=10_000, waited=30_000, kind=kind)
        assert made == (90_000, 50_000)


def test_a_thread_that_is_ready_and_has_no_processor_does_not_sleep(rounds):
    """Where the kernel said how long the thread slept, a late end counted as sleep here, and as
    time off the processor there: memcached came to 0.6 of its rate on a busy machine."""
    late = {"late": 5000, "pause": 50_000, "between": 10_000, "overslept": 40_000}
    assert rounds(**late, kind=steps.ALONE) == (95_000, 50_000)
    assert rounds(**late)[0] == pytest.approx(60_000, abs=100)


# ---- Time for which a thread was kept off its processor ------------------------------------------


def lane(sleeps, known=0):
    """Half of its time off the processor."""
    events = [Event(7, "read", 1, 1000 * i, 0, 500) for i in range(10)]
    return Lane(events, 0.5, None, sleeps, known)


def planned(*lanes):
    return steps.plan(Window("program", 3, 100_000, list(lanes)), {7: "rwlock"}, {7}, set())


@pytest.mark.parametrize(("sleeps", "is_sleep"), [(None, True), (40, True), (1, False), (0, False)])
def test_a_thread_that_never_slept_was_kept_off_its_processor(sleeps, is_sleep):
    """Its time off the processor was re-enacted as sleep: so no lock could make it faster, though
    it is the time that it ran that decides."""
    made = planned(lane(sleeps))
    asleep = sum(s[2] for s in made.original[0] if s[0] == steps.SLEEP)
    worked = sum(s[2] for s in made.original[0] if s[0] == steps.WORK)
    assert (asleep, worked) == (50_000 if is_sleep else 0, 50_000)
    assert made.kept_off == [0 if is_sleep else 50_000]
    assert made.rate == pytest.approx(10 / (100_000 if is_sleep else 50_000) * 1e9)


def test_the_kernel_says_how_much_of_it_was_sleep():
    """A thread that slept and was kept off in one window was taken to have slept all that time."""
    one = lane(sleeps=40)
    one.kept_off = 20_000
    made = planned(one)
    assert made.kept_off == [20_000]
    asleep = [s for s in made.original[0] if s[0] == steps.SLEEP]
    assert {s[1] for s in asleep} == {steps.ALONE} and sum(s[2] for s in asleep) == 30_000
    assert made.rate == pytest.approx(10 / 80_000 * 1e9)


def test_a_thread_is_kept_off_in_its_sections_rather_than_asleep_there():
    """Of 60 us off the processor it slept 20. A lock that is held by a sleeper keeps all out."""
    events = [Event(7, "read", 1, 0, 0, 40_000), Event(7, "read", 1, 80_000, 0, 1000)]
    one = Lane(events, 0.4, None, 40, kept_off=40_000)
    (own,) = planned(one).original
    at = own.index((steps.DROP_READ, 0, 0))
    assert not [s for s in own[:at] if s[0] == steps.SLEEP]
    assert sum(s[2] for s in own[at:] if s[0] == steps.SLEEP) == 20_000


@pytest.mark.parametrize(("kept_off", "outside"), [(60_000, 40_000), (20_000, 16_000), (0, 0)])
def test_a_part_of_what_the_kernel_counted_lies_in_waits(kept_off, outside):
    """10 of 100 us are waits, and 40 of the rest are off the processor. What cannot lie in the
    waits lies outside; else both have their share."""
    one = lane(sleeps=40)
    one.cpu_of, one.known_ns, one.kept_off = 100_000, 10_000, kept_off
    one.events.append(Event(7, "read", 1, 50_000, 10_000, 0))
    assert planned(one).kept_off == [pytest.approx(outside, abs=2)]


def test_the_calls_of_locks_use_the_processor_too():
    """Their time was no work, but the processor's time was: so as much of the time off the
    processor was taken for work. In memcached that made its work twice as long."""
    one = lane(sleeps=0)
    for e in one.events:
        e.call = 200
    made = planned(one)
    assert made.kept_off == [50_000]
    assert sum(s[2] for s in made.original[0] if s[0] == steps.WORK) == 48_000


def test_sleeps_in_waits_are_known():
    assert planned(lane(sleeps=9, known=4)).kept_off != [0]
    assert planned(lane(sleeps=10, known=4)).kept_off == [0]


def test_waits_behind_the_window_are_known_where_the_processor_time_was_measured():
    """The recorder measured for 300 us from the first release on: beyond the window's end."""
    events = [(7, 500, 0, 500), (7, 2000, 50, 10), (7, 250_000, 50, 10), (7, 302_000, 50, 10)]
    assert taken([events], cpu_of=300_000).lanes[1].known == 2


def test_the_rates_are_compared_without_the_time_of_the_recorder():
    """A program that takes a lock each 100 ns is recorded with half as much again."""
    events = [Event(7, "read", 1, 160 * i, 0, 60, 50) for i in range(10)]
    made = steps.plan(
        Window("program", 3, 1600, [Lane(events, 1.0)], own=20), {7: "rwlock"}, {7}, set()
    )
    assert made.recorder == 20 + 50 - 10 and made.rate == pytest.approx(1e9 / 100)


def test_the_rates_are_compared_without_the_time_off_the_processor():
    made = planned(lane(sleeps=0))
    samples = [
        {"candidate": rows.BASELINE, "round": i, "ops": 40_000, "seconds": 1.0, "wait_ns": 0}
        | {"lost_ns": 800_000_000, "long_wait_ns": 0}
        for i in range(6)
    ]
    found = rows.fidelity(samples, made)  # 40,000 in 0.2 s, recorded 10 in 50 us
    assert found["ratio"] == pytest.approx(1) and found["lost"] == pytest.approx(0.8)
    assert "that was, in the recording 50 %" in show.fidelity(found)


def long_waits(section):
    """A thread that takes ten locks, and waits for 30 of 100 ms behind another one's section."""
    events = [Event(7, "read", 1, 1_000_000 * i, 0, section) for i in range(10)]
    events.append(Event(7, "read", 1, 50_000_000, 30_000_000, 500))
    window = Window("program", 3, 100_000_000, [Lane(events, 0.7)])
    return steps.plan(window, {7: "rwlock"}, {7}, set())


def test_waits_for_a_thread_that_was_kept_off_are_its_time_off_the_processor():
    """A thread of the naive cache waited for 43 ms, where sections take a microsecond. The
    re-enactment came to seventeen times that rate."""
    made = long_waits(section=500)
    assert made.behind == [30_000_000] and made.lost == pytest.approx(0.3)
    assert made.rate == pytest.approx(11 / 70e-3)
    samples = [
        {"candidate": rows.BASELINE, "round": i, "ops": 11, "seconds": 0.1, "wait_ns": 30_000_000}
        | {"lost_ns": 0, "long_wait_ns": 30_000_000}
        for i in range(6)
    ]
    assert rows.fidelity(samples, made)["ratio"] == pytest.approx(1)


def test_long_waits_for_long_sections_are_the_program_s():
    made = long_waits(section=999_999)
    assert made.short == {7} and made.behind == [30_000_000]
    made = long_waits(section=1_000_000)
    assert made.short == set() and made.behind == [0]
    assert made.rate == pytest.approx(11 / 100e-3)


# ---- The ends of a window ------------------------------------------------------------------------


def taken(lanes, cpu_of=0):
    """The window from 1,000 to 201,000 ns of these lanes: (lock, begun, wait, hold)."""
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    for name in ("process", "lock", "use", "window", "part", "step"):
        db.execute(f"CREATE TABLE {name}({store.TABLES[name]})")
    db.execute("INSERT INTO process(id, program, own_ns, pair_ns) VALUES (1, 'program', 0, 20)")
    db.execute("INSERT INTO lock(id, process, kind) VALUES (7, 1, 'mutex'), (8, 1, 'mutex')")
    db.execute("INSERT INTO window VALUES (1, 3, 1000, 201000)")
    add = "INSERT INTO step VALUES (1, 3, ?, ?, 'mutex', 1, 2, ?, ?, ?, 5)"
    db.executemany(add, [(0, 7, 1000 * i, 0, 500) for i in range(1, 201)])
    db.executemany(add, [(i, *e) for i, events in enumerate(lanes, 1) for e in events])
    db.execute("INSERT INTO part VALUES (1, 3, 1, 0, 0, ?, ?, 9, NULL)", (cpu_of // 2, cpu_of))
    return largest(db)


def test_a_wait_that_lasts_beyond_the_window_takes_no_lock_in_it():
    """It was re-enacted as a take that is dropped at once, one more in each round. Before, it was
    left out, and the time until the window's end was taken for work."""
    window = taken([[(7, 2000, 0, 500), (7, 51_000, 300_000, 10)]])
    lane = window.lanes[1]
    assert [(e.begun, e.wait, e.hold) for e in lane.events] == [(1000, 0, 500)]
    assert window.until(lane) == 50_000
    plan = steps.plan(window, {7: "mutex"}, {7}, set())
    assert plan.rate == pytest.approx((200 / 200_000 + 1 / 50_000) * 1e9)
    assert sum(s[2] for s in plan.original[1] if s[0] == steps.WORK) == 50_000 - 5


def test_what_is_held_around_such_a_wait_ends_with_it():
    lane = taken([[(8, 11_000, 0, 900_000), (7, 51_000, 300_000, 10)]]).lanes[1]
    assert [(e.lock, e.begun, e.hold, e.call) for e in lane.events] == [(8, 10_000, 40_000, 0)]


def test_a_hold_that_lasts_beyond_the_window_counts_up_to_its_end():
    lane = taken([[(7, 121_000, 0, 90_000)]]).lanes[1]
    assert [(e.begun, e.hold, e.call) for e in lane.events] == [(120_000, 80_000, 0)]


def test_what_began_before_the_window_counts_from_its_begin():
    """It was left out, and its time was taken for work."""
    waits, holds = taken([[(7, 0, 4000, 600)], [(7, 0, 400, 1600)]]).lanes[1:]
    assert [(e.begun, e.wait, e.hold) for e in waits.events] == [(0, 3000, 600)]
    assert [(e.begun, e.wait, e.hold) for e in holds.events] == [(0, 0, 1000)]


def test_a_thread_that_waits_for_all_of_the_window_takes_no_lock():
    assert len(taken([[(7, 500, 400_000, 10)]]).lanes) == 1
