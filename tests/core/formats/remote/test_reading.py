"""Files at URLs have the content, and the evaluation, of local files."""

from __future__ import annotations

import gzip
import hashlib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.core.formats.files import remote
from fastrank.core.formats.files.source import is_url, read_all
from fastrank.core.formats.trec.digests import file_digest
from fastrank.errors import ReadError
from fastrank.searching import build_index, read_index, search, write_index
from tests.helpers.compression import PACKERS, long_text
from tests.helpers.web_server import WebServer

LOCAL_QRELS, LOCAL_RUN = "data/digits.qrels", "data/pca.run"
QRELS, RUN = Path(LOCAL_QRELS).read_bytes(), Path(LOCAL_RUN).read_bytes()
TEXT = long_text()
PACKED = [pack(TEXT) for pack in PACKERS.values()]


@pytest.fixture(params=["memory", "blocks", "ranges", "no ranges"])
def put(request: pytest.FixtureRequest, server: WebServer, memory: Any) -> Any:
    """Store a file, and return its URL."""
    server.ranges = request.param == "ranges"

    def store(name: str, content: bytes) -> str:
        if request.param not in ("memory", "blocks"):
            return server.url(name, content)
        memory.pipe_file(f"/bucket/{name}", content)
        return f"{request.param}://bucket/{name}"

    return store


@pytest.fixture(params=[1 << 15, remote.BLOCK])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BLOCK", request.param)
    monkeypatch.setitem(remote.CACHE, "block_size", request.param)


def test_the_content_is_that_of_the_file(put, blocks):
    for packed in PACKED:
        assert read_all(put("x.run", packed)) == TEXT


def test_scores_are_those_of_the_local_file(put, blocks):
    """A run with scattered queries is read again."""
    lines = RUN.splitlines(keepends=True)
    scattered = b"".join(sorted(lines, key=lambda line: line.split()[3]))
    local = fr.evaluate(LOCAL_QRELS, LOCAL_RUN, "official")
    qrels = put("digits.qrels", QRELS)
    for content in (RUN, gzip.compress(RUN), scattered):
        for threads in (1, 3):
            found = fr.evaluate(qrels, put("pca.run", content), "official", threads=threads)
            assert (found.to_dict(), found.mean) == (local.to_dict(), local.mean)


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet", "trec"])
def test_all_formats_are_read(form, put, tmp_path):
    path = tmp_path / f"x.{form}"
    run = fr.read_run(put("x.run", b"".join(RUN.splitlines(keepends=True)[:500])))
    fr.write_run(run, path)
    assert fr.read_run(put(path.name, path.read_bytes())).to_dict() == run.to_dict()


def test_vectors_ids_and_indexes_are_read(put, tmp_path):
    vectors = np.eye(3, dtype=np.float32)
    np.save(tmp_path / "v.npy", vectors)
    write_index(build_index(vectors, ids=["a", "b", "c"]), tmp_path / "x.index")
    urls = {path.name: put(path.name, path.read_bytes()) for path in tmp_path.iterdir()}
    loaded = read_index(urls["x.index"])
    run = search(urls["v.npy"], loaded, 1, query_ids=put("ids.txt", b"p\nq\nr\n"))
    assert run.to_dict() == {"p": {"a": 1.0}, "q": {"b": 1.0}, "r": {"c": 1.0}}


def test_a_data_set_in_beirs_layout_is_read_from_a_folder(put):
    put("set/corpus.jsonl", b'{"_id": "d", "title": "", "text": "t"}\n')
    put("set/queries.jsonl.gz", gzip.compress(b'{"_id": "q", "text": "u"}\n'))
    url = put("set/qrels/test.tsv", b"query-id\tcorpus-id\tscore\nq\td\t1\n")
    data = fr.Dataset.from_beir(url.removesuffix("/qrels/test.tsv"))
    assert (data.name, data.corpus_ids, data.query_ids) == ("set", ["d"], ["q"])


def test_a_file_is_checked_and_digested(put):
    url = put("pca.run", RUN)
    assert [own.file for own in fr.check(runs=url).files] == [url]
    assert file_digest(url) == hashlib.sha256(RUN).hexdigest()


def test_systems_without_tags_are_named_by_the_files(server):
    lines = b"".join(b"%d\td\t1\n" % query for query in range(3))
    runs = [server.url(f"{name}.tsv", lines) + "?signature=secret" for name in "ab"]
    found = fr.compare({str(query): {"d": 1} for query in range(3)}, runs, "map")
    assert found.names == ["a", "b"]


def test_an_empty_and_a_missing_file_are_errors(put):
    url = put("x.run", b"")
    with pytest.raises(ReadError, match="the file is empty"):
        fr.read_run(url)
    missing = url.replace("x.run", "y.run")
    with pytest.raises(ReadError, match="no such file or directory") as caught:
        fr.read_run(missing)
    assert caught.value.path == missing


def test_a_file_on_a_web_server_takes_one_request(server):
    assert read_all(server.url("x.run", RUN)) == RUN
    assert [kept[1] for kept in server.requests] == [None]


def test_file_urls_are_local_paths(tmp_path):
    path = tmp_path / "a b.run"
    path.write_bytes(RUN)
    fr.write_run(fr.read_run(path.as_uri()), (tmp_path / "ü.run").as_uri())
    assert fr.read_run(tmp_path / "ü.run").to_dict() == fr.read_run(path).to_dict()
    with pytest.raises(ReadError, match="found the host 'elsewhere'"):
        fr.read_run("file://elsewhere/x")


def test_members_of_archives_are_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("pca.run", RUN)
    found = fr.evaluate(LOCAL_QRELS, f"zip://pca.run::{tmp_path / 'x.zip'}", "map")
    assert found.mean == fr.evaluate(LOCAL_QRELS, LOCAL_RUN, "map").mean


def test_a_url_has_a_scheme_of_two_letters_or_more():
    for text in ("s3://b/x", "hf://datasets/x"):
        assert is_url(text)
    for other in ("C:/x", "C://x", "a/b://c", "://x", "x", b"s3://b"):
        assert not is_url(other)
