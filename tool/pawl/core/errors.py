# SPDX-License-Identifier: MIT
"""The ways a command can end. Each carries one sentence for the person who typed it."""

import sqlite3
import struct
from pathlib import Path

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


# What reading a file of unsound content ends with, wherever that is found out.
DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    sqlite3.Error,
    struct.error,
)


class PawlError(Exception):
    """Ends the command with one sentence on standard error."""

    exit_code = FAILED


class Failure(PawlError):
    """Something went wrong that another input would not have avoided."""


class BadInput(PawlError):
    """The person can do something about it; the sentence says what."""

    exit_code = BAD_INPUT


class Interrupted(PawlError):
    """Ctrl-C or a polite request to end; what was measured is already saved."""

    exit_code = INTERRUPTED


# Files of others that the command has read so far.
read_so_far: list[Path] = []


def damaged(error: Exception) -> BadInput:
    """The one sentence for files whose content makes no sense."""
    about = f"{type(error).__name__}: {error}".split("\n", 1)[0][:100]
    names = " or ".join(map(str, read_so_far))
    return BadInput(f"{names} is damaged ({about}); copy it again, or make it anew.")
