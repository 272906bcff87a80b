# SPDX-License-Identifier: MIT
"""The output stage in ngspice: one operating point for given parts, tolerances and conditions.

python3 hardware/watchdog/circuit/circuit.py      prints the tables of README.md
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLUGGED = "Vusb usb 0 {vusb}"
UNPLUGGED = "Rusb usb 0 1000"  # what the board's own parts are to its dead supply
NAMES = ("-i(vsup)", "i(vpin)", "v(pwr)", "v(pb0)")
# Limits of data sheets.
PIN_LIMIT = 0.040  # A, ATtiny85, absolute maximum of a pin
LOW_LIMIT = 2.4  # V, ATX: PWR_OK below it is low
HIGH_INPUT = 0.6 * 5  # V, ATtiny85: least level that is read as high, at 5 V
LOW_INPUT = 0.3 * 5  # V: the highest that is read as low


@dataclass
class Conditions:
    """The nominal circuit, PWR_OK tied to +5 V, the device in its plug and silent."""

    variant: str = "mosfet"
    low: bool = False  # PB0 is driven low
    pullup: bool = False  # PB0's own pull-up is on, while the level is read
    plugged: bool = True
    vusb: float = 5.0
    vsup: float = 5.0
    rup: float = 0.001  # ohm between the supply's +5 V and PWR_OK
    rs: float = 180.0
    rpin: float = 25.0  # 0.25 V at 10 mA; at most 0.6 V
    vto: float = 2.1
    bf: float = 100.0


def netlist(c: Conditions) -> str:
    values = {
        "vusb": c.vusb,
        "vsup": c.vsup,
        "rup": c.rup,
        "rs": c.rs,
        "rpin": c.rpin,
        "rpull": 35e3 if c.pullup else 1e12,
        "low": int(c.low),
        "vto": c.vto,
        "bf": c.bf,
        "plug": PLUGGED.format(vusb=c.vusb) if c.plugged else UNPLUGGED,
        "variant": (HERE / f"{c.variant}.inc").read_text(),
    }
    text = (HERE / "stage.cir").read_text()
    for name in ("variant", *values):
        text = text.replace("{" + name + "}", str(values[name]))
    return text


@dataclass
class Point:
    current: float  # A that leave the supply by PWR_OK
    pin: float  # A that PB0 sinks
    pwr_ok: float  # V
    pb0: float  # V


def ngspice(text: str, names: tuple[str, ...]) -> list[float]:
    """What these expressions are; raises if it does not converge."""
    done = subprocess.run(
        ["ngspice", "-b", "/dev/stdin"],
        input=text,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    found = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition(" = ")
        if value and name.strip() in names:
            found[name.strip()] = float(value)
    try:
        return [found[name] for name in names]
    except KeyError as missing:
        raise RuntimeError(f"ngspice gave no {missing}:\n{done.stdout}{done.stderr}") from missing


def solve(c: Conditions) -> Point:
    text = netlist(c).replace(
        ".op\n.end", ".control\nop\nprint -i(vsup) i(vpin) v(pwr) v(pb0)\nquit\n.endc\n.end"
    )
    return Point(*ngspice(text, NAMES))


def relay(vusb: float = 5.0, coil: float = 70.0, rpin: float = 25.0, bf: float = 100.0):
    """The relay's driver while PB0 is high: V across the coil, A that PB0 gives."""
    text = (HERE / "relay.cir").read_text()
    for name, value in {"vusb": vusb, "coil": coil, "rpin": rpin, "bf": bf}.items():
        text = text.replace("{" + name + "}", str(value))
    pin, low = ngspice(text, ("-i(vpin)", "v(coil)"))
    return vusb - low, pin


def worst_current(variant: str) -> Point:
    """All tolerances against the pin: 5.25 V, 5 % less resistance, the strongest transistor."""
    return solve(
        Conditions(
            variant, low=True, vusb=5.25, vsup=5.25, rs=180 * 0.95, rpin=1.0, vto=0.8, bf=300
        )
    )


def smallest_pullup(variant: str, **more) -> float:
    """The smallest resistance between +5 V and PWR_OK that still gives a low."""
    below, above = 1.0, 2000.0
    while above - below > 0.5:
        middle = (below + above) / 2
        if solve(Conditions(variant, low=True, rup=middle, **more)).pwr_ok <= LOW_LIMIT:
            above = middle
        else:
            below = middle
    return above


def main() -> None:
    print("| | mosfet | npn |\n|---|---|---|")
    rows = {
        "5 V across 180 ohm alone": lambda v: f"{5 / 180 * 1e3:.1f} mA",
        "from PWR_OK tied to +5 V": lambda v: (
            f"{solve(Conditions(v, low=True)).current * 1e3:.1f} mA"
        ),
        "into PB0, worst case": lambda v: f"{worst_current(v).pin * 1e3:.1f} mA",
        "smallest pull-up for a low": lambda v: f"{smallest_pullup(v):.0f} ohm",
        "low with a pull-up of 1 kilo-ohm": lambda v: (
            f"{solve(Conditions(v, low=True, rup=1000)).pwr_ok:.2f} V"
        ),
        "drain while silent": lambda v: f"{abs(solve(Conditions(v)).current) * 1e9:.0f} nA",
        "drain while unplugged": lambda v: (
            f"{abs(solve(Conditions(v, plugged=False)).current) * 1e9:.0f} nA"
        ),
    }
    for name, row in rows.items():
        print(f"| {name} | {row('mosfet')} | {row('npn')} |")
    bare = solve(Conditions("none", plugged=False)).current
    print(f"\nWithout a transistor an unplugged device drains {bare * 1e3:.1f} mA.")


if __name__ == "__main__":
    main()
