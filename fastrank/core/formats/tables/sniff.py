"""Detect the format of a file from its beginning, and the columns of a table from their names."""

from __future__ import annotations

from fastrank.core.formats.files.source import BYTE_ORDER_MARK, HEAD, SourceFile, open_source
from fastrank.errors import FastrankError, InputError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.common.choices import Format
    from fastrank.core.formats.files.source import Source

FORMATS = ("trec", "csv", "tsv", "json", "jsonl", "parquet", "sample")
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".parq": "parquet",
    ".pq": "parquet",
    ".trec": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
    ".run": "trec",
    ".res": "trec",
    ".txt": "trec",
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# Lines that show whether a file is in the format sample.
SAMPLED_LINES = 10
# Fields in a line of TREC's formats: exactly four, or at least six.
TREC_FIELDS: dict[str, Callable[[int], bool]] = {
    "qrels": lambda count: count == 4,
    "run": lambda count: count >= 6,
}


def check_format(name: str, *others: str) -> str:
    """Return the name if it is a format, or one of others, else raise FastrankError."""
    if name not in (known := (*FORMATS, *others)):
        raise FastrankError(f"format: expected one of {', '.join(known)}, found {name!r}")
    return name


def format_by_name(path: str) -> Format | None:
    """The format by the suffix of a file's name, ignoring suffixes of compression."""
    name = path.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


def in_memory(content: bytes, name: str) -> SourceFile:
    """A source with this content."""
    import io

    return SourceFile(name, io.BytesIO(content), may_be_empty=True)


def is_parquet(head: bytes) -> bool:
    """Whether a file with this beginning is parquet."""
    return head.startswith(b"PAR1")


def head_of(source: Source | SourceFile) -> tuple[SourceFile, bytes]:
    """The first decompressed bytes of a source, and a source that still contains them."""
    file = open_source(source)
    if not file.rereadable:
        # A source that can be read only once is read completely.
        with file:
            content = file.read()
        return in_memory(content, file.name), content[:HEAD]
    try:
        return file, file.beginning()
    except ReadError:
        file.close()
        raise


def format_of(head: bytes, name: str, kind: str) -> str:
    """The format of a file that begins with `head`; kind: qrels or run.

    Detected from the content, or from the name if the content is ambiguous.
    """
    if is_parquet(head):
        return "parquet"
    head = head.removeprefix(BYTE_ORDER_MARK)
    content = head.lstrip()
    looks_like_json = content[:1] in (b"{", b"[")
    looks_like_json &= content[1:].lstrip()[:1] in (b'"', b"}", b"{", b"]")
    if looks_like_json and not _is_trec_line(content.partition(b"\n")[0], kind):
        return _kind_of_json(content)
    line = first_line(head)
    if line is None:
        return format_by_name(name) or "trec"
    text = line.decode("utf-8", "replace")
    cells_by_form = {form: _cells(text, form) for form in ("tsv", "csv")}
    for form, cells in cells_by_form.items():
        if len(cells) > 1 and is_header(cells):
            return form
    if TREC_FIELDS[kind](len(line.split())):
        return "trec"
    if kind == "qrels" and is_sample(head):
        return "sample"
    for form, cells in cells_by_form.items():
        if len(cells) in WITHOUT_HEADER[kind]:
            return form
    return format_by_name(name) or "trec"


def format_of_table(head: bytes, name: str) -> str:
    """The format of a file that begins with `head`, of a table other than judgments and runs."""
    form = format_of(head, name, "qrels")
    if form in ("parquet", "json", "jsonl"):
        return form
    line = head.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0]
    return "tsv" if b"\t" in line else "csv"


def _cells(line: str, form: str) -> list[str]:
    """The cells of a line of CSV or TSV, which may be names."""
    return [cell.strip(' "\r') for cell in line.split("," if form == "csv" else "\t")]


def is_sample(head: bytes) -> bool:
    """Whether the complete lines of the beginning have five fields, the last of them a number."""
    lines = [line.split() for line in head.split(b"\n")[:SAMPLED_LINES] if line.strip()]
    if len(lines) > 1 and len(head) >= HEAD:
        del lines[-1]
    if not lines or any(len(fields) != 5 for fields in lines):
        return False
    try:
        float(lines[0][4])
    except ValueError:
        return False
    return True


def kind_of_names(names: Collection[Any]) -> str | None:
    """The kind (qrels or run) that columns with these names must be, or None if unclear."""
    known = {normalized_name(name) for name in names}
    graded = bool(known & set(ALIASES["grade"][0]))
    if known & {"rank", "tag", "system"}:
        return None if graded else "run"
    # `score` is the grade of BEIR's qrels as well as the score of a run.
    return "qrels" if graded and "score" not in known else None


