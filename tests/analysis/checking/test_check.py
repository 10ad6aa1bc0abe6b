"""`fastrank.check`: everything that is wrong or odd in judgments and runs, each with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank
from fastrank.analysis.checking.checker import KINDS
from fastrank.errors import FastrankError, ReadError
from tests.helpers.checks import NotReadError, check, kinds, named, only, refuse, unescaped
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.paths import DATA
from tests.helpers.strategies import QRELS_ROWS, RUN_ROWS, examples, lines_of, untidy
from tests.helpers.tables import cases

# Judgments; the line, kind and message of what is found (- for no line).
JUDGMENTS = cases(r"""
q d 0 1\nq e 0 1\n
  1 exchanged-columns: every document is '0', and the second fields differ: expected `query iter doc
    grade`, found what looks like `query doc iter grade`
q 0 d 1\nq e 1\n
  2 malformed: expected 4 fields (query iter doc grade), found 3: 'q e 1'; is the second field
    (iter) missing? Its value is ignored
q 0 d 1\nquery-id\tcorpus-id\tscore\n
  2 malformed: expected 4 fields (query iter doc grade), found 3: 'query-id\tcorpus-id\tscore'; this
    looks like BEIR's format; `fastrank convert` can convert it
q 0 d 1\nq Q0 d 1 0.5 tag\n
  2 malformed: expected 4 fields (query iter doc grade), found 6: 'q Q0 d 1 0.5 tag'; this looks
    like a run; use --no-qrels if all files are runs
q 0 d 1\n{"q": {"d": 1}}\n
  2 malformed: expected 4 fields (query iter doc grade), found 3: '{"q": {"d": 1}}'; is the second
    field (iter) missing? Its value is ignored
q 0 d 1\nq,0,d,1\n
  2 malformed: expected 4 fields (query iter doc grade), found 1: 'q,0,d,1'; separate fields by
    blanks, not commas
q 0 d 1\n \t\n => 2 malformed: expected 4 fields (query iter doc grade), found a blank line
\x23 note\nq 0 d 1\n => 1 comment: trec_eval 10.0 skips this comment, 9.0.8 rejects it: '# note'
\x23 one\n# two\nq 0 d 1\n
  2 ambiguous-comment: trec_eval 10.0 skips only one comment at a time and reads this one as a
    judgment: '# two'
q 0 d 1\n# judged by hand\n
  2 ambiguous-comment: trec_eval 9.0.8 reads this comment as a judgment of query '#': '# judged by
    hand'
q 0 d 1\nq 0 \x00e 1\n
  2 nul: the line contains a NUL byte, at which trec_eval crashes: 'q 0 \x00e 1'
q 0 d 1\n\x00\nq 0 e 1\n
  2 nul: the line begins with a NUL byte, where trec_eval stops reading the file
\x23 note\n => - no-results: the file has no judgments
q 0 d 1\nq 0 e 1.9\n
  2 float-grade: grade '1.9' of document 'e' is not an integer; trec_eval reads 1
q 0 d 1\nq 0 e 1e3\n
  2 float-grade: grade '1e3' of document 'e' is not an integer; trec_eval reads 1
q 0 d 1\nq 0 e -.5e0\n
  2 float-grade: grade '-.5e0' of document 'e' is not an integer; trec_eval reads 0
q 0 d 1\nq 0 e 1.5e\n
  2 bad-grade: grade '1.5e' of document 'e' is not a number; trec_eval reads 1
q 0 d 1\nq 0 e 2.0\n
  2 decimal-grade: grade '2.0' of document 'e' is written as a decimal; trec_eval reads 2, some
    tools reject it
q 0 d 1\nq 0 e yes\n
  2 bad-grade: grade 'yes' of document 'e' is not a number; trec_eval reads 0;
    write 1 for yes and 0 for no
q 0 d 1\nq 0 e 2x\n => 2 bad-grade: grade '2x' of document 'e' is not a number; trec_eval reads 2
q 0 d 1\nq 0 e 99999999999999999999\n
  2 huge-grade: grade '99999999999999999999' of document 'e' is too large; grades must be below
    2**44
q 0 d 1\nq 0 e -2\n
  2 negative-grade: grade '-2' of document 'e' is negative; the document counts as unjudged
