"""Search results as runs, in memory or as the lines of a file."""

from __future__ import annotations

from fastrank.data.run import Run
from fastrank.data.texts import joined, memory_of
from fastrank.errors import OptionError
from fastrank.formats.array_validation import as_texts
from fastrank.formats.files import check_target, name_of
from fastrank.formats.rows import tag_of
from fastrank.formats.sniff import format_by_name
from fastrank.formats.trec_writers import check_fields, lines_of
from fastrank.keywords import takes, with_defaults
from fastrank.search.batches import search_batches
from fastrank.search.search_options import SEARCH, SearchOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.data.texts import Texts
    from fastrank.search.batches import Found
    from fastrank.search.row_ids import RowIds

SOURCE = "<search>"


@takes(SearchOptions, SEARCH)
def search(
    corpus: Any,
    queries: Any,
    k: int,
    *,
    corpus_ids: Any = None,
    tag: str = "fastrank",
    **options: Unpack[SearchOptions],
) -> Run:
    """Search for the k best documents of each query.

    corpus: an Index, an index of faiss, or what `get_index` of a Dataset of Hugging Face returns;
        or vectors as `build_index` takes them: then every query is compared with every vector.
        Vectors that are not float32 in memory are read block by block, never all at once.
    queries: floats[n, dimension], as `build_index` takes vectors. Copies are brought to length 1
        for the metric "cosine".
    k: how many documents a query gets at most; fewer where the corpus or the index has no more.
    corpus_ids: of the vectors, as in `build_index`; an Index may have its own.
    tag: the run's name.
    **options: see `SearchOptions`.

    Where documents are excluded the search is as much deeper, so that k are left.
    Scores are inner products, cosines or negated squared distances, as 32-bit floats; of equal
    scores the document comes first whose id sorts later in byte order. Which of several documents
    with the score of rank k are found is faiss's choice; `search_batches` says for which queries
    that is so. A query that finds nothing is not in the run. The last bits of scores depend on
    faiss's way to compute them, and so may differ between batch sizes.

    Raises ArrayError (argument, row, column) for a NaN or an infinity, a zero vector under
    "cosine", another dimension than the corpus has, ids that repeat or are not one per vector, and
    an empty corpus; OptionError for k or batch_size below 1, and parameters the index does not
    have; ReadError for a file.

    >>> from fastrank.search import search
    >>> corpus = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
    >>> run = search(corpus, [[1.0, 0.1]], 2, metric="l2", corpus_ids=["d1", "d2", "d3"])
    >>> run.to_dict()
    {'0': {'d1': -0.0100..., 'd3': -0.2899...}}
    >>> search(corpus, corpus, 1, exclude_self=True).to_dict()
    {'0': {'2': 0.80...}, '1': {'2': 0.60...}, '2': {'0': 0.80...}}
    """
    label = tag_of(tag, SOURCE)
    batches = search_batches(
        corpus, queries, k, corpus_ids=corpus_ids, **with_defaults(search, options)
    )
    return run_of(batches, label)


def run_of(batches: Iterable[Found], tag: bytes) -> Run:
    """The run of some batches; a query that found nothing is not in it."""
    import numpy

    queries: list[bytes] = []
    sizes, rows, scores = [0], [numpy.empty(0, numpy.int64)], [numpy.empty(0)]
    docs: Texts | None = None
    for found in batches:
        held = found.rows >= 0
        counts = held.sum(axis=1)
        queries += [
            query for query, count in zip(found.query_ids, counts.tolist(), strict=True) if count
        ]
        sizes += counts[counts > 0].tolist()
        rows.append(found.rows[held])
        scores.append(found.scores[held].astype(numpy.float64))
        last = found
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
    batches: Iterable[Found], tag: bytes, look: Callable[[Found], None] | None = None
) -> Iterator[bytes]:
    """The lines of the run of some batches, each made when it is searched for; `look` sees it."""
    written = False
    for found in batches:
        if look is not None:
            look(found)
        run = run_of([found], tag)
        if len(run):
            written = True
            yield b"".join(lines_of(run))
    if not written:
        yield from lines_of(run_of([], tag))


def check_writable(target: Any, corpus: RowIds, queries: RowIds, tag: bytes) -> None:
    """Raise before the search what writing its run would raise after it.

    Raises InputError for ids and a tag that no line of a run can hold, OptionError for another
    format, and OSError for a path in no folder.
    """
    name = name_of(target)
    form = format_by_name(name)
    if form not in (None, "trec"):
        raise OptionError("run", f"only TREC's format is written, found {name!r}")
    check_target(target)
    for role, names in (("query", queries), ("document", corpus)):
        if names.texts is not None:
            check_fields(names.texts, role, SOURCE)
    if tag:
        check_fields(as_texts([tag]), "tag", SOURCE)
