# SPDX-License-Identifier: MIT
"""The pocket supply, calculated: the source's figures, and what follows from them.

python3 hardware/supply/supply.py      prints the tables of README.md
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = 5.0  # V
SWITCH_LIMIT = 4.0  # A, the switch inside the TP5410 (source)
CHARGE_CONSTANT = 2000.0  # V: 10 kilo-ohm program about 200 mA (source)
CHARGE_LIMIT = 1.2  # A, the most that the chip charges with (data sheet of the TP5400)
STOPS_AT, OR_AT = 4, 5  # at 1 / 4 of the programmed current (source; the data sheet: 1 / 5)
IN_THE_WAY = 0.15  # ohm of cell, protection and leads: assumed
WATCHDOG = 0.030  # A: ATtiny85 at 16.5 MHz, 12 mA (data sheet, typical), and its board's LED


def cell_current(capacity_mah: float, rate: float) -> float:
    """A that a cell may give at a rate of so many C."""
    return capacity_mah * rate / 1000


def rate_for_switch(capacity_mah: float) -> float:
    """The discharge rate that a cell needs for the switch's current."""
    return SWITCH_LIMIT * 1000 / capacity_mah


def output_current(volts: float, amperes: float, efficiency: float = 1.0) -> float:
    """A at 5 V from so much at the cell."""
    return volts * amperes * efficiency / OUTPUT


def charge_current(ohms: float) -> float:
    return min(CHARGE_CONSTANT / ohms, CHARGE_LIMIT)


def charge_minutes(ohms: float, capacity_mah: float = 240) -> float:
    """At the full current: what comes below the tail."""
    return capacity_mah / 1000 / charge_current(ohms) * 60


def missing_at_the_end(ohms: float) -> float:
    """V that the cell itself is below 4.2 V when the charger stops."""
    return charge_current(ohms) / STOPS_AT * IN_THE_WAY


def run_time_hours(load: float, capacity_mah: float = 240, efficiency: float = 0.85) -> float:
    """From a full cell of 3.7 V on average to an empty one."""
    return capacity_mah / 1000 * 3.7 * efficiency / (OUTPUT * load)


def ngspice(text: str) -> dict[str, float]:
    done = subprocess.run(
        ["ngspice", "-b", "/dev/stdin"],
        input=text,
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    found = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        try:
            found[name.strip()] = float(value.split()[0])
        except (IndexError, ValueError):
            continue
    if not found:
        raise RuntimeError(f"ngspice measured nothing:\n{done.stdout}{done.stderr}")
    return found


@dataclass
class Converted:
    volts: float
    cell: float  # A
    efficiency: float
    peak: float  # A in the coil


def convert(load: float, diodes: int = 2, volts: float = 3.8) -> Converted:
    """The converter at a load: the duty cycle is searched that gives 5 V."""
    low, high = 0.05, 0.75
    for _ in range(9):
        duty = (low + high) / 2
        values = {
            "vin": volts,
            "ton": f"{duty * 2:.5f}u",
            "load": OUTPUT / load,
            "vstart": OUTPUT,
            "diodes": "\n".join(f"D{i} sw out ss34" for i in range(diodes)),
        }
        text = (HERE / "boost.cir").read_text()
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        found = ngspice(text)
        low, high = (duty, high) if found["vout"] < OUTPUT else (low, duty)
    cell = -found["iin"]
    given = found["vout"] ** 2 / (OUTPUT / load)
    return Converted(found["vout"], cell, given / (volts * cell), found["ipeak"])


def diode_drop(amperes: float, diodes: int) -> float:
    """V across so many SS34 in parallel."""
    text = f"""drop
Iload 0 a {amperes}
{chr(10).join(f"D{i} a 0 ss34" for i in range(diodes))}
.model ss34 d is=4e-6 n=1.05 rs=0.045
.control
op
print v(a)
quit
.endc
.end
"""
    return ngspice(text)["v(a)"]


def torch_current() -> float:
    return ngspice((HERE / "torch.cir").read_text())["-i(vout)"]


def main() -> None:
    print("| capacity | rate for 4 A |\n|---|---|")
    for capacity in (160, 200, 250, 320):
        print(f"| {capacity} mAh | {rate_for_switch(capacity):g}C |")
    print("\n| resistor | current | rate, time of 240 mAh | stops at | cell below 4.2 V by |")
    print("|---|---|---|---|---|")
    for kilo in (1.2, 4.7, 10):
        amperes = charge_current(kilo * 1e3)
        print(
            f"| {kilo:g} kilo-ohm | {amperes:.2f} A | {amperes / 0.24:.1f}C, "
            f"{charge_minutes(kilo * 1e3):.0f} min | {amperes / STOPS_AT * 1e3:.0f} mA, or "
            f"{amperes / OR_AT * 1e3:.0f} | {missing_at_the_end(kilo * 1e3) * 1e3:.0f} mV |"
        )
    print("\n| current | one diode | two diodes | saved |\n|---|---|---|---|")
    for amperes in (0.5, 1.0, 2.0, 2.8):
        one, two = diode_drop(amperes, 1), diode_drop(amperes, 2)
        print(f"| {amperes} A | {one:.3f} V | {two:.3f} V | {(one - two) * amperes:.2f} W |")
    print("\n| load | efficiency, two diodes | one diode | cell, 3.8 V | coil, peak |")
    print("|---|---|---|---|---|")
    for load in (0.03, 0.1, 0.5, 1.0, 1.6, 2.0, 2.8):
        two, one = convert(load), convert(load, diodes=1)
        print(
            f"| {load} A | {two.efficiency:.0%} | {one.efficiency:.0%} | {two.cell:.2f} A | "
            f"{two.peak:.2f} A |"
        )
    print("\n| load | run time of 240 mAh |\n|---|---|")
    for name, load in (("watchdog, 30 mA", WATCHDOG), ("lamp, 1.6 A", 1.6), ("lamp, 2 A", 2.0)):
        print(f"| {name} | {run_time_hours(load) * 60:.0f} min |")
    print(f"\nTorch: {torch_current() * 1e3:.0f} mA.")


if __name__ == "__main__":
    main()
