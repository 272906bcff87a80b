# SPDX-License-Identifier: MIT
"""Turns real text into a stream of key numbers that the driver replays.

Every distinct key gets a number in order of first appearance, so two runs over the same
text replay the same stream. Files are read in pieces: neither a huge file nor a compressed
bomb is ever held in memory whole.
"""

import bz2
import glob
import gzip
import hashlib
import io
import lzma
import os
import struct
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pawl.core.errors import BadInput, Failure

MAGIC = b"PAWLTRC1"
PIECE = 1 << 20
LONGEST_LINE = 1 << 20
MAX_KEYS = 10_000_000
# One compressed block of zstd may stand for 128 KiB and take 4 bytes: small bites bound memory.
ZSTD_BITE = 1024

_WORD_BYTES = bytes(
    c if chr(c).isalnum() and c < 128 or c == ord("_") or c >= 128 else ord(" ") for c in range(256)
)


@dataclass
class Split:
    """What of a line is a key: the whole line, one field, or every word."""

    column: int | None = None
    delimiter: bytes | None = None
    words: bool = False


@dataclass
class Trace:
    """The stream of keys as numbers."""

    sources: list[str]
    ids: array = field(default_factory=lambda: array("I"))
    distinct: int = 0
    skipped_lines: int = 0

    def describe(self) -> dict:
        # Names of files may be any bytes; a result is UTF-8.
        names = [os.fsencode(name).decode(errors="replace") for name in self.sources]
        return {
            "keys": names,
            "count": len(self.ids),
            "distinct": self.distinct,
            "sha256": hashlib.sha256(self.ids.tobytes()).hexdigest(),
        }

    def write(self, path: Path) -> None:
        ids = self.ids
        if sys.byteorder == "big":
            ids = array("I", ids)
            ids.byteswap()
        try:
            with open(path, "wb") as out:
                out.write(MAGIC + struct.pack("<QQ", self.distinct, len(ids)))
                ids.tofile(out)
        except OSError as error:
            raise Failure(
                f"cannot write the keys for the driver to {path}: {error.strerror}; "
                "free some space there or set TMPDIR."
            ) from error


def expand(names: tuple[str, ...]) -> list[str]:
    """Files as given; a folder stands for its files, a pattern for what it matches; sorted."""
    found: list[str] = []
    for name in names:
        if name == "-" or os.path.isfile(name):
            found.append(name)
        elif os.path.isdir(name):
            inside = sorted(e.path for e in os.scandir(name) if e.is_file())
            if not inside:
                raise BadInput(f"--keys: the folder {name} holds no file; name one that does.")
            found.extend(inside)
        elif any(c in name for c in "*?[") and not os.path.exists(name):
            matches = sorted(f for f in glob.glob(name) if os.path.isfile(f))
            if not matches:
                raise BadInput(f"--keys: no file matches '{name}'; check the pattern.")
            found.extend(matches)
        else:
            found.append(name)
    if found.count("-") > 1:
        raise BadInput("--keys: standard input can be read only once; name '-' once.")
    return found


def _zstd_pieces(source: BinaryIO) -> Iterator[bytes]:
    import zstandard  # only these keys need it

    worker = None
    while bite := source.read(ZSTD_BITE):
        while bite:
            worker = worker or zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
            try:
                piece = worker.decompress(bite)
            except zstandard.ZstdError as error:
                raise EOFError from error
            yield piece
            bite = worker.unused_data if worker.eof else b""
            if worker.eof:
                worker = None
    if worker is not None:
        raise EOFError


def _file_pieces(source: BinaryIO) -> Iterator[bytes]:
    while piece := source.read(PIECE):
        yield piece


def _pieces(source: io.BufferedReader) -> Iterator[bytes]:
    """The plain text of a file, whatever it is packed with; known by its first bytes."""
    head = source.peek(6)[:6]
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd_pieces(source)
    if head.startswith(b"\x1f\x8b"):
        return _file_pieces(gzip.GzipFile(fileobj=source))
    if head.startswith(b"BZh"):
        return _file_pieces(bz2.BZ2File(source))
    if head.startswith(b"\xfd7zXZ\x00"):
        return _file_pieces(lzma.LZMAFile(source))
    return _file_pieces(source)


def _blocks(source: io.BufferedReader, name: str) -> Iterator[bytes]:
    """Text in blocks that end at line ends."""
    rest = b""
    for piece in _pieces(source):
        if b"\0" in piece:
            raise BadInput(
                f"--keys: {name} is binary, not text; "
                "extract its keys first, one a line (strings, od, awk)."
            )
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
        if len(rest) > LONGEST_LINE:
            raise BadInput(
                f"--keys: {name} holds a line longer than 1 MiB; "
                "write its keys one a line first (tr, awk)."
            )
    if rest:
        yield rest


def _keys_of(block: bytes, split: Split, trace: Trace) -> list[bytes]:
    if split.words:
        return block.translate(_WORD_BYTES).split()
    lines = block.replace(b"\r\n", b"\n").split(b"\n")
    if split.column is None:
        return [line for line in lines if line]
    keys = []
    for line in lines:
        parts = line.split(split.delimiter)
        if len(parts) >= split.column and parts[split.column - 1]:
            keys.append(parts[split.column - 1])
        elif line:
            trace.skipped_lines += 1
    return keys


def _read_one(name: str, split: Split, limit: int, numbers: dict, trace: Trace) -> None:
    try:
        with open(0, "rb", closefd=False) if name == "-" else open(name, "rb") as source:
            for block in _blocks(source, name):
                keys = _keys_of(block, split, trace)
                trace.ids.extend([numbers.setdefault(k, len(numbers)) for k in keys])
                if len(trace.ids) > limit:
                    raise BadInput(
                        f"--keys: more than {limit:,} keys by {name}; take a part of them "
                        "(head -n, fewer files) or raise --max-keys if memory allows."
                    )
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise BadInput(
            f"--keys: {name} is compressed but damaged or cut short; fetch or pack it again."
        ) from error
    except MemoryError as error:
        raise BadInput(
            f"--keys: {name} does not fit in memory; take a part of it (head -n)."
        ) from error
    except OSError as error:
        # The decompressors report damaged data as an OSError without a number.
        if error.errno is None:
            raise BadInput(
                f"--keys: {name} is compressed but damaged; fetch or pack it again."
            ) from error
        raise BadInput(
            f"--keys: cannot read {name}: {error.strerror}; check the name and your permissions."
        ) from error


def read(names: tuple[str, ...], split: Split, limit: int = MAX_KEYS) -> Trace:
    trace = Trace(sources=list(names))
    numbers: dict[bytes, int] = {}
    for name in expand(names):
        _read_one(name, split, limit, numbers, trace)
    trace.distinct = len(numbers)
    shown = names[0] if len(names) == 1 else "the files named"
    if not trace.ids and trace.skipped_lines:
        raise BadInput(
            f"--keys: no line of {shown} has a field {split.column}; "
            "choose another --field or --delimiter."
        )
    if not trace.ids:
        raise BadInput(f"--keys: {shown} holds no key; name a file with one key a line.")
    if trace.distinct < 2:
        raise BadInput(
            f"--keys: {shown} holds one key only, again and again; "
            "a cache needs at least two to choose from."
        )
    return trace
