# SPDX-License-Identifier: MIT
"""Prints Pawl's progressive locks in gdb: who holds, who waits, the flags.

    (gdb) source /usr/local/share/pawl/pawl-gdb.py
    (gdb) print the_lock
    $1 = {state = "seek beside 2 readers", W = 0, S = 1, R = 3, parked = true,
      waiters = {"W asleep", "R asleep"}}

The word counts holders and claimants alike, so a state may be a claim that is about to be
withdrawn. Waiters come from the process's wait lists, for which the library must have been
built with debug information; without it they are left out.
"""

import gdb

R, S, W, A = 1, 2, 4, 8
CLASSES = {0: "-", R: "R", S: "S", W: "W", A: "A", 16: "W, waits for readers",
           32: "A, waits for readers", 64: "W, keeps a claim", 128: "A to R"}


def fields(word, bits):
    """W, S, R in units and the two low bits."""
    seek = 8 if bits == 16 else bits // 2
    return word >> (seek + 2), word >> seek & 3, (word & (1 << seek) - 1) >> 2, word & 3


def plural(count, what):
    return f"{count} {what}{'' if count == 1 else 's'}"


def state(w, s, r):
    if w == s == r == 0:
        return "free"
    if w == 0:
        readers = plural(r - s, "reader") if r > s else ""
        return (f"seek beside {readers}" if readers else "seek") if s else readers
    if s == 0 and r == 0:
        return plural(w, "atomic user")
    if s and w == 1 and r == 1:
        return "write"
    if s and r > 1:
        return f"write, claimed or held, beside {plural(r - 1, 'other unit')} of R"
    return "write or atomic, claimed"


def shared_object(which, kind):
    """What all copies of the library share. Assembly defines it, so gdb does not know its type."""
    for variant in ("release", "checked", "hook"):
        try:
            return gdb.parse_and_eval(f"*({kind} *)&pawl_{which}_v1_{variant}_")
        except gdb.error:
            pass
    return None


def buckets(table):
    doublings = int(table["doublings"])
    first = table["first"]
    if doublings == 0:
        low, high = first.type.range()
        return [first[i] for i in range(low, high + 1)]
    count = (first.type.range()[1] + 1) << doublings
    array = table["grown"][doublings - 1]
    return [array[i] for i in range(count)]


def waiters(address):
    """The wait list of the address, oldest first; None if it cannot be known."""
    try:
        table = shared_object("table_object", "struct pawl_table")
        waiter_type = gdb.lookup_type("struct pawl_waiter").pointer()
        if table is None:
            return None
        found = []
        for bucket in buckets(table):
            sentinel = bucket["list"].address
            link = bucket["list"]["next"]
            while int(link) not in (0, int(sentinel)):
                waiter = link.cast(waiter_type).dereference()
                if int(waiter["address"]) == address:
                    kind = int(waiter["kind"])
                    sleeps = "asleep" if int(waiter["asleep"]) else "awake"
                    found.append(f"{CLASSES.get(kind, kind)} {sleeps}")
                link = link.dereference()["next"]
        return found
    except (gdb.error, RuntimeError):
        return None


class LockPrinter:
    """pawl_spin16/32/64 and pawl_lock32/64."""

    def __init__(self, value, sleeps):
        self.value, self.sleeps = value, sleeps

    def to_string(self):
        bits = self.value.type.sizeof * 8
        word = int(self.value["word"]) & (1 << bits) - 1
        w, s, r, low = fields(word, bits)
        parts = [f'state = "{state(w, s, r)}"', f"W = {w}", f"S = {s}", f"R = {r}"]
        if not self.sleeps:
            parts.append(f"application = {low}")
            return "{" + ", ".join(parts) + "}"
        parts.append(f"parked = {'true' if low & 1 else 'false'}")
        if low & 2:
            parts.append("biased = true")
        found = waiters(int(self.value.address)) if self.value.address else None
        if found:
            parts.append("waiters = {" + ", ".join(f'"{w}"' for w in found) + "}")
        return "{" + ", ".join(parts) + "}"


def printer_of(value):
    name = value.type.strip_typedefs().tag or ""
    if name in ("pawl_spin16", "pawl_spin32", "pawl_spin64"):
        return LockPrinter(value, False)
    if name in ("pawl_lock32", "pawl_lock64"):
        return LockPrinter(value, True)
    return None


gdb.pretty_printers.append(printer_of)
