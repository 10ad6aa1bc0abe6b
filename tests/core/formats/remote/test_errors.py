"""What goes wrong with URLs is reported by name and without secrets."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.core.formats.files import remote
from fastrank.core.formats.files.remote import redacted, shown
from fastrank.core.formats.files.source import open_source, read_all
from fastrank.errors import OptionError, ReadError
from fastrank.vectors.embeddings.encoded_texts import EmbeddingCache

RUN = Path("data/pca.run").read_bytes()
TIMED_OUT = "timed out waiting for data from the server"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BLOCK", 1 << 16)


def reason(url: str) -> str:
    with pytest.raises(ReadError) as caught:
        fr.evaluate("data/digits.qrels", url, "map")
    assert caught.value.path == shown(url)
    return caught.value.reason


@pytest.mark.parametrize(
    ("name", "statuses", "expected"),
    [
        ("x.run", [403], "HTTP status 403 (Forbidden); check the credentials"),
        ("y.run", [], "no such file or directory"),
        ("x.run", [500] * 9, "HTTP status 500 (Internal Server Error)"),
        ("x.run", [302], "HTTP status 302 (Found): the redirection cannot be followed"),
    ],
)
def test_a_status_is_named(name, statuses, expected, server):
    server.url("x.run", RUN)
    server.statuses = statuses
    assert reason(server.url(name)) == expected


@pytest.mark.parametrize("size", [len(RUN), 1000])
def test_a_connection_that_breaks_is_an_error(size, server):
    server.broken = 1000
    expected = "the connection broke before the end of the file"
    assert reason(server.url("x.run", RUN[:size])) == expected


def test_a_server_that_stops_sending_is_an_error_and_a_slow_one_is_waited_for(server, monkeypatch):
    """Also one that announces more than it sends."""
    server.pause = 0.05
    assert read_all(server.url("x.run", RUN)) == RUN
    monkeypatch.setattr(remote, "TIMEOUT", 0.2)
    server.pause = 0.6
    assert reason(server.url("x.run", RUN)) == TIMED_OUT
    server.pause, server.broken, server.stalls = 0, 1000, 0.6
    assert reason(server.url("x.run", RUN[:1000])) == TIMED_OUT


def test_a_refused_connection_is_an_error(server):
    url = server.url("x.run")
    server.server_close()
    assert reason(url.replace(str(server.server_port), "1")) == "connection refused"


@pytest.mark.parametrize("store", ["web", "memory", "blocks"])
def test_a_file_that_changes_is_an_error(store, server, memory):
    def put(content: bytes) -> str:
        memory.pipe_file("/b/x.run", content)
        url = server.url("x.run", content)
        return url if store == "web" else f"{store}://b/x.run"

    with open_source(put(RUN)) as file:
        file.read()
        put(RUN.replace(b"1", b"2"))
        with pytest.raises(ReadError, match="the file changed while it was read"):
            file.read()


# Secrets


def test_credentials_are_sent_and_not_shown(server, capsys):
    url = server.url("x.run", RUN).replace("//", "//user:pass%21word@") + "?signature=secret#part"
    assert read_all(url) == RUN
    asked = ("/x.run?signature=secret", None, "Basic dXNlcjpwYXNzIXdvcmQ=")
    assert server.requests[0] == asked
    server.statuses = [401] * 3
    assert main(["eval", "data/digits.qrels", url]) == 1
    told = capsys.readouterr().err
    assert "HTTP status 401" in told
    assert server.url("x.run") in told
    assert not [word for word in ("user", "pass", "signature", "secret", "part") if word in told]


COMMANDS = """
eval -m map QRELS RUN
eval -m map --format json QRELS RUN
eval -m map --jobs 2 QRELS RUN RUN
compare -m map QRELS RUN
gate save -m map QRELS RUN
trec_eval -m map QRELS RUN
trec_eval -m map data/digits.qrels RUN
"""


@pytest.mark.parametrize("arguments", COMMANDS.strip().splitlines())
@pytest.mark.parametrize("is_there", [True, False])
def test_output_shows_no_secrets(arguments, is_there, server, capfd):
    qrels = server.url("x.qrels", Path("data/digits.qrels").read_bytes())
    # Some judged queries have no results, which is a warning with the name of the file.
    run = server.url("x.run", RUN[: len(RUN) // 2].rpartition(b"\n")[0] + b"\n")
    if not is_there:
        server.files.clear()
    for name, url in {"QRELS": qrels, "RUN": run}.items():
        arguments = arguments.replace(name, url.replace("//", "//me:secret@") + "?key=secret")
    main(arguments.split())
    shown = capfd.readouterr()
    assert shown.out + shown.err
    assert "secret" not in shown.out + shown.err


def test_secret_parts_of_urls_are_removed():
    for text, expected in {
        "see s3://key:secret@bucket/a@b.run": "see s3://bucket/a@b.run",
        "--qrels=https://u@h/x?sig=1 -o y": "--qrels=https://h/x -o y",
        "zip://x.run::https://u:p@h/y.zip?s#f": "zip://x.run::https://h/y.zip",
        "no URL: a?b@c": "no URL: a?b@c",
    }.items():
        assert redacted(text) == expected


# What is no URL of a file


DATA_URL = "a data URL is no file; expected a path or the URL of a file"
PROTOCOLS = "unknown protocol 'nowhere'; expected one of file, http, https, s3.*"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http:///x.run", "invalid URL"),
        ("http://[::1/x.run", r".*Invalid IPv6 URL.*"),
        ("nowhere://x/y", PROTOCOLS),
        ("dbfs://x", r"fsspec cannot read this URL \((IndexError|ValueError|TypeError): .+\)"),
        ("data://text/plain,q0000 Q0 d 1 1 t", DATA_URL),
        ("data://x", DATA_URL),
        ("memory://b/c", "is a directory"),
    ],
)
def test_what_is_no_file_is_an_error(url, expected, memory):
    memory.pipe_file("/b/c/x.run", RUN)
    assert re.fullmatch(expected, reason(url))


MISSING = """
s3://bucket/x.run: s3:// needs s3fs: pip install s3fs
gs://bucket/x.run: gs:// needs gcsfs: pip install gcsfs
https://bucket/x.run needs aiohttp: pip install 'fastrank-eval[remote]'
https://bucket/x.run needs fsspec: pip install 'fastrank-eval[remote]'
"""


@pytest.mark.parametrize("error", MISSING.strip().splitlines())
def test_a_missing_package_of_a_store_is_named(error, monkeypatch):
    scheme, package = error.partition(":")[0], error.split(" needs ")[1].partition(":")[0]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as caught:
        fr.read_run(f"{scheme}://user:secret@bucket/x.run")
    assert str(caught.value) == error


def test_a_folder_of_results_must_be_local():
    with pytest.raises(OptionError, match="expected a local folder, found s3://bucket/x"):
        EmbeddingCache("s3://bucket/x", "model")
