# SPDX-License-Identifier: MIT
"""Arrays of C structs in bytes, read field by field when they are asked for.

A trace is written on the machine of the program, which may have nothing but Python.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

U32, U64 = "I", "Q"
Kind = "str | Struct"


class Struct:
    """Of little-endian fields without gaps: (name, kind) or (name, kind, how many of it)."""

    def __init__(self, fields: list[tuple]):
        self.fields: dict[str, tuple[Kind, int, int | None]] = {}  # kind, offset, how many
        self.itemsize = 0
        for name, kind, *many in fields:
            self.fields[name] = (kind, self.itemsize, many[0] if many else None)
            self.itemsize += size_of(kind) * (many[0] if many else 1)
        # Of fields that are numbers, all of a row at once.
        simple = all(isinstance(kind, str) and not many for _, kind, *many in fields)
        self.form = "<" + "".join(kind for _, kind, *_ in fields) if simple else None


def size_of(kind: Kind) -> int:
    return kind.itemsize if isinstance(kind, Struct) else struct.calcsize("<" + kind)


class Row:
    __slots__ = ("at", "data", "kind")

    def __init__(self, kind: Struct, data: bytes, at: int = 0):
        self.kind, self.data, self.at = kind, data, at

    def __getitem__(self, name: str):
        """A number; bytes without the zeros at the end; or what there are several of."""
        kind, offset, many = self.kind.fields[name]
        at = self.at + offset
        if isinstance(kind, Struct):
            return Rows(kind, self.data, at, many)
        if many is not None:
            return struct.unpack_from(f"<{many}{kind}", self.data, at)
        value = struct.unpack_from("<" + kind, self.data, at)[0]
        return value.rstrip(b"\0") if kind.endswith("s") else value


class Rows:
    def __init__(self, kind: Struct, data: bytes, at: int = 0, count: int | None = None):
        self.kind, self.data, self.at = kind, data, at
        self.count = (len(data) - at) // kind.itemsize if count is None else count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Row:
        if not 0 <= i < self.count:
            raise IndexError(i)
        return Row(self.kind, self.data, self.at + i * self.kind.itemsize)

    def __iter__(self) -> Iterator[Row]:
        return (self[i] for i in range(self.count))

    def first(self, most: int) -> Rows:
        return Rows(self.kind, self.data, self.at, min(most, self.count))

    def tuples(self) -> list[tuple[int, ...]]:
        """Rows of numbers alone, as tuples."""
        end = self.at + self.count * self.kind.itemsize
        return list(struct.iter_unpack(self.kind.form, memoryview(self.data)[self.at : end]))
