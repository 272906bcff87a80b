# SPDX-License-Identifier: MIT
"""The pocket supply's board, from one table: a KiCad project, its rules, Gerbers, a list of parts.

/usr/bin/python3 hardware/supply/board.py [FOLDER]    writes all, has pcbnew check the board's rules
.venv/bin/python hardware/supply/board.py --netlist   has SKiDL check the electrical rules

The folder is build/supply if none is named. Exit code 1 if a rule is broken. Never built. One
copper side, 34 x 20 mm as the cell; its corner is cut out for the USB connector, whose pins are
bent flat onto the board. Lengths are millimetres.
"""

import builtins
import csv
import json
import sys
import uuid
from pathlib import Path

NAME = "pocket"
OUTLINE = [(13.5, 0), (34, 0), (34, 20), (0, 20), (0, 13.6), (13.5, 13.6)]
CLEARANCE, TO_EDGE, NARROWEST = 0.2, 0.3, 0.25
CHIP = {"1": (-2.7, -1.905), "2": (-2.7, -0.635), "3": (-2.7, 0.635), "4": (-2.7, 1.905),
        "5": (2.7, 1.905), "6": (2.7, 0.635), "7": (2.7, -0.635), "8": (2.7, -1.905)}  # fmt: skip
# Pads by pin: x, y, width, height. Bodies, for the courtyard: width, height around the middle.
FOOTPRINTS = {
    "ESOP8": ({p: (x, y, 1.6, 0.6) for p, (x, y) in CHIP.items()}, (4, 5)),
    "1206": ({"1": (-1.5, 0, 1.2, 1.6), "2": (1.5, 0, 1.2, 1.6)}, (3.4, 1.7)),
    "0603": ({"1": (-0.8, 0, 0.8, 0.9), "2": (0.8, 0, 0.8, 0.9)}, (1.8, 0.9)),
    "SMA": ({"1": (-2, 0, 2.4, 1.8), "2": (2, 0, 2.4, 1.8)}, (4.6, 2.9)),
    "COIL": ({"1": (2.95, 0, 2.2, 3.5), "2": (-2.95, 0, 2.2, 3.5)}, (7.3, 6.6)),
    "USB": ({str(n + 1): (0, y, 2.4, 1.3) for n, y in enumerate((-3.5, -1, 1, 3.5))}, (2.4, 8.4)),
    "WIRES": ({"1": (-1.6, 0, 2, 2), "2": (1.6, 0, 2, 2)}, (5, 2)),
    "BUTTON": ({"1": (4.2, -2.25, 2, 1.2), "2": (4.2, 2.25, 2, 1.2)}, (6.2, 5.8)),
}  # fmt: skip
FOOTPRINTS["ESOP8"][0]["9"] = (0, 0, 2.4, 3.3)  # the pad below the chip
R, C, D, W = (("1", "2"), ("1", "2"), ("K", "A"), ("+", "-"))
CHIP_PINS = ("VOUT", "CHRG", "PROG", "STDBY", "VCC", "BAT", "GND", "LX", "PAD")
LOOKED_UP = "data sheet"
FREE = "any maker"
# reference: value, footprint, (x, y, turned by), nets of the pins, names of the pins, part, remark
PARTS = {
    "U1": ("TP5400", "ESOP8", (23.5, 10.6, 0),
           ("5V", "CHRG", "PROG", "STDBY", "VCC", "BAT", "GND", "LX", "GND"), CHIP_PINS,
           "TP5400, Top Power ASIC", LOOKED_UP),
    "L1": ("10 uH", "COIL", (30.3, 5.4, 270), ("BAT", "LX"), R,
           "SRP7050TA-100M, Bourns", "data sheet: 7.5 A of saturation, 69 milliohm, 4.8 mm high"),
    "D1": ("SS34", "SMA", (23.5, 1.75, 0), ("5V", "LX"), D, "B340A, Diodes", LOOKED_UP),
    "D2": ("SS34", "SMA", (23.5, 4.7, 0), ("5V", "LX"), D, "B340A, Diodes", LOOKED_UP),
    "C1": ("22 uF", "1206", (22.9, 7.1, 0), ("5V", "GND"), C,
           "GRM31CR60J226ME20, Murata", "catalogue: 6.3 V, X5R"),
    "C2": ("22 uF", "1206", (18.4, 5, 270), ("5V", "GND"), C,
           "GRM31CR60J226ME20, Murata", "catalogue: 6.3 V, X5R"),
    "C3": ("22 uF", "1206", (28.1, 13.2, 270), ("BAT", "GND"), C,
           "GRM31CR60J226ME20, Murata", "catalogue: 6.3 V, X5R"),
    "C4": ("10 uF", "1206", (28.6, 16.5, 0), ("VCC", "GND"), C, "", "not looked up: 10 V, X5R"),
    "R1": ("10k", "0603", (19.85, 14.4, 270), ("PROG", "GND"), R, "", FREE),
    "R2": ("1k", "1206", (24.6, 17.9, 180), ("VCC", "LEDS"), R, "", FREE),
    "R3": ("39", "1206", (17.2, 10.8, 270), ("5V", "TORCH"), R, "", FREE + ": 0.25 W"),
    "D3": ("red", "1206", (17.6, 16.1, 270), ("CHRG", "LEDS"), D, "", FREE),
    "D4": ("green", "1206", (21.4, 16.4, 270), ("STDBY", "LEDS"), D, "", FREE),
    "D5": ("white", "1206", (2.3, 17, 270), ("GND", "LAMP"), D, "", FREE + ": 60 mA"),
    "SW1": ("button", "BUTTON", (9, 16.8, 0), ("TORCH", "LAMP"), R, "", "any of 6 x 6 mm"),
    "J1": ("USB A", "USB", (15, 6.85, 0), ("5V", "", "", "GND"), ("VBUS", "D-", "D+", "GND"),
           "", "not looked up: pins 2.5, 2, 2.5 mm apart"),
    "J2": ("5 V in", "WIRES", (29.9, 18.6, 0), ("VCC", "GND"), W,
           "", "leads from the charger's plug"),
    "J3": ("cell", "WIRES", (31, 12.9, 270), ("BAT", "GND"), W, "", "leads of the cell"),
}  # fmt: skip
# net, width, corners. Ground is the copper that is left.
TRACKS = [
    ("5V", 1.8, [(15, 3.35), (21, 3.35)]), ("5V", 1.8, [(21.4, 1.75), (21.4, 7.1)]),
    ("5V", 0.6, [(20.8, 7.1), (20.8, 8.7)]), ("5V", 0.5, [(16.85, 3.5), (16.85, 9)]),
    ("LX", 2, [(25.5, 1.75), (25.5, 4.7)]), ("LX", 2.2, [(25.5, 2.45), (30.3, 2.45)]),
    ("LX", 1.2, [(26.2, 4.7), (26.2, 8.4)]), ("LX", 0.6, [(26.2, 8.4), (26.2, 8.7)]),
    ("BAT", 0.6, [(26.2, 11.235), (28.1, 11.235)]), ("BAT", 1.2, [(28.1, 11.6), (30.8, 11.6)]),
    ("BAT", 2, [(30.5, 8.35), (31, 11.3)]),
    ("VCC", 0.6, [(26.2, 12.505), (26.2, 17.9)]), ("VCC", 0.6, [(26.2, 16.5), (27.1, 16.5)]),
    ("VCC", 1, [(27.1, 16.5), (28.1, 18.3)]),
    ("CHRG", 0.25, [(20.8, 9.965), (19, 9.965), (19, 14.6), (17.6, 14.6)]),
    ("PROG", 0.25, [(20.8, 11.235), (19.65, 11.235), (19.65, 13.6)]),
    ("STDBY", 0.25, [(20.8, 12.505), (21, 12.7), (21, 14.9)]),
    ("LEDS", 0.25, [(17.6, 17.6), (17.9, 17.9), (23.1, 17.9)]),
    ("TORCH", 0.4, [(17.2, 12.3), (15.2, 12.9), (14.2, 14.55), (13.2, 14.55)]),
    ("LAMP", 0.4, [(13.2, 19.05), (2.8, 19.05), (2.3, 18.5)]),
]  # fmt: skip


