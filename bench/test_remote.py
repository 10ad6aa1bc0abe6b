"""A run on a web server against the same local file: `pytest bench/test_remote.py`.

The server is another process on this machine, which sends the file with `sendfile`. The
processor time of this process is in `extra_info`: on a machine with two processors, the server
needs one of them. Target: at least 0.7 times the speed of the local file with two threads.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr

DEPTH, JUDGED = 1000, 50
SERVER = """
import os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with open(sys.argv[1], "rb") as file:
            size, sent = os.fstat(file.fileno()).st_size, 0
            self.send_response(200)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            while sent < size:
                sent += os.sendfile(self.connection.fileno(), file.fileno(), sent, size - sent)

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="module")
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[fr.Evaluator, dict[str, str]]]:
    """An evaluator, and a run of about 110 MB: its path and its URL."""
    folder = tmp_path_factory.mktemp("remote")
    queries = 50 if request.config.getoption("benchmark_disable") else 2000
    _write(folder, queries)
    path = str(folder / "run")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, path], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/run"
        yield fr.Evaluator(folder / "qrels", "map ndcg_cut.10"), {"file": path, "http": url}
        server.kill()


def _write(folder: Path, queries: int) -> None:
    rng = np.random.default_rng(3)
    with (folder / "run").open("w") as run, (folder / "qrels").open("w") as qrels:
        for query in range(queries):
            documents = rng.choice(1_000_000, DEPTH, replace=False).tolist()
            run.writelines(
                f"{query} Q0 doc{document:07} {rank} {20 - rank / 100:.6f} of-the-benchmark-run\n"
                for rank, document in enumerate(documents, 1)
            )
            qrels.writelines(
                f"{query} 0 doc{document:07} {number % 3}\n"
                for number, document in enumerate(documents[:: DEPTH // JUDGED])
            )


@pytest.mark.parametrize("kind", ["file", "http"])
@pytest.mark.benchmark(group="a run of 110 MB, two threads")
def test_read(benchmark: Any, case: tuple[fr.Evaluator, dict[str, str]], kind: str) -> None:
    evaluator, sources = case
    expected = evaluator.evaluate(sources["file"], threads=1).mean
    used: list[float] = []

    def evaluate() -> fr.Scores:
        before = time.process_time()
        scores = evaluator.evaluate(sources[kind], threads=2)
        used.append(time.process_time() - before)
        return scores

    found = benchmark.pedantic(evaluate, rounds=9, warmup_rounds=1)

    correct = found.mean == expected
    size = os.path.getsize(sources["file"])
    benchmark.extra_info.update(
        correct=correct, bytes=size, processor_ns_per_byte=1e9 * float(np.median(used)) / size
    )
    assert correct
