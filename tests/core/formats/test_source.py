"""Sources: paths, standard input and file objects, compressed or not, whole and in pieces."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import mmap
import os
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import Reader, SourceFile, open_source, open_stdin, read_all
from fastrank.core.scores.differences import read_zscores
from fastrank.errors import FastrankError, ReadError
from tests.helpers.compression import PACKERS, Standard, flipped, long_text, zstd, zstd_library
from tests.helpers.parsing import (
    read_prefs,
    read_qrels_jg,
    read_qrels_prefs,
    read_trec_qrels,
    read_trec_run,
)
from tests.helpers.paths import PACKAGE
from tests.helpers.strategies import examples

TEXT = long_text()
SHORT = b"q1 Q0 d1 1 2.5 tag\n"
TREC_READERS = [read_trec_run, read_trec_qrels, read_qrels_jg, read_prefs, read_qrels_prefs]
READERS = [*TREC_READERS, read_zscores]
Pack = Callable[[bytes], bytes]


class Packing(NamedTuple):
    """What the errors call a compression, and what compresses."""

    kind: str
    pack: Pack


PACKINGS = {
    "zlib": Packing("gzip", gzip.compress),
    "isal": Packing("gzip", gzip.compress),
    "bzip2": Packing("bzip2", bz2.compress),
    "xz": Packing("xz", lzma.compress),
    "zstd": Packing("zstd", zstd),
}


@pytest.fixture(params=PACKINGS)
def packing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Packing:
    """Each compression; gzip is unpacked by isal once and once without it."""
    if request.param == "isal":
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)
    return PACKINGS[request.param]


in_gzip = pytest.mark.parametrize("packing", ["zlib", "isal"], indirect=True)
packed_or_not = pytest.mark.parametrize("pack", PACKERS.values(), ids=[*PACKERS])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the long text."""
    found = tmp_path / "run"
    found.write_bytes(TEXT)
    return found


@pytest.fixture
def in_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def drained(reader: Reader, size: int = 10_000) -> bytes:
    """All that a reader gives, through one buffer of this size."""
    buffer = bytearray(size)
    found = []
    while count := reader.readinto(memoryview(buffer)):
        found.append(bytes(buffer[:count]))
    return b"".join(found)


def streamed(source: Any, size: int = 10_000) -> bytes:
    """All of a source, through one buffer of this size."""
    with open_source(source) as pieces:
        return drained(pieces.whole(), size)


def unpacked(content: bytes, size: int = 10_000) -> bytes:
    """All of a file object, which is the same streamed and at once."""
    found = streamed(io.BytesIO(content), size)
    assert found == read_all(io.BytesIO(content))
    return found


def reason_of(read: Callable[[Any], object], source: Any, name: str = "<file object>") -> str:
    """Why a source cannot be read."""
    with pytest.raises(ReadError) as raised:
        read(source)
    assert raised.value.path == name
    assert str(raised.value) == f"{name}: {raised.value.reason}"
    return raised.value.reason


def reasons(content: bytes) -> str:
    """Why these bytes cannot be read, streamed or at once."""
    found = [reason_of(read, io.BytesIO(content)) for read in (streamed, read_all)]
    assert len({reason.partition(":")[0] for reason in found}) == 1
    return found[0]


class Raw(io.RawIOBase):
    """An unbuffered file object that gives as many bytes at a time as it is told, then fails."""

    def __init__(self, content: bytes, sizes: Iterator[int], fails: bool = False) -> None:
        self._content = io.BytesIO(content)
        self._sizes = sizes
        self._fails = fails

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._content.readinto(memoryview(buffer)[: next(self._sizes)])
        if not count and self._fails:
            raise OSError(5, "Input/output error")
        return count


# The same bytes


@examples(60)
@given(
    st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=4),
    st.sampled_from([*PACKERS.values()]),
    st.integers(0, 600),
    st.integers(1, 700),
)
def test_text_is_the_same_for_any_buffer(texts, pack, padding, size):
    """As it is, or in several members with padding, however small the buffer is."""
    content = b"".join(map(pack, texts)) + bytes(0 if pack is bytes else padding)
    assert unpacked(content, size) == b"".join(texts)


