"""A web server on this machine, with ranges or without, and with faults."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WebServer(ThreadingHTTPServer):
    """Serves files from memory, and keeps the requests: path, range and authorization.

    ranges: whether it provides them. statuses: what it answers first, one per request, before it
    works. broken: how many requests break after half of the answer, and stalls: after how many
    seconds. pause: in seconds, per request.
    """

    # More connections may come at once than the default of five.
    request_queue_size = 64
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None, str | None]] = []
        self.ranges, self.pause, self.stalls = True, 0.0, 0.0
        self.statuses: list[int] = []
        self.broken = 0

    def url(self, name: str, content: bytes | None = None) -> str:
        """The URL of a file, with this content if it is given."""
        if content is not None:
            self.files[f"/{name}"] = content
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close the connection early."""


class _Handler(BaseHTTPRequestHandler):
    server: WebServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server, path = self.server, self.path.partition("?")[0]
        asked = self.headers.get("Range")
        server.requests.append((self.path, asked, self.headers.get("Authorization")))
        time.sleep(server.pause)
        content = server.files.get(path)
        if server.statuses:
            self._end(server.statuses.pop(0), b"")
        elif content is None:
            self._end(404, b"not here")
        elif asked and server.ranges:
            first, last = asked.removeprefix("bytes=").split("-")
            start, stop = int(first), min(int(last) + 1, len(content))
            if start >= len(content):
                self._end(416, b"", [("Content-Range", f"bytes */{len(content)}")])
                return
            place = f"bytes {start}-{stop - 1}/{len(content)}"
            self._end(206, content[start:stop], [("Content-Range", place)], content)
        else:
            self._end(200, content, (), content)

    def _end(
        self, status: int, body: bytes, headers: object = (), whole: bytes | None = None
    ) -> None:
        self.send_response(status)
        for key, value in headers:  # type: ignore[attr-defined]
            self.send_header(key, value)
        if whole is not None:
            self.send_header("ETag", hashlib.sha256(whole).hexdigest())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status not in (200, 206) or not self.server.broken:
            self.wfile.write(body)
            return
        self.server.broken -= 1
        self.wfile.write(body[: len(body) // 2])
        self.close_connection = True
        time.sleep(self.server.stalls)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serving() -> Iterator[WebServer]:
    """A server that runs until the end of the block."""
    with WebServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
