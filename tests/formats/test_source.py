"""Sources in pieces: the same bytes whatever the buffer, bounded memory, and files that change."""

from __future__ import annotations

import bz2
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.errors import ReadError
from fastrank.formats.source import Reader, SourceFile, open_source, open_stdin, read_all
from tests.helpers.compression import Standard, flipped, long_text, zstd, zstd_library
from tests.helpers.paths import PACKAGE
from tests.helpers.strategies import examples

TEXT = long_text()
SHORT = b"q1 Q0 d1 1 2.5 tag\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "zlib": gzip.compress,
    "isal": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}


@pytest.fixture(params=PACKERS)
def pack(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What compresses in each format; gzip is unpacked by isal once and once without it."""
    if request.param == "isal":
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)
    return PACKERS[request.param]


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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the long text."""
    found = tmp_path / "run"
    found.write_bytes(TEXT)
    return found


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


class OnlyRead:
    """The least that a file object can be."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def read(self, size: int) -> bytes:
        return self._content.read(size)


# The same bytes


@examples(100)
@given(
    st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=4),
    st.sampled_from(sorted(set(PACKERS) - {"isal"})),
    st.integers(0, 600),
    st.integers(1, 700),
)
def test_members_are_the_same_text_for_any_buffer(
    texts: list[bytes], kind: str, padding: int, size: int
) -> None:
    """Several members and padding give what files.read gives, however small the buffer is."""
    content = b"".join(PACKERS[kind](text) for text in texts) + bytes(padding)

    assert streamed(io.BytesIO(content), size) == b"".join(texts)
    assert read_all(io.BytesIO(content)) == b"".join(texts)


@pytest.mark.parametrize("size", [1000, 65_536, 65_537, 300_000, 10_000_000])
def test_long_compressed_text_for_any_buffer(pack: Any, size: int, tmp_path: Path) -> None:
    """Text of many blocks in several members comes whole, from a path and from an object."""
    path = tmp_path / "run"
    path.write_bytes(pack(TEXT) + pack(b"") + pack(SHORT))

    assert streamed(path, size) == TEXT + SHORT
    assert streamed(io.BytesIO(path.read_bytes()), size) == TEXT + SHORT


@pytest.mark.parametrize("size", [1, 7, 4096, len(SHORT) * 50, len(SHORT) * 50 + 1, 100_000])
def test_plain_text_for_any_buffer(size: int, tmp_path: Path) -> None:
    """The same for text that is not compressed."""
    text = SHORT * 50
    path = tmp_path / "run"
    path.write_bytes(text)

    assert streamed(path, size) == text
    assert streamed(io.BytesIO(text), size) == text


def test_a_view_is_filled_unless_the_end_comes(pack: Any) -> None:
    """Short reads below do not show: fewer bytes than there is room mean the end."""
    source = Raw(pack(TEXT), itertools.cycle([1, 5000, 17]))
    buffer = bytearray(len(TEXT) - 5)

    with open_source(source) as pieces:
        reader = pieces.whole()
        counts = [reader.readinto(buffer) for _ in range(3)]

    assert counts == [len(TEXT) - 5, 5, 0]


def test_no_byte_beyond_the_view_is_touched(path: Path) -> None:
    """A view of a part of a buffer, here of mapped memory, is all that is written to."""
    with mmap.mmap(-1, 100) as buffer, open_source(path) as pieces:
        with memoryview(buffer) as whole, whole[10:20] as view:
            assert pieces.whole().readinto(view) == 10
        assert buffer[:] == bytes(10) + TEXT[:10] + bytes(80)


def test_empty_view_is_no_end(path: Path) -> None:
    """Nothing is read into nothing, and that changes nothing."""
    with open_source(path) as pieces:
        reader = pieces.whole()
        assert reader.readinto(bytearray()) == 0
        assert drained(reader) == TEXT


def test_whole_files_are_read_again(pack: Any, tmp_path: Path) -> None:
    """A regular file can be read as often as wanted, in both ways."""
    path = tmp_path / "run"
    path.write_bytes(pack(TEXT))

    with open_source(path) as pieces:
        assert pieces.rereadable
        assert pieces.size is None
        assert pieces.read() == drained(pieces.whole()) == pieces.read() == TEXT


def test_plain_file_says_its_size(path: Path) -> None:
    """Its name and size are known, and that it can be read again."""
    with open_source(path) as pieces:
        assert (pieces.name, pieces.size, pieces.rereadable) == (str(path), len(TEXT), True)
        assert pieces.compression is None
        assert pieces.read() == drained(pieces.whole()) == pieces.read() == TEXT


# Parts


def test_parts_in_threads(path: Path) -> None:
    """Readers of one file do not disturb each other."""
    edges = [len(TEXT) * i // 7 for i in range(8)]
    with open_source(path) as pieces, ThreadPoolExecutor(4) as pool:
        parts = [pieces.part(start, stop) for start, stop in itertools.pairwise(edges)]
        found = b"".join(pool.map(lambda part: drained(part, 999), parts))

    assert found == TEXT


def test_empty_part(path: Path) -> None:
    """A part of no bytes ends at once; that does not make the file empty."""
    with open_source(path) as pieces:
        assert pieces.part(5, 5).readinto(bytearray(10)) == 0


@pytest.mark.parametrize(("start", "stop"), [(-1, 5), (5, 4), (0, len(TEXT) + 1)])
def test_impossible_part(start: int, stop: int, path: Path) -> None:
    """A part lies within the file."""
    with open_source(path) as pieces, pytest.raises(ValueError, match="has no part from"):
        pieces.part(start, stop)


def test_parts_of_unknown_size(tmp_path: Path) -> None:
    """What is compressed has no parts."""
    path = tmp_path / "run"
    path.write_bytes(gzip.compress(TEXT))

    with open_source(path) as pieces, pytest.raises(ValueError, match="has no part from"):
        pieces.part(0, 1)


def test_closed_pieces(path: Path) -> None:
    """A reader that outlives its source says so."""
    with open_source(path) as pieces:
        reader = pieces.whole()

    with pytest.raises(ReadError, match="closed file"):
        reader.readinto(bytearray(5))


# Files that change


def test_file_that_shrinks_while_it_is_streamed(path: Path) -> None:
    """A cut file is not taken for a whole one."""
    buffer = bytearray(1000)
    with open_source(path) as pieces:
        reader = pieces.whole()
        reader.readinto(buffer)
        os.truncate(path, 1500)
        with pytest.raises(ReadError) as raised:
            drained(reader)
        with pytest.raises(ReadError, match="shrank"):
            pieces.check_unchanged()

    assert raised.value.reason == (
        f"the file shrank while it was read: {len(TEXT)} bytes at the start, only 1500 found"
    )


def test_file_that_shrinks_below_a_part(path: Path) -> None:
    """The number of bytes found is that of the file, not where the part begins."""
    with open_source(path) as pieces:
        part = pieces.part(5000, 6000)
        os.truncate(path, 100)
        with pytest.raises(ReadError, match="only 100 found"):
            part.readinto(bytearray(10))


def test_compressed_file_that_shrinks(tmp_path: Path) -> None:
    """It is said to have shrunk, not to be broken."""
    path = tmp_path / "run"
    path.write_bytes(gzip.compress(os.urandom(500_000)))
    with open_source(path) as pieces:
        reader = pieces.whole()
        reader.readinto(bytearray(10))
        os.truncate(path, 300_000)
        with pytest.raises(ReadError, match="shrank"):
            drained(reader)


def test_file_that_grows(path: Path) -> None:
    """What was there at the start is read, and the check finds that there is more."""
    with open_source(path) as pieces:
        with path.open("ab") as file:
            file.write(b"more\n")
        assert drained(pieces.whole()) == TEXT
        with pytest.raises(ReadError) as raised:
            pieces.check_unchanged()

    assert raised.value.reason == (
        f"the file grew while it was read: {len(TEXT)} bytes at the start, {len(TEXT) + 5} at the"
        " end"
    )


def test_file_that_grows_from_nothing(tmp_path: Path) -> None:
    """A file whose writer has only begun."""
    path = tmp_path / "run"
    path.touch()
    with open_source(path) as pieces:
        path.write_bytes(SHORT)
        with pytest.raises(ReadError, match="grew"):
            pieces.check_unchanged()


def test_file_that_is_overwritten(path: Path) -> None:
    """As many other bytes are noticed by the time of the change."""
    with open_source(path) as pieces:
        pieces.check_unchanged()
        os.utime(path, ns=(0, 0))
        with pytest.raises(ReadError, match="the file changed while it was read"):
            pieces.check_unchanged()


@pytest.mark.parametrize("change", [-10, 10])
def test_whole_file_that_changes(change: int, path: Path) -> None:
    """Reading all at once notices it too."""
    with open_source(path) as pieces:
        os.truncate(path, len(TEXT) + change)
        with pytest.raises(ReadError, match="shrank" if change < 0 else "grew"):
            pieces.read()


# Broken compressed files


def broken(content: bytes, tmp_path: Path) -> str:
    """Why these bytes cannot be streamed."""
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(ReadError) as raised:
        streamed(path)
    with pytest.raises(ReadError):
        read_all(path)
    return raised.value.reason


def test_cut_compressed_file(pack: Any, tmp_path: Path) -> None:
    """Wherever a compressed file is cut, the end of its stream is an error."""
    content = pack(TEXT)
    for cut in [12, 20, len(content) // 2, len(content) - 5, len(content) - 1]:
        assert "broken" in broken(content[:cut], tmp_path)
        assert "broken" in broken(pack(SHORT) + content[:cut], tmp_path)


def test_corrupt_compressed_file(pack: Any, tmp_path: Path) -> None:
    """A changed byte is noticed, at the latest by the checksum."""
    content = pack(TEXT)
    for place in range(len(content) // 3, len(content), len(content) // 5):
        assert "broken" in broken(flipped(content, place), tmp_path)
        assert "broken" in broken(pack(SHORT) + flipped(content, place), tmp_path)


def test_what_was_sound_is_given_before_the_error(pack: Any, tmp_path: Path) -> None:
    """An error half-way does not come before the bytes that were good."""
    path = tmp_path / "run"
    content = pack(TEXT)
    path.write_bytes(content + content[:-6])
    buffer = bytearray(len(TEXT))

    with open_source(path) as pieces:
        reader = pieces.whole()
        assert reader.readinto(buffer) == len(TEXT)
        assert buffer == TEXT
        with pytest.raises(ReadError, match="broken"):
            drained(reader)
        with pytest.raises(ReadError, match="broken"):
            reader.readinto(buffer)


@pytest.mark.parametrize("place", [-8, -5, -4, -1])
@pytest.mark.parametrize("unpacker", ["zlib", "isal"])
def test_wrong_gzip_checksum_or_length(
    unpacker: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The eight bytes at a member's end are checked, by either library."""
    if unpacker == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    else:
        pytest.importorskip("isal")
    content = gzip.compress(TEXT)
    wrong = flipped(content, len(content) + place)

    assert "broken gzip data" in broken(wrong, tmp_path)
    assert "broken gzip data" in broken(wrong + content, tmp_path)


def test_rubbish_after_a_member(pack: Any, tmp_path: Path) -> None:
    """Neither member nor padding, short or long, also behind padding."""
    for rubbish in [b"x", b"\0\0x", b"rubbish that is longer than any header"]:
        assert "broken" in broken(pack(SHORT) + rubbish, tmp_path)


def test_padding_between_members(pack: Any) -> None:
    """Zero bytes may stand there, more of them than are read at once."""
    assert streamed(io.BytesIO(pack(SHORT) + bytes(200_000) + pack(SHORT))) == SHORT + SHORT


def member(flags: int, fields: bytes) -> bytes:
    """A gzip member of the short text with these optional fields in its header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = packer.compress(SHORT) + packer.flush()
    header = struct.pack("<3sB6x", b"\x1f\x8b\x08", flags) + fields
    if flags & 2:
        header += struct.pack("<H", zlib.crc32(header) & 0xFFFF)
    return header + body + struct.pack("<II", zlib.crc32(SHORT), len(SHORT))


@pytest.mark.parametrize("unpacker", ["zlib", "isal"])
def test_gzip_header_with_all_fields(unpacker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extra field, name, comment and the header's own checksum may be there, in any member."""
    if unpacker == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    else:
        pytest.importorskip("isal")
    full = member(31, b"\x03\0abcname\0comment\0")

    assert streamed(io.BytesIO(full + member(0, b"") + full)) == SHORT * 3


@pytest.mark.parametrize(
    "options",
    [
        {"checksum_flag": 1},
        {"content_size_flag": 0},
        {"compression_level": 19, "checksum_flag": 1, "content_size_flag": 0},
        {"nb_workers": 2, "checksum_flag": 1},
    ],
    ids=repr,
)
@pytest.mark.parametrize("text", [b"a", SHORT * 20, bytes(300_000), TEXT], ids=len)
def test_zstd_frames_of_all_kinds(options: dict[str, int], text: bytes) -> None:
    """Headers of all lengths, with and without a checksum, with raw and repeated blocks."""
    library = zstd_library()
    parameters = {getattr(library.CompressionParameter, name): own for name, own in options.items()}
    frame = library.compress(text, options=parameters)
    skipped = b"\x5a\x2a\x4d\x18" + struct.pack("<I", 70_000) + bytes(70_000)

    assert streamed(io.BytesIO(frame + skipped + frame), 50_000) == text * 2
    assert streamed(Raw(frame + frame, itertools.repeat(3)), 50_000) == text * 2


def test_zstd_checksum_that_looks_like_a_block() -> None:
    """The checksum of this text begins like the header of an empty block, and is longer."""
    text = b"q Q0 d827213 1 1 t\n"
    frame = zstd(text)
    assert frame.endswith(bytes.fromhex("04000084"))

    assert streamed(io.BytesIO(frame)) == text


def test_missing_isal_is_not_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the optional package gzip is unpacked all the same."""
    monkeypatch.setitem(sys.modules, "isal", None)

    assert streamed(io.BytesIO(gzip.compress(TEXT))) == TEXT


def test_isal_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """zlib is not even imported then."""
    pytest.importorskip("isal")
    content = gzip.compress(TEXT)
    monkeypatch.setitem(sys.modules, "zlib", None)

    assert streamed(io.BytesIO(content)) == TEXT


BOMB = """
import sys, tracemalloc
if sys.argv[2] == "zlib":
    sys.modules["isal"] = None
from fastrank.formats.source import open_source
with open_source(sys.argv[1]) as pieces:
    buffer, reader, total = bytearray(100_000), pieces.whole(), 0
    reader.readinto(buffer)  # imports
    tracemalloc.start()
    while count := reader.readinto(buffer):
        total += count
print(total, tracemalloc.get_traced_memory()[1], *open("/proc/self/status"))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc here")
@pytest.mark.parametrize("kind", PACKERS)
def test_small_file_of_much_text_takes_little_memory(kind: str, tmp_path: Path) -> None:
    """100 MB of zero bytes are never in memory together, in no library's either."""
    if kind == "isal":
        pytest.importorskip("isal")
    path = tmp_path / "bomb"
    path.write_bytes(PACKERS[kind](bytes(100_000_000)))

    found = subprocess.run(
        [sys.executable, "-c", BOMB, str(path), kind], capture_output=True, text=True, check=True
    )

    total, traced = map(int, found.stdout.split()[:2])
    peak = int(found.stdout.split("VmHWM:")[1].split()[0])
    assert total == 100_000_000 - 100_000
    assert traced < 4_000_000
    # The window of xz and zstd is 8 MB; the interpreter itself takes 10 to 20.
    assert peak < 60_000


def test_nothing_heavy_is_imported_for_a_plain_file(path: Path) -> None:
    """Decompressors are imported for compressed files only, and isal for gzip only."""
    heavy = {"zlib", "gzip", "bz2", "lzma", "isal", "backports", "compression", "threading"}
    heavy |= {"re", "typing", "dataclasses", "fastrank.formats.compression"}
    code = (
        "import sys; from fastrank.formats.source import open_source\n"
        f"with open_source({str(path)!r}) as pieces: pieces.read(); pieces.whole()\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )

    found = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
        cwd=PACKAGE.parent,
    )  # fmt: skip

    assert found.stdout == "[]\n"


# Where nothing comes


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["plain", "compressed"])
def test_empty_source(content: bytes, tmp_path: Path) -> None:
    """The first piece is the error, as for trec_eval, unless emptiness is allowed."""
    path = tmp_path / "run"
    path.write_bytes(content)

    for source in (path, io.BytesIO(content)):
        with open_source(source) as pieces, pytest.raises(ReadError, match="the file is empty"):
            pieces.whole().readinto(bytearray(10))
    with SourceFile("run", io.BytesIO(content), may_be_empty=True) as pieces:
        assert pieces.read() == b""


