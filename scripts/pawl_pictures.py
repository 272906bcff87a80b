# SPDX-License-Identifier: MIT
"""Pictures of the site, drawn anew from data each time. Used by scripts/site.

A page has a comment `picture: NAME, WORDS FOR THOSE WHO DO NOT SEE IT` where the site shows one:

  transitions  the operations of include/pawl/detail/transitions.def between the modes
  waiter       the steps of take_write in that file: what a waiting writer does
  grace        grace periods of some readers, by their definition
  insertion    a key more in a tree of bits; chain: in a chain of a hash table
  timelines    an insertion and 99 lookups, by the formula of `pawl bench tree`
  published    the LRU job: the author's curves, simulated, and measured on another machine
  forces       the efficiency of sections, and what moves it
  rcu_calls, deferred, semaphores, growth  who does what, in steps
  hashes       the recorded rates of a hash table by design
  waits, wakes the steps of a wait and of a wake
  biased       what readers that scale gain, of the recorded runs"""

import html
import math
import tomllib
from collections import defaultdict

import pawl_curves
import pawl_figures
import pawl_published
from pawl_tables import ROOT, read_transitions

INK, LINE, SOFT, BLUE = "#1a1a1a", "#7a7a7a", "#e8eef7", "#2a5db0"
OLD, NEW = "#f7dcc8", "#dff0df"
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


# ---- Progressive locks ---------------------------------------------------------------------------


def trie(keys, bit=2):
    """Nested (bit, left, right) of a tree whose nodes are the bits in which keys part."""
    if len(keys) == 1:
        return keys[0]
    left, right = ([k for k in keys if (k >> bit & 1) == side] for side in (0, 1))
    return (
        (bit, trie(left, bit - 1), trie(right, bit - 1)) if left and right else trie(keys, bit - 1)
    )


def insertion():
    picture = Picture(720, 330)

    def draw(node, x, y, wide, old):
        fresh = repr(node) not in old
        if isinstance(node, int):
            picture.box(x - 22, y - 15, 44, 30, NEW if fresh else SOFT)
            picture.text(x, y + 5, f"{node}: {node:03b}", 12)
            return
        for side, child in ((-1, node[1]), (1, node[2])):
            picture.path(f"M{x} {y + 12}L{x + side * wide} {y + 54}")
            draw(child, x + side * wide, y + 70, wide / 2, old)
        colour = NEW if fresh else "white"
        picture.parts.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="17" fill="{colour}" stroke="{BLUE}"/>'
        )
        picture.text(x, y + 4, f"bit {node[0]}", 11)

    def parts(node):
        return {repr(node)} | (
            parts(node[1]) | parts(node[2]) if isinstance(node, tuple) else set()
        )

    before, after = trie([1, 2, 4, 5]), trie([1, 2, 3, 4, 5])
    draw(before, 180, 70, 90, parts(before))
    draw(after, 540, 70, 90, parts(before) | {repr(after), repr(after[1])})
    picture.text(180, 30, "keys 1, 2, 4, 5: the search for 3 ends at 2", 13)
    picture.text(540, 30, "3 and the bit in which it parts from 2", 13)
    picture.text(
        360, 315, "under S: three steps down, beside readers; under W: one store links both", 13
    )
    return picture.done()


def timelines():
    """100 operations, one of them an insertion that misses: the formula of pawl bench tree."""
    read, seek, write, reads = 40, 595, 5, 99
    picture, top = Picture(760, 400), 20
    colours = {"read": SOFT, "search": "#f7dcc8", "write": "#e08060", "wait": "#e8e8e8"}

    def panel(words, cores, rows, total):
        nonlocal top
        picture.text(
            20, top + 12, f"{words}: {total:.0f} ns, {100e3 / total:.0f} million/s", 13, "start"
        )
        high = 14
        for n in range(cores):
            for begin, end, what in rows(n):
                x, wide = 20 + begin * 0.155, (end - begin) * 0.155
                picture.box(x, top + 20 + n * high, wide, high - 2, colours[what], LINE, 1)
        top += 34 + cores * high

    alone = seek + write + reads * read
    panel("one core", 1, lambda n: [(0, seek, "search"), (seek, seek + write, "write"),
                                    (seek + write, alone, "read")], alone)  # fmt: skip
    eight = seek + write + reads * read / 8
    panel("eight cores, reader-writer lock", 8,
          lambda n: [(0, seek, "wait" if n else "search"), (seek, seek + write, "write"),
                     (seek + write, eight, "read")], eight)  # fmt: skip
    most = seek + read / 2 + write
    panel("eight cores, S for the search", 8,
          lambda n: [(0, seek, "read" if n else "search"),
                     (seek, seek + read / 2, "read" if n % 2 else "wait"),
                     (seek + read / 2, most, "wait" if n else "write")], most)  # fmt: skip
    words = "seven cores read 105 times in 595 ns; then the writer waits for 20 ns, 40 at most"
    picture.text(20, top + 12, words, 12, "start")
    for n, (what, colour) in enumerate(colours.items()):
        picture.box(20 + 110 * n, top + 26, 16, 14, colour, LINE, 1)
        picture.text(44 + 110 * n, top + 38, what, 12, "start")
    return picture.done()