def pads(reference):
    """Of a part as it lies: pin, net, x, y, width, height."""
    _, footprint, (x, y, turned), nets, *_ = PARTS[reference]
    for (pin, (dx, dy, w, h)), net in zip(FOOTPRINTS[footprint][0].items(), nets, strict=True):
        for _ in range(turned // 90):
            dx, dy, w, h = dy, -dx, h, w
        yield pin, net, x + dx, y + dy, w, h


def nets():
    return sorted({net for part in PARTS.values() for net in part[3] if net})


# ---- The board, by pcbnew ------------------------------------------------------------------------


def make_board(kicad):
    mm = kicad.FromMM

    def at(x, y):
        return kicad.wxPointMM(float(x), float(y))

    board = kicad.BOARD()
    rules = board.GetDesignSettings()
    rules.m_MinClearance, rules.m_TrackMinWidth = mm(CLEARANCE), mm(NARROWEST)
    rules.m_CopperEdgeClearance = mm(TO_EDGE)
    for net in nets():
        board.Add(kicad.NETINFO_ITEM(board, net))

    def line(owner, kind, layer, width, a, b):
        drawn = kind(owner)
        drawn.SetShape(kicad.SHAPE_T_SEGMENT)
        drawn.SetLayer(layer)
        drawn.SetWidth(mm(width))
        drawn.SetStart(at(*a))
        drawn.SetEnd(at(*b))
        if kind is kicad.FP_SHAPE:
            drawn.SetLocalCoord()
        owner.Add(drawn)

    for a, b in zip(OUTLINE, OUTLINE[1:] + OUTLINE[:1], strict=True):
        line(board, kicad.PCB_SHAPE, kicad.Edge_Cuts, 0.1, a, b)
    for reference, (value, kind, (x, y, turned), *_) in PARTS.items():
        part = kicad.FOOTPRINT(board)
        part.SetFPID(kicad.LIB_ID(NAME, kind))
        part.SetReference(reference)
        part.SetValue(value)
        part.SetAttributes(kicad.FP_SMD)
        part.SetPosition(at(x, y))
        part.Reference().SetVisible(False)
        part.Value().SetVisible(False)
        for pin, net, px, py, w, h in pads(reference):
            pad = kicad.PAD(part)
            pad.SetNumber(pin)
            pad.SetAttribute(kicad.PAD_ATTRIB_SMD)
            pad.SetShape(kicad.PAD_SHAPE_RECT)
            pad.SetLayerSet(pad.SMDMask())
            pad.SetSize(kicad.wxSizeMM(w, h))
            pad.SetPosition(at(px, py))
            pad.SetPos0(at(px - x, py - y))
            if net:
                pad.SetNet(board.FindNet(net))
            part.Add(pad)
        w, h = FOOTPRINTS[kind][1][:: -1 if turned % 180 else 1]
        corners = [(x + i * w / 2, y + j * h / 2) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            line(part, kicad.FP_SHAPE, kicad.F_CrtYd, 0.05, a, b)
        board.Add(part)
    for net, width, corners in TRACKS:
        for a, b in zip(corners, corners[1:], strict=False):
            track = kicad.PCB_TRACK(board)
            track.SetLayer(kicad.F_Cu)
            track.SetWidth(mm(width))
            track.SetStart(at(*a))
            track.SetEnd(at(*b))
            track.SetNet(board.FindNet(net))
            board.Add(track)
    ground = kicad.ZONE(board)
    ground.SetLayer(kicad.F_Cu)
    ground.SetNet(board.FindNet("GND"))
    ground.SetLocalClearance(mm(CLEARANCE))
    ground.SetMinThickness(mm(NARROWEST))
    ground.SetPadConnection(kicad.ZONE_CONNECTION_FULL)
    corners = kicad.wxPoint_Vector([at(*corner) for corner in OUTLINE])
    ground.AddPolygon(corners)
    board.Add(ground)
    return board


def plot(kicad, board, folder):
    control = kicad.PLOT_CONTROLLER(board)
    options = control.GetPlotOptions()
    options.SetOutputDirectory(str(folder))
    options.SetPlotFrameRef(False)
    options.SetUseGerberProtelExtensions(False)
    for layer in ("F_Cu", "F_Mask", "F_Paste", "Edge_Cuts"):
        control.SetLayer(getattr(kicad, layer))
        control.OpenPlotfile(layer, kicad.PLOT_FORMAT_GERBER, layer)
        control.PlotLayer()
    control.ClosePlot()
    kicad.EXCELLON_WRITER(board).CreateDrillandMapFilesSet(str(folder), True, False)


# ---- The schematic: a box for each part, a label at each pin -------------------------------------


def key(*words):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join((NAME, *words))))


