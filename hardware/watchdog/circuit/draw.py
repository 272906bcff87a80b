# SPDX-License-Identifier: MIT
"""Draws the circuits: each SVG beside this file, and in hardware/supply/, is written by it.

.venv/bin/python hardware/watchdog/circuit/draw.py           writes them
.venv/bin/python hardware/watchdog/circuit/draw.py --check   exit code 1 if a committed one differs

Texts are drawn as outlines, so that no font of a reader's moves or cuts them.
"""

import sys
from pathlib import Path

import schemdraw
import ziafont
import ziamath
from schemdraw import elements as elm

HERE = Path(__file__).resolve().parent
SUPPLY = HERE.parent.parent / "supply"
LICENCE = b"<!-- SPDX-License-Identifier: MIT; written by hardware/watchdog/circuit/draw.py -->\n"


def drawing() -> schemdraw.Drawing:
    schemdraw.use("svg")
    schemdraw.svgconfig.text = "path"
    ziafont.config.precision = ziamath.config.precision = schemdraw.svgconfig.precision = 1
    made = schemdraw.Drawing(show=False)
    made.config(unit=2.2, fontsize=11)
    return made


def stage(transistor, name, over, under):
    """Transistor between PWR_OK above and PB0 below; what its control has in front."""
    d = drawing()
    d += (q := transistor.label(name, "right", ofst=0.6))
    d += elm.Resistor().at(getattr(q, over)).up().label("180 ohm", "bottom")
    d += elm.Dot(open=True).label("PWR_OK (grey, pin 8)", "right")
    d += elm.Line().at(getattr(q, under)).down(0.8)
    d += elm.Dot(open=True).label("PB0", "right")
    return d, q


def mosfet() -> schemdraw.Drawing:
    d, q = stage(elm.NFet(), "BS170 (has a body diode)", "drain", "source")
    d += elm.Line().at(q.gate).right(0.4)
    d += elm.Line().up(1.2)
    d += elm.Vdd().label("+5 V of USB", "right")
    return d


def npn() -> schemdraw.Drawing:
    d, q = stage(elm.BjtNpn(), "2N3904", "collector", "emitter")
    d += elm.Resistor().at(q.base).left().label("2.2 kilo-ohm", "bottom")
    d += elm.Vdd().label("+5 V of USB")
    d += elm.Line().at(q.emitter).right(2.6)
    d += elm.Diode().up().toy(q.collector).label("1N4148", "bottom")
    d += elm.Line().tox(q.collector)
    return d


def box(d, at, width, height, text):
    d += elm.Rect(corner1=at, corner2=(at[0] + width, at[1] + height))
    d += elm.Label().at((at[0] + width / 2, at[1] + height / 2)).label(text)


def wiring() -> schemdraw.Drawing:
    d = drawing()
    box(d, (0, 0), 3, 4.5, "board with\nATtiny85")
    box(d, (5.5, 1.6), 2.6, 1.6, "output\nstage")
    box(d, (11, 0), 3.6, 4.5, "ATX connector\n(20 or 24 pins)")
    box(d, (-4.2, 1.2), 2.6, 2, "USB of the\nPC, or of\nanother one")
    d += elm.Line().at((-1.6, 2.2)).to((0, 2.2)).label("USB", "top")
    d += elm.Line().at((3, 2.0)).to((5.5, 2.0)).label("PB0", "top")
    d += elm.Line().at((3, 2.8)).to((5.5, 2.8)).label("+5 V", "top")
    d += elm.Line().at((8.1, 2.4)).to((11, 2.4)).label("PWR_OK, grey, 8", "top")
    d += (
        elm.Line()
        .at((3, 0.6))
        .to((11, 0.6))
        .label("ground, black (not needed on the same PC)", "top")
    )
    return d


def relay() -> schemdraw.Drawing:
    """PB0 high opens the contact, which is closed at rest."""
    d = drawing()
    d += (q := elm.BjtNpn().label("2N3904", "right"))
    d += elm.Resistor().at(q.base).left().label("680 ohm")
    d += elm.Dot(open=True).label("PB0", "left")
    d += elm.Line().at(q.emitter).down(0.4)
    d += elm.Ground()
    d += (low := elm.Dot().at(q.collector))
    d += elm.Resistor().up().label("relay, 5 V coil\nof 70 ohm or more", "top")
    d += (top := elm.Dot())
    d += elm.Vdd().label("+5 V of USB")
    d += elm.Line().at(low.center).right(1.6)
    d += elm.Diode().up().toy(top.center).label("1N4148", "bottom")
    d += elm.Line().tox(top.center)
    return d


