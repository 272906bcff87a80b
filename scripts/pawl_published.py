# SPDX-License-Identifier: MIT
"""Tables of the site with published figures beside ours, computed anew each time. Used by
scripts/site, where a page has a comment `table: NAME`:

  states  what can be seen in a lock's word, by a walk of three threads over transitions.def
  fields  how a word may be divided, and how many threads each division serves
  trial   the author's sentences about the LRU job, held against his data and against the simulator
  tree    a tree of a million nodes, published and recorded here
  wakes   from a wake to the sleeper's first instruction: Windows, a Mac, libc++, and here
  sift    the kernel's priority-sifting lock of 2008, and ours

Figures of ours are of the recorded runs that each caption names."""

import csv
import itertools
import statistics
from collections import defaultdict

import pawl_figures
from pawl_tables import ROOT, read_transitions, table

LOCK, WAIT, RCU = (
    "intel-xeon-2026-11-22-latency",
    "amd-epyc-2026-11-23-wait",
    "intel-xeon-2026-11-22-rcu",
)


# ---- States: a walk of three threads -------------------------------------------------------------


class Walk:
    """Every word that three threads can bring about, with what they hold. A thread is a mode, or
    (operation, step, whether its look was good, mode before, what follows the grant)."""

    def __init__(self):
        rows = read_transitions()
        self.tests = {
            t.name: compile(
                t.condition.replace("&&", " and ").replace("||", " or ").replace("true", "True"),
                t.name, "eval",
            )
            for t in rows["TEST"]
        }  # fmt: skip
        self.ops = {op.name: op for op in rows["OP"]}
        self.steps = {(s.op, s.step): s for s in rows["STEP"]}
        self.first = {s.op: s.step for s in reversed(rows["STEP"])}
        self.nexts = defaultdict(list)
        for n in rows["NEXT"]:
            self.nexts[n.op, n.step].append(n)
        self.insists = {(i.op, i.step): i for i in rows["INSIST"]}

    def holds(self, test, word):
        return eval(self.tests[test], {}, dict(zip("WSR", word, strict=True)))

    def after(self, thread, word):
        """Each (thread, word) that one step of this thread leads to."""
        if isinstance(thread, str):
            for op in self.ops.values():
                if op.start == thread:
                    yield (op.name, self.first[op.name], False, thread, ""), word
            return
        op, name, looked, before, then = thread
        step = self.steps[op, name]
        good = self.holds(step.gate, word)
        insist = self.insists.get((op, name))
        if insist and not looked and self.holds(insist.test, word):
            yield (insist.through, self.first[insist.through], False, before, insist.then), word
        if step.how in ("WAIT_ADD", "LOOK_ADD") and not looked:
            if good:
                yield (op, name, True, before, then), word
            elif step.how == "LOOK_ADD":
                yield before, word
            return
        if step.how == "LOOK_CAS" and not good:
            yield before, word
        elif step.how != "WAIT" or good:
            yield self.follow(op, name, word, before, then)

    def follow(self, op, name, word, before, then):
        step = self.steps[op, name]
        now = tuple(a + int(b) for a, b in zip(word, (step.w, step.s, step.r), strict=True))
        taken = next(n for n in self.nexts[op, name] if self.holds(n.test, word))
        if taken.next_op != "END":
            return (taken.next_op, taken.next_step, False, before, then), now
        if taken.next_step == "failed":
            return before, now
        if then:
            return (then, self.first[then], False, before, ""), now
        return self.ops[op].to, now

    def states(self, count=3):
        begin = ("U",) * count, (0, 0, 0)
        seen, todo = {begin}, [begin]
        while todo:
            threads, word = todo.pop()
            for i, thread in enumerate(threads):
                for now, changed in self.after(thread, word):
                    others = threads[:i] + threads[i + 1 :]
                    state = tuple(sorted((*others, now), key=str)), changed
                    if state not in seen:
                        seen.add(state)
                        todo.append(state)
        return seen


HELD = {"": "nobody", "R": "R", "S": "S", "RS": "S and R", "W": "W", "A": "A"}
CLASSES = ("0", "N"), ("0", "N"), ("0", "1", "M")
GATES = {"NO_W": "R", "NO_SW": "S", "FREE": "W", "NO_RS": "A"}


