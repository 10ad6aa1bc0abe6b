"""Readers: text into nouns, by the lexical rules of trec_eval."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.errors import FastrankError, FormatError
from fastrank.scores.differences import read_zscores
from tests.helpers import strategies as make
from tests.helpers.parsing import (
    parse_prefs,
    parse_qrels,
    parse_qrels_jg,
    parse_run,
    read_prefs,
    read_qrels_jg,
    read_qrels_prefs,
    read_trec_qrels,
    read_trec_run,
)
from tests.helpers.strategies import (
    BLANKS,
    NO_BLANKS,
    BrokenLineError,
    Layout,
    contents,
    exactly,
    examples,
    many,
    slow_in_python,
    strtod,
)


class Form(NamedTuple):
    """A format: its reader, a line and what that line means, and how the reader describes it."""

    name: str
    read: Callable[..., Any]
    line: bytes
    row: tuple[Any, ...]
    expected: str


RUN = Form(
    "run",
    read_trec_run,
    b"q1 Q0 d1 1 2.5 tag",
    (b"d1", 2.5),
    "at least 6 fields (query Q0 doc rank score tag)",
)
QRELS = Form(
    "qrels", read_trec_qrels, b"q1 0 d1 2", (b"0", b"d1", 2), "4 fields (query iter doc grade)"
)
QRELS_JG = Form(
    "qrels_jg", read_qrels_jg, b"q1 g d1 2", (b"g", b"d1", 2), "4 fields (query group doc grade)"
)
PREFS = Form(
    "prefs",
    read_prefs,
    b"q1 g s d1 2.5",
    (b"g", b"s", b"d1", 2.5),
    "5 fields (query group subgroup doc level)",
)
QRELS_PREFS = Form(
    "qrels_prefs",
    read_qrels_prefs,
    b"q1 g d1 2.5",
    (b"g", b"", b"d1", 2.5),
    "4 fields (query group doc level)",
)
ZSCORES = Form(
    "zscores",
    read_zscores,
    b"q1 map 0.5 0.25",
    (b"map", 0.5, 0.25),
    "4 fields (query measure mean stddev)",
)
JUDGMENTS = [QRELS, QRELS_JG, PREFS, QRELS_PREFS]

in_every_format = pytest.mark.parametrize(
    "form", [RUN, *JUDGMENTS, ZSCORES], ids=lambda form: form.name
)
in_every_format_but_runs = pytest.mark.parametrize(
    "form", [*JUDGMENTS, ZSCORES], ids=lambda form: form.name
)
in_every_format_but_zscores = pytest.mark.parametrize(
    "form", [RUN, *JUDGMENTS], ids=lambda form: form.name
)
in_judgments = pytest.mark.parametrize("form", JUDGMENTS, ids=lambda form: form.name)


def rows_of(form: Form, text: bytes, **options: Any) -> list[tuple[bytes, list[Any]]]:
    """What a reader makes of a text: rows per query."""
    return contents(form.read(io.BytesIO(text), **options))


def refused(form: Form, text: bytes, **options: Any) -> FormatError:
    """The error that a reader makes of a text."""
    with pytest.raises(FormatError) as raised:
        form.read(io.BytesIO(text), **options)
    return raised.value


def of(form: Form, query: bytes) -> bytes:
    """The format's line, for another query."""
    return form.line.replace(b"q1", query)


# Fields and lines


@in_every_format
def test_a_line(form: Form) -> None:
    """One well-formed line means one row of its query."""
    assert rows_of(form, form.line + b"\n") == [(b"q1", [form.row])]


@in_every_format
@pytest.mark.parametrize("blank", [*BLANKS, *(BLANKS[i:] * 2 for i in range(5))])
def test_any_run_of_blanks_separates_fields(form: Form, blank: int | bytes) -> None:
    """Space, tab, vertical tab, form feed and carriage return, alone and mixed."""
    gap = bytes([blank]) if isinstance(blank, int) else blank

    assert rows_of(form, form.line.replace(b" ", gap) + b"\n") == [(b"q1", [form.row])]


