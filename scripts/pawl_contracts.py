# SPDX-License-Identifier: MIT
"""The lock functions that users call, with one line of contract each; scripts/prototypes reads it.
Results and states of an operation come from transitions.def and until.def."""

import re
from collections import namedtuple

from pawl_tables import ROOT, read_transitions, without_comments

# families: s spin.h, l lock.h, p pshared.h. asks: the function only reads the lock.
Function = namedtuple("Function", "name result more families asks contract")

TITLES = {
    "take": "Taking. A thread that holds the lock in any state may not take it again: R inside R "
    "or S waits for ever once a writer has claimed.",
    "try": "Trying: true when granted. A try never waits for a holder. It is also false while a "
    "claim that is about to be withdrawn stands in the way.",
    "claim": "Claiming: as try, but readers are no reason to fail. After the claim the caller "
    "waits until the readers have left.",
    "drop": "Dropping (unlock), in the thread that took. Only the checking variant notices another "
    "one. take_read_counted of lock.h is for reads that any thread may drop.",
    "seek": "Upgrading S and downgrading.",
    "read": "Upgrading R. When one fails, R is still held. Drop it before another attempt, because "
    "the thread that got S or W waits for it.",
    "atomic": "Downgrading A.",
}

# Operation: group and contract; the states before it come from transitions.def.
OPERATIONS = {
    "take_read": ("take", "Waits for writers and atomic users. Acquire."),
    "take_seek": ("take", "Waits for a seeker, writers and atomic users. Acquire."),
    "take_write": ("take", "Waits for all holders; newcomers wait from its claim on. Acquire."),
    "take_atomic": ("take", "Waits for readers, a seeker and writers. Acquire."),
    "try_read": ("try", "False if a writer or an atomic user is in. Acquire when true."),
    "try_seek": ("try", "False if a seeker, a writer or an atomic user is in. Acquire when true."),
    "try_write": ("try", "False if anybody is in. Acquire when true."),
    "try_atomic": ("try", "False if a reader, a seeker or a writer is in. Acquire when true."),
    "claim_write": (
        "claim",
        "False if a seeker, writer or atomic user is in; waits for readers. Acquire.",
    ),
    "claim_atomic": ("claim", "False if a seeker or a writer is in; waits for readers. Acquire."),
    "drop_read": ("drop", "Release."),
    "drop_seek": ("drop", "Release."),
    "drop_write": ("drop", "Release."),
    "drop_atomic": ("drop", "Release."),
    "seek_to_write": ("seek", "Waits for readers, cannot fail. Acquire."),
    "try_seek_to_write": ("seek", "False if readers are in: S is kept. Never waits. Acquire."),
    "write_to_seek": ("seek", "At once. Release."),
    "write_to_read": ("seek", "At once. Release."),
    "seek_to_read": ("seek", "At once. Release."),
    "try_read_to_seek": (
        "read",
        "False if a seeker, writer or atomic user is in. Never waits. Acquire.",
    ),
    "try_read_to_write": ("read", "False unless the caller is alone. Never waits. Acquire."),
    "read_claim_write": ("read", "False if a seeker or writer is in; waits for readers. Acquire."),
    "try_read_to_atomic": (
        "read",
        "False unless the caller is alone. Never waits. Acquire, release.",
    ),
    "read_claim_atomic": (
        "read",
        "False if a seeker or writer is in; waits for readers. Acquire, release.",
    ),
    "atomic_to_read": (
        "atomic",
        "Waits for other atomic users; tells whether a claimant was let "
        "in first. Acquire, release.",
    ),
}

BEFORE = [
    ("The life of a lock", [
        Function("init", "void", "", "sl", False,
                 "Makes the lock unlocked, as zeroing it does. Not while it is used."),
        Function("init", "bool", "", "p", False,
                 "Makes the lock unlocked, as zeroing it does. False: null or not aligned."),
        Function("destroy", "void", "", "slp", False,
                 "The lock will not be used again. The checking variant reports a held lock."),
    ]),
]  # fmt: skip

