# SPDX-License-Identifier: MIT
"""What numbers of the raw file are called in a trace."""

from pawl.trace import raw

MODES = ("", "mutex", "read", "write", "spin", "cond-wait", "cond-signal", "cond-broadcast",
         "barrier", "sem-wait", "sem-post", "sleep", "read", "seek", "write", "atomic")  # fmt: skip
OURS = ("", "pawl_spin", "pawl_lock", "pawl_pshared_lock", "", "pawl_brlock", "pawl_sift", "")
KINDS = {
    "mutex": "mutex",
    "read": "rwlock",
    "write": "rwlock",
    "spin": "spin",
    "cond-wait": "cond",
    "cond-signal": "cond",
    "cond-broadcast": "cond",
    "barrier": "barrier",
    "sem-wait": "sem",
    "sem-post": "sem",
    "sleep": "sleep",
}
MEANINGS = {
    "deep": "takes by a thread that held 64 locks already: times of these are missing",
    "strange": "releases by a thread that was not seen to take the lock: another one took it",
    "reentered": "calls of a handler that interrupted the recorder",
    "lost_edges": "orders of two locks: times are complete, but a lock_order may be missed",
    "lost_blames": "waits without a holder: times are complete, but who held is not",
    "lost_upgrades": "reads before writes: times are complete, but places may be missed",
    "without_lane": "calls of threads that had no lane yet: 1024 have one, or a table was busy",
    "no_room": "threads that the disk had no room for",
    "busy": "places and names that were not noted, as another thread changed the table",
    "lost_names": "names beyond 1024",
    "lost_modules": "mapped files beyond 256",
    "lost_stacks": "stacks of waits, as the table was full or the stack could not be read",
    "sandboxed": "what a sandbox (seccomp) forbids: new stacks, most new threads, children",
    "stacks_no_room": "the stacks of a process that the disk had no room for",
    "stacks_no_library": "the stacks of a process, as they need glibc 2.35",
}
JAVA = "a program of Java: its own monitors are not seen, only the locks of the machine below it"


def mode_of(key: int) -> str:
    number = key >> raw.ADDRESS_BITS & (1 << raw.MODE_BITS) - 1
    return MODES[number] if number < len(MODES) else ""


def kind_of(key: int) -> str:
    return OURS[key >> raw.ADDRESS_BITS + raw.MODE_BITS] or KINDS.get(mode_of(key), "")