def test_directory(tmp_path: Path) -> None:
    """A directory is no file."""
    with pytest.raises(ReadError, match="is a directory"):
        open_source(tmp_path)


def test_neither_path_nor_file() -> None:
    """A mistake of the caller is a TypeError, a number not a file descriptor."""
    with pytest.raises(TypeError, match=r"expected a file \(a path .*\), found int"):
        open_source(0)  # type: ignore[arg-type]


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no /proc here")
def test_path_that_opens_but_cannot_be_read() -> None:
    """The system's reason is given."""
    with pytest.raises(ReadError, match=r"^/proc/self/mem: input/output error$"):
        open_source("/proc/self/mem")


@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT)], ids=["plain", "compressed"])
def test_read_error_half_way(content: bytes) -> None:
    """The system's reason is given there too, also where the bytes are compressed."""
    source = Raw(content, itertools.repeat(5000), fails=True)

    with pytest.raises(ReadError, match=r"^<file object>: input/output error$"):
        streamed(source)


# What is read once


class Wrapped(io.BytesIO):
    """A file object derived from a well-known type, whose `read` does something of its own."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size).upper()


@pytest.mark.parametrize(
    "make",
    [
        io.BytesIO,
        OnlyRead,
        lambda content: Raw(content, itertools.cycle([1, 2, 100, 65_000])),
        lambda content: io.BufferedReader(Raw(content, itertools.repeat(10))),
    ],
    ids=["BytesIO", "only read", "raw", "buffered"],
)
@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT)], ids=["plain", "compressed"])
def test_file_objects(make: Callable[[bytes], Any], content: bytes) -> None:
    """Buffered, raw with short reads, or with nothing but `read`: all give the same."""
    with open_source(make(content)) as pieces:
        assert (pieces.size, pieces.rereadable) == (None, False)
        assert drained(pieces.whole()) == TEXT
    assert read_all(make(content)) == TEXT


def test_file_object_with_a_read_of_its_own() -> None:
    """It is asked, not gone round."""
    assert streamed(Wrapped(SHORT)) == SHORT.upper()


def test_file_object_that_gives_more_than_it_is_asked_for() -> None:
    """Nothing of it is lost or written where there is no room."""

    class Generous(OnlyRead):
        def read(self, size: int) -> bytes:
            return self._content.read()

    assert streamed(Generous(TEXT), 100) == TEXT


def test_file_object_that_has_nothing_yet() -> None:
    """None, from a file that does not block, is not the end."""

    class Waiting(OnlyRead):
        def read(self, size: int) -> bytes:
            return None  # type: ignore[return-value]

    with pytest.raises(ReadError, match="expected a file that returns bytes, found NoneType"):
        streamed(Waiting(b""))


def test_file_object_from_where_it_stands(path: Path) -> None:
    """What was read before is not read again, and the file stays open."""
    with path.open("rb") as file:
        file.seek(1000)
        assert streamed(file) == TEXT[1000:]
        assert not file.closed


def test_reading_twice_what_can_be_read_once() -> None:
    """A second reader of a pipe would find the rest of what the first one left."""
    with open_source(io.BytesIO(TEXT)) as pieces:
        pieces.whole()
        with pytest.raises(ReadError, match="can be read only once"):
            pieces.whole()


def test_end_is_asked_for_once() -> None:
    """A terminal that is read after its end would wait for more."""
    asked = []

    class Terminal(OnlyRead):
        def read(self, size: int) -> bytes:
            found = super().read(size)
            asked.append(len(found))
            return found

    with open_source(Terminal(TEXT)) as pieces:
        reader = pieces.whole()
        assert drained(reader) == TEXT
        assert reader.readinto(bytearray(10)) == 0

    assert asked.count(0) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipe(tmp_path: Path) -> None:
    """It is read to its end, and has no size to check."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,), daemon=True)
    writer.start()

    with open_source(path) as pieces:
        assert (pieces.size, pieces.rereadable) == (None, False)
        assert drained(pieces.whole()) == TEXT
        pieces.check_unchanged()
    writer.join()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc here")
