"""What is unusual in a TREC file: read where it has one meaning, else an error with its place."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from math import inf, isinf, isnan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given

import fastrank as fr
from fastrank.core.formats.trec import reader as trec
from fastrank.errors import FormatError, InputError, RunError
from tests.helpers import strategies as make
from tests.helpers.parsing import (
    parse_prefs,
    parse_qrels,
    parse_run,
    read_qrels_jg,
    read_trec_qrels,
    read_trec_run,
)
from tests.helpers.strategies import contents, exactly, examples, strtod

QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n"
RUN = b"q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq2 Q0 d1 1 0.7 t\n"
USE_A_POINT = ": use a point, not a comma, for decimals"
NO_NUMBERS = {
    **{text: f"{text!r}" for text in ("high", "1.5x", "1_0", ".", "-", "1e", "0x")},
    "0,9": f"'0,9'{USE_A_POINT}",
    "nan": "NaN",
    "-NaN": "NaN",
}
Read = Callable[[Any], Any]
Write = Callable[[bytes], str]


@pytest.fixture
def file(tmp_path: Path) -> Write:
    """Writes a file; returns its path."""

    def write(content: bytes) -> str:
        path = tmp_path / f"file{len(list(tmp_path.iterdir()))}"
        path.write_bytes(content)
        return str(path)

    return write


def evaluate(run: Any, **options: Any) -> Any:
    return fr.evaluate(parse_qrels(QRELS), run, "map", **options)


def evaluate_in_a_list(path: str) -> Any:
    """Raises what is wrong with the run; for a list, it is the cause of a RunError."""
    try:
        return fr.Evaluator(parse_qrels(QRELS), "map").evaluate([path])
    except RunError as error:
        raise error.errors[0] from None


READERS_OF_RUNS: list[Read] = [
    fr.read_run,
    read_trec_run,
    evaluate,
    evaluate_in_a_list,
    lambda path: evaluate(path, ties="average"),
    lambda path: fr.tie_report(None, path),
    lambda path: fr.hard_negatives(parse_qrels(QRELS), path, 1),
    lambda path: fr.negative_log_likelihood(parse_qrels(QRELS), path),
]
READERS_OF_QRELS: list[Read] = [
    fr.read_qrels,
    read_trec_qrels,
    read_qrels_jg,
    lambda path: fr.evaluate(path, parse_run(RUN), "map"),
    lambda path: fr.tie_report(path, parse_run(RUN)),
    lambda path: fr.hard_negatives(path, parse_run(RUN), 1),
]


def said_by(read: Read, given: Any) -> str:
    """The error that a reader makes."""
    with pytest.raises(FormatError) as raised:
        read(given)
    return str(raised.value)


# What is no number


@pytest.mark.parametrize("read", READERS_OF_RUNS)
@pytest.mark.parametrize("more", [b"", b"q1 Q0 d3 1 0.6 t\n"], ids=["by query", "scattered"])
def test_a_score_that_is_no_number_is_an_error(read, more, file):
    """The first line that is wrong is named."""
    text = RUN + more
    for score, found in NO_NUMBERS.items():
        for line, usual in enumerate((b"0.9", b"0.8", b"0.7", b"0.6")[: text.count(b"\n")], 1):
            path = file(text.replace(usual, score.encode()))
            assert said_by(read, path) == f"{path}:{line}: expected a score, found {found}"
    wrong = b"q Q0 d 1 abc t\nq Q0 d 1\n"
    assert said_by(parse_run, wrong).startswith("<bytes>:1: expected a score, found 'abc'")


@pytest.mark.parametrize("read", READERS_OF_QRELS)
def test_a_grade_that_is_no_number_is_an_error(read, file):
    for grade, found in {**NO_NUMBERS, "inf": "inf"}.items():
        path = file(QRELS.replace(b"d2 0", b"d2 " + grade.encode()))
        assert said_by(read, path) == f"{path}:2: expected a grade, found {found}"


@pytest.mark.parametrize("more", [b"", b"q1 Q0 d3 1 0.1 t\n"])
def test_a_file_is_not_read_as_a_whole_for_scores_of_queries_without_judgments(more, file):
    """Which are told, and count for nothing; as of a dict."""
    found = evaluate(file(RUN + b"x Q0 d1 1 0,7 t\n" + more))
    assert (found.mean, found.unjudged_queries) == ({"map": 1.0}, ["x"])


@pytest.mark.parametrize("order", ["rank", "given"])
def test_scores_that_do_not_count_may_be_anything(order, file):
    path = file(RUN.replace(b"0.9", b"?").replace(b"0.8", b"nan"))
    assert fr.read_run(path, rank_by=order).to_dict()["q1"] == {"d1": -1.0, "d2": -2.0}
    assert evaluate(path, rank_by=order).mean == {"map": 1.0}


@pytest.mark.parametrize(("form", "line"), [("prefs", b"q g s d "), ("qrels_prefs", b"q g d ")])
def test_a_level_of_preferences_is_a_number(form, line):
    levels = parse_prefs(line + b"-1.5e1\n" + line + b".5\n", form=form).levels
    assert levels.tolist() == [-15.0, 0.5]
    with pytest.raises(FormatError, match=":2: expected a level, found 'x'"):
        parse_prefs(line + b"1\n" + line + b"x\n", form=form)


def test_scores_and_grades_have_any_form_that_strtod_reads():
    """Grades may have a fraction, as in the other formats."""
    forms = {"1e5": 1e5, "0x1p-1": 0.5, "+2.": 2.0, "inf": inf, "-Infinity": -inf, "-2.5": -2.5}
    for text, value in forms.items():
        assert parse_run(RUN.replace(b"0.9", text.encode())).scores[0] == value
        if not isinf(value):
            qrels = parse_qrels(QRELS.replace(b"d1 1", b"d1 " + text.encode(), 1))
            assert qrels["q1"] == {"d1": value, "d2": 0}


def test_grades_have_64_bits():
    qrels = parse_qrels(b"q 0 a 9223372036854775807\nq 0 b -9223372036854775808\nq 0 c 7\n")
    assert qrels.grades.tolist() == [2**63 - 1, -(2**63), 7]
    for grade in (b"9223372036854775808", b"1e30", b"9" * 400):
        assert said_by(parse_qrels, b"q 0 d %b\n" % grade).startswith("<bytes>:1: ")


# Fields in the column of others


EXCHANGED = "the rank is '{}' and the score '{}': are the"
FOUND = "found {} fields with rank '{}', score '{}' and tag '{}"
A_RETURN = "a carriage return within a line: lines must end"
MISPLACED = {
    b"q1 Q0 my doc 1 0.9 t": FOUND.format(7, "doc", 1, 0.9),
    b"q1 Q0 my long doc 1 0.9 t": FOUND.format(8, "long", "doc", ""),
    b"q1 Q0 d 1 1 0.9 t": FOUND.format(7, 1, 1, "0.9 t'"),
    b"q 1 Q0 d1 1 9 t": FOUND.format(7, "d1", 1, "9 t'"),
    b"q1 Q0 d1 0.97 1 t\nq1 Q0 d2 0.9 2 t": EXCHANGED.format(0.97, 1),
    b"q1 Q0 d1 9.5 1.0 t\nq1 Q0 d2 9 2.0 t": EXCHANGED.format(9.5, "1.0"),
    b"q1 Q0 d1 9.5 1 my t\nq1 Q0 d2 9 2 my t": EXCHANGED.format(9.5, 1),
    b"q1 Q0 d1 1 9.5 t\rq1 Q0 d2 2 9 t": A_RETURN,
    b"q1 Q0 d1 1 9.5\rq1 Q0 d2 2 9\rq1 Q0 d3 3 8": A_RETURN,
    b"# a comment with more than six words\rq1 Q0 d2 2 9 t": A_RETURN,
}


@pytest.mark.parametrize("read", READERS_OF_RUNS)
@pytest.mark.parametrize("line", MISPLACED)
def test_fields_in_the_column_of_others_are_an_error(read, line, file):
    path = file(RUN + line + b"\n")
    assert said_by(read, path).startswith(f"{path}:4: {MISPLACED[line]}")


USUAL = {
    "a decimal in the tag": b"q1 Q0 d1 1 9 0.9 fusion\nq1 Q0 d2 2 8 0.9 fusion",
    "a number in the tag": b"q1 Q0 d1 - 9.5 2 stage\nq1 Q0 d2 - 9 2 stage",
    "a number in the tag of one line": b"q1 Q0 d1 - 9.5 2 stage",
    "a raw score as rank": b"q1 Q0 d1 0.97 1 t\nq1 Q0 d2 0.91 0.83 t",
    "a raw score as rank, with decimals": b"q1 Q0 d1 0.97 1.0000 t\nq1 Q0 d2 0.9 0.8300 t",
    "a raw score as rank of each query": b"q1 Q0 d1 0.97 1 t\nq2 Q0 d2 0.91 2 t",
    "blanks behind": b"q1 Q0 d1 1 9 t \r\nq1 Q0 d2 2 8 my t\r\r",
    "words": b"q1 Q0 d1 1 0.9 my own run",
    "words behind a whole score": b"q1 Q0 d1 1 9 my own run",
    "a number and a word": b"q1 Q0 d1 1 0.9 2 passes",
    "words behind no rank": b"q1 Q0 d1 - 0.9 my run",
    "a word as rank": b"q1 Q0 d1 na 9 t",
    "a decimal as rank": b"q1 Q0 d1 1.0 9 t",
    "rank 0": b"q1 Q0 d1 0 9 t",
}


@pytest.mark.parametrize("case", USUAL)
def test_tags_and_ranks_of_any_form_are_read_and_no_error_to_check(case, file):
    path = file(USUAL[case] + b"\n")
    for read in READERS_OF_RUNS:
        read(path)
    assert next(iter(fr.read_run(path).to_dict())) == "q1"
    kinds = {found.kind for found in fr.check(file(QRELS), path).findings}
    assert not {"blank-in-id", "exchanged-columns"} & kinds


@pytest.mark.filterwarnings("ignore:.* byte order mark")
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_a_line_among_many_is_found(size, file, monkeypatch):
    """A carriage return, a blank in an id or what is no score, in pieces and at once."""
    monkeypatch.setattr(trec, "PIECEWISE_SIZE", size)
    lines = [b"q1 Q0 d%d %d %d.5 t\n" % (n, n, -n) for n in range(1000)]

    def with_line(line: bytes) -> str:
        return file(b"".join([*lines[:700], line, *lines[701:]]))

    returned = with_line(lines[700].replace(b"\n", b"\r"))
    for read in READERS_OF_RUNS:
        assert said_by(read, returned).startswith(f"{returned}:701: a carriage return within")
    blank = with_line(b"q1 Q0 d 700 700 -700.5 t\n")
    word = with_line(b"q1 Q0 d700 700 x t\n")
    for read in (fr.read_run, read_trec_run, evaluate):
        with pytest.raises(FormatError, match=r":701: .* does an id contain a blank"):
            read(blank)
        assert said_by(read, word) == f"{word}:701: expected a score, found 'x'"
    assert read_trec_run(file(b"\xef\xbb\xbf" + RUN)).query_ids == ["q1", "q2"]


# Lines that end with CR alone


CR_READERS = [*READERS_OF_RUNS, lambda path: read_trec_run(path, rank_by="rank")]


@pytest.mark.parametrize("read", [*CR_READERS, READERS_OF_QRELS[3]])
def test_lines_that_end_with_cr_alone_are_an_error(read, file):
    """They would be one line with many fields; also where a run is given as judgments."""
    for end, reason in (
        (b"", "the lines end with CR alone, expected"),
        (b"\n", "a carriage return within a line"),
    ):
        path = file(RUN.replace(b"\n", b"\r") + end)
        assert said_by(read, path).startswith(f"{path}:1: {reason}")
        for start in (b"", b"# a comment\r"):
            qrels = start + QRELS.replace(b"\n", b"\r") + end
            assert said_by(parse_qrels, qrels).startswith(f"<bytes>:1: {reason}")


@pytest.mark.filterwarnings("ignore:.* byte order mark")
def test_a_byte_order_mark_and_a_comment_are_ignored_on_every_path(file):
    expected = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "all_trec")
    comment = b"# This run is made by our new model\n"
    for start in (b"\xef\xbb\xbf", comment):
        found = fr.evaluate(file(start + QRELS), file(start + RUN), "all_trec")
        assert found.to_dict() == expected.to_dict()
        assert found.queries == ["q1", "q2"]
        assert fr.read_run(file(start + RUN)).query_ids == ["q1", "q2"]
    # One line without a newline is read, too.
    assert fr.read_run(file(b"q1 Q0 d1 1 0.5 t\r")).to_dict() == {"q1": {"d1": 0.5}}


def test_a_byte_order_mark_of_other_inputs_is_ignored(file):
    against = file(b"\xef\xbb\xbfmap\tall\t0.5\n")
    qrels, run = parse_qrels(QRELS), parse_run(RUN)
    assert "map" in str(fr.explain(qrels, run, "map", against=against))
    baseline = io.BytesIO()
    fr.save_baseline(baseline, qrels, run, "map")
    marked = file(b"\xef\xbb\xbf" + baseline.getvalue())
    assert fr.gate(marked, qrels, run).passed


# What is something else


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b'{"q1": {"d1": 0.82, "d2": 0.5, "d3": 0.03}}', "JSON"),
        (b'[{"query_id": "q1", "doc_id": "d1", "score": 1}]', "JSON"),
        (b'{"query_id": "q1", "doc_id": "d1", "score": 1}\n' * 2, "JSONL"),
        (b"query_id,doc_id,score\nq1,d1,1\n", "CSV"),
        (b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", "TSV"),
    ],
)
@pytest.mark.parametrize(("read", "noun"), [(read_trec_run, "run"), (read_trec_qrels, "qrels")])
def test_another_format_is_named_with_what_reads_it(content, form, read, noun):
    assert said_by(read, io.BytesIO(content)) == (
        f"<file object>:1: this looks like {form}, expected lines of TREC's format;"
        f" fastrank.read_{noun} reads {form}"
    )


def test_a_run_given_as_judgments_and_the_other_way_round(file):
    run, qrels = file(RUN), file(QRELS)
    for read in (read_trec_qrels, fr.read_qrels, lambda path: fr.evaluate(path, qrels, "map")):
        assert "this looks like a run" in said_by(read, run)
    for read in (read_trec_run, fr.read_run, lambda path: fr.evaluate(qrels, path, "map")):
        assert "this looks like judgments" in said_by(read, qrels)


def test_a_table_of_results_given_as_judgments():
    table = b"query_id,doc_id,rank,score\nq,d,1,0.5\n"
    columns = {"query": "query_id", "doc": "doc_id", "grade": "score"}
    with pytest.raises(InputError, match="this looks like a run; are judgments and run swapped"):
        fr.read_qrels(io.BytesIO(table))
    assert fr.read_qrels(io.BytesIO(table), columns=columns).to_dict() == {"q": {"d": 0.5}}


def test_documents_and_iterations_that_are_swapped():
    """Documents called 0 are no iterations."""
    for iteration in ("0", "Q0"):
        text = f"q1 d1 {iteration} 1\nq1 d2 {iteration} 0\nq2 d1 {iteration} 1\n".encode()
        assert "what looks like `query doc iter grade`" in said_by(parse_qrels, text)
    for lines in ("q1 0 0 1,q2 0 0 1", "q1 a 0 1,q1 b 1 0", "q1 d1 0 1", "q1 0 0 1"):
        assert parse_qrels(lines.replace(",", "\n").encode()).queries[0] == b"q1"


# Headers


HEADER = b"query Q0 docid rank score tag\n"
NO_RANK = "expected a rank and a score, found 'rank' and 'score'; is this a header"


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("read", [fr.read_run, evaluate])
def test_a_header_is_an_error_although_its_query_has_no_judgments(read, packed, file):
    content = packed(b"\n" + HEADER + RUN)
    for source in (file(content), io.BytesIO(content)):
        assert f":2: {NO_RANK}" in said_by(read, source)
    # A first line with a rank or a score is none.
    usual = RUN.replace(b"q1 Q0 d1 1 0.9", b"q1 Q0 d1 first 0.9")
    assert evaluate(io.BytesIO(packed(usual))).mean == {"map": 1.0}


@pytest.mark.parametrize("again", [b"q9 Q0 d1 1 2 t\n", RUN.replace(b" d", b" e")])
@pytest.mark.parametrize("measures", ["map", "all_trec"])
def test_a_header_further_down_is_an_error_also_among_scattered_lines(again, measures):
    text = io.BytesIO(RUN + HEADER + again)
    read = fr.Evaluator(parse_qrels(QRELS), measures).evaluate
    assert f":4: {NO_RANK}" in said_by(read, text)


def test_judgments_may_have_a_header_to_remove():
    headers = [
        b"query-id corpus-id score",
        b"query iteration document relevance",
        b"qid iter docno grade remark",
    ]
    for line in (*headers, b"q1 d1 1", b"q1 0 d1 1 2", b"q1 0 d1 nan"):
        for read in (fr.read_qrels, read_trec_qrels):
            found = said_by(read, io.BytesIO(line + b"\n" + QRELS))
            assert found.startswith("<file object>:1: ")
            assert ("; is this a header? Remove the line" in found) == (line in headers)


# Strict and lenient readers


def is_whole(text: bytes) -> bool:
    """Whether all of a text is a number, by what Python's own readers say."""
    try:
        number = text.decode().lower()
        value = float.fromhex(number) if "0x" in number else float(number)
    except OverflowError:
        return True
    except ValueError:
        return False
    return "_" not in number and not isnan(value)