AFTER = [
    ("Reading so that any thread may drop, by these names alone. Such a read has no moves. It may "
     "wait for a condition (cond.h).", [
        Function("take_read_counted", "void", "", "l", False, "U -> R as take_read. Acquire."),
        Function("take_read_counted_until", "bool", "deadline", "l", False,
                 "The same; false once the deadline has passed: U still."),
        Function("try_read_counted", "bool", "", "l", False, "U -> R as try_read. Acquire."),
        Function("drop_read_counted", "void", "", "l", False,
                 "R -> U for a read of these; in any thread. Release."),
    ]),
    ("Handing over, before a drop. A drop alone leaves the lock to whoever comes first.", [
        Function("hand_off", "void", "", "l", False,
                 "For a holder: the sleeper that has waited longest has its turn now, not after "
                 "PAWL_LOCK_HANDOFF_NS. No newcomer enters before it."),
    ]),
    ("Two locks at once, the one at the lower address first; the same lock twice is taken once.", [
        Function(f"{verb}_two_{state}", "void", "other", "sl", False, contract)
        for state, letter in (("read", "R"), ("seek", "S"), ("write", "W"))
        for verb, contract in (
            ("take", f"U -> {letter} of both, as take_{state}."),
            ("drop", f"{letter} -> U of both, as drop_{state}."))
    ]),
    ("The two application bits, at any time, held or not. Other bits of `bits` are ignored.", [
        Function("bits", "word", "", "s", True, "The two bits. Acquire."),
        Function("set_bits", "word", "bits", "s", False,
                 "Sets those of `bits`, returns the two as found. Acquire, release."),
        Function("clear_bits", "word", "bits", "s", False,
                 "Clears those of `bits`, returns the two as found. Acquire, release."),
    ]),
    ("What the word shows at this instant, claims included; for reports, not for decisions.", [
        Function("is_free", "bool", "", "slp", True, "True if no thread is in."),
        Function("is_read", "bool", "", "sl", True, "Readers only."),
        Function("is_seek", "bool", "", "sl", True, "A seeker, perhaps readers too."),
        Function("is_write", "bool", "", "sl", True, "A writer, or a claim of one."),
        Function("is_atomic", "bool", "", "sl", True, "Atomic users only."),
    ]),
    ("The calling thread holds the lock so: nothing in release, else a report and abort.", [
        Function(f"assert_held_{state}", "void", "", "sl", True, f"{letter}.")
        for state, letter in (("read", "R"), ("seek", "S"), ("write", "W"), ("atomic", "A"))
    ]),
]  # fmt: skip

UNTIL = (
    "With a deadline, in nanoseconds of pawl_now(). One that has passed fails only an "
    "operation that would wait."
)
REGAIN = "A -> R; PAWL_REGAIN_TIMED_OUT: U, A was given up already. Acquire, release."

BITLOCK = [
    Function("take", "void", "unsigned bit", "", False,
             "Waits until the bit is the caller's. Acquire."),
    Function("take_until", "bool", "unsigned bit, uint64_t deadline", "", False,
             "The same, or false (nothing changed) once the deadline has passed. A free bit is "
             "taken."),
    Function("try", "bool", "unsigned bit", "", False,
             "True when the bit was free. Never waits. Acquire when true."),
    Function("drop", "void", "unsigned bit", "", False,
             "Gives the bit back and wakes one waiter of it. Release."),
    Function("is_held", "bool", "unsigned bit", "", True,
             "Whether the bit is held at this instant; for reports, not for decisions."),
]  # fmt: skip

# Of cond.h, for the locks of spin.h and lock.h: arguments behind the lock.
COND = [
    Function(f"cond_wait_{state}", "void", "", "sl", False,
             f"{letter} is held: lets go, sleeps until signalled, takes {letter} again. Acquire.")
    for state, letter in (("read", "R"), ("seek", "S"), ("write", "W"))
] + [
    Function(f"cond_wait_{state}_until", "bool", "deadline", "sl", False,
             f"The same; false when the deadline has passed: {letter} is held again too.")
    for state, letter in (("read", "R"), ("seek", "S"), ("write", "W"))
]  # fmt: skip


def read_until():
    path = ROOT / "include/pawl/detail/until.def"
    text = without_comments(path.read_text(encoding="utf-8"))
    rows = re.findall(r"^PAWL_UNTIL\((\w+), (\w), (\w)\)$", text, flags=re.M)
    if not rows:
        raise SystemExit(f"{path}: no rows found")
    return rows


def groups():
    """(title, functions) in the order of the headers."""
    rows = {op.name: op for op in read_transitions()["OP"]}
    if set(rows) != set(OPERATIONS):
        raise SystemExit(
            "scripts/pawl_contracts.py and transitions.def differ: "
            + ", ".join(sorted(set(rows) ^ set(OPERATIONS)))
        )
    yield from BEFORE
    for group, title in TITLES.items():
        yield (
            title,
            [
                Function(
                    name,
                    rows[name].result,
                    "",
                    "slp",
                    False,
                    f"{rows[name].start} -> {rows[name].to}. {contract}",
                )
                for name, (of, contract) in OPERATIONS.items()
                if of == group
            ],
        )
    yield (
        UNTIL,
        [
            Function(
                f"{name}_until",
                "bool",
                "deadline",
                "lp",
                False,
                f"{start} -> {to} as {name}; false once the deadline has passed: {start} still.",
            )
            for name, start, to in read_until()
        ]
        + [Function("atomic_to_read_until", "pawl_regained", "deadline", "lp", False, REGAIN)],
    )
    yield from AFTER


def functions():
    for _, rows in groups():
        yield from rows