def converter() -> schemdraw.Drawing:
    d = drawing()
    rail = (0, -5.4)
    d += (coil := elm.Inductor2().at((0, 0)).right().label("10 uH"))
    d += (x := elm.Dot())
    d += elm.Schottky().right().label("2 x SS34 in parallel")
    d += (out := elm.Dot())
    d += elm.Line().right(1.5)
    d += (top := elm.Dot())
    d += elm.Line().right(1)
    d += elm.Dot(open=True).label("5 V", "right")
    d += elm.Battery().at(rail).up().toy(coil.start).label("cell,\n3 to 4.2 V")
    d += elm.Switch().at(x.center).down().toy(rail).label("TP5410", "bottom")
    d += elm.Capacitor().at(out.center).down().toy(rail).label("22 uF", "bottom")
    d += elm.Button().at(top.center).down(1.8).label("torch", "bottom")
    d += elm.Resistor().down(1.8).label("39 ohm", "bottom")
    d += elm.LED().down().toy(rail).label("60 mA", "bottom")
    d += elm.Line().left().tox(0)
    return d


def chip() -> schemdraw.Drawing:
    """All pins of the charger and converter, and what is at each."""
    d = drawing()
    names = ("VOUT", "CHRG", "PROG", "STDBY", "VCC", "BAT", "GND", "LX")
    ends = (
        "5 V: diodes, C1, C2, USB", "red LED, 1 kilo-ohm to VCC", "10 kilo-ohm to ground",
        "green LED, 1 kilo-ohm to VCC", "5 V of the charger, C4", "cell, coil, C3",
        "ground, and the pad below", "coil, diodes",
    )  # fmt: skip
    box(d, (0, 0), 4, 4, "TP5400")
    for i, (name, end) in enumerate(zip(names, ends, strict=True)):
        left = i < 4
        y = 3.5 - i if left else i - 3.5
        x, out = (0, -1) if left else (4, 5)
        d += elm.Line().at((x, y)).to((out, y)).label(str(i + 1), "top")
        d += elm.Dot(open=True).at((out, y)).label(end, "left" if left else "right")
        d += elm.Label().at((0.7 if left else 3.3, y - 0.15)).label(name)
    return d


def layout() -> schemdraw.Drawing:
    """Seen from the side, to scale: 34 mm long, 12 mm high; 20 mm wide."""
    d = drawing()
    scale = 0.35
    parts = [
        ((0, 7.4), 34, 4.6, "cell, 240 mAh, on top"),
        ((0, 1.6), 14, 5.8, "USB, recessed"),
        ((14, 1.6), 5, 5.8, "coil"),
        ((19, 1.6), 7, 2.9, "IC, diodes,\ncapacitors"),
        ((19, 4.5), 7, 2.9, "micro-USB"),
        ((26, 1.6), 8, 5.8, "LED and\nbutton"),
        ((0, 0), 34, 1.6, ""),
    ]
    for (x, y), width, height, text in parts:
        box(d, (x * scale, y * scale), width * scale, height * scale, text)
    d += (
        elm.Label()
        .at((17 * scale, -0.5))
        .label("board, with resistors and LEDs below; 34 mm long, 12 mm high, 20 mm wide")
    )
    return d


DRAWINGS = {
    HERE / "mosfet.svg": mosfet,
    HERE / "npn.svg": npn,
    HERE / "wiring.svg": wiring,
    HERE / "relay.svg": relay,
    SUPPLY / "converter.svg": converter,
    SUPPLY / "chip.svg": chip,
    SUPPLY / "layout.svg": layout,
}


def svg(make) -> bytes:
    return LICENCE + make().get_imagedata("svg").strip() + b"\n"


def main(arguments: list[str]) -> int:
    stale = [
        path
        for path, make in DRAWINGS.items()
        if not path.exists() or path.read_bytes() != svg(make)
    ]
    for path in stale:
        print(("differs: " if "--check" in arguments else "written: ") + str(path))
        if "--check" not in arguments:
            path.write_bytes(svg(DRAWINGS[path]))
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
