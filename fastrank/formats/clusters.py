"""Read clusters of queries."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.errors import FormatError
from fastrank.formats import files
from fastrank.formats.pairs import pairs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.formats.files import Source


def read_clusters(source: Source) -> dict[str, str]:
    """{query: cluster} of a file with a query and its cluster per line.

    Raises ReadError, and FormatError also for a query in two clusters.
    """
    found: dict[str, str] = {}
    for number, query, cluster in pairs_of(source, "query cluster"):
        name, new = decoded(query), decoded(cluster)
        if found.setdefault(name, new) != new:
            reason = f"query {name!r} is already in cluster {found[name]!r}"
            raise FormatError(files.name_of(source), number, reason)
    return found
