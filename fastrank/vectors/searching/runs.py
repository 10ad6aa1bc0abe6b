"""Search results as runs, in memory or as the lines of a file."""

from __future__ import annotations

import numpy

from fastrank.common.keywords import pick, takes, with_defaults
from fastrank.common.messages import counted
from fastrank.core.data.texts import as_texts, joined, memory_of
from fastrank.core.formats.files.files import check_target, name_of
from fastrank.core.formats.formats import format_by_name
from fastrank.core.formats.load import dropped_notes
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.values import tag_of
from fastrank.core.formats.trec.reader import python_warning
from fastrank.core.formats.trec.writers import check_fields, lines_of
from fastrank.core.scores.text import NOTED
from fastrank.errors import OptionError
from fastrank.vectors.searching.batches import (
    build_for_search,
    refuse_building,
    search_batches,
    zero_vectors,
)
from fastrank.vectors.searching.indexing import Index, as_index
from fastrank.vectors.searching.row_ids import check_row_ids
from fastrank.vectors.searching.search_options import SEARCH, RunOptions, SearchOptions
from fastrank.vectors.searching.shards import Shards
from fastrank.vectors.searching.vectors import open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.core.data.texts import Texts
    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.trec.reader import Warn
    from fastrank.vectors.searching.batches import Found
    from fastrank.vectors.searching.indexing import Index
    from fastrank.vectors.searching.row_ids import IdsLike, RowIds
    from fastrank.vectors.searching.vectors import VectorsLike

SOURCE = "<search>"


@takes(RunOptions, SEARCH)
def search(
    queries: VectorsLike,
    corpus: Index | Shards | VectorsLike,
    k: int,
    *,
    corpus_ids: IdsLike | None = None,
    tag: str = "fastrank",
    **options: Unpack[RunOptions],
) -> Run:
    """Search for the k best documents of each query.

    queries: floats[n, dimension], as in `build_index`. Copies are normalized to length 1 for the
        metric "cosine".
    corpus: an Index, Shards, a faiss index, the result of a Hugging Face Dataset's `get_index`, or
        vectors as in `build_index`, which are searched exactly unless `index_factory` says
        otherwise. Vectors other than float32 arrays in memory are read block by block, never all at
        once.
    k: the number of documents per query. Fewer if the corpus or the index has no more.
    corpus_ids: the ids of the vectors, as in `build_index`; not for an Index that has ids.
    tag: the name of the run.
    **options: see `RunOptions`.

    If documents are excluded, the search is deeper, so that k remain. Scores are inner products,
    cosines or negated squared distances, as 32-bit floats; ties are ordered by document id,
    descending in byte order. Which documents are found among those tied at rank k is up to faiss;
    `search_batches` reports the affected queries. A query without results has an empty ranking, and
    counts 0. The last bits of scores depend on how faiss computes them and may differ between batch
    sizes.

    Raises ArrayError (argument, row, column) for NaN and infinite values, a dimension other than
    that of the corpus, duplicate ids or the wrong number of ids, and an empty corpus; OptionError
    for k or batch_size below 1 and for unknown parameters; ReadError for a file.

    >>> from fastrank.searching import search
    >>> corpus = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
    >>> run = search([[1.0, 0.1]], corpus, 2, metric="l2", corpus_ids=["d1", "d2", "d3"])
    >>> run.to_dict()
    {'0': {'d1': -0.0100..., 'd3': -0.2899...}}
    >>> search(corpus, corpus, 1, ignore_identical_ids=True).to_dict()
    {'0': {'2': 0.80...}, '1': {'2': 0.60...}, '2': {'0': 0.80...}}
    """
    label = tag_of(tag, SOURCE)
    settings: Any = with_defaults(search, options)
    searching = pick(settings, SearchOptions)
    vectors = open_vectors("queries", queries)
    searched = as_index("corpus", corpus, settings["metric"])
    if isinstance(searched, (Index, Shards)):
        refuse_building(settings, searched)
    else:
        searched = open_vectors("corpus", searched)
        if settings["index_factory"] != "Flat":
            names = check_row_ids("corpus_ids", corpus_ids, searched.count)
            searched, corpus_ids = build_for_search(vectors, searched, names, k, settings), None
    run = run_of(search_batches(vectors, searched, k, corpus_ids=corpus_ids, **searching), label)
    zeros = zero_vectors(vectors, searched)
    if zeros:
        python_warning(counted(zeros, *NOTED["zero_vectors"]))
    return run


def run_of(batches: Iterable[Found], tag: bytes) -> Run:
    """The run of some batches; a query without results has an empty ranking."""
    queries: list[bytes] = []
    sizes, rows, scores = [0], [numpy.empty(0, numpy.int64)], [numpy.empty(0)]
    docs: Texts | None = None
    for batch in batches:
        held = batch.rows >= 0
        counts = held.sum(axis=1)
        queries += batch.query_ids
        sizes += counts.tolist()
        rows.append(batch.rows[held])
        scores.append(batch.scores[held].astype(numpy.float64))
        last = batch
    if queries:
        docs = last.doc_ids(numpy.concatenate(rows))
    return Run(
        queries=joined(b"".join(queries), queries),
        docs=joined(b"", []) if docs is None else docs,
        source=SOURCE,
        offset_column=memory_of(numpy.cumsum(numpy.array(sizes, numpy.int64))),
        score_column=memory_of(numpy.concatenate(scores)),
        tag_bytes=tag,
    )


def run_lines(
    batches: Iterable[Found],
    tag: bytes,
    look: Callable[[Found], None] | None = None,
    warn: Warn = python_warning,
) -> Iterator[bytes]:
    """The lines of the run of some batches, made lazily; `look` is called with each batch.

    warn: is called with a note on queries without results, of which there are no lines.
    """
    written, empty = False, list[bytes]()
    for batch in batches:
        if look is not None:
            look(batch)
        run = run_of([batch], tag)
        nothing = numpy.flatnonzero((batch.rows < 0).all(axis=1))
        empty += run.queries.take(nothing.tolist())
        if len(run.docs):
            written = True
            yield b"".join(lines_of(run))
    if not written:
        yield from lines_of(run_of([], tag))
    for note in dropped_notes(empty):
        warn(note)


def check_writable(target: Source, corpus: RowIds, queries: RowIds, tag: bytes) -> None:
    """Check before a search that its run can be written.

    Raises InputError for ids or a tag that cannot be a field of a line, OptionError for another
    format, and OSError for a path that cannot be written.
    """
    name = name_of(target)
    form = format_by_name(name)
    if form not in (None, "trec"):
        raise OptionError("run", f"expected a file name for TREC format, found {name!r}")
    check_target(target)
    for role, names in (("query", queries), ("document", corpus)):
        if names.texts is not None:
            check_fields(names.texts, role, SOURCE)
    if tag:
        check_fields(as_texts([tag]), "tag", SOURCE)