def names_in(head: bytes, form: str) -> list[str]:
    """The names of the columns in the first line of a CSV or TSV file, if any."""
    line = (first_line(head.removeprefix(BYTE_ORDER_MARK)) or b"").decode("utf-8", "replace")
    cells = _cells(line, form) if form in ("csv", "tsv") else []
    return cells if is_header(cells) else []


def first_line(head: bytes) -> bytes | None:
    """The first line that is neither blank nor a comment."""
    lines = head.split(b"\n")
    for line in lines:
        if line.strip() and not line.startswith(b"#"):
            return line
    return next((line for line in lines if line.strip()), None)


def _is_trec_line(line: bytes, kind: str) -> bool:
    """Whether a line that begins like JSON is one of a TREC file: an id may begin so, too."""
    import json

    fields = line.split()
    if not TREC_FIELDS[kind](len(fields)):
        return False
    try:
        float(fields[3 if kind == "qrels" else 4])
        json.loads(line)
    except json.JSONDecodeError as error:
        # An object that goes on behind this line is not wrong before its end.
        return error.pos < len(line.decode("utf-8", "replace").rstrip())
    except (ValueError, RecursionError):
        return False
    return False


def _kind_of_json(text: bytes) -> str:
    """jsonl if the first line is a complete object other than a dict of dicts, else json."""
    import json

    line, _, rest = text.partition(b"\n")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return "json"
    if not isinstance(first, dict):
        return "json"
    holds_dicts = bool(first) and all(isinstance(value, dict) for value in first.values())
    return "json" if holds_dicts or not (rest.strip() or first) else "jsonl"


# For each role the names of its column, then names that are used only if none of these exists:
# `query` and `docid` are ids in trectools, but in PyTerrier a text and an internal number, and
# `document` is a text beside an id; the
# judgments of Hugging Face, BEIR and ranx call their grades `score`. Case is ignored, and `-` is
# the same as `_`.
ALIASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "query": (("query_id", "qid", "q_id"), ("query",)),
    "doc": (
        ("doc_id", "document_id", "docno", "corpus_id", "pid", "doc"),
        ("docid", "document", "documents", "docs"),
    ),
    "grade": (("relevance", "label", "rel", "grade", "rating"), ("score",)),
    "score": (("score",), ()),
    "rank": (("rank",), ()),
    "iteration": (("subtopic", "subtopic_id"), ("iteration", "iter", "q0")),
    "stratum": (("stratum", "strata"), ()),
    "tag": (("tag", "system"), ()),
    # Tables of answer selection, where a document is a sentence: those of WikiQA, TREC-QA and
    # their copies at Hugging Face, and pairs of sentences.
    "question": (("question", "query", "question_text", "query_text", "sentence1"), ("text_a",)),
    "question_id": (("questionid", "question_id", "query_id", "qid", "q_id"), ()),
    "candidate": (
        ("candidate", "answer", "sentence", "candidate_text", "answer_text", "sentence2"),
        ("passage", "text", "text_b"),
    ),
    "candidate_id": (
        ("candidate_id", "sentenceid", "sentence_id", "answer_id", "doc_id", "docno", "pid"),
        ("docid",),
    ),
    "label": (("label", "relevance", "rel", "grade", "is_correct"), ("target",)),
    # Tables of spans and chunks: those of the chunking benchmark, LlamaIndex and LangChain.
    "document": (
        ("document_id", "doc_id", "ref_doc_id", "corpus_id", "docno", "doc"),
        ("document", "docid", "source", "file"),
    ),
    "chunk": (("chunk_id", "node_id", "passage_id"), ("chunk", "id_", "id")),
    "start": (("start", "start_index", "start_char_idx", "start_char", "begin"), ()),
    "end": (("end", "end_index", "end_char_idx", "end_char", "stop"), ()),
    "evidence": (("evidence", "evidence_id"), ()),
    "page": (("page", "page_label", "page_number"), ()),
    "tokens": (("tokens", "token_count", "num_tokens"), ()),
    "content": (("text", "content", "page_content"), ()),
}
# The columns of a file without a header, by kind and number of columns: three as in BEIR, four and
# six as in TREC's formats. In a run with three, the values of the third show its role.
WITHOUT_HEADER: dict[str, dict[int, tuple[str, ...]]] = {
    "qrels": {3: ("query", "doc", "grade"), 4: ("query", "iteration", "doc", "grade")},
    "run": {3: ("query", "doc", ""), 6: ("query", "iteration", "doc", "rank", "score", "tag")},
}
QRELS_ROLES = ("query", "doc", "grade", "iteration", "stratum")
# Columns of runs by what documents are ranked by. Ranks count only if there are no scores.
RUN_ROLES = {
    "score": ("query", "doc", "score", "rank", "tag"),
    "rank": ("query", "doc", "rank", "tag"),
    "given": ("query", "doc", "tag"),
}
SPAN_ROLES = ("query", "document", "start", "end", "content", "grade", "evidence")
CHUNK_ROLES = ("chunk", "document", "start", "end", "content", "page", "tokens")
CANDIDATE_ROLES = ("question", "question_id", "candidate", "candidate_id", "label")
# Required columns.
NEEDED = ("query", "doc", "grade", "score", "rank", "label", "document", "chunk")
# A run needs either ranks or scores.
INSTEAD = {"score": "rank", "rank": "score"}


