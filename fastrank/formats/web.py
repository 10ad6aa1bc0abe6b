"""Files on web servers.

Python's HTTP client reads straight into the blocks, in one thread per request. fsspec with aiohttp
has one thread for all requests: it takes two and a half times the processor time for a plain file,
and https:// would need both.
"""

from __future__ import annotations

import base64
import http.client
import io
import re
import ssl
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from fastrank.errors import ReadError
from fastrank.formats import remote
from fastrank.formats.remote import RemoteFile, missing_file, reason_of
from fastrank.formats.source import HEAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    Found = TypeVar("Found")

# Seconds without data before a request fails.
TIMEOUT = 20.0
# Seconds to wait before a request is repeated.
DELAYS = (0.1, 0.5, 2.0)
# Statuses of servers that may answer the next time.
_PASSING = (408, 429, 500, 502, 503, 504)
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
# What marks a version of a file.
_VERSION = ("ETag", "Last-Modified")


class WebFile(RemoteFile):
    """A file at an http or https URL.

    Requests fail after TIMEOUT seconds without data. They are repeated if the connection breaks or
    the server is overloaded, and once if they took too long. Connections are used again unless
    there is a proxy or a redirection, which urllib handles.
    """

    def _open(self, url: str) -> tuple[int | None, bytes]:
        try:
            # The headers must not be sent to a server to which this one redirects.
            self._url, self._headers = _request_of(url)
        except ValueError as error:
            raise ReadError(self.name, reason_of(error)) from None
        self._is_direct = self._is_closed = False
        self._idle: list[http.client.HTTPConnection] = []
        # Responses of which not all has been read, the one to be read on from the head first.
        self._waiting: Any = None
        self._streamed: list[Any] = []
        self.stored_size = None
        return self._repeated(self._first_block)

    def fetch(self, start: int, view: memoryview) -> None:
        """Fill the view with the bytes from `start` on."""

        def attempt() -> None:
            with self._ask_block(start, start + len(view)) as response:
                found = _RANGE.fullmatch(response.headers.get("Content-Range") or "")
                if response.status != 206 or found is None:
                    raise ReadError(self.name, "the server stopped answering with ranges")
                self._check_version(response, int(found[3]))
                if int(found[1]) != start:
                    raise ReadError(self.name, f"the server sent another range: {found[0]}")
                _fill(response, view)

        self._repeated(attempt)

    def after_head(self) -> Callable[[memoryview], int]:
        """Begin to read what follows the head; the connection must not break."""
        response, self._waiting = self._waiting or self._repeated(self._ask_after_head), None
        self._streamed.append(response)

        def readinto(view: memoryview) -> int:
            try:
                count: int = response.readinto(view)
                if not count and response.length:
                    raise http.client.IncompleteRead(b"", response.length)
            except (http.client.HTTPException, OSError) as error:
                response.close()
                raise ReadError(self.name, reason_of(error)) from None
            return count

        return readinto

    def check_unchanged(self) -> None:
        """Do nothing: each answer is checked."""

    def close(self) -> None:
        """Close the connections, but for those of blocks that are still fetched: these later."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()
        for response in (self._waiting, *self._streamed):
            if response is not None:
                response.close()

    def _first_block(self) -> tuple[int | None, bytes]:
        """Ask for the first block, by which the server shows whether it provides ranges."""
        try:
            response = self._ask(0, remote.BLOCK)
        except urllib.error.HTTPError as error:
            # An empty file has no range.
            if error.code == 416 and error.headers.get("Content-Range") == "bytes */0":
                return 0, b""
            raise
        self._version = [response.headers.get(key) for key in _VERSION]
        found = _RANGE.fullmatch(response.headers.get("Content-Range") or "")
        if response.status != 206:
            try:
                start: bytes = response.read(HEAD)
                if len(start) < HEAD and response.length:
                    raise http.client.IncompleteRead(b"", response.length)
            except BaseException:
                response.close()
                raise
            self._waiting = response
            return None, start
        with response:
            if found is None:
                reason = "the server sent a range without the size of the file"
                raise ReadError(self.name, reason)
            size = int(found[3])
            head = bytearray(min(size, remote.BLOCK))
            _fill(response, memoryview(head))
            return size, bytes(head)

    def _ask_after_head(self) -> Any:
        response = self._ask()
        try:
            self._check_version(response, None)
            if len(response.read(len(self.head))) < len(self.head):
                raise http.client.IncompleteRead(b"")
        except BaseException:
            response.close()
            raise
        return response

    def _check_version(self, response: Any, size: int | None) -> None:
        version = [response.headers.get(key) for key in _VERSION]
        if version != self._version or size != self.stored_size:
            raise ReadError(self.name, "the file changed while it was read")

    def _repeated(self, attempt: Callable[[], Found]) -> Found:
        """Call a function, again where that may help. Raises ReadError."""
        is_late = False
        for delay in (*DELAYS, None):
            try:
                return attempt()
            except ReadError:
                raise
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 404:
                    raise missing_file(self.name, "HTTP status 404") from None
                if error.code not in _PASSING or delay is None:
                    raise ReadError(self.name, _status(error)) from None
            except (http.client.HTTPException, OSError) as error:
                # A refused connection or an unknown host is a URLError.
                lasting = isinstance(error, (urllib.error.URLError, ssl.SSLError))
                lasting |= isinstance(error, http.client.InvalidURL)
                lasting |= is_late and isinstance(error, TimeoutError)
                if lasting or delay is None:
                    raise ReadError(self.name, reason_of(error)) from None
                is_late = is_late or isinstance(error, TimeoutError)
            except ValueError as error:
                raise ReadError(self.name, reason_of(error)) from None
            time.sleep(delay)
        raise AssertionError("unreachable")

    def _ask(self, start: int = 0, stop: int | None = None) -> Any:
        """The response to a request for bytes from `start` to `stop`, None for the whole file.

        Raises URLError, HTTPException and OSError, for a status from 400 on HTTPError.
        """
        request = urllib.request.Request(self._url, headers=_headers_of(start, stop))
        for key, value in self._headers.items():
            request.add_unredirected_header(key, value)
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
        self._is_direct = answer.url == request.full_url and not _has_proxy(request)
        return answer

    @contextmanager
    def _ask_block(self, start: int, stop: int) -> Iterator[Any]:
        """The same, on a connection that is used again when the response has been read."""
        if self._is_direct:
            headers = {**self._headers, **_headers_of(start, stop)}
            connection, response = self._ask_directly(headers)
            is_whole = False
            try:
                if not 300 <= response.status < 400:
                    yield response
                    # Other connections are broken, or have more to read.
                    is_whole = response.isclosed() and not response.will_close
                    return
            finally:
                if is_whole:
                    self._idle.append(connection)
                else:
                    response.close()
                    connection.close()
                if self._is_closed:
                    self.close()
        with self._ask(start, stop) as answer:
            yield answer

    def _ask_directly(
        self, headers: dict[str, str]
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        parts = urlsplit(self._url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kinds = http.client.HTTPConnection, http.client.HTTPSConnection
        while True:
            try:
                connection, is_new = self._idle.pop(), False
            except IndexError:
                made = kinds[parts.scheme.lower() == "https"]
                connection, is_new = made(parts.netloc, timeout=TIMEOUT), True
            try:
                connection.request("GET", path, headers=headers)
                response = connection.getresponse()
                break
            except (http.client.HTTPException, OSError) as error:
                connection.close()
                # The server may have closed one that was idle.
                if is_new or not isinstance(error, ConnectionError):
                    raise
        if response.status >= 400:
            response.close()
            connection.close()
            raise urllib.error.HTTPError(
                self._url, response.status, response.reason, response.headers, io.BytesIO()
            )
        return connection, response


def _headers_of(start: int, stop: int | None) -> dict[str, str]:
    """The headers of a request for bytes from `start` to `stop`, None for the whole file."""
    agent = {"User-Agent": "fastrank"}
    return agent if stop is None else {**agent, "Range": f"bytes={start}-{stop - 1}"}


def _request_of(url: str) -> tuple[str, dict[str, str]]:
    """The URL without user and password, and the headers that transmit them."""
    parts = urlsplit(quote(url, safe="%/:=&?~#+!$,;'@()*[]"))
    user, found, host = parts.netloc.rpartition("@")
    plain = urlunsplit(parts._replace(netloc=host, fragment=""))
    if not found:
        return plain, {}
    secret = base64.b64encode(unquote(user).encode()).decode()
    return plain, {"Authorization": f"Basic {secret}"}


def _fill(response: Any, view: memoryview) -> None:
    filled = 0
    while filled < len(view):
        count = response.readinto(view[filled:])
        if not count:
            raise http.client.IncompleteRead(b"", len(view) - filled)
        filled += count


def _status(error: urllib.error.HTTPError) -> str:
    known = http.client.responses.get(error.code)
    reason = f"HTTP status {error.code}" + (f" ({known})" if known else "")
    if 300 <= error.code < 400:
        return f"{reason}: the redirection cannot be followed"
    return f"{reason}; check the credentials" if error.code in (401, 403) else reason


def _has_proxy(request: urllib.request.Request) -> bool:
    proxies = urllib.request.getproxies()
    return request.type in proxies and not urllib.request.proxy_bypass(request.host)
