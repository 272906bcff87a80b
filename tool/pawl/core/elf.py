# SPDX-License-Identifier: MIT
"""What the command asks of ELF files, read with the standard library alone."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

MACHINES = {3: "EM_386", 40: "EM_ARM", 62: "EM_X86_64", 183: "EM_AARCH64", 243: "EM_RISCV"}
PT_LOAD, PT_INTERP = 1, 3
NOTHING = 8  # of sections: without bytes in the file
NEEDED = 1  # of entries of .dynamic: a library


class ElfError(ValueError):
    """The file is none, or what it says of itself makes no sense."""


@dataclass
class Segment:
    kind: int
    offset: int
    address: int
    size: int


@dataclass
class Section:
    name: str
    kind: int
    offset: int
    size: int
    link: int  # the section that has its names


class Elf:
    def __init__(self, file: BinaryIO):
        self.file, self.size = file, file.seek(0, 2)
        ident = self._bytes(0, 16)
        if ident[:4] != b"\x7fELF" or ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise ElfError("no ELF file")
        self.bits = 32 * ident[4]
        self.order = "<" if ident[5] == 1 else ">"
        word = "Q" if self.bits == 64 else "I"
        head = self._unpack(f"HHI{word * 3}IHHHHHH", 16)
        self.machine = MACHINES.get(head[1], f"EM_{head[1]}")
        self._segments, self._sections = head[4], head[5]
        self._segment_size, self._segment_count = head[8:10]
        self._section_size, self._section_count, self._names = head[10:13]

    def _bytes(self, offset: int, size: int) -> bytes:
        if offset + size > self.size:
            raise ElfError("the file is cut off")
        self.file.seek(offset)
        return self.file.read(size)

    def _unpack(self, form: str, offset: int) -> tuple:
        form = self.order + form
        try:
            return struct.unpack(form, self._bytes(offset, struct.calcsize(form)))
        except struct.error as error:  # it was cut off meanwhile
            raise ElfError(str(error)) from error

    def segments(self, kind: int) -> Iterator[Segment]:
        for i in range(self._segment_count):
            at = self._segments + i * self._segment_size
            if self.bits == 64:
                found, _, offset, address, _, size = self._unpack("IIQQQQ", at)
            else:
                found, offset, address, _, size = self._unpack("IIIII", at)
            if found == kind:
                yield Segment(found, offset, address, size)

    @cached_property
    def sections(self) -> list[Section]:
        form = "IIQQQQI" if self.bits == 64 else "IIIIIII"
        rows = [
            self._unpack(form, self._sections + i * self._section_size)
            for i in range(self._section_count)
        ]
        made = [Section("", kind, offset, size, link) for _, kind, _, _, offset, size, link in rows]
        if self._names < len(made):
            names = self.data(made[self._names])
            for section, row in zip(made, rows, strict=True):
                section.name = _text(names, row[0])
        return made

    def section(self, name: str) -> Section | None:
        return next((s for s in self.sections if s.name == name), None)

    def data(self, section: Section) -> bytes:
        return b"" if section.kind == NOTHING else self._bytes(section.offset, section.size)

    def _named(self, section: Section) -> bytes:
        """The names of what the section has."""
        if section.link >= len(self.sections):
            raise ElfError("a section without names")
        return self.data(self.sections[section.link])

    def _rows(self, section: Section, form: str) -> Iterator[tuple]:
        form, data = self.order + form, self.data(section)
        return struct.iter_unpack(form, data[: len(data) - len(data) % struct.calcsize(form)])

    def interpreter(self) -> str:
        """The loader that it asks for, or ""."""
        for one in self.segments(PT_INTERP):
            return self._bytes(one.offset, one.size).split(b"\0")[0].decode("utf-8", "replace")
        return ""

    def needed(self) -> list[str]:
        dynamic = self.section(".dynamic")
        if not dynamic:
            return []
        rows = self._rows(dynamic, "QQ" if self.bits == 64 else "II")
        names = self._named(dynamic)
        return [_text(names, value) for tag, value in rows if tag == NEEDED]

    def imports(self) -> list[str]:
        """The names of symbols that other files define."""
        table = self.section(".dynsym")
        if not table:
            return []
        names = self._named(table)
        if self.bits == 64:
            rows = ((name, place) for name, _, _, place, _, _ in self._rows(table, "IBBHQQ"))
        else:
            rows = ((name, place) for name, _, _, _, _, place in self._rows(table, "IIIBBH"))
        return [_text(names, name) for name, place in rows if place == 0]


def _text(names: bytes, at: int) -> str:
    end = names.find(b"\0", at)
    return names[at : end if end >= 0 else None].decode("utf-8", "replace")
