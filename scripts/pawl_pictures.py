# SPDX-License-Identifier: MIT
"""Pictures of the site, drawn anew from data each time. Used by scripts/site.

A page has a comment `picture: NAME, WORDS FOR THOSE WHO DO NOT SEE IT` where the site shows one:

  transitions  the operations of include/pawl/detail/transitions.def between the modes
  waiter       the steps of take_write in that file: what a waiting writer does
  grace        grace periods of some readers, by their definition
  biased       what readers that scale gain, of the recorded runs"""

import html
import math
from collections import defaultdict

import pawl_figures
from pawl_tables import ROOT, read_transitions

INK, LINE, SOFT, BLUE = "#1a1a1a", "#7a7a7a", "#e8eef7", "#2a5db0"
SHORT = {"NO_SW": "neither S nor W", "W_MAY_CLAIM": "a seeker, or W alone", "ANY": "else",
         "FREE": "free"}  # fmt: skip
RUNS = "intel-xeon-2026-11-26-readers"
RATIO = "median rate r+w/pawl_lock64_evidence / r+w/pawl_lock64_off"
SHARES = ("0.0", "0.01", "0.1", "1.0", "10.0", "50.0")  # percent of writes, of these runs
SECTIONS = {"0.0": "empty", "0.02": "20 ns", "0.1": "100 ns", "1.0": "1 us"}


class Picture:
    """Lines of an SVG with text in one font, on white, so that it can be read in the dark too."""

    def __init__(self, width, height):
        self.size = width, height
        self.parts = []

    def text(self, x, y, words, size=13, anchor="middle", colour=INK, back=False):
        room = f' stroke="white" stroke-width="4" paint-order="stroke" fill="{colour}"'
        self.parts.append(
            f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}"'
            f"{room if back else f' fill={chr(34)}{colour}{chr(34)}'}>{html.escape(words)}</text>"
        )

    def box(self, x, y, width, height, fill=SOFT, stroke=LINE, round_by=6):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{round_by}" fill="{fill}" stroke="{stroke}"/>'
        )

    def path(self, told, colour=LINE, arrow=True, dashes=""):
        end = ' marker-end="url(#tip)"' if arrow else ""
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<path d="{told}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}{end}/>'
        )

    def done(self):
        width, height = self.size
        tip = (
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{LINE}"/></marker>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" font-family="sans-serif"><defs>{tip}</defs>'
            f'<rect width="{width}" height="{height}" fill="white"/>{"".join(self.parts)}</svg>\n'
        )


def between(a, b, off, bend):
    """A bent arrow from one centre to another that ends `off` before it; and the points on it."""
    (ax, ay), (bx, by) = a, b
    length = math.dist(a, b)
    ux, uy = (bx - ax) / length, (by - ay) / length
    start = ax + ux * off, ay + uy * off
    end = bx - ux * off, by - uy * off
    mid = (ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend

    def at(t):
        return tuple(
            (1 - t) ** 2 * s + 2 * t * (1 - t) * m + t * t * e
            for s, m, e in zip(start, mid, end, strict=True)
        )

    told = "M{:.0f} {:.0f}Q{:.0f} {:.0f} {:.0f} {:.0f}".format(*start, *mid, *end)
    return told, at


def transitions():
    picture, edges = Picture(860, 640), defaultdict(list)
    for op in read_transitions()["OP"]:
        edges[op.start, op.to].append(op.name)
    turn = {mode: math.radians(90 + 72 * n) for n, mode in enumerate("URSWA")}
    places = {m: (430 + 300 * math.cos(t), 300 + 260 * math.sin(t)) for m, t in turn.items()}
    labels = []
    for (a, b), names in edges.items():
        told, at = between(places[a], places[b], 30, 34)
        picture.path(told)
        labels.append((at(0.25), names))
    for mode, (x, y) in places.items():
        picture.parts.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="27" fill="{SOFT}" stroke="{BLUE}"/>'
        )
        picture.text(x, y + 7, mode, 20)
    for (x, y), names in labels:
        for row, name in enumerate(names):
            picture.text(x, y + 13 * row - 6 * (len(names) - 1), name, 11, back=True)
    return picture.done()