@pytest.mark.parametrize("size", [1000, 65_537, 10_000_000])
def test_long_compressed_text_for_any_buffer(packing, size, tmp_path):
    """Text of many blocks in several members comes whole, from a path and from an object."""
    path = tmp_path / "run"
    content = packing.pack(TEXT) + packing.pack(b"") + packing.pack(SHORT)
    path.write_bytes(content)
    assert streamed(path, size) == unpacked(content, size) == TEXT + SHORT


@packed_or_not
def test_compression_is_recognised_by_content(pack, tmp_path):
    """What a file is called says nothing about whether and how it is compressed."""
    for name in ("run", "run.txt", *(f"run{ending}" for ending in PACKERS)):
        (tmp_path / name).write_bytes(pack(SHORT))
        assert read_all(tmp_path / name) == read_all(str(tmp_path / name)) == SHORT


def test_a_view_is_filled_unless_the_end_comes(packing):
    """Short reads below do not show: fewer bytes than there is room mean the end."""
    source = Raw(packing.pack(TEXT), itertools.cycle([1, 5000, 17]))
    buffer = bytearray(len(TEXT) - 5)
    with open_source(source) as pieces:
        reader = pieces.whole()
        counts = [reader.readinto(buffer) for _ in range(3)]
    assert counts == [len(TEXT) - 5, 5, 0]


def test_no_byte_beyond_the_view_is_touched(path):
    """A view of a part of a buffer, here of mapped memory; an empty one is no end."""
    with mmap.mmap(-1, 100) as buffer, open_source(path) as pieces:
        reader = pieces.whole()
        assert reader.readinto(bytearray()) == 0
        with memoryview(buffer) as whole, whole[10:20] as view:
            assert reader.readinto(view) == 10
        assert buffer[:] == bytes(10) + TEXT[:10] + bytes(80)
        assert drained(reader) == TEXT[10:]


def test_whole_files_are_read_again(packing, path):
    """A regular file, whose size is known if it is plain, as often as wanted and in both ways."""
    packed = path.parent / "packed"
    packed.write_bytes(packing.pack(TEXT))
    for file, size in ((packed, None), (path, len(TEXT))):
        with open_source(file) as pieces:
            assert (pieces.name, pieces.size, pieces.rereadable) == (str(file), size, True)
            assert (pieces.compression is None) == (file == path)
            assert pieces.read() == drained(pieces.whole()) == pieces.read() == TEXT


def test_a_part_lies_within_the_file_and_what_is_compressed_has_none(path):
    for pack, start, stop in ((bytes, -1, 5), (bytes, 5, 4), (bytes, 0, 1000), (zstd, 0, 1)):
        path.write_bytes(pack(SHORT))
        with open_source(path) as pieces, pytest.raises(ValueError, match="has no part from"):
            pieces.part(start, stop)


# Files that change


def test_file_that_shrinks_while_it_is_streamed(path):
    """A cut file is not taken for a whole one; what is found is counted from the file's start."""
    expected = f"the file shrank while it was read: {len(TEXT)} bytes at the start, only 1500 found"
    with open_source(path) as pieces:
        reader, part = pieces.whole(), pieces.part(5000, 6000)
        reader.readinto(bytearray(1000))
        os.truncate(path, 1500)
        assert reason_of(drained, reader, str(path)) == expected
        assert reason_of(drained, part, str(path)) == expected
        with pytest.raises(ReadError, match="shrank"):
            pieces.check_unchanged()


def test_compressed_file_that_shrinks(path):
    """It is said to have shrunk, not to be broken."""
    path.write_bytes(gzip.compress(os.urandom(500_000), 1))
    with open_source(path) as pieces:
        reader = pieces.whole()
        reader.readinto(bytearray(10))
        os.truncate(path, 300_000)
        assert "shrank" in reason_of(drained, reader, str(path))


@pytest.mark.parametrize("size", [0, len(TEXT)])
def test_file_that_grows(size, path):
    """What was there at the start is read, and the check finds that there is more."""
    os.truncate(path, size)
    with open_source(path) as pieces:
        with path.open("ab") as file:
            file.write(b"more\n")
        if size:
            assert drained(pieces.whole()) == TEXT
        counts = f"{size} bytes at the start, {size + 5} at the end"
        reason = reason_of(lambda _: pieces.check_unchanged(), path, str(path))
    assert reason == f"the file grew while it was read: {counts}"


