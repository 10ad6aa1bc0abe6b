"""Judge passages by whether they contain an answer, as in open-domain question answering."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from fastrank.common.arguments import check_choice
from fastrank.common.lazy import optional
from fastrank.core.data.texts import decoded
from fastrank.core.formats.inputs import as_run, is_file
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables.values import encoded_id
from fastrank.core.formats.texts.lookup import lookup, read_texts
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    from fastrank.common.choices import AnswerMatch

MATCHES = ("string", "regex")


def has_answer(answers: Iterable[str], text: str, *, match: AnswerMatch = "string") -> bool:
    """Whether a text contains one of the answers, exactly as in DPR's validation.

    answers: a list of str. match: "string" if the tokens of an answer must occur in the text, one
        after the other. Tokens are sequences of letters, digits and marks, and all other characters
        except blanks and control characters, one by one; both sides are decomposed (NFD) and in
        lowercase. An answer without tokens is in every text. "regex" if an answer is a pattern of
        the package regex, whose case is ignored (`pip install 'fastrank-eval[regex]'`); an invalid
        pattern is in no text. TREC's CuratedTREC has such answers.

    Source: `has_answer` of Karpukhin et al., EMNLP 2020 (DPR), with the tokenizer of DrQA. Results
    may differ for characters that are newer than Python's version of Unicode. Raises InputError for
    answers that are not a list of str and a text that is not a str, OptionError, and ImportError
    without regex.

    >>> from fastrank.datasets import has_answer
    >>> has_answer(["Mr. Fox"], "It was mr. fox's idea."), has_answer(["Mr Fox"], "Mr. Fox")
    (True, False)
    """
    contains = finder(match)(checked_answers(answers, "answers"))
    if not isinstance(text, str):
        raise InputError("text", f"expected a str, found {type(text).__name__}: {text!r:.60}")
    return contains(text)


def answer_qrels(
    answers: Any, run: Any, corpus: Any = None, *, match: AnswerMatch = "string"
) -> Qrels:
    """Judge each retrieved document by whether it has an answer: 1 or 0, as DPR's validation does.

    answers: {query: list of str}, or a Dataset with answers. run: as in `evaluate`. corpus: the
        texts by id, as a mapping, a Dataset, or a file that `Dataset.from_files` reads; by default
        the corpus of the Dataset. Only the text of {"title": ..., "text": ...} and of files is
        searched, as in DPR; in a Dataset, the title is a part of the text. match: as in
        `has_answer`.

    `Success@k` of the run with these judgments and `missing="zero"` is DPR's top-k accuracy, over
    all queries with answers. One without results is judged, too, by the first document that was
    retrieved for another: without a judgment, no option could count it as 0. Queries of the run
    without answers are not judged. Raises InputError if the run has results for no query with
    answers, or a document without a text, and what `has_answer` raises.

    >>> from fastrank.datasets import answer_qrels
    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}}
    >>> texts = {"d1": "They sing.", "d2": {"title": "Lyon", "text": "Near the Rhône."}}
    >>> answer_qrels({"q1": ["Rhône", "Saône"]}, run, texts).to_dict()
    {'q1': {'d1': 0, 'd2': 1}}
    """
    by_query, results = answers_of(answers), as_run(run)
    retrieved = results.to_dict()
    first = next((doc for query in by_query for doc in retrieved.get(query, ())), None)
    if first is None:
        raise InputError("answers", "expected answers to queries with results, found none")
    if corpus is None:
        if isinstance(answers, Mapping):
            raise InputError("corpus", "expected the texts of the documents, found none")
        corpus = answers
    if is_file(corpus):
        corpus = read_texts(corpus, set(map(decoded, results.docs)))
    find, make = lookup(corpus, "corpus"), finder(match)
    judged = {}
    for query, query_answers in by_query.items():
        contains = make(query_answers)
        docs = retrieved.get(query) or [first]
        judged[query] = {doc: int(contains(find(doc)[1])) for doc in docs}
    return Qrels.from_dict(judged)


def finder(match: str) -> Callable[[list[str]], Callable[[str], bool]]:
    """The function that turns answers into one that looks for them in a text."""
    check_choice("match", match, MATCHES)
    if match == "string":
        return _by_tokens
    regex = optional("regex", "match='regex'")

    def by_pattern(answers: list[str]) -> Callable[[str], bool]:
        patterns = []
        for answer in answers:
            try:
                flags = regex.IGNORECASE | regex.UNICODE | regex.MULTILINE
                patterns.append(regex.compile(_decomposed(answer), flags))
            except regex.error:
                continue
        return lambda text: any(pattern.search(_decomposed(text)) for pattern in patterns)

    return by_pattern


def _by_tokens(answers: list[str]) -> Callable[[str], bool]:
    needles = list(map(_tokens, answers))

    def contains(text: str) -> bool:
        tokens = _tokens(text)
        return any(answer in tokens for answer in needles)

    return contains


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


class _Spaced(dict[int, str]):
    """For `str.translate`: letters, digits and marks stay, other tokens get blanks around them."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = unicodedata.category(character)[0]
        spaced = character if kind in "LNM" else " " if kind in "ZC" else f" {character} "
        self[code] = spaced
        return spaced


_SPACED = _Spaced()


def _tokens(text: str) -> str:
    """The tokens, each between two blanks; one blank if there are none."""
    # Lowered last: the form of a sigma depends on whether the token ends.
    return " ".join(["", *_decomposed(text).translate(_SPACED).split(), ""]).lower()


def answers_of(source: Any) -> dict[str, list[str]]:
    """Answers by query id, from a mapping or a Dataset. Raises InputError, TypeError."""
    source = getattr(source, "answers", source)
    if not isinstance(source, Mapping):
        kind = "a data set without answers" if source is None else type(source).__name__
        raise TypeError(f"answers: expected a mapping from query to answers, found {kind}")

    def fail(reason: str) -> NoReturn:
        raise InputError("answers", f"query {query!r:.60}: {reason}")

    answers: dict[str, list[str]] = {}
    for query, texts in source.items():
        name = f"answers: query {query!r:.60}"
        answers[decoded(encoded_id(query, fail))] = checked_answers(texts, name)
    return answers


def checked_answers(value: Any, name: str) -> list[str]:
    """A list of answers. Raises InputError."""
    is_list = hasattr(value, "__iter__") and not isinstance(value, (str, bytes, Mapping))
    texts: list[Any] = list(value) if is_list else [None]
    if not all(isinstance(text, str) for text in texts):
        raise InputError(name, f"expected a list of str, found {value!r:.60}")
    return texts
