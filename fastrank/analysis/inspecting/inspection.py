"""What a page to look at runs is made of."""

from __future__ import annotations

import os

from fastrank.common.messages import counted, visible
from fastrank.core.data.columns import Frozen
from fastrank.core.formats.files import files
from fastrank.errors import FastrankError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.inspecting.results import QueryResults

# The largest page, in bytes; browsers open larger ones slowly.
LARGEST = 40_000_000


class Inspection(Frozen):
    """The results of runs, to be written as a page, as `fastrank.inspect` returns it.

    comparison: the Comparison of the runs, with the values of all queries. k: how many results of a
    run are shown. notes: what is missing, a list of str. texts: {document: (title, text)}.
    queries: {query: (title, text)}. groups: {query: group}. title: of the page.

    >>> found = fr.inspect({"q": {"d": 1}}, {"a": {"q": {"d": 2.0, "e": 1.0}}}, "map")
    >>> found.comparison.mean["map"]["a"], found.notes
    (1.0, [...])
    """

    made_by = "fastrank.inspect"
    internal = frozenset({"results", "grades", "level"})

    comparison: Comparison
    grades: list[float]
    groups: dict[str, str]
    k: int
    level: float
    notes: list[str]
    queries: dict[str, tuple[str, str]]
    results: list[QueryResults]
    texts: dict[str, tuple[str, str]]
    title: str

    def write(self, output: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the page to a file, or pages of some queries each into a folder.

        output: a path that ends in .html or .htm, or a file object, for one page that works on its
            own; else a folder for `index.html` and pages of at most 10 MB, which may be absent,
            empty, or hold the pages of an earlier call.

        Files and folders are replaced as a whole, or not at all. Raises OSError; InputError for a
        folder with other files; FastrankError if a single page would have more than 40 MB, which
        browsers open slowly.

        >>> import io
        >>> found = fr.inspect({"q": {"d": 1}}, {"a": {"q": {"d": 2.0, "e": 1.0}}}, "map")
        >>> found.write(page := io.BytesIO())
        >>> b"Content-Security-Policy" in page.getvalue()
        True
        """
        from fastrank.analysis.inspecting.pages import folder_of, page_of

        if not is_folder(output):
            files.check_target(output)
            content = page_of(self).encode()
            if len(content) > LARGEST:
                raise FastrankError(
                    f"{files.name_of(output)}: the page would have {len(content) / 1e6:.0f} MB,"
                    f" more than the {LARGEST / 1e6:.0f} MB that browsers open quickly; name a"
                    " folder (such as inspect/) for pages of some queries each, or lower k"
                )
            files.write(output, [content])
            return
        from fastrank.analysis.inspecting.sites import write_site

        write_site(folder_of(self), os.fspath(output))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        names = visible(", ".join(self.comparison.names))
        queries = counted(len(self.results), "query", "queries")
        return f"<Inspection of {names}: {queries}, {counted(self.k, 'result')} each>"


def is_folder(output: str | os.PathLike[str] | BinaryIO) -> bool:
    """Whether an output is a folder of pages, not a page."""
    if not isinstance(output, (str, os.PathLike)):
        return False
    path = os.fspath(output)
    return path != "-" and not path.lower().endswith((".html", ".htm"))
