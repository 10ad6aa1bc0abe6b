"""Files at URLs have the content, and the evaluation, of local files."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
from collections.abc import Iterator
from pathlib import Path

import fsspec
import numpy as np
import pytest

import fastrank as fr
from fastrank.formats import remote
from fastrank.formats.digests import file_digest
from fastrank.formats.source import is_url, open_source, read_all
from fastrank.searching import build_index, read_index, search, write_index
from tests.helpers.compression import long_text, zstd
from tests.helpers.web_server import WebServer, serving

COMPRESSIONS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress,
                "zst": zstd}  # fmt: skip
STORES = ["memory", "ranges", "no ranges"]
QRELS = Path("data/digits.qrels").read_bytes()
RUN = Path("data/pca.run").read_bytes()


@pytest.fixture
def server() -> Iterator[WebServer]:
    with serving() as running:
        yield running


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    yield store
    store.store.clear()


@pytest.fixture(params=STORES)
def put(request: pytest.FixtureRequest, server: WebServer, memory: fsspec.AbstractFileSystem):
    """Store a file, and return its URL."""
    server.ranges = request.param == "ranges"

    def store(name: str, content: bytes) -> str:
        if request.param != "memory":
            return server.url(name, content)
        memory.pipe_file(f"/bucket/{name}", content)
        return f"memory://bucket/{name}"

    return store


@pytest.fixture(params=[1 << 15, remote.BLOCK])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BLOCK", request.param)


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_the_content_is_that_of_the_file(kind: str, put, small_blocks: None) -> None:
    text = long_text()
    assert read_all(put("x.run", COMPRESSIONS[kind](text))) == text


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["plain", "gz"])
def test_scores_are_those_of_the_local_file(kind: str, threads: int, put, small_blocks) -> None:
    run = put("pca.run", COMPRESSIONS[kind](RUN))

    found = fr.evaluate(put("digits.qrels", QRELS), run, "all_trec", threads=threads)

    local = fr.evaluate("data/digits.qrels", "data/pca.run", "all_trec")
    assert found.to_dict() == local.to_dict()
    assert found.mean == local.mean


def test_a_run_with_scattered_queries_is_read_again(put, small_blocks: None) -> None:
    lines = sorted(RUN.splitlines(keepends=True), key=lambda line: line.split()[3])
    content = b"".join(lines)

    found = fr.evaluate("data/digits.qrels", put("x.run", content), "map P.5", threads=2)

    assert found.mean == fr.evaluate("data/digits.qrels", "data/pca.run", "map P.5").mean


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet", "trec"])
def test_all_formats_are_read(form: str, put, tmp_path: Path) -> None:
    path = tmp_path / f"x.{form}"
    run = fr.read_run("data/pca.run")
    fr.write_run(run, path)

    assert fr.read_run(put(path.name, path.read_bytes())).to_dict() == run.to_dict()


def test_vectors_ids_and_indexes_are_read(put, tmp_path: Path) -> None:
    vectors = np.eye(3, dtype=np.float32)
    index = build_index(vectors, ids=["a", "b", "c"])
    for name in ("v.npy", "x.index"):
        path = str(tmp_path / name)
        np.save(path, vectors) if name == "v.npy" else write_index(index, path)
    urls = {path.name: put(path.name, path.read_bytes()) for path in tmp_path.iterdir()}

    loaded = read_index(urls["x.index"])
    run = search(urls["v.npy"], loaded, 1, query_ids=put("ids.txt", b"p\nq\nr\n"))

    assert run.to_dict() == {"p": {"a": 1.0}, "q": {"b": 1.0}, "r": {"c": 1.0}}


def test_a_data_set_in_beirs_layout_is_read_from_a_folder(put) -> None:
    put("set/corpus.jsonl", b'{"_id": "d", "title": "", "text": "t"}\n')
    put("set/queries.jsonl.gz", gzip.compress(b'{"_id": "q", "text": "u"}\n'))
    url = put("set/qrels/test.tsv", b"query-id\tcorpus-id\tscore\nq\td\t1\n")

    data = fr.Dataset.from_beir(url.removesuffix("/qrels/test.tsv"))

    assert (data.name, data.corpus_ids, data.query_ids) == ("set", ["d"], ["q"])


def test_a_file_is_checked_and_digested(put) -> None:
    url = put("pca.run", RUN)
    assert [own.file for own in fr.check(runs=url).files] == [url]
    assert file_digest(url) == hashlib.sha256(RUN).hexdigest()


def test_systems_without_tags_are_named_by_the_files(server: WebServer) -> None:
    lines = b"".join(b"%d\td\t1\n" % query for query in range(3))
    runs = [server.url(f"{name}.tsv", lines) + "?signature=secret" for name in "ab"]

    found = fr.compare({str(query): {"d": 1} for query in range(3)}, runs, "map")

    assert found.names == ["a", "b"]


def test_an_empty_file_is_an_error(put) -> None:
    with pytest.raises(fr.ReadError, match="the file is empty"):
        fr.read_run(put("x.run", b""))


def test_a_missing_file_is_an_error(put) -> None:
    url = put("x.run", b"").replace("x.run", "y.run")
    with pytest.raises(fr.ReadError, match="no such file or directory") as caught:
        fr.read_run(url)
    assert caught.value.path == url


def test_a_large_file_is_not_kept_in_memory(put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BLOCK", 1 << 10)
    kept = []
    with open_source(put("x.run", RUN)) as file:
        reader, buffer = file.whole(), bytearray(1 << 8)
        while reader.readinto(buffer):
            kept.append(len(getattr(reader, "_blocks", ())))
    assert max(kept) <= remote.AHEAD + 1


def test_connections_are_used_again(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BLOCK", 1 << 13)
    url = server.url("x.run", RUN)

    assert read_all(url) == RUN
    assert len(server.requests) > 70
    # One per thread that fetches blocks, and that of the first request.
    assert server.connections <= remote.AHEAD + 2


def test_file_urls_are_local_paths(tmp_path: Path) -> None:
    path = tmp_path / "a b.run"
    path.write_bytes(RUN)

    fr.write_run(fr.read_run(path.as_uri()), (tmp_path / "ü.run").as_uri())

    assert fr.read_run(tmp_path / "ü.run").to_dict() == fr.read_run(path).to_dict()
    with pytest.raises(fr.ReadError, match="found the host 'elsewhere'"):
        fr.read_run("file://elsewhere/x")


def test_members_of_archives_are_read(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("pca.run", RUN)

    found = fr.evaluate("data/digits.qrels", f"zip://pca.run::{(tmp_path / 'x.zip')}", "map")

    assert found.mean == fr.evaluate("data/digits.qrels", "data/pca.run", "map").mean


@pytest.mark.parametrize(
    ("text", "expected"),
    [("s3://b/x", True), ("hf://datasets/x", True), ("C:/x", False), ("C://x", False),
     ("a/b://c", False), ("://x", False), ("x", False), (b"s3://b", False)],
)  # fmt: skip
def test_a_url_has_a_scheme_of_two_letters_or_more(text: object, expected: bool) -> None:
    assert is_url(text) == expected
