"""A corpus, queries and judgments."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrank.common.messages import counted
from fastrank.core.data.columns import Frozen
from fastrank.core.formats.files.source import name_of
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.common.choices import RepeatedTexts
    from fastrank.core.formats.files.source import Source
    from fastrank.core.formats.inputs import QrelsLike
    from fastrank.core.formats.qrels import Qrels

KINDS = "a Dataset, or the path of a folder in BEIR's layout"


class Dataset(Frozen):
    """A corpus, queries and judgments on which to evaluate embedding models.

    name: the source, for messages.
    corpus_ids, corpus: the document ids, a list of str, and the texts, a sequence that returns a
        list of str for a slice.
    query_ids, queries: the same for queries. Queries without judgments are dropped, as in BEIR;
        their ids are in `unjudged`.
    qrels: Qrels. Judged documents that are not in the corpus are kept, as relevant documents that
        cannot be retrieved, and listed in `outside`; judged queries without a text are kept, too.
    ignore_identical_ids: whether to exclude the document with the id of the query from its results.
    query_rows: if the queries are documents of the corpus, their rows, int64[queries]; the vector
        of a query is then that of its document. Otherwise None.
    vectors: embeddings supplied with the corpus, float32[documents, dimension], or None.
    answers: {query id: list of str}, the short answers of questions, or None. Data sets with
        answers may have no judgments: `fastrank.datasets.answer_qrels` judges a run.
    row_numbers: {"documents": number, "queries": number} of the sides whose ids are row numbers.

    >>> data = fr.Dataset.from_texts({"d1": "red apples"}, {"q1": "apples"}, {"q1": {"d1": 1}})
    >>> data
    <Dataset texts: 1 document, 1 query, 1 judgment>
    >>> data.corpus_ids, data.corpus
    (['d1'], ['red apples'])
    """

    name: str
    corpus_ids: list[str]
    corpus: Sequence[str]
    query_ids: list[str]
    queries: Sequence[str]
    qrels: Qrels
    ignore_identical_ids: bool = False
    query_rows: npt.NDArray[np.int64] | None = None
    vectors: npt.NDArray[np.float32] | None = None
    answers: dict[str, list[str]] | None = None
    outside: list[str]
    unjudged: list[str]
    row_numbers: dict[str, int] = {}  # noqa: RUF012

    @classmethod
    def from_texts(
        cls,
        corpus: Mapping[Any, Any] | Sequence[str],
        queries: Mapping[Any, str] | Sequence[str],
        qrels: QrelsLike,
        *,
        corpus_ids: Iterable[Any] | None = None,
        query_ids: Iterable[Any] | None = None,
        ignore_identical_ids: bool = False,
        name: str = "texts",
    ) -> Dataset:
        """Create a data set from dicts or lists.

        corpus: {id: text}, {id: {"title": ..., "text": ...}} as in BEIR, or a list of texts with
            their ids in corpus_ids, by default the row numbers from 0. Title and text are joined by
            a blank.
        queries, query_ids: in the same form as corpus and corpus_ids.
        qrels: judgments in any form that `evaluate` takes, such as a dict of dicts.
        ignore_identical_ids: exclude the document with the id of the query from its results.

        Raises InputError for duplicate ids or the wrong number of ids, texts that are not str,
        judgments that share no query or no document with the data, and those that count from 1
        where ids are row numbers.

        >>> fr.Dataset.from_texts(["red", "blue"], ["azure"], {0: {1: 1}}).corpus_ids
        ['0', '1']
        """
        from fastrank.vectors.datasets.assembly import assemble, ids_and_texts

        documents = ids_and_texts("corpus", corpus, corpus_ids)
        asked = ids_and_texts("queries", queries, query_ids)
        lists = {
            "documents": corpus_ids is None and not isinstance(corpus, Mapping),
            "queries": query_ids is None and not isinstance(queries, Mapping),
        }
        return assemble(
            name,
            *documents,
            *asked,
            qrels,
            [noun for noun, is_list in lists.items() if is_list],
            ignore_identical_ids=ignore_identical_ids,
        )

    @classmethod
    def from_beir(
        cls,
        folder: str | os.PathLike[str],
        split: str = "test",
        *,
        ignore_identical_ids: bool = False,
    ) -> Dataset:
        """Read a data set from a folder in BEIR's layout.

        The folder has corpus.jsonl (`_id`, `title`, `text`), queries.jsonl (`_id`, `text`) and
        qrels/SPLIT.tsv; each may be compressed, with .gz, .bz2, .xz or .zst after its name. Title
        and text are joined by a blank, as in BEIR. ignore_identical_ids: exclude the document with
        the id of the query from its results, as BEIR does; ArguAna, Quora and SCIDOCS need it.

        Raises ReadError for a missing file, FormatError with file and line, and what `from_texts`
        raises.

        >>> fr.Dataset.from_beir("data/absent")
        Traceback (most recent call last):
        fastrank.errors.ReadError: data/absent/corpus.jsonl: no such file or directory
        """
        from fastrank.core.formats.load import read_qrels
        from fastrank.core.formats.texts.text_files import file_in, read_texts, split_of
        from fastrank.vectors.datasets.assembly import assemble

        corpus, queries = (file_in(folder, name) for name in ("corpus.jsonl", "queries.jsonl"))
        qrels = read_qrels(split_of(folder, split))
        name = os.path.basename(os.path.abspath(name_of(folder)))
        asked = read_texts(queries, None, "utf-8", "query")
        documents = read_texts(corpus, None, "utf-8", "document")
        return assemble(name, *documents, *asked, qrels, ignore_identical_ids=ignore_identical_ids)

    @classmethod
    def from_files(
        cls,
        corpus: Source | Sequence[Source],
        queries: Source,
        qrels: QrelsLike | None = None,
        *,
        fields: Sequence[str] | None = None,
        query_fields: Sequence[str] | None = None,
        encoding: str = "utf-8",
        ignore_identical_ids: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Read a data set from a TREC collection (documents, topics, judgments) or other files.

        corpus: a file, a list of files, or a folder that contains only files of documents. The
            format is detected: TREC SGML (`<DOC>` with `<DOCNO>`), JSONL (id and texts), TSV (id
            and text, or with a header; then cells may be quoted as in CSV), or CSV, JSON, parquet
            or Arrow. Files may be compressed. In a folder, other text files are a document each,
            whose id is the name of the file without suffixes. Or a table in memory, as in
            `from_pairs`.
        queries: the same formats; TREC topics: `<top>` with or without closing tags, and `<topic>`;
            DPR's questions (`nq-dev.qa.csv`): a question, a tab and a list of answers as Python
            writes it, with the row numbers from 0 as ids. The answers of these, and of JSONL and
            parquet with `answers`, are kept.
        qrels: judgments in any form that `evaluate` takes. Queries with answers can do without, see
            `fastrank.datasets.answer_qrels`.
        fields: the elements or names whose texts make up a document, in the order of the file. By
            default all elements of a `<DOC>` except its ids (`DOCNO`, `DOCID`, `DOCOLDNO`,
            `DOCHDR`), and the names title, text, contents and body in other formats.
        query_fields: the same for queries. By default `title`, or `query`, of topics, and also the
            names query and question in other formats.
        encoding: of the files; `latin-1` for older collections.

        Texts are kept as in the files, including line ends; in SGML, tags become blanks, and
        character references are decoded. Queries are stripped. Raises ReadError, FormatError with
        file and line, and what `from_texts` raises.

        >>> import io
        >>> corpus = io.BytesIO(b"<DOC><DOCNO> d1 </DOCNO><TEXT>Red &amp; blue</TEXT></DOC>")
        >>> topics = io.BytesIO(b"<top><num> Number: 7 <title> blue <desc> what is blue </top>")
        >>> data = fr.Dataset.from_files(corpus, topics, {"7": {"d1": 1}})
        >>> data.corpus, data.queries
        (['Red & blue'], ['blue'])
        """
        from fastrank.core.formats.texts.text_files import read_texts
        from fastrank.vectors.datasets.assembly import assemble

        for option, names in (("fields", fields), ("query_fields", query_fields)):
            if isinstance(names, str):
                raise OptionError(option, f"expected a list of names, found the str {names!r}")
        try:
            "".encode(encoding)
        except LookupError as error:
            raise OptionError("encoding", str(error)) from None
        # Queries first: they are small, so that errors show soon.
        answers: dict[str, list[str]] = {}
        query_ids, asked = read_texts(queries, query_fields, encoding, "query", answers)
        if name is None:
            whole: Any = corpus[0] if isinstance(corpus, (list, tuple)) else corpus
            name = name_of(whole)
        documents = read_texts(corpus, fields, encoding, "document")
        return assemble(
            name,
            *documents,
            query_ids,
            [text.strip() for text in asked],
            qrels,
            ["queries"] * (bool(answers) and query_ids == [*map(str, range(len(query_ids)))]),
            ignore_identical_ids=ignore_identical_ids,
            answers=answers or None,
        )

    @classmethod
    def from_huggingface(
        cls,
        corpus: Any,
        queries: Any,
        qrels: QrelsLike,
        *,
        columns: Mapping[str, Mapping[str, str | None]] | None = None,
        split: str | None = None,
        ignore_identical_ids: bool = False,
        name: str = "datasets",
    ) -> Dataset:
        """Create a data set from Hugging Face Datasets with columns as in BEIR.

        corpus: a Dataset with `_id`, `text` and optionally `title`. Texts stay on disk until they
            are encoded.
        queries: a Dataset with `_id` and `text`.
        qrels: a Dataset with `query-id`, `corpus-id` and `score`, or any form that `evaluate`
            takes.
        columns: the names of columns with unusual names, by table and role:
            {"corpus": {"id": ..., "title": ..., "text": ...}, "queries": {"id": ..., "text": ...},
            "qrels": {"query": ..., "doc": ..., "grade": ...}}. None as an id means row numbers.
        split: the split of a DatasetDict; needed if it has several.

        Other names that `read_qrels` and `from_files` know are accepted, too. Raises InputError for
        missing columns, and what `from_texts` raises.

        >>> import datasets  # doctest: +SKIP
        >>> corpus = datasets.load_dataset("BeIR/scifact", "corpus")  # doctest: +SKIP
        >>> queries = datasets.load_dataset("BeIR/scifact", "queries")  # doctest: +SKIP
        >>> qrels = datasets.load_dataset("BeIR/scifact-qrels", split="test")  # doctest: +SKIP
        >>> fr.Dataset.from_huggingface(corpus, queries, qrels)  # doctest: +SKIP
        <Dataset datasets: 5,183 documents, 300 queries, 339 judgments>
        """
        from fastrank.vectors.datasets.huggingface import from_huggingface

        return from_huggingface(corpus, queries, qrels, columns, split, ignore_identical_ids, name)

    @classmethod
    def from_pairs(
        cls,
        rows: Iterable[Mapping[str, Any]] | Source | Any,
        *,
        corpus: Any = None,
        columns: Mapping[str, str] | None = None,
        split: str | None = None,
        duplicates: RepeatedTexts = "merge",
        name: str | None = None,
    ) -> Dataset:
        """Create a data set from pairs of queries and relevant texts, as in training data.

        rows: mappings, a dict of columns, a Hugging Face Dataset in any format, a pandas or polars
            frame, an Arrow table, or a CSV, TSV, JSON, JSONL, parquet or Arrow file, or a folder of
            `save_to_disk`. Each row has a query (`query`, `anchor` or
            `question`), a positive (`positive` or `pos`) and optional negatives (`negative`, `neg`,
            `negative_1`, ...); positives and negatives are a str, or {"title": ..., "text": ...},
            or a list of these. Or DPR's training data: `question`, `answers`, `positive_ctxs`,
            `negative_ctxs` and `hard_negative_ctxs`; the answers are kept.
        corpus: the texts to search, as a list, an array or a table like `rows`. By default all
            positives and negatives.
        columns: the names of the columns by role (query, positive, negative; text for the corpus);
            needed only for unusual names.
        split: the split of a DatasetDict; needed if it has several.
        duplicates: "merge": equal texts are one document, and equal queries one query. "keep": each
            text of the corpus is a document, and each row a query; all documents with the text of a
            positive are relevant.
        name: by default the name of the file, or "pairs".

        The id of a document is its number in the corpus, and that of a query the number of its
        (first) row. Positives have grade 1, negatives 0. Raises InputError, which names the row,
        and FormatError for a file.

        >>> rows = [{"query": "apples", "pos": ["red apples"], "neg": ["blue plums"]}]
        >>> data = fr.Dataset.from_pairs(rows)
        >>> data.corpus, data.qrels.to_dict()
        (['blue plums', 'red apples'], {'0': {'0': 0, '1': 1}})
        >>> data = fr.Dataset.from_pairs(rows, corpus=["green pears", "red apples"])
        >>> data.qrels.to_dict(), data.outside
        ({'0': {'2': 0, '1': 1}}, ['2'])
        """
        from fastrank.vectors.datasets.pairs import from_pairs

        return from_pairs(rows, corpus, columns, split, duplicates, name)

    @classmethod
    def from_squad(cls, source: Source, *, name: str | None = None) -> Dataset:
        """Create a data set from a file of SQuAD 1.1 or 2.0, to retrieve the paragraphs.

        source: the JSON file, compressed or not: `data`, with `title` and `paragraphs`, each with
            `context` and `qas` (`id`, `question`, `answers` with `text`).
        name: by default the name of the file.

        The documents are the paragraphs, with the ids TITLE-NUMBER (from 0). The relevant document
        of a question is its paragraph; its distinct answers are kept. Questions without answers
        (SQuAD 2.0) are in `unjudged`. Raises ReadError, FormatError, and InputError, which names
        the object.

        >>> import io
        >>> file = io.BytesIO(
        ...     b'{"data": [{"title": "Lyon", "paragraphs": [{"context": "Lyon is in France.",'
        ...     b'"qas": [{"id": "q", "question": "Where is Lyon?", "answers": [{"text": "France",'
        ...     b'"answer_start": 11}]}]}]}], "version": "1.1"}'
        ... )
        >>> data = fr.Dataset.from_squad(file)
        >>> data.qrels.to_dict(), data.answers
        ({'q': {'Lyon-0': 1}}, {'q': ['France']})
        """
        from fastrank.vectors.datasets.question_answering import from_squad

        return from_squad(source, name)

    @classmethod
    def from_articles(
        cls,
        articles: Iterable[Mapping[str, Any]] | Source | Any,
        *,
        columns: Mapping[str, str] | None = None,
        unknown: str = "error",
        split: str | None = None,
        name: str = "articles",
    ) -> Dataset:
        """Create a data set from articles, some of which are labelled with similar articles.

        articles: mappings or a table in any form that `from_pairs` reads. Each article has an id, a
            text or an embedding, and, if it is labelled, a list of similar articles (ids, or
            objects with an id). Each labelled article is a query against all others; it is never a
            result of itself, even if its label contains it.
        columns: the names of these fields by role (id, text, embedding, similar) if they have other
            names; similar articles are by default in `labels`, `similar` or `label`.
        unknown: how to treat ids of similar articles that no article has: "error"; "keep", as a
            relevant document that cannot be retrieved; "drop".
        split: the split of a DatasetDict; needed if it has several.

        Articles with embeddings need no model. Raises InputError, which names the article, and
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
        from fastrank.vectors.datasets.articles import from_articles

        return from_articles(articles, columns, unknown, split, name)

    def __repr__(self) -> str:
        counts = [
            counted(len(self.corpus_ids), "document"),
            counted(len(self.query_ids), "query", "queries"),
            counted(len(self.qrels.docs), "judgment"),
        ]
        if self.outside:
            documents = counted(len(self.outside), "judged document")
            counts.append(f"{documents} outside the corpus")
        return f"<Dataset {self.name}: {', '.join(counts)}>"


def as_dataset(source: object) -> Dataset:
    """Return a Dataset, or read one in BEIR's layout. Raises TypeError, and as `from_beir`."""
    if isinstance(source, Dataset):
        return source
    if isinstance(source, (str, os.PathLike)):
        return Dataset.from_beir(source)
    raise TypeError(f"dataset: expected {KINDS}, found {type(source).__name__}")
