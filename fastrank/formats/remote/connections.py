"""Requests to a web server, over connections that stay open."""

from __future__ import annotations

import http.client
import io
import urllib.error
import urllib.request
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Seconds without data before a request fails.
TIMEOUT = 20.0


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
