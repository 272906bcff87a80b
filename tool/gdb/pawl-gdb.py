# SPDX-License-Identifier: MIT
"""Prints Pawl's primitives in gdb and lldb: who holds, who waits, the numbers.

    (gdb) source /usr/local/share/pawl/pawl-gdb.py
    (lldb) command script import /usr/local/share/pawl/pawl_lldb.py
    (gdb) print the_lock
    $1 = {state = "seek beside 2 readers", W = 0, S = 1, R = 3, parked = true,
      waiters = {"W asleep", "R asleep"}}

gdb loads it by itself beside the shared library, where its auto-load safe-path permits. A word
counts holders and claimants alike, so a state may be a claim that is about to be withdrawn.
Waiters, holders and sums come from the library's own structures, for which it must have been built
with debug information; without it they are left out. Only the checking variant knows holders.
"""

try:
    import gdb
except ImportError:
    gdb = None
    import lldb

VARIANTS = ("release", "checked", "hook")
# enum pawl_state.
STATES = ("U", "R", "S", "W", "A")
# enum wait_class (src/lock/waiting.h).
CLASSES = {1: "R", 2: "S", 4: "W", 8: "A", 16: "A to R", 32: "W, claims, waits for readers",
           64: "A, claims, waits for readers", 128: "W, keeps a claim",
           256: "keeps a claim beside W", 512: "keeps a claim of S"}  # fmt: skip
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


class Unknown(Exception):
    """The library was built without the debug information for this."""


# ---- What the two debuggers have in common: a value ----------------------------------------------


class GdbValue:
    def __init__(self, value):
        self.value = value

    def __getitem__(self, key):
        try:
            return GdbValue(self.value[key])
        except gdb.error as error:
            raise Unknown from error

    def __int__(self):
        return int(self.value)

    @property
    def address(self):
        return int(self.value.address) if self.value.address is not None else 0

    @property
    def size(self):
        return self.value.type.sizeof

    @property
    def length(self):
        low, high = self.value.type.range()
        return high - low + 1

    def target(self):
        return GdbValue(self.value.dereference())

    def text(self):
        return self.value.string() if int(self.value) else ""

    @staticmethod
    def at(address, kind):
        try:
            pointer = gdb.lookup_type(kind).pointer()
            return GdbValue(gdb.Value(address).cast(pointer).dereference())
        except gdb.error as error:
            raise Unknown from error

    @staticmethod
    def symbol(name):
        try:
            return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
        except gdb.error as error:
            raise Unknown from error

    @staticmethod
    def pointer_at(address):
        try:
            return int(gdb.parse_and_eval(f"*(unsigned long *){address}"))
        except gdb.error as error:
            raise Unknown from error

    @staticmethod
    def enumerator(name, kind):
        try:
            fields = gdb.lookup_type(f"enum {kind}").fields()
        except gdb.error as error:
            raise Unknown from error
        return next(f.enumval for f in fields if f.name == name)

    @staticmethod
    def functions_at(pc):
        """The names of the function there, inlined ones first."""
        block = gdb.block_for_pc(pc - 1)
        while block is not None:
            if block.function is not None:
                yield block.function.name
            block = block.superblock