@in_every_format
@pytest.mark.parametrize("blank", [*BLANKS, *(BLANKS[i:] * 2 for i in range(5))])
def test_blanks_around_a_line_mean_nothing(form: Form, blank: int | bytes) -> None:
    """A line may be indented and padded."""
    edge = bytes([blank]) if isinstance(blank, int) else blank

    assert rows_of(form, edge + form.line + edge + b"\n") == [(b"q1", [form.row])]


@in_every_format
@pytest.mark.parametrize("character", NO_BLANKS)
def test_other_white_space_is_part_of_a_field(form: Form, character: bytes) -> None:
    """What only Unicode or Python takes for white space separates nothing."""
    query = b"q" + character + b"1"

    assert rows_of(form, of(form, query)) == [(query, [form.row])]


@in_every_format
def test_bytes_above_127_are_ordinary(form: Form) -> None:
    """Texts are bytes: UTF-8, Latin-1 and nonsense are kept as they are."""
    query = bytes(range(128, 256))

    assert rows_of(form, of(form, query)) == [(query, [form.row])]


@in_every_format
def test_control_characters_are_ordinary(form: Form) -> None:
    """All bytes are text, but for blanks, newline and NUL."""
    query = bytes(byte for byte in range(1, 128) if byte not in b"\n" + BLANKS and byte != ord("#"))

    assert rows_of(form, of(form, query)) == [(query, [form.row])]


@pytest.mark.parametrize("form", [RUN, *JUDGMENTS], ids=lambda form: form.name)
def test_a_byte_order_mark_is_ignored(form: Form) -> None:
    text = b"\xef\xbb\xbf" + form.line + b"\n" + of(form, b"q2") + b"\n"

    assert rows_of(form, text) == [(b"q1", [form.row]), (b"q2", [form.row])]


@in_every_format
def test_lines_may_end_in_carriage_return_and_newline(form: Form) -> None:
    """A file with the line ends of Windows reads as one with those of Unix."""
    text = form.line + b"\r\n" + of(form, b"q2") + b"\r\n"

    assert rows_of(form, text) == [(b"q1", [form.row]), (b"q2", [form.row])]


@in_every_format
def test_the_last_line_needs_no_newline(form: Form) -> None:
    """A missing final newline is as good as one, also after a carriage return."""
    text = of(form, b"q2") + b"\n" + form.line

    assert rows_of(form, text) == rows_of(form, text + b"\n") == rows_of(form, text + b"\r")


@in_every_format
def test_carriage_return_alone_ends_no_line(form: Form) -> None:
    """A file with the line ends of old Macs would be one line with many fields."""
    assert refused(form, form.line + b"\r" + form.line + b"\r").line == 1


@in_every_format_but_runs
def test_a_field_more_is_malformed(form: Form) -> None:
    """Judgments and z-scores have exactly as many fields as their format says."""
    error = refused(form, form.line + b"\n" + form.line + b" more\n")

    assert error.line == 2
    assert f"found {len(form.line.split()) + 1}: " in error.reason


@in_every_format
def test_a_field_less_is_malformed(form: Form) -> None:
    """A line with too few fields is refused with what was expected and what was found."""
    short = form.line.rpartition(b" ")[0]

    error = refused(form, form.line + b"\n" + short + b"\n")

    assert error.line == 2
    assert error.reason == (
        f"malformed line: expected {form.expected}, found {len(short.split())}: {short.decode()!r}"
    )


@in_every_format
def test_the_error_says_file_and_line(form: Form, tmp_path: Path) -> None:
    """The message begins with path and line, as compilers write them."""
    path = tmp_path / "file"
    path.write_bytes(form.line + b"\n" + of(form, b"q2") + b"\nx\n")

    with pytest.raises(FormatError) as raised:
        form.read(path)

    assert raised.value.path == str(path)
    assert raised.value.line == 3
    assert str(raised.value) == f"{path}:3: {raised.value.reason}"


@in_every_format
def test_the_error_shows_the_beginning_of_a_long_line(form: Form) -> None:
    """Sixty bytes of the line are shown, and that there are more."""
    error = refused(form, b"x" * 61)

    assert error.reason == f"malformed line: expected {form.expected}, found 1: '{'x' * 60}...'"
    assert refused(form, b"x" * 60).reason.endswith(f"found 1: '{'x' * 60}'")