def normalized_name(name: object) -> str:
    """A column's name as it is in the table."""
    return str(name).strip().lower().replace("-", "_")


def is_header(
    cells: Sequence[str], roles: Iterable[Sequence[str]] = (("query",), ("doc",))
) -> bool:
    """Whether these are column names that include one of each of the roles."""
    names = {normalized_name(cell) for cell in cells}
    return all(
        any(names & {*ALIASES[role][0], *ALIASES[role][1]} for role in needed) for needed in roles
    )


def check_mapping(given: object, source: str) -> None:
    """Raise InputError unless `columns=` names columns by role."""
    if given is not None and not hasattr(given, "items"):
        found = type(given).__name__
        raise InputError(source, f"columns: expected {{role: name}}, found {found}")


def check_roles(given: Mapping[str, Any] | None, roles: Sequence[str], source: str) -> None:
    """Raise InputError unless `columns=` names columns of these roles, if it is given."""
    check_mapping(given, source)
    for role in given or ():
        if role not in roles:
            raise InputError(
                source, f"columns: expected the roles {', '.join(roles)}, found {role!r}"
            )


def find_columns(
    names: Sequence[Any],
    roles: Sequence[str],
    given: Mapping[str, Any] | None,
    source: str,
    *,
    ignored: Sequence[str] = (),
    optional: Sequence[str] = (),
    call: str | None = None,
) -> dict[str, int]:
    """The index of the column of each role that has one.

    given: names of columns by role, which take precedence over the aliases; `ignored` roles are
    skipped, and `optional` ones are not needed. call: the function to which errors advise to pass
    `columns=`, by default the caller's; empty if there is none. Raises InputError, with the found
    and the known names, for missing and ambiguous columns.
    """
    check_roles(given, [*roles, *ignored], source)
    given = {role: name for role, name in (given or {}).items() if role not in ignored}
    found = f"found {', '.join(map(repr, names))}" if len(names) else "found no columns"

    def advised(reason: str, role: str, before: str) -> InputError:
        columns = f"columns={{'{role}': NAME}}"
        advice = f"set {columns}" if call is None else f"use {call}(..., {columns})"
        return InputError(source, reason if call == "" else f"{reason}{before}{advice}")

    def place_of(role: str, wanted: Sequence[Any], norm: Callable[[Any], Any]) -> int:
        matches = [place for place, name in enumerate(names) if norm(name) in wanted]
        if len(matches) > 1:
            several = " and ".join(repr(names[place]) for place in matches)
            raise advised(
                f"more than one {_words(role)} column: {several}", role, "; to choose one, "
            )
        return matches[0] if matches else -1

    places: dict[str, int] = {}
    for role, name in given.items():
        place = place_of(role, [name], lambda label: label)
        if place < 0:
            raise InputError(source, f"columns: no column {name!r} for the {role}; {found}")
        if place in places.values():
            raise InputError(source, f"columns: {name!r} is given for the {role} and another role")
        places[role] = place
    for role in roles:
        if role not in places:
            sure, otherwise = ALIASES[role]
            place = place_of(role, sure, normalized_name)
            if place < 0:
                place = place_of(role, otherwise, normalized_name)
            if place >= 0 and place not in places.values():
                places[role] = place
    if "rank" in given and "score" not in given:
        # Scores are not needed if ranks are asked for.
        places.pop("score", None)
    for role in roles:
        needed = role in NEEDED and role not in optional
        if needed and role not in places and INSTEAD.get(role) not in places:
            known = ", ".join(sum(ALIASES[role], ()))
            reason = f"no {_words(role)} column: {found}, expected one of {known}"
            raise advised(reason, role, "; or ")
    return places


def _words(role: str) -> str:
    """A role in words."""
    return "document" if role == "doc" else role.replace("_", " ")