class LldbValue:
    def __init__(self, value):
        self.value = value
        if not value.IsValid():
            raise Unknown

    def __getitem__(self, key):
        # A type with a formatter shows its text; its members are in the raw value.
        raw = self.value.GetNonSyntheticValue()
        if isinstance(key, str):
            return LldbValue(raw.GetChildMemberWithName(key))
        if raw.GetType().IsPointerType():
            kind = raw.GetType().GetPointeeType()
            return LldbValue(
                raw.CreateValueFromAddress(
                    "element", raw.GetValueAsUnsigned() + key * kind.GetByteSize(), kind
                )
            )
        return LldbValue(raw.GetChildAtIndex(key))

    def __int__(self):
        return self.value.GetValueAsUnsigned()

    @property
    def address(self):
        return self.value.GetLoadAddress()

    @property
    def size(self):
        return self.value.GetByteSize()

    @property
    def length(self):
        return self.value.GetNumChildren()

    def target(self):
        return LldbValue(self.value.Dereference())

    def text(self):
        error = lldb.SBError()
        return (
            self.value.GetProcess().ReadCStringFromMemory(int(self), 256, error)
            if int(self)
            else ""
        )

    @classmethod
    def at(cls, address, kind):
        target = cls.process.GetTarget()
        found = target.FindFirstType(kind.removeprefix("struct "))
        if not found.IsValid():
            raise Unknown
        return cls(target.CreateValueFromAddress("it", lldb.SBAddress(address, target), found))

    @classmethod
    def symbol(cls, name):
        target = cls.process.GetTarget()
        found = target.FindSymbols(name)
        if found.GetSize() == 0:
            raise Unknown
        return found[0].GetSymbol().GetStartAddress().GetLoadAddress(target)

    @classmethod
    def pointer_at(cls, address):
        error = lldb.SBError()
        pointer = cls.process.ReadPointerFromMemory(address, error)
        if not error.Success():
            raise Unknown
        return pointer

    @classmethod
    def enumerator(cls, name, kind):
        found = cls.process.GetTarget().FindFirstType(kind)
        for member in found.GetEnumMembers():
            if member.GetName() == name:
                return member.GetValueAsUnsigned()
        raise Unknown

    @classmethod
    def functions_at(cls, pc):
        target = cls.process.GetTarget()
        found = target.ResolveSymbolContextForAddress(
            target.ResolveLoadAddress(pc - 1), lldb.eSymbolContextEverything
        )
        block = found.GetBlock()
        while block.IsValid():
            if block.IsInlined():
                yield block.GetInlinedName()
            block = block.GetParent()
        yield found.GetFunction().GetName() or found.GetSymbol().GetName() or ""


Value = GdbValue if gdb else LldbValue


# ---- What is one per process ---------------------------------------------------------------------


class Unused(Unknown):
    """The program has not used that part of the library yet."""


def shared_object(which, kind):
    """What all copies of the library share, behind a pointer that the first use sets."""
    unused = False
    for variant in VARIANTS:
        try:
            pointer = Value.pointer_at(Value.symbol(f"ipawl_{which}_v3_{variant}_"))
            if pointer != 0:
                return Value.at(pointer, f"struct {kind}")
            unused = True
        except Unknown:
            pass
    raise Unused if unused else Unknown


def guarded(function):
    """None where the debug information does not tell."""

    def call(*arguments):
        try:
            return function(*arguments)
        except Unknown:
            return None

    return call


def buckets(table):
    doublings = int(table["doublings"])
    first = table["first"]
    if doublings == 0:
        return [first[i] for i in range(first.length)]
    array = table["grown"][doublings - 1]
    return [array[i] for i in range(first.length << doublings)]


def linked(first, field):
    """What each of a list of structures is, from the one that `first` points to."""
    while int(first) != 0:
        yield first.target()
        first = first.target()[field]


@guarded
def waiters(lock):
    """The queue of the lock, oldest first."""
    owner = Value.enumerator(OWNERS[lock.size], "table_owner")
    found = []
    try:
        table = shared_object("table_object", "pawl_lists")
    except Unused:
        return []
    for bucket in buckets(table):
        for queue in linked(bucket["queues"], "next"):
            if int(queue["address"]) != lock.address or int(queue["owner"]) != owner:
                continue
            for waiter in linked(queue["oldest"], "younger"):
                kind = int(waiter["kind"])
                sleeps = "asleep" if int(waiter["asleep"]) else "awake"
                found.append(f"{CLASSES.get(kind, kind)} {sleeps}")
    return found


def lines_used():
    return int(shared_object("process_object", "pawl_process")["lines_used"])


def thread_of_line(number):
    return int(shared_object("process_object", "pawl_process")["lines"][number]["owner"])


@guarded
def holders(lock):
    """The checking variant: who holds the lock in which state, and which function took it."""
    books = shared_object("check_object", "pawl_check")["lines"]
    found = []
    for number in range(min(lines_used(), books.length)):
        line = books[number]
        for i in range(int(line["held_used"])):
            held = line["held"][i]
            state = int(held["what"]) & 15
            if int(held["lock"]) == lock.address and 0 < state < len(STATES):
                theirs = [
                    name
                    for name in Value.functions_at(int(held["stack"]["frames"][0]))
                    if not name.startswith(("pawl_", "ipawl_"))
                ]
                found.append(
                    f"{STATES[state]} by thread {thread_of_line(number)}"
                    + (f", taken in {theirs[0]}" if theirs and theirs[0] else "")
                )
    return found


@guarded
def cells(place):
    """The sum of the cells of a counter, beyond those of CPUs."""
    counters = shared_object("counters_object", "pawl_counters")
    total = 0
    for number in range(min(lines_used(), counters["blocks"].length)):
        block = int(counters["blocks"][number])
        if block:
            total += int(Value.at(block + place, "unsigned long"))
    return total