def is_misplaced(lines: list[bytes], at: int) -> bool:
    """Whether an id of a run line seems to contain a blank, or rank and score to be exchanged."""
    fields = lines[at].split()
    rank, score, first = fields[3:6]
    others = [number for number in (at - 1, at + 1) if 0 <= number < len(lines)]
    if len(fields) > 6 and others and tag_of(lines[others[0]]) != tag_of(lines[at]):
        if is_plain(rank):
            return is_plain(score) and is_whole(first) and not is_plain(first)
        if not is_whole(score) or is_whole(first):
            return True
    if not is_fraction(rank) or not is_whole(score) or is_fraction(score) or at + 1 == len(lines):
        return False
    after = lines[at + 1].split()
    is_same_query = after[:1] == fields[:1]
    return is_same_query and is_whole(after[3]) and strtod(after[4]) == strtod(score) + 1


def tag_of(line: bytes) -> bytes:
    return line.split(None, 5)[5]


def is_fraction(text: bytes) -> bool:
    return is_whole(text) and strtod(text) % 1 != 0


def is_plain(text: bytes) -> bool:
    return text.lstrip(b"+-").isdigit()


@examples(100)
@given(make.lines_of(make.RUN_ROWS).map(lambda text: re.sub(rb"\r(?=[^\n]*[^\s])", b"\t", text)))
def test_a_run_is_read_strictly_as_otherwise_if_all_scores_are_numbers(text):
    """But for returns within a line, which are errors."""
    lines = text.split(b"\n")
    assume(not text.startswith(b"\xef\xbb\xbf"))
    lenient = parse_run(text, strict=False)
    wrong = [
        number
        for number, line in enumerate(lines)
        if line.split() and (is_misplaced(lines, number) or not is_whole(line.split()[4]))
    ]
    if wrong:
        assert said_by(parse_run, text).startswith(f"<bytes>:{wrong[0] + 1}: ")
    else:
        assert exactly(contents(parse_run(text))) == exactly(contents(lenient))


@pytest.mark.filterwarnings("ignore:.* byte order mark")
@examples(50)
@given(make.lines_of(make.QRELS_ROWS))
def test_grades_are_what_their_text_is(text):
    try:
        qrels = parse_qrels(text)
    except FormatError:
        return
    fields = [line.split() for line in text.split(b"\n") if line.split()]
    codes = qrels.grade_column
    grades = codes if qrels.scale is None else qrels.scale.grades(codes)
    assert sorted(map(float, grades)) == sorted(strtod(own[3]) for own in fields)
