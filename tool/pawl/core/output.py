# SPDX-License-Identifier: MIT
"""Writes files whole or not at all, and finds out before measuring whether it can. And makes text
of any bytes fit to be shown."""

import contextlib
import errno
import os
import re
import tempfile
from pathlib import Path

from pawl.core.errors import BadInput, Failure

# A result with thirty candidates is some hundred kilobytes; a page with its plots below this.
NEEDED_BYTES = 4 << 20


# Control characters, those that change the direction of text, and bytes that are no UTF-8.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _escaped(found: re.Match) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python has a byte of a name that is no UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shown(text: str) -> str:
    """Names of files, programs and locks may be any bytes. A terminal obeys some of them, and a
    page or database takes UTF-8 alone."""
    return _UNFIT.sub(_escaped, text)


def _free_temp(name: str | None) -> None:
    if name:
        with contextlib.suppress(OSError):
            os.unlink(name)


def check(option: str, path: Path) -> None:
    """Makes a file beside the target, with room for the result, and takes it away again."""
    if path.is_dir():
        raise BadInput(f"{option}: {path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise BadInput(f"{option}: {path} is not a plain file; name another.")
    folder = path.parent
    if not folder.is_dir():
        raise BadInput(
            f"{option}: the folder {folder} does not exist; make it first or name another."
        )
    name = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
        try:
            os.posix_fallocate(handle, 0, NEEDED_BYTES)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise BadInput(
                f"{option}: no room for {path.name} in {folder} "
                f"({error.strerror}); free some space or name another place."
            ) from error
        raise BadInput(
            f"{option}: cannot write in {folder}: {error.strerror}; "
            "choose a folder you may write in."
        ) from error
    finally:
        _free_temp(name)


def write(path: Path, data: bytes) -> None:
    """Other programs see the old file or the new one, never a half."""
    name = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, 0o666 & ~umask())
        os.replace(name, path)
        name = None
    except OSError as error:
        raise Failure(
            f"cannot write {path}: {error.strerror}; what stood there before is unchanged."
        ) from error
    finally:
        _free_temp(name)


def umask() -> int:
    # The system call can only read the mask by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