def test_regular_file_that_does_not_say_its_size() -> None:
    """Files of /proc have size 0 and are not empty."""
    with open_source("/proc/self/cmdline") as pieces:
        assert (pieces.size, pieces.rereadable) == (None, False)
        assert drained(pieces.whole()) == Path("/proc/self/cmdline").read_bytes()
        pieces.check_unchanged()
    assert read_all("/proc/self/cmdline") == Path("/proc/self/cmdline").read_bytes()


def test_character_device() -> None:
    """A device is a pipe; this one is empty."""
    with pytest.raises(ReadError, match="the file is empty"):
        streamed(os.devnull)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd here")
@pytest.mark.parametrize("source", ["-", "/dev/stdin", "/dev/fd/0"])
@pytest.mark.parametrize("regular", [True, False], ids=["file", "pipe"])
def test_standard_input(source: str, regular: bool, path: Path) -> None:
    """A file or a pipe as standard input, called by any of its names."""
    code = (
        "import sys; from fastrank.formats.source import open_source\n"
        "with open_source(sys.argv[1]) as pieces:\n"
        "  reader, buffer = pieces.whole(), bytearray(5000)\n"
        "  while count := reader.readinto(buffer): sys.stdout.buffer.write(buffer[:count])"
    )
    command = [sys.executable, "-c", code, source]
    if regular:
        with path.open("rb") as file:
            found = subprocess.run(command, stdin=file, stdout=subprocess.PIPE, check=True)
    else:
        found = subprocess.run(command, input=TEXT, stdout=subprocess.PIPE, check=True)

    assert found.stdout == TEXT


def test_standard_input_beside_a_file_called_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-` is the file where there is one; standard input can be asked for expressly."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", Standard(SHORT))
    (tmp_path / "-").write_bytes(b"the file")

    with open_source("-") as pieces, open_stdin() as standard:
        assert pieces.read() == b"the file"
        assert standard.read() == SHORT


def test_closed_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may have none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(ReadError, match=r"^-: standard input is closed$"):
        open_source("-")
