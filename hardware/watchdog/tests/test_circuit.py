# SPDX-License-Identifier: MIT
"""The circuits in ngspice, the calculations, the drawings."""

import importlib.util
import re
import sys

import pytest

from conftest import ROOT, run

pytestmark = pytest.mark.skipif(
    run("sh", "-c", "command -v ngspice").returncode != 0,
    reason="ngspice is not installed (scripts/setup watchdog)",
)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


circuit = load(ROOT / "hardware/watchdog/circuit/circuit.py")
supply = load(ROOT / "hardware/supply/supply.py")
Conditions, solve = circuit.Conditions, circuit.solve
BOTH = pytest.mark.parametrize("variant", ["mosfet", "npn"])


@BOTH
def test_the_resistor_limits_the_current_below_the_nominal_one(variant):
    nominal = 5 / 180
    assert round(nominal * 1e3, 1) == 27.8
    assert 0.020 < solve(Conditions(variant, low=True)).current < nominal


@BOTH
def test_the_worst_case_stays_below_the_limit_of_the_pin(variant):
    assert 0.028 < circuit.worst_current(variant).pin < circuit.PIN_LIMIT


@BOTH
def test_supplies_with_a_pull_up_are_pulled_low(variant):
    for ohms in (25000, 10000, 4700, 1000, 470, 240):
        assert solve(Conditions(variant, low=True, rup=ohms)).pwr_ok <= circuit.LOW_LIMIT


def test_170_ohm_is_the_least_pull_up_for_a_resistor_of_157_ohm_not_of_180():
    """The divider alone: at 180 ohm it is 195 ohm."""
    least = {rs: rs * (5 - circuit.LOW_LIMIT) / circuit.LOW_LIMIT for rs in (157, 180)}
    assert round(least[157]) == 170 and round(least[180]) == 195


@BOTH
def test_the_least_pull_up_with_real_parts(variant):
    assert 195 < circuit.smallest_pullup(variant) < 240


@BOTH
def test_a_supply_that_ties_the_line_to_5_volts_has_its_current_limited_only(variant):
    point = solve(Conditions(variant, low=True))
    assert point.pwr_ok > circuit.LOW_LIMIT and point.pin < circuit.PIN_LIMIT


@BOTH
def test_an_unplugged_device_drains_nothing(variant):
    assert abs(solve(Conditions(variant, plugged=False, rup=1000)).current) < 1e-6


def test_without_a_transistor_an_unplugged_device_drains_the_line():
    point = solve(Conditions("none", plugged=False, rup=10000))
    assert point.current > 200e-6 and point.pwr_ok < circuit.LOW_LIMIT


@BOTH
def test_a_silent_device_has_no_influence(variant):
    for plugged in (True, False):
        point = solve(Conditions(variant, plugged=plugged, rup=25000))
        assert point.pwr_ok > 4.9


@BOTH
def test_the_level_can_be_read_with_the_pull_up_on(variant):
    high = solve(Conditions(variant, pullup=True, rup=1000))
    low = solve(Conditions(variant, pullup=True, vsup=0, rup=100))
    assert high.pb0 > circuit.HIGH_INPUT and low.pb0 < circuit.LOW_INPUT
    assert abs(low.current) < (0.25e-3 if variant == "mosfet" else 2.5e-3)


def test_the_npn_sends_its_base_current_into_a_line_that_is_low():
    """2 mA; a supply sinks 4 mA at 0.4 V (ATX), so the line stays low."""
    point = solve(Conditions("npn", vsup=0, rup=100))
    assert -2.5e-3 < point.current < -1.5e-3 and point.pwr_ok < 0.4


def test_a_relay_is_driven_with_the_worst_parts():
    """4.4 V of USB and the weakest transistor; 5.25 V and the strongest pin."""
    volts, _ = circuit.relay(vusb=4.4, rpin=60, bf=60)
    assert volts > 0.9 * 4.4  # a 5 V relay pulls in at three quarters of its voltage
    _, pin = circuit.relay(vusb=5.25, rpin=1, bf=300)
    assert pin < circuit.PIN_LIMIT / 4