@in_every_format
def test_the_error_shows_any_bytes(form: Form) -> None:
    """Bytes that are no UTF-8 are replaced in the message, control characters escaped."""
    assert refused(form, b"\xff\t\x1b[1m").reason.endswith("found 2: '\ufffd\\t\\x1b[1m'")


@in_every_format
def test_the_last_line_may_be_the_malformed_one(form: Form) -> None:
    """With or without a final newline, the error names the last line."""
    text = form.line + b"\n" + of(form, b"q2") + b"\nx"

    assert refused(form, text).line == refused(form, text + b"\n").line == 3


@in_every_format
@pytest.mark.parametrize("blank", [b"", b" ", b"\r", b" \t\v\f\r"])
def test_blank_lines_are_for_runs_only(form: Form, blank: bytes) -> None:
    """In runs they are skipped; elsewhere they are malformed."""
    text = form.line + b"\n" + blank + b"\n" + of(form, b"q2") + b"\n"

    if form is RUN:
        assert rows_of(form, text) == [(b"q1", [form.row]), (b"q2", [form.row])]
    else:
        error = refused(form, text)
        assert error.line == 2
        assert f"found 0: {blank.decode()!r}" in error.reason


@in_every_format_but_runs
def test_a_blank_last_line_is_malformed(form: Form) -> None:
    """Two newlines at the end are one too many, also when they are all there is."""
    assert refused(form, form.line + b"\n\n").line == 2
    assert refused(form, b"\n").line == 1
    assert refused(form, form.line + b"\n ").line == 2


@in_every_format
@pytest.mark.parametrize("place", [1, 2, -1])
def test_a_nul_byte_within_a_line_is_refused(form: Form, place: int) -> None:
    """A file with NUL bytes in its lines is no text file, and is said to be none."""
    bad = form.line[:place] + b"\0" + form.line[place:]

    error = refused(form, form.line.replace(b"d1", b"d0") + b"\n" + bad + b"\n")

    assert error.line == 2
    assert error.reason == "NUL byte in the line: this is not a text file"


@in_every_format
@pytest.mark.parametrize("bad", [b" \0", b"x\0", b"\t\0 a b c d e f"])
def test_a_nul_byte_is_refused_before_the_fields_are_counted(form: Form, bad: bytes) -> None:
    """A malformed line with a NUL is called what it is, also when blanks come first."""
    assert refused(form, bad).reason == "NUL byte in the line: this is not a text file"


def test_a_nul_byte_after_the_sixth_field_of_a_run_is_refused() -> None:
    """Although fields are ignored there."""
    assert "NUL byte" in refused(RUN, RUN.line + b" more\0\n").reason


@in_every_format_but_zscores
def test_a_nul_byte_at_the_start_of_a_line_ends_the_file_with_a_warning(form: Form) -> None:
    """As for trec_eval what follows is not read; unlike there, this is said."""
    text = form.line + b"\n" + of(form, b"q2") + b"\n\0x\nx\n"

    with pytest.warns(UserWarning, match="NUL byte") as warned:
        rows = rows_of(form, text)

    assert rows == [(b"q1", [form.row]), (b"q2", [form.row])]
    assert [str(warning.message) for warning in warned] == [
        "<file object>:3: the line begins with a NUL byte, which ends the file:"
        " 5 bytes from here on are not read"
    ]


@in_every_format_but_zscores
def test_a_file_may_begin_with_a_nul_byte(form: Form) -> None:
    """Then it has no lines."""
    with pytest.warns(UserWarning, match=":1: the line begins with a NUL byte"):
        assert rows_of(form, b"\0" + form.line) == []


@in_every_format_but_zscores
def test_the_warning_points_to_the_caller(form: Form) -> None:
    """A warning shows the line of the program that read the file."""
    with pytest.warns(UserWarning, match="NUL") as warned:
        form.read(io.BytesIO(b"\0"))

    assert warned[0].filename == __file__


