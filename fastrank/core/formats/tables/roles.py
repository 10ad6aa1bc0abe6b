"""The roles of columns of tables, and the names that people use for each.

A reader of tables names the roles that it needs; `find_columns` finds their columns by these names,
or as `columns=` says. The page "Files we read" lists them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache

from fastrank.common.faces import column_option
from fastrank.common.messages import first_few
from fastrank.errors import InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    # A name of a column: a str, or in a table without names a number.
    Name = Any
    # Roles by the words that `columns=` takes for them, which are their own in a sequence.
    Roles = Sequence[str] | Mapping[str, str]

# Names of systems or of other things.
UNSURE_TAGS = (
    *("model", "model_name", "method", "name", "retriever", "ranker", "reranker", "engine"),
    *("search_engine", "algorithm", "pipeline", "approach", "strategy", "experiment", "variant"),
)
# For each role the names of its column, in groups: names of a group are used only if there are none
# of the groups before it. Of the names in one group only one may occur.
#
# `query` and `docid` are ids in trectools, but in PyTerrier a text and an internal number;
# `document` is a text beside an id; the judgments of Hugging Face, BEIR and ranx call their grades
# `score`.
ROLES: dict[str, tuple[tuple[str, ...], ...]] = {
    # Judgments and runs.
    "query": (
        ("query_id", "qid", "q_id"),
        ("query",),
        ("queryid", "query_number", "query_no", "topic", "topic_id", "topic_number", "question_id"),
        ("query_text", "search_term", "search_query", "keyword", "q", "user_input"),
        ("user_id", "userid", "user"),
    ),
    "doc": (
        ("doc_id", "document_id", "docno", "corpus_id", "pid", "doc"),
        ("docid", "document", "documents", "docs"),
        ("documentid", "doc_number", "doc_no", "passage_id", "chunk_id", "node_id"),
        ("product_id", "productid", "item_id", "itemid", "asin", "sku"),
    ),
    "grade": (
        ("relevance", "label", "rel", "grade", "rating"),
        ("score",),
        ("judgment", "judgement", "relevance_score", "relevance_label", "relevancy"),
        ("is_relevant", "relevant", "gain"),
    ),
    "score": (
        ("score",),
        ("similarity", "_score", "retrieval_score", "relevance_score", "prediction"),
    ),
    "rank": (("rank",), ("doc_position", "position")),
    "iteration": (("subtopic", "subtopic_id"), ("iteration", "iter", "q0")),
    "stratum": (("stratum", "strata"),),
    "tag": (
        ("tag", "system"),
        *((name,) for name in ("run", "run_id", "runid", "run_name", "system_id", "system_name")),
        ("snapshot_name",),
        *((name,) for name in UNSURE_TAGS),
    ),
    # In judgments, the relevant documents of a query; in runs, its results, best first.
    "relevant": (
        ("relevant", "relevant_docs", "relevant_doc_ids", "relevant_ids", "relevant_documents"),
        ("positive_ids", "gold_ids", "gold_doc_ids", "expected_ids", "ground_truth_ids"),
        ("reference_context_ids",),
        ("positives", "gold", "expected", "ground_truth"),
    ),
    "retrieved": (
        ("retrieved", "retrieved_docs", "retrieved_doc_ids", "retrieved_ids"),
        ("ranking", "ranked", "ranked_docs", "results", "doc_ids", "result_ids", "hits"),
        ("retrieved_context_ids",),
    ),
    # Beside such a list, the text of the query may be called `query`.
    "query_of_list": (
        ("query_id", "qid", "q_id"),
        ("queryid", "query_number", "query_no", "topic_id", "topic_number", "question_id"),
        ("id", "_id"),
        ("query", "topic"),
        ("query_text", "search_term", "search_query", "question", "keyword", "q", "user_input"),
        ("user_id",),
    ),
    # Answer selection, where a document is a sentence: WikiQA, TREC-QA and their copies at Hugging
    # Face, and pairs of sentences.
    "question": (
        ("question", "query", "question_text", "query_text", "sentence1"),
        ("text_a", "sentence_a"),
    ),
    "question_id": (("questionid", "question_id", "query_id", "qid", "q_id"),),
    "candidate": (
        ("candidate", "answer", "sentence", "candidate_text", "answer_text", "sentence2"),
        ("passage", "text", "text_b", "sentence_b"),
    ),
    "candidate_id": (
        ("candidate_id", "sentenceid", "sentence_id", "answer_id", "doc_id", "docno", "pid"),
        ("docid",),
        ("passage_id", "doc_number"),
    ),
    "label": (("label", "relevance", "rel", "grade", "is_correct"), ("target",)),
    # Spans and chunks: the chunking benchmark, LlamaIndex and LangChain.
    "document": (
        ("document_id", "doc_id", "ref_doc_id", "corpus_id", "docno", "doc"),
        ("document", "docid", "source", "file"),
    ),
    "chunk": (("chunk_id", "node_id", "passage_id"), ("chunk", "id_", "id")),
    "start": (("start", "start_index", "start_char_idx", "start_char", "begin"),),
    "end": (("end", "end_index", "end_char_idx", "end_char", "stop"),),
    "evidence": (("evidence", "evidence_id"),),
    "page": (("page", "page_label", "page_number"),),
    "tokens": (("tokens", "token_count", "num_tokens"),),
    "content": (("text", "content", "page_content"),),
    # Collections of texts: BEIR, Anserini, MS MARCO, ir_datasets, DPR and PyTerrier.
    "id": tuple(
        (name,)
        for name in (
            *("_id", "id", "docno", "doc_id", "docid", "pid", "qid", "query_id"),
            *("passage_id", "document_id", "corpus_id", "question_id", "topic_id", "product_id"),
        )
    ),
    "title": (("title",),),
    "text": tuple(
        (name,)
        for name in (
            *("text", "contents", "body", "content", "query", "question"),
            *("passage", "document", "page_content", "query_text", "search_term"),
        )
    ),
    # Training data: sentence-transformers, FlagEmbedding, Tevatron and DPR.
    "asked": (("query",), ("anchor",), ("question",), ("search_term",)),
    "positive": tuple(
        (name,)
        for name in ("positive", "pos", "positives", "positive_passages", "positive_ctxs", "answer")
    ),
    "negative": tuple(
        (name,)
        for name in ("negative", "neg", "negatives", "negative_passages", "hard_negative_ctxs")
    ),
    # Tasks on texts.
    "text_a": tuple(
        (name,)
        for name in (
            *("text_a", "text", "sentence1", "sentence", "sent1", "text1", "premise", "question1"),
            *("anchor", "query", "content", "sentence_a"),
        )
    ),
    "text_b": tuple(
        (name,)
        for name in (
            *("text_b", "sentence2", "sent2", "text2", "hypothesis", "question2", "positive"),
            *("answer", "sentence_b"),
        )
    ),
    "text_c": (("text_c",), ("sentence3",), ("text3",), ("negative",), ("sentence_c",)),
    "target": tuple(
        (name,)
        for name in (
            *("label", "labels", "score", "gold", "target", "class", "similarity_score"),
            *("relatedness_score", "is_duplicate", "label_text", "gold_label", "entailment_label"),
        )
    ),
    "answers": (("answers",),),
    "similar": (("labels",), ("similar",), ("label",)),
    "embedding": (("embedding",), ("vector",)),
    # Values that `fastrank eval` or another program computed.
    "measure": (("measure",), ("metric",)),
    "value": (("value",), ("score",)),
    "cluster": (("cluster", "cluster_id"),),
    # Ways of lm-evaluation-harness to find an answer in a text; an item has a value with each.
    "filter": (("filter",),),
    "dataset": (("dataset", "data_set", "dataset_name", "dataset_id"), ("benchmark", "task")),
}
# Roles of tables of values: systems are named as the tags of runs are, and items as queries, or as
# lm-evaluation-harness, Inspect, SWE-bench and others name theirs.
ROLES["system"] = ROLES["tag"]
ROLES["item"] = (
    *(("item", "item_id"), *ROLES["query"][:3], ("doc_id", "sample_id"), ("instance_id",)),
    *(("example_id",), ("task_id",), ("id", "_id"), ("question",), *ROLES["query"][3:]),
)
# Names that messages list.
LISTED = 8
# Names of the column of row numbers in other programs.
INDEX_NAMES = ("", "unnamed:_0", "index", "id", "idx", "_index_level_0_")

QRELS_ROLES = ("query", "doc", "grade", "iteration", "stratum")
# Columns of runs by what documents are ranked by. Ranks count only if there are no scores.
RUN_ROLES = {
    "score": ("query", "doc", "score", "rank", "tag"),
    "rank": ("query", "doc", "rank", "tag"),
    "given": ("query", "doc", "tag"),
}
# One of each is in a record, and one among columns, of judgments or a run, perhaps with lists.
RECORD_ROLES = (("query", "query_of_list"), ("doc", "relevant", "retrieved"))
COLUMN_ROLES = (("query",), ("doc", "relevant", "retrieved"))
# The roles that `--columns` names in judgments and runs.
LISTED_ROLES = (*QRELS_ROLES, "score", "rank", "tag", "relevant", "retrieved")
SPAN_ROLES = ("query", "document", "start", "end", "content", "grade", "evidence")
CHUNK_ROLES = ("chunk", "document", "start", "end", "content", "page", "tokens")
CANDIDATE_ROLES = ("question", "question_id", "candidate", "candidate_id", "label")
# Required columns.
NEEDED = ("query", "doc", "grade", "score", "rank", "label", "document", "chunk")
# Beside these, judgments need no grades.
UNGRADED = (*("query", "doc", "iteration", "stratum"), *("title", "text", "content", "candidate"))
# A run needs either ranks or scores.
INSTEAD = {"score": "rank", "rank": "score"}
_SEPARATORS = re.compile(r"[\s_-]+")


class AskedColumns:
    """The columns that a command line names for all files that have them (`--columns`).

    names: by role; for None there is none. unused: the names that no table had so far.
    """

    def __init__(self, names: Mapping[str, Name]) -> None:
        # The readers of spans call so what others call a doc.
        both = {"doc": names.get("document"), "document": names.get("doc")}
        self.names = {role: name for role, name in both.items() if name is not None} | dict(names)
        self.unused = {name for name in names.values() if name is not None}
        self._kinds: dict[tuple[str, Name], str] = {}

    def of(self, roles: Iterable[str], names: Collection[Name]) -> dict[str, Name] | None:
        """The columns of these roles that are in a table with these names, if there are any."""
        wanted = {*roles}
        chosen = {
            role: name
            for role, name in self.names.items()
            if role in wanted and (name is None or name in names)
        }
        self.unused -= {*chosen.values()}
        return chosen or None

    def check(self) -> None:
        """Raise OptionError if no table had a column that the command line names."""
        if self.unused:
            names = ", ".join(sorted(map(repr, self.unused)))
            raise OptionError("--columns", f"no table has the columns {names}")

    def use_lists(self, source: str, name: Name, kind: str) -> None:
        """Raise InputError if one command would read the same lists as judgments and as a run."""
        if self is not _NONE and self._kinds.setdefault((source, name), kind) != kind:
            reason = f"the lists in column {name!r} would be both the judgments and the run"
            advice = "if there are two, set --columns relevant=NAME,retrieved=NAME"
            raise InputError(source, f"{reason}; {advice}")

    def are_in(self, cells: Iterable[Name]) -> bool:
        """Whether one of the names is in a first line, which is a header then."""
        return not {*self.names.values()}.isdisjoint(cells)

    @property
    def are_numbers(self) -> bool:
        """Whether these are columns of files without a header."""
        return any(isinstance(name, int) for name in self.names.values())


_NONE = AskedColumns({})
_asked = _NONE


def asked_columns() -> AskedColumns:
    """The columns that the command line names."""
    return _asked


@contextmanager
def asking_columns(names: Mapping[str, Name]) -> Iterator[AskedColumns]:
    """Tables that are read in this block have these columns, where `columns=` is not given."""
    global _asked
    before, _asked = _asked, AskedColumns(names)
    try:
        yield _asked
    finally:
        _asked = before


# Lists of objects ask for each element.
@cache
def names_of(role: str) -> tuple[str, ...]:
    """All names of a role, the first choice first."""
    return sum(ROLES[role], ())


def names_beside_lists(role: str) -> tuple[str, ...]:
    """The names of a column of numbers where the documents are in lists: also the plurals."""
    names = names_of(role)
    return (*names, *(f"{name[:-1]}ies" if name[-1] == "y" else f"{name}s" for name in names))


def normalized_name(name: object) -> str:
    """A column's name as it is in the table of roles: in lower case, with `_` for blanks and `-`.

    >>> from fastrank.core.formats.tables.roles import normalized_name
    >>> normalized_name("Query Text"), normalized_name("corpus-id "), normalized_name(0)
    ('query_text', 'corpus_id', '0')
    """
    return _SEPARATORS.sub("_", str(name).strip().lower())


def is_header(cells: Iterable[Name], roles: Iterable[Sequence[str]] = COLUMN_ROLES) -> bool:
    """Whether these are column names that include one of each of the roles."""
    names = {normalized_name(cell) for cell in cells if not isinstance(cell, int)}
    return all(any(not names.isdisjoint(names_of(role)) for role in needed) for needed in roles)


def kind_of_names(names: Collection[Name]) -> str | None:
    """The kind (qrels or run) that columns with these names must be, or None if unclear."""
    asked = set(_asked.of(("grade", "relevant", *INSTEAD, "retrieved"), names) or ())
    if asked:
        judged = asked & {"grade", "relevant"}
        return None if judged and judged != asked else "qrels" if judged else "run"
    known = {normalized_name(name) for name in names}
    graded = known & {*names_of("grade"), *names_of("relevant")} - {*names_of("score")}
    if known & {*names_of("rank"), *names_of("retrieved"), *ROLES["tag"][0]}:
        return None if graded else "run"
    # `score` is the grade of BEIR's qrels as well as the score of a run.
    return "qrels" if graded and "score" not in known else None


def may_lack_grades(names: Collection[Name], columns: Mapping[str, Name] | None) -> bool:
    """Whether judgments in columns with these names may all have grade 1.

    That is so if `columns=` says that no column has grades (None), or if none could have them.
    """
    if columns and "grade" in columns:
        return columns["grade"] is None
    harmless = {name for role in UNGRADED for name in names_of(role)} - set(names_of("grade"))
    chosen = set((columns or {}).values())
    rest = {normalized_name(name) for name in names if name not in chosen}
    return rest <= harmless | {*INDEX_NAMES}


def check_mapping(columns: object, source: str) -> None:
    """Raise InputError unless `columns=` names columns by role."""
    if columns is not None and not hasattr(columns, "items"):
        kind = type(columns).__name__
        raise InputError(source, f"columns: expected {{role: name}}, found {kind}")


def check_roles(columns: Mapping[str, Name] | None, roles: Iterable[str], source: str) -> None:
    """Raise InputError unless `columns=` names columns of these roles, if it is given."""
    check_mapping(columns, source)
    words = list(roles)
    for role in columns or ():
        if role not in words:
            reason = f"columns: expected the roles {', '.join(words)}, found {role!r}"
            raise InputError(source, reason)


def find_columns(
    names: Sequence[Name],
    roles: Roles,
    columns: Mapping[str, Name] | None,
    source: str,
    *,
    ignored: Sequence[str] = (),
    optional: Sequence[str] = (),
    needed: Sequence[str] = NEEDED,
    call: str | None = None,
) -> dict[str, int]:
    """The index of the column of each role that has one.

    roles: keys of ROLES, or {word: key} where `columns=` has other words for them. columns: names
    of columns by role, which take precedence over the usual names; for None there is none.
    `ignored` roles are skipped, and of `needed` ones only those that are `optional` may be missing.
    call: the function to which errors advise to pass `columns=`, by default the caller's; empty if
    there is none. Raises InputError, with the columns that are there and the usual names, for
    missing and ambiguous columns.
    """
    if columns is None:
        columns = _asked.of(roles, names)
    usual = roles if isinstance(roles, Mapping) else dict(zip(roles, roles, strict=True))
    check_roles(columns, [*usual, *ignored], source)
    chosen = {role: name for role, name in (columns or {}).items() if role not in ignored}
    listed = f"found {', '.join(map(repr, names))}" if len(names) else "found no columns"

    def advised(reason: str, before: str, *roles: str) -> InputError:
        if call == "":
            return InputError(source, reason)
        return InputError(source, f"{reason}{before}{column_option(*roles, call=call)}")

    def index_of(role: str, wanted: Sequence[Name], labels: Sequence[Name]) -> int:
        matches = [index for index, label in enumerate(labels) if label in wanted]
        if len(matches) > 1:
            several = " and ".join(repr(names[index]) for index in matches)
            reason = f"more than one {words_of(role)} column: {several}"
            if len({names[index] for index in matches}) == 1:
                raise InputError(source, f"{reason}; rename one of them")
            raise advised(reason, "; to choose one, ", role)
        return matches[0] if matches else -1

    indexes: dict[str, int] = {}
    normalized = list(map(normalized_name, names))
    for role, name in chosen.items():
        if name is None:
            continue
        index = index_of(role, [name], names)
        if index < 0:
            reason = f"columns: no column {name!r} for the {words_of(role)}; {listed}"
            raise InputError(source, reason)
        if index in indexes.values():
            raise InputError(source, f"columns: {name!r} is given for the {role} and another role")
        indexes[role] = index
    for role, key in usual.items():
        if role in chosen:
            continue
        for group in ROLES[key]:
            index = index_of(role, group, normalized)
            if index >= 0:
                if index not in indexes.values():
                    indexes[role] = index
                break
    if "rank" in chosen and "score" not in chosen:
        # Scores are not needed if ranks are asked for.
        indexes.pop("score", None)
    absent = [role for role in usual if role in needed and role not in {*optional, *indexes}]
    missing = [role for role in absent if INSTEAD.get(role) not in indexes]
    if {*INSTEAD} <= {*missing}:
        missing.remove("rank")
    if not missing:
        return indexes
    for role in missing:
        asked = _asked.names.get(role)
        known = first_few(names_of(usual[role]), LISTED)
        if asked is not None:
            known += f" or {asked!r}, as in --columns {role}={asked}"
            raise InputError(source, f"no {words_of(role)} column: {listed}, expected {known}")
    reason = f"no {words_of(role)} column: {listed}, expected one of {known}"
    if len(missing) > 1:
        words, names_for = ", ".join(map(words_of, missing)), [names_of(usual[r]) for r in missing]
        first = (r if r in known else known[0] for r, known in zip(missing, names_for, strict=True))
        reason = f"no columns for {words}: {listed}, expected names such as {', '.join(first)}"
    raise advised(reason, "; or ", *missing)


def words_of(role: str) -> str:
    """A role in words."""
    return "document" if role == "doc" else role.replace("_", " ")