q 0 d 1\np 0 e -2\np 0 d -1\n
  2 all-negative: all judgments of query 'p' are negative; trec_eval stops with status 4 if this is
    the first query evaluated, and may crash otherwise
q 0 d 1\np 0 e 0\np 0 d 0\n
  2 no-relevant: query 'p' has no relevant document among 2 judgments; it counts as 0 in the means
q 0 d 1\np 0 d 1\nq 0 d 01\n
  3 duplicate: duplicate document 'd' in query 'q': grade 01, but 1 on line 1; trec_eval stops at
    this query
q 0 d 1\nq 0 d 0\n
  2 conflicting-grades: duplicate document 'd' in query 'q': grade 0, but 1 on line 1; trec_eval
    stops at this query
q 0 d 1\np 0 d 1\nq 0 e 1\n
  3 scattered: query 'q' continues after other queries; it starts on line 1, and its lines are in 2
    separate blocks
q 0 d 1\nq 0 e 1\r\n => 2 crlf: 1 of 2 lines end in CR LF; CR is read as a blank
q 0 d 1\r\nq 0 e\r1\n
  2 bare-cr: carriage return without a newline (1 in the file), which trec_eval reads as a blank,
    not as the end of a line
q 0 d 1\nq 0 \xe9 1\n => 2 invalid-utf8: bytes that are not UTF-8
q 0 d 1\nq 0 e 1 => 2 no-final-newline: the last line has no newline
\xef\xbb\xbfq 0 d 1\n => 1 bom: byte order mark, which trec_eval reads as part of the first query id
\xff\xfeq\x00 \x000\x00 \x00d\x00 \x001\x00\n\x00
  1 encoding: expected UTF-8, found UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`
""")
# Runs, likewise.
RUNS = cases(r"""
q Q0 d 1 2 t\nq Q0 e 2 1\n
  2 malformed: expected 6 fields (query Q0 doc rank score tag), found 5: 'q Q0 e 2 1'; is the second
    field (Q0) or the last one (tag) missing? Any word will do
q 0 d 1\n
  1 malformed: expected 6 fields (query Q0 doc rank score tag), found 4: 'q 0 d 1'; this looks like
    a judgment; qrels must be the first file
q Q0 d 1 2 t\nq\td\t1\n
  2 malformed: expected 6 fields (query Q0 doc rank score tag), found 3: 'q\td\t1'; this looks like
    MS MARCO's format; `fastrank convert` can convert it
q Q0 d 1 2 t\n{"q":1}\n
  2 malformed: expected 6 fields (query Q0 doc rank score tag), found 1: '{"q":1}'; this looks like
    JSON; `fastrank convert` can convert it
q Q0 d 1 2 my tag\n
  1 extra-fields: expected 6 fields (query Q0 doc rank score tag), found 7: 'q Q0 d 1 2 my tag';
    fields after the 6th are ignored; does an id contain a blank?
q Q0 my doc 1 2 t\nq Q0 your 2 1 t\n
  1 blank-in-id: found 7 fields with rank 'doc', score '1' and tag '2 t', expected 6: does an id
    contain a blank?
q Q0 d 0.5 1 t\nq Q0 e 0.25 2 t\n
  1 exchanged-columns: the rank is '0.5' and the score '1' (2 such lines in the file): are the two
    columns exchanged?
q Q0 d 1 2 t\n\n => 2 blank-line: a blank line, which is ignored
q Q0 d 1 2 t\n # a\n => 2 comment: trec_eval 10.0 skips this comment, 9.0.8 rejects it: ' # a'
q Q0 d 1 2 t\n# made by our new model\n
  2 ambiguous-comment: trec_eval 9.0.8 reads this comment as a result of query '#': '# made by our
    new model'
\n\n => - no-results: the file has no results
q Q0 d 1 high t\n => 1 bad-score: score 'high' of document 'd' is not a number; trec_eval reads 0
q Q0 d 1 0,75 t\n
  1 bad-score: score '0,75' of document 'd' is not a number; trec_eval reads 0; use a point, not a
    comma, for decimals
q Q0 d 1 1.5x t\n => 1 bad-score: score '1.5x' of document 'd' is not a number; trec_eval reads 1.5
q Q0 d 1 .5e t\n => 1 bad-score: score '.5e' of document 'd' is not a number; trec_eval reads 0.5
q Q0 d 1 -0x t\n => 1 bad-score: score '-0x' of document 'd' is not a number; trec_eval reads -0
q Q0 d 1 infx t\n
  1 bad-score: score 'infx' of document 'd' is not a number; trec_eval reads inf
q Q0 d 1 nanx t\n => 1 nan-score: score 'nanx' of document 'd' is NaN, by which documents cannot be
    ranked
q Q0 d 1 -NaN t\n
  1 nan-score: score '-NaN' of document 'd' is NaN, by which documents cannot be ranked
q Q0 d 1 -Infinity t\n
  1 infinite-score: score '-Infinity' of document 'd' is infinite; all such scores tie
q Q0 d 1 1e999 t\n
  1 infinite-score: score '1e999' of document 'd' is infinite; all such scores tie
q Q0 d 1 2 t\nq Q0 d 2 1 t\n
  2 duplicate: duplicate document 'd' in query 'q': score 1, but 2 on line 1; trec_eval stops at
    this query
q Q0 d 1 2 t\nq Q0 e 2 3 t\nq Q0 f 3 1 t\n
  1 rank-order: rank 1 has score 2, but rank 2 has score 3 on line 2 (1 such pair in query 'q');
    trec_eval ranks by score
q Q0 d 1 0.1 t\nq Q0 e 2 0.2 t\nq Q0 f 3 0.2 t\n
  1 ascending-scores: scores increase with the rank throughout (rank 1 has score 0.1, rank 2 has
    score 0.2 on line 2); trec_eval ranks the highest score first. Are these distances?
q Q0 d 1 3 t\nq Q0 e 2 2 t\nq Q0 f 2 1 t\n
  3 repeated-rank: duplicate rank 2 in query 'q' (1 duplicate in the query); trec_eval ignores ranks
q Q0 d first 3 t\n => 1 bad-rank: rank 'first' is not an integer; trec_eval ignores it
q Q0 d 1 3 t\nq Q0 e 2 2 t\nq Q0 f 3 2.0 t\np Q0 d 1 1 t\n
  2 tied-scores: 2 results in 1 query have equal scores, this one first; trec_eval ranks ties by
    document id, descending
q Q0 d 1 0.12345678901 t\nq Q0 e 2 0.12345678900 t\n
  1 tied-as-floats: 2 results in 1 query have equal scores as 32-bit floats only, this one first;
    trec_eval 9.0.8 and pytrec_eval rank these by document id, 10.0 by score
q Q0 d 1 3 t\nq Q0 e 2 3 t\nq Q0 f 3 3 t\n
  1 constant-scores: all 3 results of query 'q' have the same score, so they are ranked by document
    id
q Q0 d 2 1 t\nq Q0 e 1 2 t\n
  2 unsorted: the score is higher than that of the result before; the results of 1 query are not
    sorted by score
q Q0 d 1 3 t\nq Q0 -1 2 2 t\n
  2 padding: document -1, with which faiss pads results if it finds too few
q Q0 d 1 3 t\nq Q0 q 2 2 t\n
  2 self-match: document 'q' has the id of its query; BEIR removes such results, trec_eval does not
q Q0 d 1 3 a\nq Q0 e 2 2 b\nq Q0 f 3 1 a\n
  2 several-tags: tag 'b', but 'a' on line 1 (2 tags in total); does the file contain several runs?
""")
# Judgments and a run, and what is found in the run.
PAIRS = cases(r"""
q 0 d 1\n => q Q0 d 1 2 t\nx Q0 d 1 2 t\n
  2 unknown-query: query 'x' has no judgments in qrels and is not evaluated
q 0 d 1\nx 0 d 1\n => q Q0 d 1 2 t\n
  - missing-query: judged query 'x' (qrels:2) is missing from the run; it is left out (--missing
    zero counts it as 0)
q 0 d 1\nX1 0 d 1\n => q Q0 d 1 2 t\nx01 Q0 d 1 2 t\n
  2 similar-query: query 'x01' has no judgments; did you mean 'X1' (qrels:2)?
1 0 d 1\n => q1 Q0 d 1 2 t\n
  1 no-common-query: the run and the qrels share no query ids: the run has 1 query, such as 'q1',
    the qrels 1, such as '1' (qrels:1)
12 0 d 1\n => 12.0 Q0 d 1 2 t\n
  1 no-common-query: the run and the qrels share no query ids: the run has 1 query, such as '12.0',
    the qrels 1, such as '12' (qrels:1); are these the same query?
q 0 doc7 1\n => q Q0 7 1 2 t\n
  1 no-judged-document: no result of the run is judged: query 'q' has '7' in the run and 'doc7' in
    the qrels (qrels:1); do the ids belong to the same collection?
q 0 1 1\nq 0 3 1\n => q Q0 0 1 2 t\nq Q0 5 1 1 t\n
  1 no-judged-document: no result of the run is judged: query 'q' has '0' in the run and '1' in the
    qrels (qrels:1); do the ids belong to the same collection? After adding 1 to the ids of the run,
    1 of 2 results would be judged; does one file count from 0?
q 0 d 1\np 0 d 1\n => q Q0 d 1 2 t\np Q0 e 1 2 t\n
  2 unjudged-query: query 'p' has no judged results in qrels
q 0 d 1\nq 0 e 1\n => q Q0 d 1 2 t\nq Q0 E.txt 2 1 t\n
  2 similar-document: document 'E.txt' of query 'q' is not judged; did you mean 'e' (qrels:2)?
""")
# Runs of several lines, and what is found.
LONG = {
    "q Q0 d 1 3 t\nq Q0 e 2 2 t\n" + "".join(f"q{i} Q0 d 1 3 t\n" for i in range(9)): (
        "1 uneven-depth: query 'q' has 2 results, but 9 of 10 queries have 1; the range is 1 to 2"
    ),
    "".join(f"q Q0 d{i} {i} {-i} t\n" for i in range(1001)): (
        "1 deep: query 'q' has 1,001 results; TREC's usual maximum is 1,000"
    ),
}


def _one(qrels: bytes | None, run: bytes | None, expected: str) -> None:
    """One finding of the kind is in the last of the files, in that line, and says that."""
    line, _, rest = expected.partition(" ")
    kind, _, message = rest.partition(": ")
    found = only(check(qrels, run), kind)
    assert found.file == ("qrels" if run is None else "run")
    assert (found.line, found.message) == (None if line == "-" else int(line), message)


@pytest.mark.parametrize(("text", "expected"), JUDGMENTS)
def test_what_is_wrong_with_judgments_is_said_with_its_line(text, expected):
    _one(unescaped(text), None, expected)


@pytest.mark.parametrize(("text", "expected"), RUNS)
def test_what_is_wrong_with_a_run_is_said_with_its_line(text, expected):
    _one(None, unescaped(text), expected)


@pytest.mark.parametrize("text", LONG, ids=["uneven depth", "more than TREC asks for"])
def test_what_is_odd_in_a_long_run_is_said_with_its_line(text):
    _one(None, text.encode(), LONG[text])


@pytest.mark.parametrize(("qrels", "run", "expected"), PAIRS)
def test_what_does_not_match_is_said_with_its_line(qrels, run, expected):
    _one(unescaped(qrels), unescaped(run), expected)


def test_every_kind_has_a_case():
    messages = [case[-1] for case in (*JUDGMENTS, *RUNS, *PAIRS)] + [*LONG.values()]

    # That one is for test_check_formats.py.
    assert {text.split()[1].rstrip(":") for text in messages} == set(KINDS) - {"other-format"}


@pytest.mark.parametrize("deeper", [1, 2])
def test_depths_that_differ_anyway_are_not_noted(deeper):
    """Of few queries, or of many that have as many results as were found."""
    run = b"".join(b"q%d Q0 d 1 3 t\n" % i for i in range(7 + deeper))
    run += b"".join(b"q%d Q0 e 2 2 t\n" % i for i in range(deeper))

    assert "uneven-depth" not in kinds(check(None, run))


def test_a_file_whose_lines_end_with_cr_alone_is_named_as_such():
    """And not looked at as one line, which is no judgment and no result."""
    report = check(b"q 0 d 1\rq 0 e 0\r", b"q Q0 d 1 2 t\rq Q0 e 2 1 t\r")

    assert [(found.file, found.line, found.kind) for found in report] == [
        ("qrels", 1, "bare-cr"),
        ("run", 1, "bare-cr"),
    ]
    assert report.findings[0].message == (
        "the lines of the file end with CR alone, as on old Macs: trec_eval reads them as one;"
        " convert it (tr '\\r' '\\n')"
    )


@pytest.mark.parametrize("odd", [b"", b"#", b"x", b"# a b c d e", b"1 2 3 4 5 6 7", b"\0"])
@pytest.mark.parametrize("judgments", [True, False])
def test_of_odd_lines_all_are_counted_and_the_first_listed(odd, judgments):
    """However many there are: only those that are listed take memory."""
    text = 1000 * (odd + (b"\nq 0 d 1\n" if judgments else b"\nq Q0 d 1 2 t\n"))

    report = check(*((text, None) if judgments else (None, text)), max_per_kind=3)

    first = report.findings[0]
    (count,) = [one for one in report.counts if one.kind == first.kind]
    assert (count.found, count.listed) == (1000, 3)
    assert [one.line for one in report if one.kind == first.kind] == [1, 3, 5]


@pytest.mark.parametrize(
    ("judged", "retrieved"),
    [
        ("d1", "D1"),
        ("d1", "d01"),
        ("d1", "d1.html"),
        ("7", "7.0"),
        ("007", "7"),
        ("d", '"d"'),
        ("a b".replace(" ", "_"), "a-b"),
        ("a_b", "a%20b"),
        ("a_b", "a+b"),
        ("d", "\xa0d"),
        ("d", "d\u200b"),
        ("Doc.PDF", "doc"),
    ],
)
def test_ids_that_are_almost_the_same_are_found(judged, retrieved):
    report = check(f"q 0 {judged} 1\n".encode(), f"q Q0 {retrieved} 1 2 t\n".encode())

    assert only(report, "similar-document").document == retrieved


@pytest.mark.parametrize(
    ("judged", "retrieved"),
    [("d1", "d10"), ("d1", "d2"), ("d", "d.x"), ("1.5", "1.6"), ("0", "00a"), ("10", "1")],
)
def test_ids_that_only_look_alike_are_left_alone(judged, retrieved):
    report = check(f"q 0 {judged} 1\n".encode(), f"q Q0 {retrieved} 1 2 t\n".encode())

    assert "similar-document" not in kinds(report)


def test_a_judged_document_that_was_retrieved_is_not_meant_by_another():
    report = check(b"q 0 d 1\n", b"q Q0 d 1 2 t\nq Q0 D 2 1 t\n")

    assert "similar-document" not in kinds(report)


@pytest.mark.parametrize("run", ["pixels.run", "pca.run", "profile.run"])
def test_good_files_have_neither_errors_nor_warnings(run):
    report = fastrank.check(DATA / "digits.qrels", DATA / run)

    assert (report.total("error"), report.total("warning")) == (0, 0), str(report)


def test_small_good_files_have_no_findings():
    report = check(b"q 0 d 1\nq 0 e 0\n", b"q Q0 d 1 0x1p3 t\nq Q0 e 2 +1.5e-3 t\n")

    assert list(report) == []


def test_reading_goes_on_behind_everything_that_is_wrong():
    text = b"a\nq 0 d 1\n\0\n\nq 0 e 0.5\n# x\nq 0 e f g h\nq 0 g -\n"

    found = ", ".join(f"{finding.line} {finding.kind}" for finding in check(text))

    expected = "1 malformed, 3 nul, 4 malformed, 5 float-grade, 6 comment, 7 malformed, 8 bad-grade"
    assert found == expected


def test_findings_come_in_the_order_of_files_and_lines():
    bad = b"q Q0 d 1 x t\nq Q0 e\nq Q0 f 2 y t\n"
    report = fastrank.check(named(b"q 0 d 0.5\n", "qrels"), [named(bad, "b"), named(bad, "a")])

    found = [(finding.file, finding.line) for finding in report if finding.severity == "error"]

    files = ["qrels", "b", "b", "b", "a", "a", "a"]
    assert found == list(zip(files, [1, 1, 2, 3, 1, 2, 3], strict=True))


def test_ignored_kinds_are_neither_listed_nor_counted():
    report = check(b"q 0 d 0.5\nq 0 e x", ignore=["float-grade", "no-final-newline"])

    assert {count.kind for count in report.counts} == {"bad-grade", "no-relevant"}


def test_files_are_counted():
    report = check(b"q 0 d 1\np 0 d 1\n", b"q Q0 d 1 2 t\n\nq Q0 e 2 1 t\np Q0 d 1 2 t\n")

    assert report.files == [("qrels", "qrels", 2, 2, 2, 1), ("run", "run", 4, 3, 2, 2)]


def test_duplicates_are_found_where_the_lines_of_queries_are_scattered():
    report = check(
        None, b"q Q0 d 1 2 t\np Q0 e 1 9 t\nq Q0 c 2 1e0 t\np Q0 e 2 8 t\nq Q0 d 3 0 t\n"
    )

    found = [(f.line, f.query, f.document) for f in report if f.kind == "duplicate"]
    assert found == [(4, "p", "e"), (5, "q", "d")]


@pytest.mark.parametrize("grade", [1, 2])
def test_judgments_of_subtopics_are_recognized_by_their_second_field(grade):
    kind = "duplicate" if grade == 1 else "conflicting-grades"
    words = "judgments for measures of subtopics"

    assert words in only(check(f"q 1 d 1\nq 2 d {grade}\n".encode()), kind).message
    assert words not in only(check(f"q 1 d 1\nq 1 d {grade}\n".encode()), kind).message


def test_scores_for_the_slow_reader_stay_with_their_rows_in_scattered_files():
    report = check(None, b"q Q0 d 1 0x2 t\np Q0 e 1 9 t\nq Q0 c 2 1 t\np Q0 f 2 1e999 t\n")

    assert only(report, "infinite-score").line == 4
    assert only(report, "rank-order" if "rank-order" in kinds(report) else "ascending-scores")


def test_ids_that_are_not_text_are_escaped():
    found = only(check(b"\xff 0 \xfe\x1b 1\n\xff 0 e 0.5\n"), "float-grade")

    assert (found.query, found.document) == ("\\xff", "e")


@pytest.mark.parametrize("wrong", [{"ignore": ["nonsense"]}, {"max_per_kind": -1}])
def test_options_that_mean_nothing_are_refused(wrong):
    with pytest.raises(FastrankError, match="expected"):
        check(b"q 0 d 1\n", **wrong)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(ReadError, match="no such file"):
        fastrank.check(tmp_path / "nowhere")


# What trec_eval takes without a word, although the numbers then mean something else.
ACCEPTED_IN_SILENCE = """
float-grade bad-grade no-relevant bad-score nan-score infinite-score rank-order ascending-scores
exchanged-columns blank-in-id extra-fields padding several-tags constant-scores unknown-query
similar-document no-judged-document bare-cr
"""


@pytest.mark.parametrize("kind", ACCEPTED_IN_SILENCE.split())
def test_what_trec_eval_accepts_in_silence_is_told(kind, trec_eval):
    """Judgments and runs are those of the tables above, beside a good file."""
    good_qrels, good_run = r"q 0 d 1\n", r"q Q0 d 1 2 t\np Q0 d 1 2 t\n"
    every = [
        *PAIRS,
        *((good_qrels, run, expected) for run, expected in RUNS),
        *((qrels, good_run, expected) for qrels, expected in JUDGMENTS),
    ]
    qrels, run = next(map(unescaped, own[:2]) for own in every if f" {kind}:" in own[2])

    evaluated = trec_eval("qrels", "run", files={"qrels": qrels, "run": run})
    report = check(qrels, run)

    assert (evaluated.status, evaluated.stderr) == (0, "")
    assert kind in kinds(report)
    assert KINDS[kind][0] != "note"


@given(
    qrels=st.one_of(lines_of(QRELS_ROWS), untidy(QRELS_ROWS)),
    run=st.one_of(lines_of(RUN_ROWS), untidy(RUN_ROWS)),
    trec_eval_version=st.sampled_from(["9.0.8", "10.0"]),
)
@examples(200)
def test_what_cannot_be_read_or_evaluated_has_errors(qrels, run, trec_eval_version):
    if not qrels or not run:
        return
    try:
        judgments = parse_qrels(qrels, trec_eval_version=trec_eval_version, warn=refuse)
        results = parse_run(run, trec_eval_version=trec_eval_version, warn=refuse)
        fastrank.evaluate(judgments, results, "all_trec", trec_eval_version=trec_eval_version)
    except (FastrankError, NotReadError):
        assert check(qrels, run).total("error") > 0
