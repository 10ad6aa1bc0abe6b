"""Open URLs."""

from __future__ import annotations

from fastrank.errors import ReadError
from fastrank.formats.remote.pieces import RemotePieces
from fastrank.formats.remote.urls import WEB, local_path, scheme_of, shown
from fastrank.formats.source import open_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.formats.remote.pieces import RemoteFile
    from fastrank.formats.source import Pieces


def open_url(url: str) -> Pieces:
    """Open the file at a URL: with Python's HTTP client, or with fsspec.

    Raises ReadError, and ImportError for a library that is missing.
    """
    name = shown(url)
    try:
        path = local_path(url)
    except OSError as error:
        raise ReadError(name, str(error.strerror)) from None
    if path is not None:
        return open_pieces(path)
    file: RemoteFile
    if scheme_of(url) in WEB:
        from fastrank.formats.remote.web import WebFile

        file = WebFile(url, name)
    else:
        from fastrank.formats.remote.stores import StoredFile

        file = StoredFile(url, name)
    return RemotePieces(name, file)