@in_every_format_but_zscores
def test_who_reads_may_take_the_warning(form: Form) -> None:
    """`warn` gets the message instead of Python's warnings, once, and not at all if all is read."""
    messages: list[str] = []

    form.read(io.BytesIO(form.line + b"\n\0"), warn=messages.append)
    form.read(io.BytesIO(form.line + b"\n"), warn=messages.append)

    assert messages == [
        "<file object>:2: the line begins with a NUL byte, which ends the file:"
        " 1 bytes from here on are not read"
    ]


@in_every_format_but_zscores
def test_a_nul_byte_on_standard_input_is_refused(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also at the start of a line, where trec_eval 10.0 would join what is around it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(form.line + b"\n\0\n")))

    with pytest.raises(FormatError, match=r"^-:2: NUL byte in the line") as raised:
        form.read("-")

    assert raised.value.line == 2


def test_a_nul_byte_in_zscores_is_refused_everywhere() -> None:
    """z-score files are ours to write: no NUL ends them early."""
    assert refused(ZSCORES, ZSCORES.line + b"\n\0\n").line == 2


@in_every_format
def test_a_line_may_be_of_any_length(form: Form) -> None:
    """Ten million bytes of one field, and as many blanks, are one line."""
    size = many(10_000_000)
    query = b"q" * size

    assert rows_of(form, of(form, query)) == [(query, [form.row])]
    assert rows_of(form, form.line.replace(b" ", b" " * (size // 5))) == [(b"q1", [form.row])]


@in_every_format
def test_line_numbers_reach_the_end_of_a_long_file(form: Form) -> None:
    """The malformed line is found behind many others, each with a query of its own."""
    lines = many(20_000)
    text = b"".join(of(form, b"q%d" % i) + b"\n" for i in range(lines)) + b"x"

    assert refused(form, text).line == lines + 1


# Runs


def test_only_query_document_score_and_tag_of_a_run_count() -> None:
    """Q0 and rank may be anything, and there may be more fields."""
    text = b"q anything d1 nonsense 2 tag and so on\nq 1 d2 -7 1e1 tag2 \xff # more\n"

    run = parse_run(text)

    assert contents(run) == [(b"q", [(b"d1", 2.0), (b"d2", 10.0)])]
    assert run.tag == "tag2"


@pytest.mark.parametrize(
    "text",
    [
        b"q Q0 d 1 1 first\nq Q0 e 1 1 last",
        b"q Q0 d 1 1 first\nq Q0 e 1 1 last more\n",
        b"q Q0 d 1 1 first\nq Q0 e 1 1 last\n\n \r\n",
        b"q Q0 d 1 1 first\nr Q0 d 1 1 first\nq Q0 e 1 1 last\n",
    ],
    ids=["no newline", "more fields", "blank lines after it", "scattered query"],
)
def test_the_tag_is_that_of_the_last_data_line(text: bytes) -> None:
    """Of the whole file, whichever query that line belongs to."""
    assert parse_run(text).tag == "last"


def test_a_comment_has_no_tag() -> None:
    """Comments are no data lines."""
    assert parse_run(b"q Q0 d 1 1 last\n# a b c d e f\n", trec_eval_version="10.0").tag == "last"


@pytest.mark.parametrize("text", [b"\n", b" \t\r\n\n", b"\n\n\n", b" "])
def test_a_run_of_blank_lines_has_no_queries(text: bytes) -> None:
    """Bytes without data make a run without queries, not an error."""
    run = read_trec_run(io.BytesIO(text))

    assert contents(run) == []
    assert run.tag == ""


def test_scores_keep_file_order() -> None:
    """Rows stay as they stand; ranking is for evaluation."""
    text = b"q 0 c 3 1 t\nq 0 a 1 3 t\nq 0 b 2 2 t\nq 0 a 1 3 t\n"

    assert contents(parse_run(text)) == [
        (b"q", [(b"c", 1.0), (b"a", 3.0), (b"b", 2.0), (b"a", 3.0)])
    ]


def test_scores_are_doubles() -> None:
    """Also at 9.0.8: rounding to single precision, where wanted, is for evaluation."""
    assert parse_run(b"q 0 d 1 0.1 t", trec_eval_version="9.0.8").scores.tolist() == [0.1]


def test_slow_numbers_find_their_rows_among_scattered_queries() -> None:
    """Numbers that a second reader must read come to the row they stand in."""
    scores = [b"inf", b"0x2", b"3", b"4.000000000000000000001", b"-inf"]
    lines = zip([b"b", b"a", b"b", b"a", b"b"], [1, 2, 3, 4, 5], scores, strict=True)
    text = b"".join(b"%b 0 %d 1 %b t\n" % line for line in lines)

    assert contents(parse_run(text)) == [
        (b"b", [(b"1", inf), (b"3", 3.0), (b"5", -inf)]),
        (b"a", [(b"2", 2.0), (b"4", 4.0)]),
    ]


# Judgments, preferences and z-scores


@pytest.mark.parametrize(
    ("grade", "value"),
    [(b"1.9", 1), (b"abc", 0), (b"1e3", 1), (b"+2", 2), (b"-1", -1), (b"9" * 30, 2**63 - 1)],
)
def test_for_the_command_a_grade_is_an_integer_as_atol_reads_it(grade: bytes, value: int) -> None:
    """Any field is a grade; what is no integer counts as far as it is one."""
    assert parse_qrels(b"q 0 d " + grade, strict=False).grades.tolist() == [value]


def test_qrels_keep_repeated_documents() -> None:
    """Whether a document may be judged twice is for evaluation to say."""
    assert contents(parse_qrels(b"q 0 d 1\nq 0 d 2\n")) == [
        (b"q", [(b"0", b"d", 1), (b"0", b"d", 2)])
    ]


def test_preference_levels_are_numbers_as_strtod_reads_them() -> None:
    """Levels may have fractions, signs and exponents, in both layouts."""
    assert parse_prefs(b"q g s d -1.5e1\n").levels.tolist() == [-15.0]
    assert parse_prefs(b"q g d .5\n", form="qrels_prefs").levels.tolist() == [0.5]


def test_preferences_without_subgroups_have_empty_ones() -> None:
    """In the layout of qrels every row has the same, empty subgroup."""
    text = b"a g d 1\nb h d 2\na g e 3\n"

    assert list(parse_prefs(text, form="qrels_prefs").subgroups) == [b"", b"", b""]


def test_zscores_are_sorted_by_measure() -> None:
    """Entries of a query stand in byte order of their measures, equal ones in file order."""
    text = b"q map 1 0\nr P_5 2 .5\nq P_5 3 0x1\nq P_10 4 1e1\nq map 5 inf\n"

    assert read_zscores(io.BytesIO(text)).entries == {
        b"q": [(b"P_10", 4.0, 10.0), (b"P_5", 3.0, 1.0), (b"map", 1.0, 0.0), (b"map", 5.0, inf)],
        b"r": [(b"P_5", 2.0, 0.5)],
    }


def test_zscores_have_no_comments() -> None:
    """# means nothing there, at any compatibility level."""
    assert contents(read_zscores(io.BytesIO(b"# map 1 2\n"))) == [(b"#", [(b"map", 1.0, 2.0)])]
    assert refused(ZSCORES, b"# comment\n" + ZSCORES.line).line == 1


# Comments as in trec_eval 10.0


@pytest.mark.parametrize(
    "comment", [b"#", b"# a", b" \t#", b"#" + RUN.line, b" # a b c d e f", b"#\r"]
)
def test_comments_in_runs_at_10_0(comment: bytes) -> None:
    """A line whose first character other than blanks is # is skipped, wherever, however often."""
    other = of(RUN, b"q2")
    text = b"\n".join([comment, comment, RUN.line, comment, b"", comment, other, comment])

    for ending in (b"", b"\n"):
        assert rows_of(RUN, text + ending, trec_eval_version="10.0") == [
            (b"q1", [RUN.row]),
            (b"q2", [RUN.row]),
        ]


@in_judgments
@pytest.mark.parametrize("comment", [b"#", b"# a", b"##", b"# a b c d e f", b"#\tx\r"])
def test_comments_in_judgments_at_10_0(form: Form, comment: bytes) -> None:
    """A line with # in column 0 is skipped, at the start, between data, and at the end."""
    text = b"\n".join([comment, form.line, comment, of(form, b"q2"), comment])

    for ending in (b"", b"\n"):
        assert rows_of(form, text + ending, trec_eval_version="10.0") == [
            (b"q1", [form.row]),
            (b"q2", [form.row]),
        ]


@in_judgments
def test_the_line_after_a_comment_is_data_at_10_0(form: Form) -> None:
    """Of two lines with # the second is data when it has the fields, else malformed."""
    assert rows_of(form, b"# a\n" + of(form, b"#"), trec_eval_version="10.0") == [
        (b"#", [form.row])
    ]
    assert refused(form, form.line + b"\n# a\n# b\n", trec_eval_version="10.0").line == 3


@in_judgments
def test_the_line_after_a_comment_and_data_may_be_a_comment_at_10_0(form: Form) -> None:
    """Of three lines with # the second is data, and so the third a comment again."""
    text = b"# a\n" + of(form, b"#") + b"\n# b\n" + form.line

    assert rows_of(form, text, trec_eval_version="10.0") == [
        (b"#", [form.row]),
        (b"q1", [form.row]),
    ]


@in_judgments
def test_an_indented_comment_is_data_at_10_0(form: Form) -> None:
    """Only # in column 0 begins a comment in judgments."""
    assert rows_of(form, b" " + of(form, b"#"), trec_eval_version="10.0") == [(b"#", [form.row])]
    assert refused(form, b" # a", trec_eval_version="10.0").line == 1


@in_every_format_but_zscores
def test_a_file_of_comments_has_no_queries_at_10_0(form: Form) -> None:
    """One comment, with or without a newline, is a file without data."""
    assert rows_of(form, b"# a\n", trec_eval_version="10.0") == []
    assert rows_of(form, b"#", trec_eval_version="10.0") == []


@in_every_format_but_zscores
def test_a_number_sign_within_a_line_begins_no_comment(form: Form) -> None:
    """Only the first character of a line makes it a comment."""
    text = of(form, b"q#1") + b"\n" + form.line.replace(b"d1", b"#d")

    for trec_eval_version in ("9.0.8", "10.0"):
        assert [query for query, _ in rows_of(form, text, trec_eval_version=trec_eval_version)] == [
            b"q#1",
            b"q1",
        ]


@in_every_format_but_zscores
@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_comments_count_as_lines(form: Form, trec_eval_version: str) -> None:
    """The line in a message is that of the file, comments included."""
    text = b"# a\n" + form.line + b"\n# b\n" + of(form, b"q2") + b"\nbad\n"

    assert refused(form, text, trec_eval_version=trec_eval_version).line == 5


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_blank_lines_count_as_lines(trec_eval_version: str) -> None:
    """So do the blank lines of runs."""
    text = b"\n \n" + RUN.line + b"\n\r\n# a\nbad\n"

    assert refused(RUN, text, trec_eval_version=trec_eval_version).line == 6


@in_every_format_but_zscores
def test_a_nul_byte_within_a_comment_means_nothing_at_10_0(form: Form) -> None:
    """Comments are skipped whatever they hold."""
    assert rows_of(form, b"# \0\n" + form.line, trec_eval_version="10.0") == [(b"q1", [form.row])]


# Comments at 9.0.8


@in_every_format_but_zscores
def test_a_well_formed_line_with_a_number_sign_is_data_at_9_0_8(form: Form) -> None:
    """# has no meaning of its own."""
    text = of(form, b"#") + b"\n" + of(form, b"#q") + b"\n" + form.line

    assert [query for query, _ in rows_of(form, text)] == [b"#", b"#q", b"q1"]
    assert rows_of(form, text) == rows_of(form, text, trec_eval_version="9.0.8")


@in_every_format_but_zscores
def test_a_file_that_needs_comments_gets_them_at_9_0_8(form: Form) -> None:
    """Where a line with # is malformed, all lines that begin with # are comments."""
    text = b"\n".join([of(form, b"#"), form.line, b"# a", b"# b", of(form, b"q2"), b"#"])

    assert rows_of(form, text) == [(b"q1", [form.row]), (b"q2", [form.row])]


@in_every_format_but_zscores
def test_comments_do_not_excuse_other_malformed_lines_at_9_0_8(form: Form) -> None:
    """The first line that is malformed and no comment is the error."""
    assert refused(form, b"# a\n" + form.line + b"\nbad\n# b\n").line == 3
    assert refused(form, form.line + b"\nbad\n# a\n").line == 2


def test_indented_comments_at_9_0_8() -> None:
    """In runs blanks may stand before the #, in judgments they may not, as at 10.0."""
    assert rows_of(RUN, b" # a\n" + RUN.line) == [(b"q1", [RUN.row])]
    assert refused(QRELS, b" # a\n" + QRELS.line).line == 1


# Duplicates in judgment groups


def test_a_document_twice_in_a_judgment_group_is_refused() -> None:
    """The error names the document and the line where it comes again."""
    text = b"q a d 1\nq b d 1\nr a d 1\nq a e 1\n\xff a d 1\nq a d 0\n"

    error = refused(QRELS_JG, text)

    assert error.line == 6
    assert error.reason == "duplicate document 'd' in a judgment group of its query"


def test_a_document_may_stand_in_several_judgment_groups() -> None:
    """Groups of a query, and the same group of different queries, are apart."""
    text = b"q a d 1\nq b d 1\nr a d 1\nr b d 1\n"

    assert contents(parse_qrels_jg(text)) == [
        (b"q", [(b"a", b"d", 1), (b"b", b"d", 1)]),
        (b"r", [(b"a", b"d", 1), (b"b", b"d", 1)]),
    ]


@examples(100)
@given(make.lines_of(make.QRELS_JG_ROWS))
def test_judgment_groups_repeat_no_document(text: bytes) -> None:
    """A file is refused exactly if a triple of query, group and document comes twice."""
    seen: set[tuple[bytes, ...]] = set()
    again = []
    for number, line in enumerate(text.split(b"\n"), 1):
        key = tuple(line.split()[:3])
        if key in seen and key:
            again.append(number)
        seen.add(key)

    if again:
        with pytest.raises(FormatError, match="duplicate document") as raised:
            parse_qrels_jg(text, strict=False)
        assert raised.value.line in again
    else:
        found = parse_qrels_jg(text, strict=False)
        assert contents(found) == contents(parse_qrels(text, strict=False))


# Properties


PARSERS: dict[str, tuple[Callable[..., Any], Layout, st.SearchStrategy[list[Any]]]] = {
    "run": (parse_run, make.RUN, make.RUN_ROWS),
    "qrels": (parse_qrels, make.QRELS, make.QRELS_ROWS),
    "prefs": (parse_prefs, make.PREFS, make.PREFS_ROWS),
    "qrels_prefs": (
        lambda text, **options: parse_prefs(text, form="qrels_prefs", **options),
        make.QRELS_PREFS,
        make.QRELS_PREFS_ROWS,
    ),
}


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_reading_equals_the_twin(name: str, trec_eval_version: str) -> None:
    """Well-formed and untidy text means what split, dictionaries, strtod and atol make of it."""
    parse, layout, rows = PARSERS[name]

    @examples(100)
    @given(st.one_of(make.lines_of(rows), make.untidy(rows)))
    def equal(text: bytes) -> None:
        broken = None
        try:
            lines = make.twin_fields(text, layout, trec_eval_version)
        except BrokenLineError as caught:
            broken = caught
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if broken is None:
                noun = parse(text, trec_eval_version=trec_eval_version, strict=False)
                assert exactly(contents(noun)) == exactly(make.grouped(lines, layout))
                if layout.is_run:
                    assert noun.tag_bytes == (lines[-1][5] if lines else b"")
                return
            with pytest.raises(FormatError) as raised:
                parse(text, trec_eval_version=trec_eval_version, strict=False)
        assert raised.value.line == broken.line
        reason = "NUL byte" if broken.fields is None else f"found {broken.fields}: "
        assert reason in raised.value.reason

    equal()


@examples(100)
@given(make.lines_of(make.ZSCORES_ROWS).filter(bool))
def test_reading_zscores_equals_the_twin(text: bytes) -> None:
    """Entries per query, sorted by measure."""
    expected: dict[bytes, list[Any]] = {}
    for line in text.removesuffix(b"\n").split(b"\n"):
        query, measure, mean, deviation = line.split()
        expected.setdefault(query, []).append((measure, strtod(mean), strtod(deviation)))
    for entries in expected.values():
        entries.sort(key=lambda entry: entry[0])

    assert exactly(contents(read_zscores(io.BytesIO(text)))) == exactly(list(expected.items()))


def any_bytes() -> st.SearchStrategy[bytes]:
    """Noise, and text of every format with noise in it."""
    pieces = st.one_of(
        st.sampled_from(
            [b"\n", b"\n", b" ", b"\t", b"\r\n", b"#", b"\0", b"q 0 d 1", b"q 0 d 1 1 t"]
        ),
        st.binary(max_size=4),
    )
    every = [rows for _, _, rows in PARSERS.values()]
    return st.one_of(
        st.binary(max_size=200),
        st.lists(pieces, max_size=40).map(b"".join),
        *(make.untidy(rows) for rows in every),
    )


@in_every_format
def test_any_bytes_are_a_noun_or_an_error(form: Form) -> None:
    """No content makes a reader raise anything but FastrankError."""

    @examples(100)
    @given(any_bytes(), st.sampled_from(["9.0.8", "10.0"]))
    def read(text: bytes, trec_eval_version: str) -> None:
        options = {} if form is ZSCORES else {"trec_eval_version": trec_eval_version}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                noun = form.read(io.BytesIO(text), **options)
            except FastrankError:
                return
        contents(noun)

    read()


def test_the_first_line_is_not_taken_for_one_like_a_line_before() -> None:
    """However much text follows, and though its fields would do for the end of a line."""
    with pytest.raises(FormatError, match=r":1: malformed line: .* found 4"):
        parse_run(b"doc 1 0.5 tag\n" + b"q Q0 doc 1 0.5 tag\n" * 9)


@slow_in_python
def test_a_million_bytes_of_noise_are_refused() -> None:
    """Binary files are found out, whichever reader gets them."""
    noise = bytes(range(255, -1, -1)) * 4096

    for form in [RUN, *JUDGMENTS, ZSCORES]:
        assert refused(form, noise).line == 1


# What readers return


def test_nouns_are_frozen() -> None:
    """Neither fields nor numbers of what was read can be changed."""
    run = parse_run(RUN.line)

    with pytest.raises(AttributeError, match="frozen"):
        run.tag = b"other"
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 1.0


def test_nouns_say_what_they_are() -> None:
    """repr() shows source and size, len() the number of queries."""
    run, qrels = parse_run(RUN.line, "a.run"), parse_qrels(QRELS.line, "a.qrels")
    prefs = parse_prefs(PREFS.line + b"\n" + of(PREFS, b"q2"), "a.prefs")

    assert [len(run), len(qrels), len(prefs)] == [1, 1, 2]
    assert repr(run) == "<Run a.run: 1 query, 1 row>"
    assert repr(qrels) == "<Qrels a.qrels: 1 query, 1 row>"
    assert repr(prefs) == "<Preferences a.prefs: 2 queries, 2 rows>"


def test_columns_are_typed() -> None:
    """Scores and levels are doubles, grades and offsets 64-bit integers."""
    run, qrels, prefs = parse_run(RUN.line), parse_qrels(QRELS.line), parse_prefs(PREFS.line)

    assert [run.scores.dtype, prefs.levels.dtype] == ["float64", "float64"]
    assert [qrels.grades.dtype, qrels.offsets.dtype, run.offsets.dtype] == ["int64"] * 3


def test_the_line_of_a_text_is_known() -> None:
    """A text of a noun tells the line it was read from, comments and blank lines counted."""
    run = parse_run(b"\n# a\n" + RUN.line + b"\n \n" + of(RUN, b"q2"), trec_eval_version="10.0")

    assert [run.docs.line(i) for i in range(len(run.docs))] == [3, 5]
