"""Sources: paths, standard input and file objects, compressed or not, and what goes wrong there."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.errors import FastrankError, ReadError
from fastrank.formats import files
from fastrank.formats.source import read_all
from fastrank.scores.differences import read_zscores
from tests.helpers.compression import Standard, flipped, long_text, zstd, zstd_library
from tests.helpers.parsing import (
    read_prefs,
    read_qrels_jg,
    read_qrels_prefs,
    read_trec_qrels,
    read_trec_run,
)
from tests.helpers.strategies import examples

TEXT = b"q1 Q0 d1 1 2.5 tag\n"
READERS = [
    read_trec_run,
    read_trec_qrels,
    read_qrels_jg,
    read_prefs,
    read_qrels_prefs,
    read_zscores,
]


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}
packed = pytest.mark.parametrize(("kind", "pack"), PACKERS.items(), ids=PACKERS)
Packer = Callable[[bytes], bytes]


# Compression


@packed
@pytest.mark.parametrize("name", ["run", "run.txt", "run.gz", "run.bz2", "run.xz", "run.zst"])
def test_compression_is_recognised_by_content(
    kind: str, pack: Packer, name: str, tmp_path: Path
) -> None:
    """What a file is called says nothing about whether and how it is compressed."""
    path = tmp_path / name
    path.write_bytes(pack(TEXT))

    assert read_all(path) == TEXT


@pytest.mark.parametrize("name", ["run.gz", "run.bz2", "run.xz", "run.zst"])
def test_text_in_a_file_with_a_compressed_name_is_text(name: str, tmp_path: Path) -> None:
    """A file that was unpacked without being renamed can be read."""
    path = tmp_path / name
    path.write_bytes(TEXT)

    assert read_all(path) == TEXT


@packed
def test_several_compressed_members_are_one_text(kind: str, pack: Packer) -> None:
    """Compressed files joined together unpack to their texts joined together."""
    content = pack(TEXT) + pack(b"") + pack(long_text()) + pack(TEXT)

    assert read_all(io.BytesIO(content)) == TEXT + long_text() + TEXT


@packed
def test_compressed_long_text_is_unpacked_whole(kind: str, pack: Packer) -> None:
    """Content that takes many blocks comes back byte for byte."""
    text = long_text()

    assert read_all(io.BytesIO(pack(text))) == text


def test_zstd_frame_without_its_content_size() -> None:
    """A frame written as a stream does not say how long it is, and is read all the same."""
    compressor = zstd_library().ZstdCompressor()
    content = compressor.compress(TEXT) + compressor.flush()

    assert read_all(io.BytesIO(content)) == TEXT


@packed
def test_truncated_compressed_data_is_an_error(kind: str, pack: Packer) -> None:
    """No part of a compressed file is taken for the whole, wherever it is cut."""
    content = pack(long_text())
    cuts = [*range(10, 40), *range(40, len(content), len(content) // 50)]
    cuts += range(len(content) - 20, len(content))

    for cut in cuts:
        with pytest.raises(ReadError, match=rf"^<file object>: broken {kind} data: "):
            read_all(io.BytesIO(content[:cut]))


@packed
def test_truncated_last_member_is_an_error(kind: str, pack: Packer) -> None:
    """A second member that is cut short is not dropped in silence."""
    second = pack(long_text())
    content = pack(TEXT) + second[: len(second) // 2]

    with pytest.raises(ReadError, match=f"broken {kind} data"):
        read_all(io.BytesIO(content))


@packed
def test_corrupt_compressed_data_is_an_error(kind: str, pack: Packer) -> None:
    """A changed byte in the middle is noticed, at the latest by the checksum."""
    content = pack(long_text())

    for place in range(len(content) // 4, len(content), len(content) // 9):
        with pytest.raises(ReadError, match=f"^<file object>: broken {kind} data: "):
            read_all(io.BytesIO(flipped(content, place)))


@packed
def test_corrupt_second_member_is_an_error(kind: str, pack: Packer) -> None:
    """A member that is damaged is not dropped in silence because the one before it is sound."""
    second = pack(long_text())
    content = pack(TEXT) + flipped(second, len(second) // 2)

    with pytest.raises(ReadError, match=f"broken {kind} data"):
        read_all(io.BytesIO(content))


@packed
def test_zero_bytes_may_follow_compressed_data(kind: str, pack: Packer) -> None:
    """Padding, such as tapes and some tools leave, is no part of the text."""
    assert read_all(io.BytesIO(pack(TEXT) + bytes(512))) == TEXT


@packed
def test_rubbish_after_compressed_data_is_an_error(kind: str, pack: Packer) -> None:
    """What is neither a member nor padding is not dropped in silence."""
    with pytest.raises(ReadError, match=f"broken {kind} data"):
        read_all(io.BytesIO(pack(TEXT) + b"rubbish that is longer than any header"))


@packed
def test_compressed_emptiness_is_an_empty_file(kind: str, pack: Packer) -> None:
    """A compressed file of no content is as empty as a file of no bytes."""
    with pytest.raises(ReadError, match=r"^<file object>: the file is empty$"):
        read_all(io.BytesIO(pack(b"")))


@packed
def test_content_is_unpacked_once(kind: str, pack: Packer) -> None:
    """What comes out is text, also if it looks compressed itself."""
    assert read_all(io.BytesIO(pack(pack(TEXT)))) == pack(TEXT)


@pytest.mark.parametrize(
    "text",
    [
        b"BZh",
        b"BZh9",
        b"BZh9 0 d1 1\n",
        b"BZh91AY&S 0 d1 1\n",
        b"BZhang 0 d1 1\n",
        b"\x1f\x8b",
        b"\x1f\x8b0 0 d1 1\n",
        b"\xfd7zXZ 0 d1 1\n",
        b"\x28\xb5\x2f 0 d1 1\n",
        b"PK\x03\x04 0 d1 1\n",
    ],
)
def test_text_that_begins_almost_like_compressed_data_is_text(text: bytes) -> None:
    """Only complete magic numbers count; that of bzip2 goes as far as its first block's mark."""
    assert read_all(io.BytesIO(text)) == text


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python itself reads zstd")
def test_missing_zstd_package_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the optional package, a zstd file gives an error that tells what to install."""
    path = tmp_path / "run.zst"
    path.write_bytes(zstd(TEXT))
    monkeypatch.setitem(sys.modules, "backports.zstd", None)

    with pytest.raises(ReadError) as raised:
        read_all(path)

    assert raised.value.reason == (
        "zstd compression needs the Python module 'backports.zstd':"
        " pip install 'fastrank-eval[zstd]'"
    )


@pytest.mark.parametrize(("kind", "module"), [("bzip2", "bz2"), ("xz", "lzma")])
def test_python_without_a_compression_module_does_not_ask_for_another(
    kind: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some builds of Python lack bz2 or lzma; no package would help them."""
    content = PACKERS[kind](TEXT)
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ReadError) as raised:
        read_all(io.BytesIO(content))

    assert kind in raised.value.reason
    assert "pip install" not in raised.value.reason


