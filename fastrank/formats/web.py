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
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from fastrank.errors import ReadError
from fastrank.formats import remote
from fastrank.formats.remote import missing_file, reason_of
from fastrank.formats.source import HEAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
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


class WebFile:
    """A file at an http or https URL; see RemoteFile.

    Requests fail after TIMEOUT seconds without data. They are repeated if the connection breaks or
    the server is overloaded, and once if they took too long.
    """

    def __init__(self, url: str, name: str) -> None:
        self._name = name
        try:
            self._connections = Connections(*_request_of(url))
        except ValueError as error:
            raise ReadError(name, reason_of(error)) from None
        self._waiting: Any = None
        self._streamed: list[Any] = []
        self.size: int | None = None
        self.head = b""
        self._version: list[str | None] = []
        self._repeated(self._begin)

    def fetch(self, start: int, view: memoryview) -> None:
        """Fill the view with the bytes from `start` on. Raises ReadError."""

        def attempt() -> None:
            with self._connections.ask(start, start + len(view)) as response:
                found = _RANGE.fullmatch(response.headers.get("Content-Range") or "")
                if response.status != 206 or found is None:
                    raise ReadError(self._name, "the server stopped answering with ranges")
                self._check_version(response, int(found[3]))
                if int(found[1]) != start:
                    raise ReadError(self._name, f"the server sent another range: {found[0]}")
                _fill(response, view)

        self._repeated(attempt)

    def stream(self) -> _Stream:
        """What follows the head."""
        response, self._waiting = self._waiting or self._repeated(self._after_head), None
        self._streamed.append(response)
        return _Stream(self._name, response)

    def check_unchanged(self) -> None:
        """Do nothing: each answer is checked."""

    def close(self) -> None:
        """Close the connections, but for those of blocks that are still fetched."""
        self._connections.close()
        for response in (self._waiting, *self._streamed):
            if response is not None:
                response.close()

    def _begin(self) -> None:
        """Ask for the first block, by which the server shows whether it provides ranges."""
        try:
            response = self._connections.ask(0, remote.BLOCK)
        except urllib.error.HTTPError as error:
            # An empty file has no range.
            if error.code == 416 and error.headers.get("Content-Range") == "bytes */0":
                self.size = 0
                return
            raise
        self._version = [response.headers.get(key) for key in _VERSION]
        found = _RANGE.fullmatch(response.headers.get("Content-Range") or "")
        if response.status != 206:
            try:
                self.head = response.read(HEAD)
                if len(self.head) < HEAD and response.length:
                    raise http.client.IncompleteRead(b"", response.length)
            except BaseException:
                response.close()
                raise
            self._waiting = response
            return
        with response:
            if found is None:
                reason = "the server sent a range without the size of the file"
                raise ReadError(self._name, reason)
            size = int(found[3])
            head = bytearray(min(size, remote.BLOCK))
            _fill(response, memoryview(head))
            self.size, self.head = size, bytes(head)

    def _after_head(self) -> Any:
        response = self._connections.ask()
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
        if version != self._version or size != self.size:
            raise ReadError(self._name, "the file changed while it was read")

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
                    raise missing_file(self._name, "HTTP status 404") from None
                if error.code not in _PASSING or delay is None:
                    raise ReadError(self._name, _status(error)) from None
            except (http.client.HTTPException, OSError) as error:
                # A refused connection or an unknown host is a URLError.
                lasting = isinstance(error, (urllib.error.URLError, ssl.SSLError))
                lasting |= isinstance(error, http.client.InvalidURL)
                lasting |= is_late and isinstance(error, TimeoutError)
                if lasting or delay is None:
                    raise ReadError(self._name, reason_of(error)) from None
                is_late = is_late or isinstance(error, TimeoutError)
            except ValueError as error:
                raise ReadError(self._name, reason_of(error)) from None
            time.sleep(delay)
        raise AssertionError("unreachable")


class _Stream:
    """The rest of a response, whose connection must not break."""

    def __init__(self, name: str, response: Any) -> None:
        self._name, self._response = name, response

    def readinto(self, view: memoryview) -> int:
        try:
            count: int = self._response.readinto(view)
            if not count and self._response.length:
                raise http.client.IncompleteRead(b"", self._response.length)
        except (http.client.HTTPException, OSError) as error:
            self._response.close()
            raise ReadError(self._name, reason_of(error)) from None
        return count


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


class Connections:
    """Requests for the file at a URL, from any thread.

    headers: those that must not be sent to a server to which this one redirects. Connections are
    used again unless there is a proxy or a redirection, which urllib handles.
    """

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._url, self._headers = url, headers
        self._is_direct = self._is_closed = False
        self._idle: list[http.client.HTTPConnection] = []

    def ask(self, start: int = 0, stop: int | None = None) -> Any:
        """The response to a request for bytes from `start` to `stop`, None for the whole file.

        Raises URLError, HTTPException and OSError, for a status from 400 on HTTPError.
        """
        headers = {"User-Agent": "fastrank"}
        if stop is not None:
            headers["Range"] = f"bytes={start}-{stop - 1}"
        if self._is_direct and stop is not None:
            response = self._ask_directly({**self._headers, **headers})
            if not 300 <= response.status < 400:
                return response
            response.close()
            self._is_direct = False
        request = urllib.request.Request(self._url, headers=headers)
        for key, value in self._headers.items():
            request.add_unredirected_header(key, value)
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
        self._is_direct = answer.url == request.full_url and not _has_proxy(request)
        return answer

    def _ask_directly(self, headers: dict[str, str]) -> _Response:
        parts = urlsplit(self._url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        while True:
            connection, is_new = self._connection(parts.scheme, parts.netloc)
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
        return _Response(self, connection, response)

    def _connection(self, scheme: str, host: str) -> tuple[http.client.HTTPConnection, bool]:
        try:
            return self._idle.pop(), False
        except IndexError:
            kinds = http.client.HTTPConnection, http.client.HTTPSConnection
            return kinds[scheme.lower() == "https"](host, timeout=TIMEOUT), True

    def take_back(self, connection: http.client.HTTPConnection) -> None:
        """Keep a connection for the next request."""
        self._idle.append(connection)
        if self._is_closed:
            self.close()

    def close(self) -> None:
        """Close the connections that are not in use, and the others when they are taken back."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()


class _Response:
    """A response whose connection can be used again when the response has been read."""

    def __init__(
        self,
        owner: Connections,
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
    ) -> None:
        self._owner, self._connection, self._response = owner, connection, response
        self.status, self.headers = response.status, response.headers
        self.read, self.readinto = response.read, response.readinto

    @property
    def length(self) -> int | None:
        """The number of bytes that are still to come, None if the server has not said it."""
        return self._response.length

    def __enter__(self) -> _Response:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        response = self._response
        # Other connections are broken, or have more to read.
        if kind is None and response.isclosed() and not response.will_close:
            self._owner.take_back(self._connection)
        else:
            self.close()

    def close(self) -> None:
        """Close the connection."""
        self._response.close()
        self._connection.close()


def _has_proxy(request: urllib.request.Request) -> bool:
    proxies = urllib.request.getproxies()
    return request.type in proxies and not urllib.request.proxy_bypass(request.host)
