# SPDX-License-Identifier: MIT
"""Prints Pawl's progressive locks in gdb: who holds, who waits, the flags.

    (gdb) source /usr/local/share/pawl/pawl-gdb.py
    (gdb) print the_lock
    $1 = {state = "seek beside 2 readers", W = 0, S = 1, R = 3, parked = true,
      waiters = {"W asleep", "R asleep"}}

The word counts holders and claimants alike, so a state may be a claim that is about to be
withdrawn. Waiters come from the queue of the lock, for which the library must have been
built with debug information; without it they are left out.
"""

import gdb

# enum wait_class (src/lock/waiting.h).
CLASSES = {1: "R", 2: "S", 4: "W", 8: "A", 16: "A to R", 32: "W, claims, waits for readers",
           64: "A, claims, waits for readers", 128: "W, keeps a claim",
           256: "keeps a claim beside W", 512: "keeps a claim of S"}
# enum table_owner (src/lock/table.h), by the bytes of a lock.
OWNERS = {4: "TABLE_OF_LOCK32", 8: "TABLE_OF_LOCK64"}


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


def enumerator(name, kind):
    """The value of a constant of the library's enum."""
    for field in gdb.lookup_type(f"enum {kind}").fields():
        if field.name == name:
            return field.enumval
    raise gdb.error(f"no {name}")


def linked(first, field):
    """What each of a list of structures is, from the one that `first` points to."""
    while int(first) != 0:
        yield first.dereference()
        first = first.dereference()[field]


def waiters(lock):
    """The queue of the lock, oldest first; None if it cannot be known."""
    try:
        table = shared_object("table_object", "struct pawl_table")
        if table is None:
            return None
        owner = enumerator(OWNERS[lock.type.sizeof], "table_owner")
        found = []
        for bucket in buckets(table):
            for queue in linked(bucket["queues"], "next"):
                if int(queue["address"]) != int(lock.address) or int(queue["owner"]) != owner:
                    continue
                for waiter in linked(queue["oldest"], "younger"):
                    kind = int(waiter["kind"])
                    sleeps = "asleep" if int(waiter["asleep"]) else "awake"
                    found.append(f"{CLASSES.get(kind, kind)} {sleeps}")
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
        found = waiters(self.value) if self.value.address else None
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