def schematic():
    font = "(effects (font (size 1.27 1.27)))"
    symbols, placed = [], []
    for number, (reference, (value, footprint, _, wires, names, *_)) in enumerate(PARTS.items()):
        rows = (len(names) + 1) // 2
        column, row = number % 4, number // 4
        x, y = 45.72 + column * 66.04, 38.1 + row * 35.56
        top, pins = rows * 2.54, []
        for n, (name, net, pin) in enumerate(
            zip(names, wires, FOOTPRINTS[footprint][0], strict=True)
        ):
            right = n >= rows
            px, py = (10.16, -10.16)[not right], top / 2 - 1.27 - 2.54 * (n % rows)
            pins.append(
                f"(pin passive line (at {px} {py:.2f} {180 if right else 0}) (length 2.54) "
                f'(name "{name}" {font}) (number "{pin}" {font}))'
            )
            spot = f"(at {x + px:.2f} {y - py:.2f}"
            placed.append(
                f'(global_label "{net}" (shape passive) {spot} {0 if right else 180}) {font} '
                f"(uuid {key(reference, pin)}))" if net
                else f"(no_connect {spot}) (uuid {key(reference, pin)}))"
            )  # fmt: skip
        mine = f'"{NAME}:{reference}"'
        symbols.append(
            f"(symbol {mine} (in_bom yes) (on_board yes) "
            f'(property "Reference" "{reference}" (id 0) (at 0 {top / 2 + 3.81:.2f} 0) {font}) '
            f'(property "Value" "{value}" (id 1) (at 0 {top / 2 + 1.27:.2f} 0) {font}) '
            f'(symbol "{reference}_0_1" (rectangle (start -7.62 {top / 2:.2f}) '
            f"(end 7.62 {-top / 2:.2f}) (stroke (width 0)) (fill (type none)))) "
            f'(symbol "{reference}_1_1" {" ".join(pins)}))'
        )
        placed.append(
            f"(symbol (lib_id {mine}) (at {x:.2f} {y:.2f} 0) (unit 1) (in_bom yes) (on_board yes) "
            f'(uuid {key(reference)}) (property "Reference" "{reference}" (id 0) '
            f'(at {x:.2f} {y - top / 2 - 3.81:.2f} 0) {font}) (property "Value" "{value}" (id 1) '
            f"(at {x:.2f} {y - top / 2 - 1.27:.2f} 0) {font}) "
            f'(property "Footprint" "{NAME}:{footprint}" (id 2) (at {x:.2f} {y:.2f} 0) '
            f"(effects (font (size 1.27 1.27)) hide)))"
        )
    uses = " ".join(
        f'(path "/{key(name)}" (reference "{name}") (unit 1) (value "{part[0]}") '
        f'(footprint "{NAME}:{part[1]}"))'
        for name, part in PARTS.items()
    )
    return (
        f'(kicad_sch (version 20211123) (generator board_py) (uuid {key("sheet")}) (paper "A4")\n'
        f"(lib_symbols\n{chr(10).join(symbols)}\n)\n{chr(10).join(placed)}\n"
        f'(sheet_instances (path "/" (page "1")))\n(symbol_instances {uses}))\n'
    )