def waiter(op="take_write"):
    rows = read_transitions()
    steps = [step.step for step in rows["STEP"] if step.op == op]
    nexts = [(n.step, n.next_step if n.next_op in (op, "END") else n.next_op, n.test)
             for n in rows["NEXT"] if n.op == op]  # fmt: skip
    depth, todo = {steps[0]: 0}, [steps[0]]
    while todo:
        step = todo.pop(0)
        for _, to, _ in (edge for edge in nexts if edge[0] == step):
            if to not in depth and to != "granted":
                depth[to] = depth[step] + 1
                todo.append(to)
    depth["granted"] = max(depth.values()) + 1
    columns = defaultdict(list)
    for step, column in depth.items():
        columns[column].append(step)
    picture = Picture(210 * len(columns), 360)
    places = {
        step: (90 + 205 * column, 210 + 100 * (n - (len(named) - 1) / 2))
        for column, named in columns.items()
        for n, step in enumerate(named)
    }
    places["granted"] = places["granted"][0], 60
    labels = []
    for a, b, test in nexts:
        far = b == "granted" and depth[b] - depth[a] > 1
        told, at = between(places[a], places[b], 52, -220 + 110 * depth[a] if far else -18)
        picture.path(told)
        labels.append(
            (at(0.5), SHORT.get(test, test) if test != "ANY" or a in ("claim", "again") else "")
        )
    for step, (x, y) in places.items():
        picture.box(x - 45, y - 17, 90, 34, SOFT if step != "granted" else "#dff0df")
        picture.text(x, y + 5, step)
    for (x, y), test in labels:
        picture.text(x, y + 4, test, 11, back=True)
    return picture.done()


def grace():
    readers = [(20, 190), (90, 150), (60, 330), (240, 420), (380, 560)]  # begin, end
    asked = 120
    over = max(end for begin, end in readers if begin < asked)
    picture = Picture(700, 300)
    for x, words in ((asked, "unlinks and asks"), (over, "frees")):
        picture.path(f"M{90 + x} 20V270", BLUE, False, "4 3")
        picture.text(90 + x, 288, words, 12)
    for row, (begin, end) in enumerate(readers):
        y, old = 30 + 38 * row, begin < asked
        picture.box(90 + begin, y, end - begin, 24, "#f7dcc8" if old else SOFT)
        picture.text(80, y + 17, f"reader {row + 1}", 12, "end")
        picture.text(90 + (begin + end) / 2, y + 17, "waited for" if old else "not", 11)
    picture.box(90 + asked, 230, over - asked, 26, "#dff0df")
    picture.text(90 + (asked + over) / 2, 248, "grace period", 12)
    picture.text(80, 248, "updater", 12, "end")
    return picture.done()


def biased():
    runs = pawl_figures.runs_of(ROOT, RUNS)
    picture, left, bottom = Picture(640, 360), 70, 300

    def y_of(ratio):
        return bottom - 57 * math.log2(ratio / 0.4)

    for ratio in (0.5, 1, 2, 4, 8):
        picture.path(f"M{left} {y_of(ratio):.0f}H570", "#d0d0d0" if ratio != 1 else INK, False)
        picture.text(left - 8, y_of(ratio) + 4, f"{ratio} x", 12, "end")
    for n, share in enumerate(SHARES):
        picture.text(left + 20 + 95 * n, bottom + 24, f"{float(share):g} %", 12)
    picture.text(
        320, bottom + 48, "share of writes; the rate of two threads with scaling over without", 12
    )
    for (section, words), colour in zip(
        SECTIONS.items(), (BLUE, "#b0502a", "#2a8a4a", LINE), strict=True
    ):
        found = []
        for share in SHARES:
            how = f"{RATIO} where part=2 threads=2 locks=1 section={section} writes={share}"
            found.append(pawl_figures.values(runs, how)[0])
        points = [f"{left + 20 + 95 * n:.0f} {y_of(ratio):.0f}" for n, ratio in enumerate(found)]
        picture.path("M" + "L".join(points), colour, False)
        x, y = points[0].split()
        picture.text(int(x) + 6, int(y) - 6, words, 12, "start", colour, back=True)
    return picture.done()


DRAWN = {"transitions": transitions, "waiter": waiter, "grace": grace, "biased": biased}