@pytest.mark.parametrize(("change", "what"), [(-10, "shrank"), (10, "grew"), (0, "changed")])
def test_whole_file_that_changes(change, what, path):
    """As many other bytes are noticed by the time of the change."""
    with open_source(path) as pieces:
        pieces.check_unchanged()
        os.truncate(path, len(TEXT) + change)
        os.utime(path, ns=(0, 0))
        for check in (pieces.check_unchanged, pieces.read) if change else (pieces.check_unchanged,):
            with pytest.raises(ReadError, match=f"the file {what} while it was read"):
                check()


# Broken compressed files


def cut(packing: Packing) -> Iterator[bytes]:
    """A short and a long file, cut anywhere."""
    short, long = packing.pack(SHORT), packing.pack(TEXT[:150_000])
    yield from (short[:end] for end in range(10, len(short), 3))
    yield from (long[: len(long) * part // 4] for part in range(1, 4))
    yield from (long[:-5], long[:-1])


def corrupt(packing: Packing) -> Iterator[bytes]:
    """A changed byte is noticed, at the latest by the checksum."""
    content = packing.pack(TEXT[:150_000])
    for place in range(len(content) // 4, len(content), len(content) // 4):
        yield flipped(content, place)
    if packing.kind == "gzip":
        # The eight bytes at a member's end, which may have another one behind it.
        wrong = [flipped(content, len(content) + place) for place in (-8, -5, -4, -1)]
        yield from (*wrong, wrong[0] + packing.pack(SHORT), wrong[3] + packing.pack(SHORT))


def followed(packing: Packing) -> Iterator[bytes]:
    """By neither member nor padding, short or long, also behind padding."""
    for rubbish in (b"x", b"\0\0x", b"rubbish that is longer than any header"):
        yield packing.pack(SHORT) + rubbish


@pytest.mark.parametrize("damage", [cut, corrupt, followed], ids=lambda own: own.__name__)
def test_broken_files_are_errors_in_any_member(damage, packing):
    for wrong in damage(packing):
        for before in (b"", packing.pack(SHORT)):
            assert reasons(before + wrong).startswith(f"broken {packing.kind} data: ")


def test_what_was_sound_is_given_before_the_error(packing):
    content, buffer = packing.pack(TEXT), bytearray(len(TEXT))
    with open_source(io.BytesIO(content + content[:-6])) as pieces:
        reader = pieces.whole()
        assert reader.readinto(buffer) == len(TEXT)
        assert buffer == TEXT
        for _ in range(2):
            assert reason_of(drained, reader).startswith("broken")


def test_members_are_unpacked_once_and_zero_bytes_between_them_are_padding(packing):
    """More of these than are read at once, such as tapes and some tools leave."""
    short = packing.pack(SHORT)
    assert unpacked(short + bytes(512)) == SHORT
    assert unpacked(short + bytes(200_000) + short) == SHORT + SHORT
    # What comes out is text, also if it looks compressed itself.
    assert unpacked(packing.pack(short)) == short


def test_text_that_begins_almost_like_compressed_data_is_text():
    """Only complete magic numbers count; that of bzip2 goes as far as its first block's mark."""
    line = b" 0 d1 1\n"
    for text in (b"BZh", b"BZh9", b"\x1f\x8b"):
        assert unpacked(text) == text
    for start in (b"BZh9", b"BZh91AY&S", b"BZhang", b"\x1f\x8b0", b"\xfd7zXZ", b"\x28\xb5\x2f"):
        assert unpacked(start + line) == start + line
    assert unpacked(b"PK\x03\x04" + line) == b"PK\x03\x04" + line


@examples(60)
@given(
    st.sampled_from([pack(SHORT) for pack in PACKERS.values()]),
    st.integers(0, 60),
    st.binary(max_size=40),
)
def test_any_compressed_bytes_are_read_or_refused(content, cut, rest):
    """Whatever follows the beginning of a compressed file: bytes, or ReadError, nothing else."""
    with contextlib.suppress(ReadError):
        assert isinstance(read_all(io.BytesIO(content[:cut] + rest)), bytes)


def member(flags: int, fields: bytes) -> bytes:
    """A gzip member of the short text with these optional fields in its header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = packer.compress(SHORT) + packer.flush()
    header = struct.pack("<3sB6x", b"\x1f\x8b\x08", flags) + fields
    if flags & 2:
        header += struct.pack("<H", zlib.crc32(header) & 0xFFFF)
    return header + body + struct.pack("<II", zlib.crc32(SHORT), len(SHORT))


@in_gzip
def test_gzip_header_with_all_fields(packing):
    """Extra field, name, comment and the header's own checksum may be there, in any member."""
    full = member(31, b"\x03\0abcname\0comment\0")
    assert unpacked(full + member(0, b"") + full) == SHORT * 3


# Its checksum begins like the header of an empty block, and is longer.
ODD_CHECKSUM = b"q Q0 d827213 1 1 t\n"


@pytest.mark.parametrize("text", [b"a", SHORT * 20, bytes(300_000), TEXT, ODD_CHECKSUM], ids=len)
def test_zstd_frames_of_all_kinds(text):
    """Headers of all lengths, with and without a checksum, with raw and repeated blocks."""
    library = zstd_library()
    assert zstd(ODD_CHECKSUM).endswith(bytes.fromhex("04000084"))
    for options in (
        {"checksum_flag": 1},
        {"content_size_flag": 0},
        {"compression_level": 19, "checksum_flag": 1, "content_size_flag": 0},
        {"nb_workers": 2, "checksum_flag": 1},
    ):
        named = {getattr(library.CompressionParameter, name): own for name, own in options.items()}
        frame = library.compress(text, options=named)
        skipped = b"\x5a\x2a\x4d\x18" + struct.pack("<I", 70_000) + bytes(70_000)
        assert unpacked(frame + skipped + frame, 50_000) == text * 2
        at_once = 3 if len(frame) < 1000 else 97
        assert streamed(Raw(frame + frame, itertools.repeat(at_once)), 50_000) == text * 2


def test_many_members_are_read():
    """As bgzip and pbzip2 make them, in one pass."""
    for ending in (".gz", ".bz2", ".zst"):
        assert read_all(io.BytesIO(PACKERS[ending](SHORT) * 5_000)) == SHORT * 5_000


# Libraries


def test_isal_is_used_where_it_is_installed(monkeypatch):
    """zlib is not even imported then."""
    pytest.importorskip("isal")
    content = gzip.compress(TEXT)
    monkeypatch.setitem(sys.modules, "zlib", None)
    assert streamed(io.BytesIO(content)) == TEXT


ZSTD = (
    "zstd compression needs the Python module 'backports.zstd': pip install 'fastrank-eval[zstd]'"
)


@pytest.mark.parametrize(
    ("kind", "module"), [("bzip2", "bz2"), ("xz", "lzma"), ("zstd", "backports.zstd")]
)
def test_a_missing_library_is_said(kind, module, monkeypatch):
    """Some builds of Python lack bz2 or lzma; no package would help them."""
    content = PACKINGS[kind].pack(SHORT)
    monkeypatch.setitem(sys.modules, module, None)
    if kind == "zstd" and sys.version_info >= (3, 14):
        assert unpacked(content) == SHORT
    elif kind == "zstd":
        assert reasons(content) == ZSTD
    else:
        assert kind in reasons(content)
        assert "pip install" not in reasons(content)


BOMBS = """
import sys, tracemalloc
from fastrank.core.formats.files.source import open_source
for path in sys.argv[1:]:
    if path.endswith("zlib"):
        sys.modules["isal"] = None
    with open_source(path) as pieces:
        buffer, reader, total = bytearray(100_000), pieces.whole(), 0
        reader.readinto(buffer)  # imports
        tracemalloc.start()
        while count := reader.readinto(buffer):
            total += count
    print(total, tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
print(*open("/proc/self/status"))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc here")
def test_small_files_of_much_text_take_little_memory(tmp_path):
    """80 MB of zero bytes are never in memory together, in no library's either."""
    size, window = 80_000_000, {"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 23}
    bombs = {name: packing.pack for name, packing in PACKINGS.items() if name != "isal"}
    bombs["zlib"] = lambda content: gzip.compress(content, 1)
    bombs["xz"] = lambda content: lzma.compress(content, filters=[window])
    for name, pack in bombs.items():
        (tmp_path / name).write_bytes(pack(bytes(size)))
    # isal where it is installed, then zlib.
    (tmp_path / "isal").symlink_to(tmp_path / "zlib")
    paths = [str(tmp_path / name) for name in ("isal", *bombs)]
    command = [sys.executable, "-c", BOMBS, *paths]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in found.splitlines()[: len(paths)]:
        total, traced = map(int, line.split())
        assert total == size - 100_000
        assert traced < 4_000_000
    # The window of xz and zstd is 8 MB; the interpreter itself takes 10 to 20.
    assert int(found.split("VmHWM:")[1].split()[0]) < 60_000


def test_nothing_heavy_is_imported_for_a_plain_file(path):
    """Decompressors are imported for compressed files only, and isal for gzip only."""
    heavy = {"zlib", "gzip", "bz2", "lzma", "isal", "backports", "compression", "threading"}
    heavy |= {"re", "typing", "dataclasses", "fastrank.core.formats.files.compression"}
    code = (
        "import sys; from fastrank.core.formats.files.source import open_source\n"
        f"with open_source({str(path)!r}) as pieces: pieces.read(); pieces.whole()\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    command = [sys.executable, "-S", "-c", code]
    folder = PACKAGE.parent
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    assert found.stdout == "[]\n"


# Where nothing comes


@packed_or_not
def test_a_source_without_bytes_is_an_error(pack, tmp_path):
    """The first piece is the error, as for trec_eval, unless emptiness is allowed."""
    content = b"" if pack is bytes else pack(b"")
    (tmp_path / "run").write_bytes(content)
    assert reasons(content) == "the file is empty"
    for read in (streamed, *READERS):
        assert reason_of(read, tmp_path / "run", str(tmp_path / "run")) == "the file is empty"
    with SourceFile("run", io.BytesIO(content), may_be_empty=True) as pieces:
        assert pieces.read() == b""


@pytest.mark.parametrize("read", [*READERS, read_all, open_source])
def test_a_path_without_a_file_that_can_be_read(read, path):
    folder = path.parent
    (folder / "loop").symlink_to(folder / "loop")
    for name, reason in {
        "absent": "no such file or directory",
        ".": "is a directory",
        "run/below": "not a directory",
        "loop": "too many levels of symbolic links",
    }.items():
        assert reason_of(read, folder / name, str(folder / name)).startswith(reason)
    for impossible in ("nul\0byte", "x" * 5000):
        with pytest.raises(ReadError):
            read(impossible)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_unreadable_file(path):
    path.chmod(0)
    assert reason_of(read_all, path, str(path)) == "permission denied"


def test_neither_path_nor_file():
    """A mistake of the caller is a TypeError, a number not a file descriptor."""
    with pytest.raises(TypeError, match=r"expected a file \(a path .*\), found int"):
        open_source(0)  # type: ignore[arg-type]
    # One except clause is enough for whatever is wrong with what was given.
    assert issubclass(ReadError, FastrankError)
    assert issubclass(FastrankError, ValueError)


@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT), b""], ids=["plain", "gz", "none"])
def test_read_error_half_way(content):
    """The system's reason is given, also where the bytes are compressed."""
    for read in (streamed, read_all):
        failing = Raw(content, itertools.repeat(5000), fails=True)
        assert reason_of(read, failing) == "input/output error"


# What is read once


@pytest.mark.parametrize(
    "make",
    [
        io.BytesIO,
        lambda content: SimpleNamespace(read=io.BytesIO(content).read),
        lambda content: Raw(content, itertools.cycle([1, 2, 100, 65_000])),
        lambda content: io.BufferedReader(Raw(content, itertools.repeat(10))),
    ],
    ids=["BytesIO", "only read", "raw", "buffered"],
)
def test_file_objects(make):
    """Buffered, raw with short reads, or with nothing but `read`: all give the same."""
    for content in (TEXT, gzip.compress(TEXT)):
        with open_source(make(content)) as pieces:
            assert (pieces.size, pieces.rereadable) == (None, False)
            assert drained(pieces.whole()) == TEXT
        assert read_all(make(content)) == TEXT


def test_file_objects_with_a_read_of_their_own(path):
    """It is asked, not gone round; what is more than was asked for is not lost."""

    class Wrapped(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size).upper()

    assert streamed(Wrapped(SHORT)) == SHORT.upper()
    with path.open("rb") as file:
        assert streamed(SimpleNamespace(read=lambda size: file.read()), 100) == TEXT


def test_file_object_from_where_it_stands(path):
    """What was read before is not read again, and the file stays open; it has a name."""
    for read in (streamed, read_all):
        with path.open("rb") as file:
            file.seek(1000)
            assert read(file) == TEXT[1000:]
            assert not file.closed
            assert files.name_of(file) == files.name_of(path) == files.name_of(str(path))
    assert files.name_of(path) == read_trec_run(path).source == str(path)
    assert files.name_of(io.BytesIO()) == "<file object>"


def test_file_objects_that_give_no_bytes(path):
    """Text, None of a file that does not block, and nothing at all after they are closed."""
    with path.open("rb") as closed:
        pass
    for file, reason in (
        (io.StringIO("q"), "found a text file; open it with 'rb'"),
        (io.StringIO(""), "found a text file; open it with 'rb'"),
        (SimpleNamespace(read=lambda size: None), "a file that returns bytes, found NoneType"),
        (closed, "closed file"),
    ):
        for read in (streamed, read_all):
            with pytest.raises(ReadError, match=reason):
                read(file)


def test_readers_that_would_find_nothing_say_so(path):
    """A second one of a pipe, of which the first left a rest, and one after the source."""
    with open_source(io.BytesIO(TEXT)) as pieces:
        pieces.whole()
        with pytest.raises(ReadError, match="can be read only once"):
            pieces.whole()
    with open_source(path) as pieces:
        reader = pieces.whole()
    with pytest.raises(ReadError, match="closed file"):
        reader.readinto(bytearray(5))


def test_end_is_asked_for_once():
    """A terminal that is read after its end would wait for more."""
    content = io.BytesIO(TEXT)
    asked: list[bytes] = []

    def read(size: int) -> bytes:
        asked.append(content.read(size))
        return asked[-1]

    with open_source(SimpleNamespace(read=read)) as pieces:
        reader = pieces.whole()
        assert drained(reader) == TEXT
        assert reader.readinto(bytearray(10)) == 0
    assert asked.count(b"") == 1


def from_a_stream(source: Any) -> bytes:
    """All of a source that has no size to check."""
    with open_source(source) as pieces:
        assert (pieces.size, pieces.rereadable) == (None, False)
        text = drained(pieces.whole())
        pieces.check_unchanged()
    return text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("read", [from_a_stream, read_all])
def test_a_named_pipe_is_read_to_its_end(read, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,), daemon=True)
    writer.start()
    assert read(path) == TEXT
    writer.join()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc here")
def test_regular_file_that_does_not_say_its_size():
    """Files of /proc have size 0 and are not empty; a device is a pipe, this one empty."""
    name = "/proc/self/cmdline"
    assert from_a_stream(name) == read_all(name) == Path(name).read_bytes()
    assert reason_of(streamed, os.devnull, os.devnull) == "the file is empty"
    assert reason_of(open_source, "/proc/self/mem", "/proc/self/mem") == "input/output error"


# Standard input


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd here")
@pytest.mark.parametrize("source", ["-", "/dev/stdin", "/dev/fd/0"])
@pytest.mark.parametrize("regular", [True, False], ids=["file", "pipe"])
def test_standard_input(source, regular, path):
    """A file or a pipe as standard input, called by any of its names."""
    code = (
        "import sys; from fastrank.core.formats.files.source import open_source\n"
        "with open_source(sys.argv[1]) as pieces:\n"
        "  reader, buffer = pieces.whole(), bytearray(5000)\n"
        "  while count := reader.readinto(buffer): sys.stdout.buffer.write(buffer[:count])"
    )
    command = [sys.executable, "-c", code, source]
    with path.open("rb") as file:
        given: dict[str, Any] = {"stdin": file} if regular else {"input": TEXT}
        found = subprocess.run(command, stdout=subprocess.PIPE, check=True, **given)
    assert found.stdout == TEXT


@packed_or_not
def test_dash_is_standard_input_in_bytes(pack, in_empty_folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Standard(pack(b"q\xff Q0 d 1 1 t\n")))
    run = read_trec_run("-")
    assert (list(run.queries), run.source) == ([b"q\xff"], "-")


def test_standard_input_beside_a_file_called_dash(in_empty_folder, monkeypatch):
    """`-` is the file where there is one; standard input can be asked for expressly."""
    monkeypatch.setattr(sys, "stdin", Standard(SHORT))
    Path("-").write_bytes(b"the file")
    with open_source("-") as pieces, open_stdin() as standard:
        assert pieces.read() == read_all("-") == b"the file"
        assert standard.read() == SHORT


def test_standard_input_without_anything(in_empty_folder, monkeypatch):
    for standard, reason in (
        (None, "standard input is closed"),
        (Standard(b""), "the file is empty"),
    ):
        monkeypatch.setattr(sys, "stdin", standard)
        assert reason_of(read_all, "-", "-") == reason
