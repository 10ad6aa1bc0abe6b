"""A corpus, queries and judgments."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrank.data.columns import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, ClassVar

    import numpy as np
    import numpy.typing as npt

    from fastrank.data.qrels import Qrels
    from fastrank.formats.source import Source

KINDS = "a Dataset, or the path of a folder in BEIR's layout"


class Dataset(Frozen):
    """Texts to search, queries, and judgments of them: what an embedding model is evaluated on.

    name: for messages, and what it was made from.
    corpus_ids, corpus: the ids of the documents as a list of str, and their texts, a sequence that
        gives a list of str for a slice.
    query_ids, queries: the same of the queries. Those without judgments are left out, as BEIR does;
        `unjudged` are their ids.
    qrels: Qrels. Judged documents that are not in the corpus stay, as relevant documents that
        nobody can find, and are in `outside`; judged queries without a text stay too.
    exclude_self: whether a query's own id is no result of it.
    query_rows: where the queries are documents of the corpus, their rows, int64[queries]; a query's
        vector is then that of its document. None otherwise.
    vectors: embeddings of the corpus where they came with it, float32[documents, dimension]; None
        otherwise.

    >>> data = fr.Dataset.from_texts({"d1": "red apples"}, {"q1": "apples"}, {"q1": {"d1": 1}})
    >>> data
    <Dataset texts: 1 document, 1 query, 1 judgment>
    >>> data.corpus_ids, data.corpus
    (['d1'], ['red apples'])
    """

    __slots__ = (
        "corpus",
        "corpus_ids",
        "exclude_self",
        "name",
        "outside",
        "qrels",
        "queries",
        "query_ids",
        "query_rows",
        "unjudged",
        "vectors",
    )
    defaults: ClassVar[dict[str, Any]] = {
        "exclude_self": False,
        "query_rows": None,
        "vectors": None,
    }

    name: str
    corpus_ids: list[str]
    corpus: Sequence[str]
    query_ids: list[str]
    queries: Sequence[str]
    qrels: Qrels
    exclude_self: bool
    query_rows: npt.NDArray[np.int64] | None
    vectors: npt.NDArray[np.float32] | None
    outside: list[str]
    unjudged: list[str]

    @classmethod
    def from_texts(
        cls,
        corpus: Mapping[Any, Any] | Sequence[str],
        queries: Mapping[Any, str] | Sequence[str],
        qrels: Any,
        *,
        corpus_ids: Iterable[Any] | None = None,
        query_ids: Iterable[Any] | None = None,
        exclude_self: bool = False,
        name: str = "texts",
    ) -> Dataset:
        """A data set from dicts or lists.

        corpus: {id: text}, or {id: {"title": ..., "text": ...}} as BEIR has it in memory, or a list
            of texts with their ids in corpus_ids; without these, the row numbers from 0 are the
            ids. Title and text are joined by a blank.
        queries, query_ids: likewise.
        qrels: whatever `evaluate` takes as judgments, a dict of dicts for example.
        exclude_self: a document with the id of the query is no result of it.

        Raises InputError for ids that repeat or are too few, texts that are none, judgments that
        have no query or no document in common with the data.

        >>> fr.Dataset.from_texts(["red", "blue"], ["azure"], {0: {1: 1}}).corpus_ids
        ['0', '1']
        """
        from fastrank.datasets.in_memory import from_texts

        return from_texts(corpus, queries, qrels, corpus_ids, query_ids, exclude_self, name)

    @classmethod
    def from_beir(
        cls, folder: str | os.PathLike[str], split: str = "test", *, exclude_self: bool = False
    ) -> Dataset:
        """A data set from a folder in BEIR's layout.

        The folder has corpus.jsonl (`_id`, `title`, `text`), queries.jsonl (`_id`, `text`) and
        qrels/SPLIT.tsv; each may be compressed, with .gz, .bz2, .xz or .zst after its name. Title
        and text are joined by a blank, as BEIR does. exclude_self: a document with the id of the
        query is no result of it, which is BEIR's rule; its data sets ArguAna, Quora and SCIDOCS
        need it.

        Raises ReadError for a file that is not there, FormatError with file and line, and what
        `from_texts` raises.

        >>> fr.Dataset.from_beir("data/absent")
        Traceback (most recent call last):
        fastrank.errors.ReadError: data/absent/corpus.jsonl: no such file or directory
        """
        from fastrank.datasets.beir import from_beir

        return from_beir(folder, split, exclude_self)

    @classmethod
    def from_files(
        cls,
        corpus: Source | Sequence[Source],
        queries: Source,
        qrels: Any,
        *,
        fields: Sequence[str] | None = None,
        query_fields: Sequence[str] | None = None,
        encoding: str = "utf-8",
        exclude_self: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """A data set from a TREC collection: documents, topics, judgments; also from other files.

        corpus: a file, several, or a folder whose files all hold documents. The content shows the
            format: TREC's SGML (`<DOC>` with `<DOCNO>`), JSONL or parquet (an id, texts), or TSV
            (id and text, or a header; with a header, cells may be quoted as in CSV). Any may be
            compressed.
        queries: the same, and TREC's topics, `<top>` with or without closing tags, and `<topic>`.
        qrels: whatever `evaluate` takes as judgments.
        fields: the elements or names whose texts make a document, in the order of the file. By
            default all of a `<DOC>` but its ids (`DOCNO`, `DOCID`, `DOCOLDNO`, `DOCHDR`), and the
            names title, text, contents and body of the others.
        query_fields: the same for queries. By default `title`, or `query`, of topics, and the names
            query and question too.
        encoding: of the files; `latin-1` for older collections.

        Texts are what the files hold, line ends too; of SGML, a blank stands where tags were, and
        characters for character references. Queries are stripped. Raises ReadError, FormatError
        with file and line, and what `from_texts` raises.

        >>> import io
        >>> corpus = io.BytesIO(b"<DOC><DOCNO> d1 </DOCNO><TEXT>Red &amp; blue</TEXT></DOC>")
        >>> topics = io.BytesIO(b"<top><num> Number: 7 <title> blue <desc> what is blue </top>")
        >>> data = fr.Dataset.from_files(corpus, topics, {"7": {"d1": 1}})
        >>> data.corpus, data.queries
        (['Red & blue'], ['blue'])
        """
        from fastrank.datasets.text_files import from_files

        return from_files(
            corpus, queries, qrels, fields, query_fields, encoding, exclude_self, name
        )

    @classmethod
    def from_huggingface(
        cls,
        corpus: Any,
        queries: Any,
        qrels: Any,
        *,
        columns: Mapping[str, Mapping[str, str | None]] | None = None,
        split: str | None = None,
        exclude_self: bool = False,
        name: str = "datasets",
    ) -> Dataset:
        """A data set from objects of Hugging Face's `datasets`, with the columns of BEIR's.

        corpus: a Dataset with `_id`, `text` and, if there are titles, `title`. Texts are read when
            they are encoded, and stay on disk until then.
        queries: a Dataset with `_id` and `text`.
        qrels: a Dataset with `query-id`, `corpus-id` and `score`; or whatever `evaluate` takes.
        columns: the names of columns that have none of the usual ones, by table and role:
            {"corpus": {"id": ..., "title": ..., "text": ...}, "queries": {"id": ..., "text": ...},
            "qrels": {"query": ..., "doc": ..., "grade": ...}}. None for an id: the row numbers.
        split: which split of a DatasetDict with several; one with a single split needs none.

        The other names that `read_qrels` and `from_files` know are known here too. Raises
        InputError for columns that are missing, and what `from_texts` raises.

        >>> import datasets  # doctest: +SKIP
        >>> corpus = datasets.load_dataset("BeIR/scifact", "corpus")  # doctest: +SKIP
        >>> queries = datasets.load_dataset("BeIR/scifact", "queries")  # doctest: +SKIP
        >>> qrels = datasets.load_dataset("BeIR/scifact-qrels", split="test")  # doctest: +SKIP
        >>> fr.Dataset.from_huggingface(corpus, queries, qrels)  # doctest: +SKIP
        <Dataset datasets: 5183 documents, 300 queries, 339 judgments>
        """
        from fastrank.datasets.huggingface import from_huggingface

        return from_huggingface(corpus, queries, qrels, columns, split, exclude_self, name)

    @classmethod
    def from_pairs(
        cls,
        rows: Iterable[Mapping[str, Any]] | Source | Any,
        *,
        corpus: Any = None,
        columns: Mapping[str, str] | None = None,
        split: str | None = None,
        name: str = "pairs",
    ) -> Dataset:
        """A data set from queries with texts that answer them, as training data has them.

        rows: mappings; a Dataset of Hugging Face in any format, a frame of pandas or polars, an
            arrow table; or a file of JSONL or parquet. Each has a query (`query`, `anchor` or
            `question`), a positive (`positive` or `pos`) and perhaps negatives (`negative`, `neg`,
            `negative_1`, ...); positives and negatives are a text or a list of texts.
        corpus: the texts to search: a list of them, or a table as `rows` is one. By default all
            positives and negatives.
        columns: the names of columns by role (query, positive, negative; text for the corpus), if
            they have none of the usual names.
        split: which split of a DatasetDict with several.

        Equal texts are one document, with its number among the distinct texts as its id, and equal
        queries are one query, with the number of its first row. Positives have grade 1, negatives
        0. Raises InputError, which names the row, and FormatError for a file.

        >>> rows = [{"query": "apples", "pos": ["red apples"], "neg": ["blue plums"]}]
        >>> data = fr.Dataset.from_pairs(rows)
        >>> data.corpus, data.qrels.to_dict()
        (['blue plums', 'red apples'], {'0': {'0': 0, '1': 1}})
        >>> data = fr.Dataset.from_pairs(rows, corpus=["green pears", "red apples"])
        >>> data.qrels.to_dict(), data.outside
        ({'0': {'2': 0, '1': 1}}, ['2'])
        """
        from fastrank.datasets.pairs import from_pairs

        return from_pairs(rows, corpus, columns, split, name)

    @classmethod
    def from_articles(
        cls,
        articles: Iterable[Mapping[str, Any]] | Source | Any,
        *,
        id: str = "id",
        text: str = "text",
        embedding: str = "embedding",
        similar: str | None = None,
        unknown: str = "error",
        split: str | None = None,
        name: str = "articles",
    ) -> Dataset:
        """A data set from articles, some of which are labelled with the articles like them.

        articles: mappings; a Dataset of Hugging Face in any format, a frame of pandas or polars,
            an arrow table; or a file of JSONL or parquet. Each article has an id, a text or an
            embedding, and, if it is labelled, a list of similar articles: their ids, or objects
            with an id. Every labelled article is a query against all others; it is no result of
            itself, even where it names itself.
        id, text, embedding, similar: the names of these; the similar articles are by default in
            `labels` or `similar`.
        unknown: what an id among the similar ones is that no article has. "error"; "keep": a
            relevant document that nobody can find; "drop": left out.
        split: which split of a DatasetDict with several.

        Articles that have embeddings need no model. Raises InputError, which names the article, and
        FormatError for a file.

        >>> articles = [
        ...     {"id": "a", "embedding": [0.0, 1.0], "similar": ["c"]},
        ...     {"id": "b", "embedding": [1.0, 0.0]},
        ...     {"id": "c", "embedding": [0.25, 1.0]},
        ... ]
        >>> data = fr.Dataset.from_articles(articles)
        >>> data
        <Dataset articles: 3 documents, 1 query, 1 judgment>
        >>> fr.evaluate_model(None, data, "recip_rank").mean
        {'recip_rank': 1.0}
        """
        from fastrank.datasets.articles import from_articles

        names = {"id": id, "text": text, "embedding": embedding}
        return from_articles(articles, names, similar, unknown, split, name)

    def __repr__(self) -> str:
        counts = [
            _counted(len(self.corpus_ids), "document", "documents"),
            _counted(len(self.query_ids), "query", "queries"),
            _counted(len(self.qrels.docs), "judgment", "judgments"),
        ]
        if self.outside:
            documents = _counted(len(self.outside), "judged document", "judged documents")
            counts.append(f"{documents} outside the corpus")
        return f"<Dataset {self.name}: {', '.join(counts)}>"


def as_dataset(given: Any) -> Dataset:
    """The data set; or that of a folder in BEIR's layout. Raises TypeError, and as `from_beir`."""
    if isinstance(given, Dataset):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Dataset.from_beir(given)
    raise TypeError(f"dataset: expected {KINDS}, found {type(given).__name__}")


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