def write_parts(path):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("reference", "value", "footprint", "part", "remark"))
        for reference, (value, footprint, *_, part, remark) in PARTS.items():
            rows.writerow((reference, value, footprint, part, remark))


def build(folder):
    """Writes everything; the faults that pcbnew finds."""
    import pcbnew as kicad

    folder.mkdir(parents=True, exist_ok=True)
    project = {"board": {"design_settings": {"rules": {
        "min_clearance": CLEARANCE, "min_track_width": NARROWEST,
        "min_copper_edge_clearance": TO_EDGE}}},
        "meta": {"filename": f"{NAME}.kicad_pro"}}  # fmt: skip
    (folder / f"{NAME}.kicad_pro").write_text(json.dumps(project, indent=1) + "\n")
    (folder / f"{NAME}.kicad_sch").write_text(schematic())
    write_parts(folder / "parts.csv")
    file = str(folder / f"{NAME}.kicad_pcb")
    kicad.SaveBoard(file, make_board(kicad))
    board = kicad.LoadBoard(file)  # what a user opens; only a board of a project can be filled
    kicad.ZONE_FILLER(board).Fill(board.Zones())
    kicad.SaveBoard(file, board)
    report = folder / "rules.txt"
    kicad.WriteDRCReport(board, str(report), kicad.EDA_UNITS_MILLIMETRES, True)
    plot(kicad, board, folder / "gerbers")
    said = report.read_text()
    return [line for line in said.splitlines() if line.startswith("[")]