def chain():
    picture = Picture(720, 210)
    for n in range(4):
        picture.box(30, 30 + 34 * n, 70, 28, SOFT)
        picture.text(65, 49 + 34 * n, f"head {n}", 12)
    for n, key in enumerate((17, 5, 9, 21)):
        picture.box(150 + 110 * n, 64, 60, 28)
        picture.text(180 + 110 * n, 83, str(key))
        picture.path(f"M{100 if not n else 100 + 110 * n} 78H{147 + 110 * n}")
        picture.text(180 + 110 * n, 56, f"not 13 ({n + 1})", 11, colour=BLUE)
    picture.path("M590 78H630", BLUE)
    picture.text(636, 82, "not there", 12, "start", BLUE)
    picture.box(150, 130, 60, 28, "#dff0df")
    picture.text(180, 149, "13")
    picture.path("M92 92L147 140", "#2a8a4a")
    picture.path("M180 130V95", "#2a8a4a")
    picture.text(230, 149, "under W: two stores", 12, "start")
    words = "A unique insertion looks at every node of its chain: under S, beside readers."
    picture.text(30, 195, words, 13, "start")
    return picture.done()


def curves(picture, left, top, wide, high, series, marks, log=False, words="", ends=True):
    """Lines over x; `marks` are the values of y with a line of their own."""
    least, most = marks[0], marks[-1]
    xs = [x for _, points, _, _ in series for x, _ in points]

    def at(x, y):
        way = math.log(y / least) / math.log(most / least) if log else (y - least) / (most - least)
        return left + wide * (x - min(xs)) / (max(xs) - min(xs)), top + high * (1 - way)

    for y in marks:
        picture.path(f"M{left} {at(min(xs), y)[1]:.0f}h{wide}", "#d0d0d0", False)
        picture.text(left - 6, at(min(xs), y)[1] + 4, f"{y:g}", 11, "end")
    for _, points, colour, dashes in series:
        told = "L".join(f"{a:.0f} {b:.0f}" for a, b in (at(*point) for point in points))
        picture.path("M" + told, colour, False, dashes)
    free = top - 20  # names keep off each other
    for b, name, colour in sorted((at(*row[1][-1])[1], row[0], row[2]) for row in series if row[0]):
        free = max(free + 13, b + 4)
        picture.text(left + wide + 5, free, name, 11, "start", colour)
    picture.text(left + wide / 2, top + high + 34, words, 12)
    for x in (min(xs), max(xs)) if ends else ():
        picture.text(at(x, least)[0], top + high + 16, f"{x:g}", 11)


COLOURS = ("#b0502a", "#2a8a4a", BLUE, "#7a4fa0", "#7a7a00", LINE)


# ---- Kernel scalability --------------------------------------------------------------------------


def forces():
    """Efficiency over the length of a section, for the costs of recorded locks and of 2005."""
    runs = pawl_figures.runs_of(ROOT, "amd-epyc-2026-11-21")
    costs = {
        "pawl_spin32": pawl_figures.values(runs, "median ns w/pawl_spin32 where part=1")[0],
        "pthread_rwlock": pawl_figures.values(runs, "median ns w/pthread_rwlock")[0],
    }
    picture = Picture(760, 400)
    lengths = [10 ** (n / 10) for n in range(41)]
    told = [(f"{name}, its line here", ns) for name, ns in costs.items()]
    xeon = tomllib.loads((ROOT / "sim/machines/haswell-ep.toml").read_text())["fitted"]
    told += [("a lock of 2005, its line here", 163.7),  # as pawl costs prints it
             ("a transfer, simulated Xeon", xeon["transfer"]["cluster"]),
             ("a lock of 2005, its line elsewhere", 163.7 + 113.2)]  # fmt: skip
    series = [(name, [(math.log10(t), 100 * t / (t + ns)) for t in lengths], colour, "")
              for (name, ns), colour in zip(told, COLOURS, strict=False)]  # fmt: skip
    for n, row in enumerate(series):
        picture.text(470, 250 + 18 * n, row[0], 12, "start", row[2])
    words = "length of a section, ns, as powers of ten: percent of its time that is work"
    nameless = [("", *row[1:]) for row in series]
    curves(picture, 60, 30, 380, 290, nameless, (0, 25, 50, 75, 100), words=words)
    for n, (way, words) in enumerate((("up", "fewer, longer sections"),
                                      ("up", "data that one CPU owns"),
                                      ("up", "readers that write nothing"),
                                      ("down", "more instructions a nanosecond"),
                                      ("down", "taller memory hierarchies"),
                                      ("down", "longer pipelines"))):  # fmt: skip
        y = 52 + 30 * n
        picture.path(f"M480 {y + 8}V{y - 10}" if way == "up" else f"M480 {y - 10}V{y + 8}", BLUE)
        picture.text(494, y + 3, words, 13, "start")
    return picture.done()