def states():
    walk, found = Walk(), defaultdict(lambda: (set(), set()))
    granted = {}
    for threads, word in walk.states():
        modes = [t for t in threads if isinstance(t, str)]
        seen = tuple(names[min(v, len(names) - 1)] for v, names in zip(word, CLASSES, strict=True))
        found[seen][len(modes) < len(threads)].add("".join(sorted(set(modes) - {"U"})))
        granted[seen] = [mode for gate, mode in GATES.items() if walk.holds(gate, word)]
    rows = []
    for seen in itertools.product(*CLASSES):
        if seen in found:
            told = [", ".join(HELD[h] for h in HELD if h in kind) or "-" for kind in found[seen]]
            rows.append([*seen, *told, ", ".join(granted[seen]) or "-"])
    head = ["W", "S", "R", "held, no claim under way", "held, with claims", "granted at once"]
    return (
        "What the word shows (0; N: some; M: more than one), and what may be held then: all words "
        "that three threads can bring about, by a walk over `transitions.def`.",
        table(head, rows),
    )


# ---- Fields --------------------------------------------------------------------------------------


def fields():
    words = {word for _, word in Walk().states()}
    rows = [["equal, 64 bits", "21, 21, 21", "2,097,151", "2,097,150", "-"],
            ["equal, 32 bits", "10, 10, 10", "1,023", "1,022", "-"]]  # fmt: skip
    for bits in (1, 2, 3):
        most = 2**bits - 1
        needless = sum(w == 0 and s > most for w, s, _ in words)
        rest = 30 - bits
        threads = 2 ** (rest // 2) - 1
        rows.append(
            [f"{bits} for S, 32 bits", f"{rest - rest // 2}, {bits}, {rest // 2}", f"{threads:,}",
             str(most), f"{needless} of {len(words)}"])  # fmt: skip
    return (
        "How a word may be divided: S that overflows into W, and R into S, need few bits for S. "
        "The last column: words of three threads in which readers then see a W that "
        "nobody claimed.",
        table(["division", "bits of W, S, R", "readers", "seekers at once", "needless W"], rows),
    )


# ---- The LRU job ---------------------------------------------------------------------------------


def lookups(name):
    """(hits, cost, cores, threads a core, row) -> lookups a second."""
    path = ROOT / "sim/reference" / f"{name}.csv"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return {
        (int(row["hit_pct"]), int(row["miss_cost"]), int(row["cores"]),
         int(row["threads_per_core"]), name): float(row[name])
        for row in csv.DictReader(lines)
        for name in list(row)[5:]
    }  # fmt: skip


PTHREAD = "spin", "rwlock"


def trial():
    measured, simulated = lookups("lrubench-e5-2680v3"), lookups("predicted-haswell-ep")

    def each(say):
        return [say(rates, sorted({key[:4] for key in rates})) for rates in (measured, simulated)]

    def ratio(a, b, chosen):
        def mean(rates, keys):
            near = [rates[(*k, a)] / rates[(*k, b)] for k in keys if chosen(*k)]
            return f"{statistics.geometric_mean(near):.2f}"

        return each(mean)

    def alone(hits):
        def first(rates, keys):
            gains = defaultdict(list)
            for key in keys:
                if key[0] == hits:
                    place = key[3], key[2] * key[3]
                    gains[place].append(rates[(*key, "rwlock")] / rates[(*key, "spin")])
            found = [
                next((str(n) for way, n in sorted(gains) if way == one
                      and statistics.geometric_mean(gains[way, n]) > 1), "never")
                for one in (1, 2)
            ]  # fmt: skip
            return " / ".join(found)

        return each(first)

    def below(base):
        def count(rates, keys):
            lost = sum(rates[(*k, "plock_r_s_w")] < rates[(*k, base)] for k in keys)
            return f"{lost} of {len(keys)}"

        return each(count)

    whole, half = (lambda *k: k[2:] == (12, 2)), (lambda *k: k[0] == 50 and k[2:] == (12, 2))
    best = lambda *k: k[:2] == (99, 100) and k[2:] == (12, 2)  # noqa: E731
    rows = [
        ["at 24 threads R+S>W has 8 times the spinlock's rate",
         *ratio("plock_r_s_w", "spin", best)],
        ["and 5.5 times the rwlock's", *ratio("plock_r_s_w", "rwlock", best)],
        ["R+S>W is never below the rwlock: points below", *below("rwlock")],
        ["nor below the spinlock: points below", *below("spin")],
        ["R+R>W converges to R+W: over R+W, 24 threads", *ratio("plock_r_rw", "plock_r_w", whole)],
        ["to try R to S first is pointless: over R+S>W",
         *ratio("plock_r_rsw", "plock_r_s_w", whole)],
        ["the rwlock overtakes the spinlock at 80 % and 10 threads: threads, one / two a core",
         *alone(80)],
        ["at 50 % the spinlock is cheaper: the same", *alone(50)],
        ["there S converges to the spinlock: over it, 24 threads", *ratio("plock_s", "spin", half)],
        ["and W: over it", *ratio("plock_w", "spin", half)],
    ]  # fmt: skip
    return (
        "The author's sentences about his LRU job, held against the 432 points that he published, "
        "and against the simulator. Means are geometric, over costs (and hit ratios). That a "
        "failed compare-exchange takes the line, and that a look disturbs a holder less than a "
        "write, are rules of the simulator, not measured here. Claims without a read before them "
        "were not tried.",
        table(["sentence", "his data", "*simulated*"], rows),
    )


# ---- Recorded runs -------------------------------------------------------------------------------


def cells(folder, kind):
    """A list of cells for each run, of its parts of that kind."""
    return [
        [cell for part in run["parts"] if part["kind"] == kind for cell in part["cells"]]
        for run in pawl_figures.runs_of(ROOT, folder)
    ]


def span(values, digits=0):
    shown = [f"{value:,.{digits}f}" for value in (min(values), max(values))]
    return shown[0] if shown[0] == shown[1] else " to ".join(shown)


def tree():
    parts = [
        one
        for run in cells(RCU, "tree")
        for cell in run
        if cell["lookups"] == "hot"
        for one in cell["samples"]
        if one["candidate"] == "parts/none"
    ]
    found = [statistics.median(one[key] for one in parts)
             for key in ("read_ns", "seek_ns", "write_ns")]  # fmt: skip
    rows = []
    for whose, (read, seek, write) in (("published, 4.4 GHz", (40, 595, 5)), ("ours", found)):
        rows.append([whose, *(f"{ns:.0f} ns" for ns in (read, seek, write)),
                     f"{1e3 / (seek + write):.2f}", f"{1e5 / (99 * read + seek + write):.1f}",
                     f"{1e3 / read:.0f}", f"{1e5 / (seek + write):.0f}"])  # fmt: skip
    head = ["a million nodes, no lock", "a cached lookup", "a search that misses", "linking",
            "only misses, million/s", "1 % insertions, one core", "lookups alone, one core",
            "1 % insertions, any number of cores under a rwlock"]  # fmt: skip
    return f"Three runs of `{RCU}`.", table(head, rows)


def wakes():
    rows = {"spin": "spin", "pawl_wait": "`wait.h`", "futex": "futex", "semaphore": "semaphore",
            "std_atomic_wait": "`std::atomic` wait (libstdc++)", "nanosleep_1us": "sleep of 1 us",
            "nanosleep_1ms": "sleep of 1 ms"}  # fmt: skip
    ours, delays, count = defaultdict(list), (1.0, 10.0, 50.0), 0
    for run in cells(WAIT, "wake"):
        for cell in run:
            if not cell["hog"]:
                for name in rows:
                    own = [x for s in cell["samples"] if s["candidate"] == name
                           for x in s["wakes_ns"]]  # fmt: skip
                    ours[name, cell["delay_ms"]].append(statistics.median(own) / 1e3)
                    count = max(count, len(own))
    published = {
        "Windows, published": {"spin": (0.35,), "atomic wait": (13.1,), "event": (23.5,),
                               "sleep of 1 ms": (997,)},
        "macOS on M1, published": {"spin": (0.1,), "atomic wait": (22.7,), "semaphore": (20.4,),
                                   "sleep of 1 us": (25.9,)},
    }  # fmt: skip
    polled = {"spin": (0.12, 0.14, 0.33), "atomic wait": (327, 4900, 15100),
              "semaphore": (332, 5080, 15000), "sleep of 1 us": (4.23, 6.33, 6.71)}  # fmt: skip
    told = [[name, f"{system}, {row}", "", "", f"{value[0]:g}"]
            for system, listed in published.items()
            for name, (row, value) in zip(itertools.repeat("-"), listed.items())]  # fmt: skip
    told += [["-", f"macOS, libc++ of that time, published, {row}", *(f"{v:g}" for v in values)]
             for row, values in polled.items()]  # fmt: skip
    told += [["-", f"ours, {words}", *(span(ours[name, delay], 1) for delay in delays)]
             for name, words in rows.items()]  # fmt: skip
    return (
        "Microseconds from a wake to the sleeper's first instruction, by how long it had slept. "
        "Published values are means of 10,000 wakes; ours are medians of up to "
        f"{count} in each of three runs of `{WAIT}` (`--wakes 10000` makes as many). libc++ polled "
        "with a growing pause. Wait lists under a spinlock, or in a lock-free table, were not "
        "tried.",
        table(["system and method", "1 ms", "10 ms", "50 ms"], [row[1:] for row in told]),
    )


def sift():
    per_ns = 2.3
    rows = defaultdict(lambda: defaultdict(list))
    for run in cells(LOCK, "latency"):
        for cell in run:
            for one in cell["samples"]:
                for row in one.get("rows", []):
                    for what in ("lock", "unlock", "interrupt"):
                        if row.get(what):
                            key = cell["scenario"], row["who"].split("/")[0], what
                            rows[key][one["candidate"]].append((row[what]["avg"], row[what]["max"]))

    def ours(scenario, who, what, at, scale=1.0):
        pick = statistics.median if at == 0 else max
        return [f"{pick(x[at] for x in rows[scenario, who, what][lock]) / scale:,.0f}"
                for lock in ("pawl_sift", "pthread_rwlock")]  # fmt: skip

    us = per_ns * 1e3
    told = [
        ["interrupts off for at most, us", "7 (33 traced)", "2,902",
         *ours("placed", "writer", "interrupt", 1, us)],
        ["one writer alone: lock, mean", "33", "40", *ours("writer", "writer", "lock", 0)],
        ["several readers: lock, mean", "425", "273", *ours("readers", "reader", "lock", 0)],
        ["several real-time readers: lock, mean", "433", "242",
         *ours("readers", "realtime_reader", "lock", 0)],
        ["two writers under contention: lock, mean", "14,021 and 13,179",
         "336,611 and 17,271,138", *ours("contention", "writer", "lock", 0)],
        ["the same, most", "8.6 million", "4.7 and 352 million",
         *ours("contention", "writer", "lock", 1)],
        ["handlers: unlock, most, us", "32", "3",
         *ours("contention", "interrupt", "unlock", 1, us)],
    ]  # fmt: skip
    return (
        "Cycles, where no unit is said. 2008: kernel 2.6.27, eight cores of 2 GHz. Ours: five runs "
        f"of `{LOCK}`, two virtual cores of 2.3 GHz, beside `pthread_rwlock`; a writer makes "
        "system calls where the kernel's needs an instruction. With several readers the standard "
        "lock won in 2008; here the two are alike. A handler's unlock is slowest where it wakes.",
        table(["", "2008: sifting", "2008: standard", "ours: sifting", "ours: standard"], told),
    )


MADE = {"states": states, "fields": fields, "trial": trial, "tree": tree, "wakes": wakes,
        "sift": sift}  # fmt: skip


def markdown(name):
    caption, rows = MADE[name]()
    return f"{caption}\n\n{rows}\n"


if __name__ == "__main__":
    import sys

    for name in sys.argv[1:] or MADE:
        print(markdown(name))
