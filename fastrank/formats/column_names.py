"""The names of columns in fastrank and elsewhere."""

from __future__ import annotations

from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

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
    "grade": (("relevance", "label", "rel", "grade"), ("score",)),
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
}
# The columns of a file without a header, by kind and number of columns: three as in BEIR, four and
# six as in TREC's formats. In a run with three, the values of the third show its role.
WITHOUT_HEADER: dict[str, dict[int, tuple[str, ...]]] = {
    "qrels": {3: ("query", "doc", "grade"), 4: ("query", "iteration", "doc", "grade")},
    "run": {
        3: ("query", "doc", ""),
        6: ("query", "iteration", "doc", "rank", "score", "tag"),
    },
}
QRELS_ROLES = ("query", "doc", "grade", "iteration", "stratum")
# Columns of runs by what documents are ranked by. Ranks count only if there are no scores.
RUN_ROLES = {
    "score": ("query", "doc", "score", "rank", "tag"),
    "rank": ("query", "doc", "rank", "tag"),
    "given": ("query", "doc", "tag"),
}
CANDIDATE_ROLES = ("question", "question_id", "candidate", "candidate_id", "label")
# Required columns.
NEEDED = ("query", "doc", "grade", "score", "rank", "label")
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
    call: str | None = None,
) -> dict[str, int]:
    """The index of the column of each role that has one.

    given: names of columns by role, which take precedence over the aliases; `ignored` roles are
    skipped. call: the function to which errors advise to pass `columns=`, by default the caller's;
    empty if there is none. Raises InputError, with the found and the known names, for missing and
    ambiguous columns.
    """
    check_roles(given, [*roles, *ignored], source)
    places: dict[str, int] = {}
    for role, name in (given or {}).items():
        if role in ignored:
            continue
        place = _unique_column(names, [name], role, source, lambda label: label, call)
        if place < 0:
            raise InputError(source, f"columns: no column {name!r} for the {role}; {_found(names)}")
        if place in places.values():
            raise InputError(source, f"columns: {name!r} is given for the {role} and another role")
        places[role] = place
    for role in roles:
        if role not in places:
            sure, otherwise = ALIASES[role]
            place = _unique_column(names, sure, role, source, normalized_name, call)
            if place < 0:
                place = _unique_column(names, otherwise, role, source, normalized_name, call)
            if place >= 0 and place not in places.values():
                places[role] = place
    if "rank" in (given or {}) and "score" not in (given or {}):
        # Scores are not needed if ranks are asked for.
        places.pop("score", None)
    for role in roles:
        if role in NEEDED and role not in places and INSTEAD.get(role) not in places:
            known = ", ".join(sum(ALIASES[role], ()))
            reason = f"no {_words(role)} column: {_found(names)}, expected one of {known}"
            advice = _advice(role, call)
            raise InputError(source, f"{reason}; or {advice}" if advice else reason)
    return places


def _unique_column(
    names: Sequence[Any],
    wanted: Sequence[Any],
    role: str,
    source: str,
    norm: Any,
    call: str | None,
) -> int:
    matches = [place for place, name in enumerate(names) if norm(name) in wanted]
    if len(matches) > 1:
        several = " and ".join(repr(names[place]) for place in matches)
        reason = f"more than one {_words(role)} column: {several}"
        advice = _advice(role, call)
        raise InputError(source, f"{reason}; to choose one, {advice}" if advice else reason)
    return matches[0] if matches else -1


def _words(role: str) -> str:
    """A role in words."""
    return "document" if role == "doc" else role.replace("_", " ")


def _advice(role: str, call: str | None) -> str:
    """How to name the column of a role."""
    columns = f"columns={{'{role}': NAME}}"
    if call is None:
        return f"set {columns}"
    return f"use {call}(..., {columns})" if call else ""


def _found(names: Sequence[Any]) -> str:
    return f"found {', '.join(map(repr, names))}" if len(names) else "found no columns"
