"""Evaluate an embedding model on labelled candidates, ranked by similarity."""

from __future__ import annotations

from fastrank.datasets.dataset import Dataset
from fastrank.embeddings.embed import PreparedModel
from fastrank.errors import OptionError
from fastrank.evaluation.evaluator import Evaluator
from fastrank.formats.tables import tag_of
from fastrank.formats.trec_writers import write_trec_run
from fastrank.judging.keywords import SearchedOptions
from fastrank.keywords import pick
from fastrank.searching.row_ids import check_row_ids
from fastrank.searching.runs import check_writable
from fastrank.searching.search_options import SEARCH
from fastrank.searching.vectors import block_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy.typing as npt

    from fastrank.embeddings.embed import Embeddings
    from fastrank.formats.candidates import Candidates
    from fastrank.measures.selection import Measures
    from fastrank.scores.scores import Scores

    Array = npt.NDArray[Any]

# Options of a search, which candidates do not need.
OF_SEARCH = ("k", "index_factory", "train_size", "parameters", "gpu")


def evaluate_candidates(
    model: Any,
    candidates: Candidates,
    measures: Measures,
    metric: str,
    encoding: tuple[Any, ...],
    given: Mapping[str, Any],
) -> Scores:
    """See `evaluate_model`. encoding: the arguments of PreparedModel after the data set."""
    _refuse_search(given)
    evaluator = Evaluator(
        candidates.qrels, measures, exclude=given["exclude"], **pick(given, SearchedOptions)
    )
    data, asked, documents = _distinct(candidates)
    # Errors in measures and options are reported before texts are encoded.
    evaluator.evaluate(candidates.run([0.0] * len(candidates)))
    if given["run"] is not None:
        queries, docs = (
            check_row_ids(name, list(dict.fromkeys(ids)), None)
            for name, ids in (("queries", candidates.queries), ("docs", candidates.docs))
        )
        check_writable(given["run"], docs, queries, tag_of(given["tag"], candidates.source))
    prepared = PreparedModel(model, data, *encoding, unit=metric == "cosine")
    scores = _similarities(prepared.embeddings(given["progress"]), asked, documents, metric)
    run = candidates.run(scores, tag=given["tag"])
    if given["run"] is not None:
        write_trec_run(run, given["run"])
    return evaluator.evaluate(run)


def _refuse_search(given: Mapping[str, Any]) -> None:
    defaults = {keyword.name: keyword.default for keyword in SEARCH}
    for name in OF_SEARCH:
        if given[name] != defaults[name]:
            raise OptionError(
                name, "not applicable to candidates, which are scored without a search"
            )


def _distinct(candidates: Candidates) -> tuple[Dataset, Array, Array]:
    """A data set of the distinct texts, and for each row the numbers of its question and text."""
    import numpy

    columns = list(zip(*candidates.pairs, strict=True))
    sides, places = [], []
    for texts, ids in zip(columns, (candidates.queries, candidates.docs), strict=True):
        first: dict[str, str] = {}
        for text, text_id in zip(texts, ids, strict=True):
            first.setdefault(text, text_id)
        number = {text: i for i, text in enumerate(first)}
        sides.append(first)
        places.append(numpy.array([number[text] for text in texts], numpy.int64))
    questions, answers = sides
    data = Dataset(
        name=candidates.source, corpus_ids=list(answers.values()), corpus=list(answers),
        query_ids=list(questions.values()), queries=list(questions), qrels=candidates.qrels,
        outside=[], unjudged=[],
    )  # fmt: skip
    return data, places[0], places[1]


def _similarities(vectors: Embeddings, asked: Array, documents: Array, metric: str) -> Array:
    """The similarity of each pair of rows, float64[rows]."""
    import numpy

    found = numpy.empty(len(asked))
    step = block_rows(vectors.corpus.shape[1])
    for first in range(0, len(asked), step):
        part = slice(first, first + step)
        left, right = (
            _dense(side[rows[part]])
            for side, rows in ((vectors.queries, asked), (vectors.corpus, documents))
        )
        if metric == "l2":
            left -= right
            found[part] = -numpy.einsum("ij,ij->i", left, left)
            continue
        if metric == "cosine":
            for side in (left, right):
                side /= numpy.linalg.norm(side, axis=1, keepdims=True)
        found[part] = numpy.einsum("ij,ij->i", left, right)
    return found


def _dense(rows: Any) -> Array:
    """Rows of an array or of a sparse matrix in double precision."""
    import numpy

    return numpy.array(rows.toarray() if hasattr(rows, "toarray") else rows, numpy.float64)
