"""Results and texts in compressed chunks, which a page unpacks when they are shown."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fastrank.analysis.inspecting.results import QueryResults
    from fastrank.analysis.inspecting.texts import Text

# The size of a chunk before compression, in characters: what is unpacked for one query.
CHUNK = 400_000
# The size of a text, compressed and in base 64, as a share of the original; the size of a row.
RATIO = 0.55
ROW = 20


def size_of(results: QueryResults, texts: Mapping[str, Text]) -> float:
    """About how many bytes the results of a query take in a page."""
    size = float(ROW * len(results.documents) * (1 + len(results.ranks)))
    for doc in results.documents:
        size += RATIO * (len(doc) + sum(map(len, texts.get(doc, ()))))
    return size


def chunks_of(
    results: Sequence[QueryResults], measures: Sequence[str], texts: Mapping[str, Text]
) -> tuple[dict[str, list[int]], dict[str, str]]:
    """Where the results and documents are, and the chunks, {id of the element: JSON}.

    Documents are numbered in the order in which queries need them. A chunk of results has an array
    for each query: numbers of documents, grades, ranks and scores of each run, what the documents
    add to each measure in each run as {place: value}, the numbers of results, and the number of
    relevant documents that no run has in the first k. A chunk of documents has [id, title, text]
    for each.
    """
    numbers: dict[str, int] = {}
    for query_results in results:
        for doc in query_results.documents:
            numbers.setdefault(doc, len(numbers))
    rows = ([*_row(query_results, measures, numbers)] for query_results in results)
    documents = ([doc, *texts.get(doc, ())] for doc in numbers)
    chunks: dict[str, str] = {}
    starts: dict[str, list[int]] = {}
    for name, items in (("results", rows), ("documents", documents)):
        starts[name] = []
        for i, (first, content) in enumerate(_chunks(items)):
            starts[name].append(first)
            chunks[f"{name}-{i}"] = f'"{content}"'
    return starts, chunks


def _row(
    results: QueryResults, measures: Sequence[str], numbers: Mapping[str, int]
) -> Iterator[object]:
    yield [numbers[doc] for doc in results.documents]
    yield [None if grade is None else short(grade) for grade in results.grades]
    yield results.ranks
    yield [
        [None if score is None else short(score) for score in scores] for scores in results.scores
    ]
    yield [
        [{index: short(add) for index, add in shares.items()} for shares in results.adds[measure]]
        for measure in measures
    ]
    yield results.retrieved
    yield results.missed


def _chunks(items: Iterable[object]) -> Iterator[tuple[int, str]]:
    """The number of the first item, and the items as JSON, compressed and in base 64."""
    texts: list[str] = []
    first = size = 0
    for stop, item in enumerate(items, 1):
        texts.append(json.dumps(item, ensure_ascii=False, separators=(",", ":")))
        size += len(texts[-1])
        if size > CHUNK:
            yield first, _packed(texts)
            texts, first, size = [], stop, 0
    if texts:
        yield first, _packed(texts)


def _packed(texts: Sequence[str]) -> str:
    # Bytes that are not UTF-8 stay lone surrogates, as escapes.
    content = f"[{','.join(texts)}]".encode("utf-8", "backslashreplace")
    return b64encode(zlib.compress(content, 9)).decode()


def short(value: float) -> float | int:
    """A number with at most 5 digits, in as few characters as JSON allows."""
    shown = float(f"{value:.5g}")
    return int(shown) if shown.is_integer() and abs(shown) < 1e6 else shown