# ---- The supply ---------------------------------------------------------------------------------


@pytest.mark.parametrize("capacity,rate", [(160, 25), (200, 20), (250, 16), (320, 12.5)])
def test_the_rate_that_a_cell_needs_for_the_switch(capacity, rate):
    assert supply.rate_for_switch(capacity) == rate


def test_what_a_cell_of_240_mah_gives_when_it_is_nearly_empty():
    amperes = supply.cell_current(240, 20)
    assert amperes == pytest.approx(4.8)
    assert 3 * amperes == pytest.approx(14.4)
    assert supply.output_current(3, amperes) == pytest.approx(2.88)


def test_2_8_ampere_from_3_8_volt_are_near_the_limit_of_the_switch():
    lossless = 5 * 2.8 / 3.8
    assert lossless == pytest.approx(3.68, abs=0.01)
    assert lossless / supply.SWITCH_LIMIT == pytest.approx(0.921, abs=0.001)


def test_the_charge_current_and_its_cut_off():
    assert supply.charge_current(10e3) == pytest.approx(0.2)
    assert supply.charge_current(10e3) / 4 == pytest.approx(0.05)
    assert supply.charge_current(1.2e3) == supply.CHARGE_LIMIT
    assert [round(supply.charge_minutes(r)) for r in (1.2e3, 4.7e3, 10e3)] == [12, 34, 72]
    assert supply.missing_at_the_end(1.2e3) > 5 * supply.missing_at_the_end(10e3)


def test_the_torch():
    assert supply.torch_current() == pytest.approx(0.060, abs=0.001)


def test_two_diodes_drop_less_than_one():
    for amperes in (0.5, 1.0, 2.0, 2.8):
        one, two = supply.diode_drop(amperes, 1), supply.diode_drop(amperes, 2)
        assert 0.02 < one - two < 0.1
    assert supply.diode_drop(3.0, 1) <= 0.505  # data sheet of the SS34: 0.5 V


def test_the_converter_and_its_second_diode():
    two, one = supply.convert(2.0), supply.convert(2.0, diodes=1)
    assert two.volts == pytest.approx(5, abs=0.1)
    assert 0.84 < one.efficiency < two.efficiency < 0.92


def test_run_times():
    assert supply.run_time_hours(supply.WATCHDOG) == pytest.approx(5.0, abs=0.1)
    assert supply.run_time_hours(1.6) * 60 == pytest.approx(5.7, abs=0.1)
    assert supply.run_time_hours(2.0) * 60 == pytest.approx(4.5, abs=0.1)


# ---- Drawings and pages -------------------------------------------------------------------------


def test_the_drawings_are_what_their_source_draws():
    done = run(sys.executable, ROOT / "hardware/watchdog/circuit/draw.py", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "drawing", sorted((ROOT / "hardware").rglob("*.svg")), ids=lambda d: d.stem
)
def test_every_letter_is_an_outline_inside_its_drawing(drawing):
    """So no font of a reader's moves or cuts it. A letter is a <use> of 11 points."""
    text = drawing.read_text()
    left, top, width, height = map(float, re.search(r'<svg[^>]*viewBox="(.+?)"', text)[1].split())
    letters = re.findall(r'<use .*?x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', text)
    assert "<text" not in text and len(letters) == text.count("<use") > 0
    for x, y, w, h in (map(float, letter) for letter in letters):
        line = y + 0.616 * h  # on which it stands
        assert left <= x and x + w <= left + width
        assert top + 8 <= line <= top + height - 3


@pytest.mark.parametrize(
    "page", ["watchdog/README.md", "watchdog/circuit/README.md", "supply/README.md"]
)
def test_every_page_says_how_it_was_verified(page):
    assert "erified in simulation" in (ROOT / "hardware" / page).read_text()