# ---- The primitives: each gives the parts that are shown -----------------------------------------


def quoted(items):
    return "{" + ", ".join(f'"{item}"' for item in items) + "}"


def yes(flag):
    return "true" if flag else "false"


def signed(number):
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def word_of(v):
    bits = v["word"].size * 8
    return bits, int(v["word"]) & (1 << bits) - 1


def word_parts(v):
    bits, word = word_of(v)
    w, s, r, low = fields(word, bits)
    return [f'state = "{state(w, s, r)}"', f"W = {w}", f"S = {s}", f"R = {r}"], low


def who_parts(v, sleeps):
    found = waiters(v) if sleeps and v.address else None
    parts = [f"waiters = {quoted(found)}"] if found else []
    found = holders(v) if v.address else None
    return parts + ([f"holders = {quoted(found)}"] if found else [])


def spin(v):
    parts, low = word_parts(v)
    return [*parts, f"application = {low}", *who_parts(v, False)]


@guarded
def scaling_readers(lock):
    """The threads that read the lock by their entries, which the word does not show."""
    entries = shared_object("entries_object", "pawl_entries_all")
    identity = lock.address | (1 if lock.size == 8 else 0)
    found = []
    first = entries["lines"]
    for i in range(int(entries["used"])):
        block = first.address if i < first.length else int(entries["blocks"][i // first.length])
        if block == 0:
            continue
        line = Value.at(block + i % first.length * first[0].size, "struct pawl_entries")
        locks = line["locks"]
        found += [
            f"thread {thread_of_line(i)}" for k in range(locks.length) if int(locks[k]) == identity
        ]
    return found


def lock(v):
    parts, low = word_parts(v)
    parts.append(f"parked = {yes(low & 1)}")
    if low & 2:
        found = scaling_readers(v) if v.address else None
        parts.append("biased = true")
        parts += [f"scaling_readers = {quoted(found)}"] if found else []
    return parts + who_parts(v, True)


def pshared_lock(v):
    parts, low = word_parts(v)
    return [*parts, f"parked = {yes(low & 1)}", f"leaving = {yes(low & 2)}"]


def by_thread(v, field):
    return [f"{field} = thread {int(v[field])}"] if int(v[field]) else []


def robust_lock(v):
    parts = [*by_thread(v, "writer"), *by_thread(v, "seeker")]
    return [
        f'state = "{"held" if parts else "no writer or seeker"}"',
        *parts,
        f"deaths = {int(v['state'])}",
    ]


def brlock(v):
    readers = int(v["shared"]) + sum(int(v["lines"][i]["readers"]) for i in range(int(v["count"])))
    readers &= 0xFFFFFFFF
    closed, gate = int(v["closed"]), int(v["gate"])
    what = (
        "write, held or asked for" if closed else "seek" if gate else "read" if readers else "free"
    )
    return [f'state = "{what}"', f"readers = {readers}", f"waited_for = {yes(gate == 2)}",
            *by_thread(v, "holder")]  # fmt: skip


def sift(v):
    word = int(v["word"]) & (1 << 64) - 1
    counts = [("thread", 2, 18), ("realtime", 20, 12), ("deferred", 32, 10), ("interrupt", 42, 10)]
    readers = [
        f"{name}_readers = {word >> at & (1 << bits) - 1}"
        for name, at, bits in counts
        if word >> at & (1 << bits) - 1
    ]
    held = int(v["mutex"]) != 0 or word & 2
    what = "write, held or asked for" if held or word >> 52 else "read" if readers else "free"
    return [f'state = "{what}"', *readers, f"slow_writers = {word >> 52}",
            f"waited_for = {yes(word & 1)}", *by_thread(v, "holder")]  # fmt: skip


def seq(v):
    number = int(v["sequence"])
    return [
        f'state = "{"being written" if number & 1 else "whole"}"',
        f"sequence = {number}",
        *([f"writer = thread {int(v['writer']) & 0x7FFFFFFF}"] if int(v["writer"]) else []),
    ]


def seq_latch(v):
    number = int(v["sequence"])
    what = ("both copies whole", "first copy is written", "second copy is written")
    return [
        f'state = "{what[number & 3] if number & 3 < 3 else "overwritten"}"',
        f"sequence = {number}",
        *([f"writer = thread {int(v['writer']) & 0x7FFFFFFF}"] if int(v["writer"]) else []),
    ]


def counter(v):
    place = int(v["place"])
    if place < 64:
        return [f"value = {signed(int(v['shared']))}"]
    found = cells(place)
    return (
        ["value = ?"]
        if found is None
        else [f"value = {signed(int(v['shared']) - int(v['before']) + found)}"]
    ) + ["cells = true"]


def cpu_counter(v):
    return ["value = ?", f"without_cells = {signed(int(v['counter']['shared']))}"]


def atomic_counter(v):
    return [f"value = {signed(int(v['value']))}"]


def counter_exact(v):
    return [f"without_cells = {signed(int(v['shared']))}", f"cells = {yes(int(v['place']) >= 64)}"]


def counter_limit(v):
    return [f"limit = {int(v['limit'])}", f"taken_with_credit = {int(v['taken'])}",
            f"exact = {yes(int(v['gate']) == 1)}"]  # fmt: skip


def bigref(v):
    states = {0: "counted where it is used", 1: "counted in one place", 2: "killed", 3: "released",
              4: "being changed"}  # fmt: skip
    kind, place = int(v["gate"]) & 7, int(v["place"])
    count = int(v["global"]) + int(v["own"]) - (1 << 62 if kind not in (2, 3) else 0)
    more = cells(place) if place >= 64 else 0
    parts = [f'state = "{states.get(kind, "overwritten")}"']
    return parts + ([] if more is None else [f"count = {signed(count + more)}"])


def cond(v):
    return [f"waiting = {int(v['waiting'])}"]


def eventcount(v):
    return [f"waiters = {int(v['waiters'])}", f"epoch = {int(v['epoch'])}"]


def idtable(v):
    life = {0: "in use", 1: "destroyed", 2: "refused by init"}
    return [f'state = "{life.get(int(v["life"]), "overwritten")}"', f"objects = {int(v['count'])}",
            f"to_be_freed = {int(v['parked'])}"]  # fmt: skip


@guarded
def domain_parts(index):
    rcu = shared_object("rcu_object", "pawl_rcu")
    period = rcu["states"][index]
    parts = [
        f"grace_periods = {int(period['completed'])}",
        f"in_progress = {yes(int(period['started']) != int(period['completed']))}",
    ]
    readers = [
        f"thread {thread_of_line(i)}"
        for i in range(min(lines_used(), rcu["lines"].length))
        if int(rcu["lines"][i]["read"][index]) & 0xFFFF
    ]
    return parts + ([f"readers = {quoted(readers)}"] if readers else [])


def rcu_domain(v):
    index = int(v["index"])
    name = v["name"].text() if index or int(v["name"]) else "default"
    return [f'name = "{name}"', f"index = {index}", *(domain_parts(index) or [])]


SHOWN = {
    "pawl_spin16": spin, "pawl_spin32": spin, "pawl_spin64": spin, "pawl_lock32": lock,
    "pawl_lock64": lock, "pawl_pshared_lock32": pshared_lock, "pawl_pshared_lock64": pshared_lock,
    "pawl_robust_lock": robust_lock, "pawl_brlock": brlock, "pawl_sift": sift, "pawl_seq": seq,
    "pawl_seq_latch": seq_latch, "pawl_counter": counter, "pawl_cpu_counter": cpu_counter,
    "pawl_atomic_counter": atomic_counter, "pawl_counter_exact": counter_exact,
    "pawl_counter_limit": counter_limit, "pawl_bigref": bigref, "pawl_cond": cond,
    "pawl_eventcount": eventcount, "pawl_idtable": idtable, "pawl_rcu_domain": rcu_domain,
}  # fmt: skip


def shown(name, value):
    return "{" + ", ".join(SHOWN[name](value)) + "}"


# ---- gdb -----------------------------------------------------------------------------------------


class Printer:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def to_string(self):
        return shown(self.name, GdbValue(self.value))


def printer_of(value):
    name = value.type.strip_typedefs().tag or ""
    return Printer(name, value) if name in SHOWN else None


# ---- lldb ----------------------------------------------------------------------------------------


def summary(value, _unused):
    value = value.GetNonSyntheticValue()
    LldbValue.process = value.GetProcess()
    try:
        return shown(value.GetType().GetCanonicalType().GetName().split()[-1], LldbValue(value))
    except Unknown:
        return ""


def __lldb_init_module(debugger, _unused):
    for name in SHOWN:
        debugger.HandleCommand(f"type summary add -F {__name__}.summary -w pawl {name}")
    debugger.HandleCommand("type category enable pawl")


if gdb:
    gdb.pretty_printers.append(printer_of)