@examples(150)
@given(
    st.sampled_from([pack(TEXT) for pack in PACKERS.values()]),
    st.integers(0, 60),
    st.binary(max_size=40),
)
def test_any_compressed_bytes_are_read_or_refused(content: bytes, cut: int, rest: bytes) -> None:
    """Whatever follows the beginning of a compressed file: bytes, or ReadError, nothing else."""
    with contextlib.suppress(ReadError):
        assert isinstance(read_all(io.BytesIO(content[:cut] + rest)), bytes)


# Paths


@pytest.mark.parametrize("reader", READERS)
def test_missing_file(reader: Callable[[Path], object], tmp_path: Path) -> None:
    """A path where there is nothing is a ReadError with path and reason."""
    path = tmp_path / "absent"

    with pytest.raises(ReadError) as raised:
        reader(path)

    assert raised.value.path == str(path)
    assert raised.value.reason == "no such file or directory"
    assert str(raised.value) == f"{path}: no such file or directory"


@pytest.mark.parametrize("reader", READERS)
def test_directory(reader: Callable[[Path], object], tmp_path: Path) -> None:
    """A directory is no file."""
    with pytest.raises(ReadError, match="is a directory"):
        reader(tmp_path)


@pytest.mark.parametrize("reader", READERS)
def test_empty_file(reader: Callable[[Path], object], tmp_path: Path) -> None:
    """A file without any bytes is an error, as for trec_eval."""
    path = tmp_path / "empty"
    path.touch()

    with pytest.raises(ReadError) as raised:
        reader(path)

    assert raised.value.reason == "the file is empty"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_unreadable_file(tmp_path: Path) -> None:
    """A file whose mode forbids reading is a ReadError."""
    path = tmp_path / "secret"
    path.write_bytes(TEXT)
    path.chmod(0)

    with pytest.raises(ReadError, match="permission denied"):
        read_all(path)


def test_path_through_a_file(tmp_path: Path) -> None:
    """A file used as a directory is a ReadError."""
    path = tmp_path / "file"
    path.write_bytes(TEXT)

    with pytest.raises(ReadError, match="not a directory"):
        read_all(path / "below")