def lanes(picture, rows, top=40, step=46):
    """Time lines: (name, [(begin, end, words, colour)])."""
    for n, (name, parts) in enumerate(rows):
        y = top + step * n
        picture.text(115, y + 18, name, 12, "end")
        for begin, end, words, colour in parts:
            picture.box(125 + begin, y, end - begin, 28, colour)
            picture.text(125 + (begin + end) / 2, y + 18, words, 11)


def rcu_calls():
    picture = Picture(800, 256)
    lanes(picture, (
        ("reader 1", [(20, 240, "read_lock, dereference (old)", "#f7dcc8")]),
        ("reader 2", [(150, 380, "dereference (new), read_unlock", SOFT)]),
        ("updater", [(0, 110, "copies, changes", SOFT), (110, 124, "", BLUE),
                     (124, 240, "synchronize", "#dff0df"), (240, 300, "frees", SOFT)]),
        ("with a callback", [(0, 110, "copies, changes", SOFT), (110, 124, "", BLUE),
                             (124, 190, "call", "#dff0df"), (190, 330, "goes on", SOFT)]),
    ))  # fmt: skip
    picture.path("M242 30V232", BLUE, False, "4 3")
    picture.text(242, 24, "assign_pointer", 12, colour=BLUE)
    picture.path("M365 30V232", "#2a8a4a", False, "4 3")
    picture.text(365, 246, "the last old reader is out", 12, colour="#2a8a4a")
    picture.text(610, 196, "the worker frees after the same moment", 12)
    return picture.done()


def steps(panels, note=""):
    """Boxes and arrows: (title, boxes (x, y, words, colour), arrows (from, to))."""
    high = 170
    picture = Picture(20 + 250 * len(panels), high + 24)
    for n, (title, boxes, arrows) in enumerate(panels):
        left = 20 + 250 * n
        picture.text(left + 110, 22, title, 13)
        for (ax, ay), (bx, by) in arrows:
            picture.path(f"M{left + ax} {ay}L{left + bx} {by}")
        for x, y, words, colour in boxes:
            picture.box(left + x, y, 62, 28, colour)
            picture.text(left + x + 31, y + 18, words, 11)
    picture.text(20, high + 14, note, 12, "start")
    return picture.done()


def deferred():
    row = [(0, 60, "A", SOFT), (80, 60, "B", SOFT), (160, 60, "C", SOFT)]
    gone = [(0, 60, "A", SOFT), (80, 100, "B", OLD), (160, 60, "C", SOFT)]
    along = ((62, 74), (79, 74)), ((142, 74), (159, 74))
    past = ((62, 74), (159, 74))
    reader = ((111, 150), (111, 130))
    return steps(
        (
            ("1: a reader is at B", row, (*along, ((111, 150), (111, 90)))),
            (
                "2: unlinked; the reader is still there",
                gone,
                (past, ((142, 112), (165, 90)), reader),
            ),
            ("3: a grace period later, freed", [row[0], row[2]], (past,)),
        ),
        "Newcomers do not find B after step 2. Its own link stays, so a reader at B goes on to C.",
    )


def semaphores():
    slots = [(0, 40 + 30 * n, f"sem {n}", SOFT) for n in range(4)]
    return steps(
        (
            ("2.4: one lock for all", [*slots, (130, 85, "lock", OLD)],
             [((130, 99), (66, 54 + 30 * n)) for n in range(4)]),
            ("2.6, and here: a lock of each",
             [(0, 85, "array", NEW), *((100, 40 + 30 * n, f"sem {n}", SOFT) for n in range(4)),
              *((170, 40 + 30 * n, "lock", OLD) for n in range(4))],
             [((62, 99), (99, 54 + 30 * n)) for n in range(4)]),
        ),
        "Operations on different semaphores meet at the one lock, or nowhere.",
    )  # fmt: skip


