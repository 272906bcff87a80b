# SPDX-License-Identifier: MIT
"""The ways a command can end. Each carries one sentence for the person who typed it."""

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


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
