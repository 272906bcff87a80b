# SPDX-License-Identifier: MIT
"""Real input: what becomes a key, what is unpacked, what is refused."""

import bz2
import gzip
import io
import lzma
import struct

import pytest
import zstandard

from pawl.core import keys
from pawl.core.errors import BadInput

TEXT = b"10.0.0.1 GET /a\n10.0.0.2 GET /b\n10.0.0.1 GET /a\n"
PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


def read(path, limit=keys.MAX_KEYS, **split):
    return keys.read((str(path),), keys.Split(**split), limit)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "access.log"
    path.write_bytes(TEXT)
    return path


def test_a_line_is_a_key_and_numbers_follow_first_appearance(log):
    trace = read(log)
    assert list(trace.ids) == [0, 1, 0] and trace.distinct == 2


def test_a_field_is_counted_from_one(log):
    assert list(read(log, column=1).ids) == [0, 1, 0]
    assert list(read(log, column=3).ids) == [0, 1, 0]


def test_fields_may_be_separated_by_a_given_text(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a;1\nb;2\na;3\n")
    assert list(read(path, column=1, delimiter=b";").ids) == [0, 1, 0]


def test_lines_without_the_field_are_left_out_and_counted(tmp_path):
    path = tmp_path / "ragged"
    path.write_bytes(b"a b\nc\nd e\n")
    trace = read(path, column=2)
    assert len(trace.ids) == 2 and trace.skipped_lines == 1


def test_every_word_can_be_a_key(tmp_path):
    path = tmp_path / "paths"
    path.write_bytes(b"/usr/share/doc\n/usr/lib\n")
    assert list(read(path, words=True).ids) == [0, 1, 2, 0, 3]


def test_a_last_line_without_its_end_counts(tmp_path):
    path = tmp_path / "cut"
    path.write_bytes(b"a\nb")
    assert read(path).distinct == 2


def test_windows_line_ends_are_no_part_of_a_key(tmp_path):
    path = tmp_path / "dos"
    path.write_bytes(b"a\r\nb\r\na\n")
    assert list(read(path).ids) == [0, 1, 0]


def test_keys_need_not_be_valid_unicode(tmp_path):
    path = tmp_path / "latin1"
    path.write_bytes(b"caf\xe9\nth\xe9\n")
    assert read(path).distinct == 2


def test_a_line_across_two_pieces_is_one_key(tmp_path, monkeypatch):
    monkeypatch.setattr(keys, "PIECE", 7)
    path = tmp_path / "long"
    path.write_bytes(b"abcdefghij\nabcdefghij\nklm\n")
    assert list(read(path).ids) == [0, 0, 1]


@pytest.mark.parametrize("form", PACKERS)
def test_packed_files_are_unpacked_whatever_their_name(form, tmp_path):
    path = tmp_path / "no-extension"
    path.write_bytes(PACKERS[form](TEXT))
    assert list(read(path).ids) == [0, 1, 0]


@pytest.mark.parametrize("form", PACKERS)
def test_packed_files_in_several_members_are_read_to_the_end(form, tmp_path):
    path = tmp_path / "two"
    path.write_bytes(PACKERS[form](b"a\nb\n") + PACKERS[form](b"c\n"))
    assert read(path).distinct == 3


@pytest.mark.parametrize("form", PACKERS)
def test_a_packed_file_cut_short_is_refused(form, tmp_path):
    path = tmp_path / "cut"
    noise = b"".join(b"%d\n" % (n * 2654435761 % 1000003) for n in range(20000))
    path.write_bytes(PACKERS[form](noise)[:-20])
    with pytest.raises(BadInput, match="damaged"):
        read(path)


@pytest.mark.parametrize("form", PACKERS)
def test_a_packed_file_with_wrong_bytes_is_refused(form, tmp_path):
    path = tmp_path / "wrong"
    noise = b"".join(b"%d\n" % (n * 2654435761 % 1000003) for n in range(20000))
    data = bytearray(PACKERS[form](noise))
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    path.write_bytes(data)
    with pytest.raises(BadInput, match="damaged"):
        read(path)


def test_a_folder_stands_for_its_files_and_a_pattern_for_its_matches(tmp_path):
    for name, key in (("b.list", b"2\n"), ("a.list", b"1\n"), ("c.txt", b"3\n")):
        (tmp_path / name).write_bytes(key)
    assert keys.expand((str(tmp_path / "*.list"),)) == [
        str(tmp_path / "a.list"),
        str(tmp_path / "b.list"),
    ]
    assert len(keys.expand((str(tmp_path),))) == 3


def test_the_trace_file_is_what_the_driver_reads(log, tmp_path):
    path = tmp_path / "keys.trace"
    read(log).write(path)
    data = path.read_bytes()
    assert data == b"PAWLTRC1" + struct.pack("<QQIII", 2, 3, 0, 1, 0)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no key"),
        (b"\n\n\n", "no key"),
        (b"one\none\n", "one key only"),
        (b"\x7fELF\0\0\0text\n", "binary"),
        (b"x" * (3 << 20), "longer than 1 MiB"),
    ],
)
def test_content_that_is_no_stream_of_keys_is_refused(content, words, tmp_path):
    path = tmp_path / "keys"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=words):
        read(path)


def test_a_field_that_no_line_has_is_refused(log):
    with pytest.raises(BadInput, match="no line .* has a field 9"):
        read(log, column=9)


def test_more_keys_than_the_limit_are_refused_before_all_are_read(log):
    with pytest.raises(BadInput, match="more than 2 keys.*--max-keys"):
        read(log, limit=2)


def test_a_packed_bomb_meets_the_limit_not_the_memory(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        for _ in range(64):
            out.write(b"0\n1\n" * (1 << 18))
    with pytest.raises(BadInput, match="more than 1,000,000 keys"):
        read(path, limit=1_000_000)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot read .*missing: No such file"):
        read(tmp_path / "missing")


def test_a_pattern_without_match_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no file matches"):
        keys.expand((str(tmp_path / "*.nothing"),))
    with pytest.raises(BadInput, match="holds no file"):
        keys.expand((str(tmp_path),))


def test_standard_input_is_read_once(capsys):
    with pytest.raises(BadInput, match="only once"):
        keys.expand(("-", "-"))


def test_an_unreadable_file_is_refused(tmp_path, monkeypatch):
    # Root may read everything, so the refusal is the system's in name only.
    def deny(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret"
    path.write_bytes(TEXT)
    monkeypatch.setattr("builtins.open", deny)
    with pytest.raises(BadInput, match="Permission denied; check the name and your permissions"):
        read(path)


def test_blocks_end_at_line_ends():
    source = io.BufferedReader(io.BytesIO(b"a\nb\nc"))
    assert list(keys._blocks(source, "x")) == [b"a\nb\n", b"c"]