# ---- The netlist, by SKiDL -----------------------------------------------------------------------

# Pins that the checker takes for another kind than passive.
KINDS = {"U1": "INPUT OPENCOLL PASSIVE OPENCOLL PWRIN BIDIR PWRIN OPENCOLL PWRIN".split(),
         "J2": ["PWROUT", "PASSIVE"], "J3": ["BIDIR", "PWROUT"]}  # fmt: skip


def electrical():
    """Errors and warnings of SKiDL's electrical rules."""
    import skidl  # it adds names to builtins

    builtins.default_circuit.no_files = True
    made = {}
    for reference, (_, footprint, _, wires, names, *_) in PARTS.items():
        kinds = KINDS.get(reference, ["PASSIVE"] * len(names))
        part = skidl.Part(
            name=reference, tool=skidl.SKIDL, dest=skidl.TEMPLATE,
            pins=[skidl.Pin(num=pin, name=name, func=getattr(skidl.Pin.types, kind))
                  for pin, name, kind in zip(FOOTPRINTS[footprint][0], names, kinds, strict=True)],
        )(footprint=footprint, ref=reference)  # fmt: skip
        for pin, wire in zip(FOOTPRINTS[footprint][0], wires, strict=True):
            if wire not in made:
                made[wire] = skidl.Net(wire) if wire else builtins.NC
            made[wire] += part[pin]
    made["5V"].drive = skidl.POWER  # by the diodes
    skidl.ERC()
    log = skidl.logger.erc_logger
    found = log.error.count, log.warning.count
    return ["errors, warnings: {}, {}".format(*found)] if any(found) else []


def main(arguments):
    faults = electrical() if arguments[0] == "--netlist" else build(Path(arguments[0]).resolve())
    print("\n".join(faults) or "no rule is broken")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["build/supply"]))