def test_symbolic_link_to_itself(tmp_path: Path) -> None:
    """A path that cannot be resolved is a ReadError."""
    path = tmp_path / "loop"
    path.symlink_to(path)

    with pytest.raises(ReadError, match="symbolic links"):
        read_all(path)


@pytest.mark.parametrize("path", ["nul\0byte", "x" * 5000], ids=["NUL", "too long"])
def test_impossible_path(path: str) -> None:
    """A path that no file can have is a ReadError too."""
    with pytest.raises(ReadError):
        read_all(path)


def test_path_as_text_and_as_path(tmp_path: Path) -> None:
    """A path may be a str or any os.PathLike, and messages show it as given."""
    path = tmp_path / "run"
    path.write_bytes(TEXT)

    assert read_all(path) == read_all(str(path)) == TEXT
    assert files.name_of(path) == files.name_of(str(path)) == str(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipe(tmp_path: Path) -> None:
    """A source that cannot seek is read to its end."""
    import threading

    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(long_text(),), daemon=True)
    writer.start()

    content = read_all(path)

    writer.join()
    assert content == long_text()


def test_the_noun_knows_its_source(tmp_path: Path) -> None:
    """`source` is the path as it was given."""
    path = tmp_path / "run"
    path.write_bytes(TEXT)

    assert read_trec_run(path).source == str(path)


# Standard input


@pytest.fixture
def in_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The current folder, with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_dash_is_standard_input(in_empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads standard input, in bytes."""
    monkeypatch.setattr(sys, "stdin", Standard(b"q\xff Q0 d 1 1 t\n"))

    run = read_trec_run("-")

    assert list(run.queries) == [b"q\xff"]
    assert run.source == "-"


@packed
def test_standard_input_may_be_compressed(
    kind: str, pack: Packer, in_empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compression is recognised there as in files."""
    monkeypatch.setattr(sys, "stdin", Standard(pack(TEXT)))

    assert read_all("-") == TEXT


def test_empty_standard_input(in_empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on standard input is an empty file."""
    monkeypatch.setattr(sys, "stdin", Standard(b""))

    with pytest.raises(ReadError, match=r"^-: the file is empty$"):
        read_all("-")


def test_file_called_dash_comes_first(
    in_empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file named `-` exists, `-` is that file."""
    monkeypatch.setattr(sys, "stdin", Standard(b"standard input"))
    (in_empty_folder / "-").write_bytes(b"the file")

    assert read_all("-") == b"the file"


# File objects


def test_file_object_is_read_from_where_it_stands() -> None:
    """A binary file object gives what it has left, and stays open."""
    file = io.BytesIO(b"skipped" + TEXT)
    file.seek(7)

    assert read_all(file) == TEXT
    assert not file.closed


def test_file_object_with_a_name(tmp_path: Path) -> None:
    """Messages call a file object by its name, and one without a name `<file object>`."""
    path = tmp_path / "run"
    path.write_bytes(TEXT)

    with path.open("rb") as file:
        assert files.name_of(file) == str(path)
    assert files.name_of(io.BytesIO()) == "<file object>"


@pytest.mark.parametrize("given", [io.StringIO("q"), io.StringIO("")], ids=["full", "empty"])
def test_text_file_object_is_refused(given: io.StringIO) -> None:
    """A file opened as text is an error that says so."""
    with pytest.raises(ReadError, match="found a text file; open it with 'rb'"):
        read_all(given)  # type: ignore[arg-type]


def test_closed_file_object() -> None:
    """A file object that cannot be read any more is a ReadError."""
    file = io.BytesIO(TEXT)
    file.close()

    with pytest.raises(ReadError, match="closed file"):
        read_all(file)


def test_failing_file_object() -> None:
    """An OSError while reading is a ReadError with its reason, whatever the source."""

    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(ReadError, match=r"^<file object>: input/output error$"):
        read_all(Broken())  # type: ignore[arg-type]


def test_every_error_of_a_source_is_a_fastrank_error() -> None:
    """One except clause is enough for whatever is wrong with what was given."""
    assert issubclass(ReadError, FastrankError)
    assert issubclass(FastrankError, ValueError)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstd], ids=["gzip", "bzip2", "zstd"])
def test_many_members_are_read(pack: Callable[[bytes], bytes]) -> None:
    """20,000 members, as bgzip and pbzip2 make them, are read in one pass."""
    content = pack(b"q Q0 d 1 1 t\n") * 20_000

    assert read_all(io.BytesIO(content)) == b"q Q0 d 1 1 t\n" * 20_000
