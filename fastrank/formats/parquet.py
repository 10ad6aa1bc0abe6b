"""Parquet files: whole ones as Arrow tables, and runs batch by batch."""

from __future__ import annotations

from fastrank.data.texts import memory_of
from fastrank.errors import InputError
from fastrank.formats import sniff
from fastrank.formats.frames import numbers_of_arrow, refuse_nulls, texts_of_arrow
from fastrank.formats.values import scores_of
from fastrank.lazy import optional
from fastrank.native import records
from fastrank.native.threads import default_threads, in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NoReturn, TypeAlias

    from fastrank.data.texts import Texts
    from fastrank.formats.source import SourceFile

    # Takes the ids of queries, and their rankings.
    Feed: TypeAlias = Callable[[Texts, records.Run], None]

# Rows that are read at once.
ROWS = 1 << 18


def read_parquet(content: bytes, name: str) -> Any:
    """The Arrow table of a parquet file. Raises InputError, and ImportError without pyarrow."""
    pyarrow = optional("pyarrow", f"{name}: parquet")
    parquet = optional("pyarrow.parquet", f"{name}: parquet")
    try:
        table = parquet.read_table(pyarrow.BufferReader(content))
        # Names that are not UTF-8 are found out only here.
        return table.rename_columns(table.column_names)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(name, f"cannot be read as parquet: {error}") from None


class UnusualError(Exception):
    """A run must be loaded as a whole, which finds out what is wrong with it, if anything is."""


class ParquetRun:
    """A run in a parquet file, whose rankings are read batch by batch.

    Those without scores or with several tags are left to the reader of whole files, and so is
    everything that is wrong.
    """

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self._content: bytes | None = None

    def reopened(self) -> SourceFile:
        """The file, from which everything can be read again."""
        if self._content is None:
            return self.file
        return sniff.in_memory(self._content, self.file.name)

    def threads(self, most: int | None) -> int:
        """How many threads to read it with."""
        return default_threads(self.file.size or 0) if most is None else most

    def feed(self, feeds: list[Feed]) -> bytes:
        """Feed all rankings to some functions, in a thread for each; returns the tag of the run.

        Raises UnusualError, and ImportError without pyarrow.
        """
        pyarrow = optional("pyarrow", f"{self.file.name}: parquet")
        try:
            tags = self._feed(feeds)
        except (pyarrow.ArrowException, InputError, LookupError, OSError, UnicodeError) as error:
            raise UnusualError from error
        if len(tags) > 1:
            raise UnusualError
        return tags.pop() if tags else b""

    def _feed(self, feeds: list[Feed]) -> set[bytes]:
        """The same; returns all tags."""
        import pyarrow
        from pyarrow.parquet import ParquetFile

        if self.file.path is None:
            self._content = self.file.read()
        stored = pyarrow.OSFile if self._content is None else pyarrow.BufferReader
        source = stored(self.file.path if self._content is None else self._content)
        metadata = ParquetFile(source).metadata
        names = metadata.schema.to_arrow_schema().names
        roles = sniff.find_columns(names, sniff.RUN_ROLES["score"], None, self.file.name)
        if "score" not in roles or len(set(names)) < len(names):
            raise UnusualError
        query, doc, score, *tag = (
            names[roles[role]] for role in ("query", "doc", "score", "tag") if role in roles
        )
        repeated = _with_dictionary(metadata, [query, *tag])
        groups, parts = metadata.num_row_groups, len(feeds)
        tags: set[bytes] = set()
        # What a part begins and ends with, which may go on in another one.
        edges: list[list[Any]] = [[] for _ in range(parts)]

        def feed(part: int, pieces: list[Any]) -> None:
            rows = _joined(pieces)
            for name in tag:
                tags.update(texts_of_arrow(rows.column(name).unique(), _unusual))
            feeds[part](*_rankings(rows.column(query), rows.column(doc), rows.column(score)))

        def read(part: int) -> None:
            own = [*range(groups * part // parts, groups * (part + 1) // parts)]
            file = ParquetFile(source, metadata=metadata, read_dictionary=repeated)
            batches = file.iter_batches(ROWS, own, [query, doc, score, *tag], use_threads=False)
            for is_whole, pieces in _by_ranking(batches, query):
                if is_whole:
                    feed(part, pieces)
                else:
                    edges[part] += pieces

        in_threads(read, parts)
        remaining = [piece for own in edges for piece in own if len(piece)]
        if remaining:
            feed(0, remaining)
        return tags


def _with_dictionary(metadata: Any, names: list[str]) -> list[str]:
    """Those of the columns whose texts the file stores once, with a number in each row."""
    if not metadata.num_row_groups:
        return []
    group = metadata.row_group(0)
    columns = (group.column(place) for place in range(metadata.num_columns))
    return [
        column.path_in_schema
        for column in columns
        if column.path_in_schema in names
        and column.has_dictionary_page
        and column.physical_type == "BYTE_ARRAY"
    ]


def _by_ranking(batches: Iterable[Any], query: str) -> Iterator[tuple[bool, list[Any]]]:
    """The rows of the batches, in pieces cut where the query changes.

    Each with whether it holds whole rankings, which is unknown of the first and the last one.
    """
    import numpy

    begun = False
    pieces: list[Any] = []
    for batch in batches:
        ids = batch.column(query)
        cuts = _changes(ids)
        if pieces and pieces[-1].column(query)[-1].as_py() != ids[0].as_py():
            cuts = numpy.append(0, cuts)
        if not len(cuts):
            pieces.append(batch)
            continue
        first, last = int(cuts[0]), int(cuts[-1])
        yield begun, [*pieces, batch.slice(0, first)]
        if first < last:
            yield True, [batch.slice(first, last - first)]
        begun, pieces = True, [batch.slice(last)]
    yield False, pieces


def _changes(ids: Any) -> Any:
    """The rows whose id differs from that of the row before, int64."""
    import numpy
    from pyarrow import compute, types

    refuse_nulls(ids, _unusual)
    keys = ids.indices if types.is_dictionary(ids.type) else ids
    if types.is_integer(keys.type):
        numbers = keys.to_numpy(zero_copy_only=False)
        differ = numbers[1:] != numbers[:-1]
    else:
        differ = compute.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
    return numpy.flatnonzero(differ) + 1


def _joined(pieces: list[Any]) -> Any:
    """Record batches as one."""
    import pyarrow

    if len(pieces) == 1:
        return pieces[0]
    whole = pyarrow.Table.from_batches(pieces).unify_dictionaries().combine_chunks().to_batches()
    if len(whole) != 1:
        # Of texts Arrow holds only 2 GiB together.
        raise UnusualError
    return whole[0]


def _rankings(queries: Any, docs: Any, scores: Any) -> tuple[Texts, records.Run]:
    """The ids of the queries, and the rankings, in the columns of a record batch."""
    import numpy

    firsts = numpy.append(0, _changes(queries))
    # Its dictionary may be as long as the file.
    docs = docs.dictionary_decode() if hasattr(docs, "dictionary") else docs
    numbers = numbers_of_arrow(scores, _unusual)
    if not (hasattr(numbers, "dtype") and numbers.dtype == float and (numbers == numbers).all()):
        numbers = scores_of(numbers, _unusual)
    offsets = memory_of(numpy.append(firsts, len(queries)))
    rankings = records.Run(texts_of_arrow(docs, _unusual).columns, offsets, numbers)
    return texts_of_arrow(queries.take(firsts), _unusual), rankings


def _unusual(_row: int, _reason: str) -> NoReturn:
    raise UnusualError