def growth():
    item, more = (150, 80, "sems", SOFT), (80, 40, "old", OLD)
    table, array = (0, 80, "table", SOFT), (80, 120, "larger", NEW)
    return steps(
        (
            ("1: readers find the old array", [table, more, item],
             [((62, 90), (80, 58)), ((142, 58), (152, 80))]),
            ("2: a larger copy is filled", [table, more, array, item],
             [((62, 90), (80, 58)), ((142, 58), (152, 80)), ((142, 130), (152, 108))]),
            ("3: one store switches the pointer", [table, more, array, item],
             [((62, 98), (80, 130)), ((142, 58), (152, 80)), ((142, 130), (152, 108))]),
            ("4: a grace period later, freed", [table, array, item],
             [((62, 98), (80, 130)), ((142, 130), (152, 108))]),
        ),
        "At every moment a lookup finds all semaphores, in either array.",
    )  # fmt: skip


def hashes():
    """The recorded curves of pawl bench hash: rates of two threads over the share of updates."""
    runs = pawl_figures.runs_of(ROOT, pawl_published.RCU)
    picture, shares = Picture(900, 380), ("0.0", "1.0", "5.0", "10.0", "20.0", "50.0", "100.0")
    rows = ("pawl_rcu_qs", "pawl_rcu", "urcu_memb", "bucket_lock", "brlock", "pthread_rwlock")
    for elements, left, marks in ((1024, 60, (0.2, 1, 5, 25, 125)),
                                  (4194304, 500, (0.2, 1, 5, 25, 125))):  # fmt: skip
        series = []
        for row, colour in zip(rows, COLOURS, strict=True):
            hows = (f"median rate {row} / ideal where part=2 threads=2 elements={elements} "
                    f"updates={share}" for share in shares)  # fmt: skip
            points = [(n, 100 * pawl_figures.values(runs, how)[0]) for n, how in enumerate(hows)]
            series.append((row, points, colour, ""))
        words = f"updates: {', '.join(s.removesuffix('.0') for s in shares)} %"
        curves(picture, left, 40, 260, 260, series, marks, True, words, ends=False)
        picture.text(left + 130, 24, f"{elements:,} elements, percent of no lock at all", 12)
    return picture.done()


# ---- Wait and wake -------------------------------------------------------------------------------


def flow(boxes, aside):
    """Steps below each other; `aside`: (from step, words, what it ends in)."""
    picture = Picture(640, 40 + 58 * len(boxes))
    for n, words in enumerate(boxes):
        y = 20 + 58 * n
        picture.box(30, y, 330, 36, NEW if n == len(boxes) - 1 else SOFT)
        picture.text(195, y + 23, words, 12)
        if n:
            picture.path(f"M195 {y - 22}V{y - 2}")
    for n, words, end in aside:
        y = 38 + 58 * n
        picture.path(f"M360 {y}H452")
        picture.text(406, y - 6, words, 11)
        picture.box(454, y - 18, 160, 36, "white")
        picture.text(534, y + 5, end, 12)
    return picture.done()


def waits():
    return flow(
        ("look at the word, some 40 times", "be counted: wakes look for it from now on",
         "lock the wait list of the address's hash", "look once more, and enter the list",
         "unlock the list, sleep", "woken: report it"),
        ((0, "differs", "DIFFERS"), (3, "differs", "unlock; DIFFERS"),
         (4, "deadline", "lock, leave; EXPIRED")),
    )  # fmt: skip


def wakes():
    return flow(
        ("change the word (the program does)", "look at the count of waiters",
         "lock the wait list of the address's hash", "take the oldest waiters of this address out",
         "unlock the list", "wake each that was taken out"),
        ((1, "none", "no system call"), (3, "none", "unlock; 0 woken"),
         (4, "over 64", "once more")),
    )  # fmt: skip


DRAWN = {
    "transitions": transitions, "waiter": waiter, "grace": grace, "biased": biased,
    "insertion": insertion, "timelines": timelines, "chain": chain, "forces": forces,
    "rcu_calls": rcu_calls, "deferred": deferred, "semaphores": semaphores, "growth": growth,
    "hashes": hashes, "waits": waits, "wakes": wakes,
    "published": lambda: pawl_curves.draw(Picture),
}  # fmt: skip
