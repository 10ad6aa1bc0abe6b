"""Readers: text into nouns, by the lexical rules of trec_eval."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.errors import FastrankError, FormatError
from fastrank.formats.line_files import read_clusters
from fastrank.formats.trec import parse
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
    """A format: its reader, a line and what that line means, and the names of its fields."""

    read: Callable[..., Any]
    line: bytes
    row: tuple[Any, ...]
    fields: str

    def expected(self) -> str:
        """How the reader describes the format."""
        count = len(self.fields.split())
        return f"{'at least ' if self is RUN else ''}{count} fields ({self.fields})"


RUN = Form(read_trec_run, b"q1 Q0 d1 1 2.5 tag", (b"d1", 2.5), "query Q0 doc rank score tag")
QRELS = Form(read_trec_qrels, b"q1 0 d1 2", (b"0", b"d1", 2), "query iter doc grade")
QRELS_JG = Form(read_qrels_jg, b"q1 g d1 2", (b"g", b"d1", 2), "query group doc grade")
LEVELS = (b"g", b"s", b"d1", 2.5), (b"g", b"", b"d1", 2.5)
PREFS = Form(read_prefs, b"q1 g s d1 2.5", LEVELS[0], "query group subgroup doc level")
QRELS_PREFS = Form(read_qrels_prefs, b"q1 g d1 2.5", LEVELS[1], "query group doc level")
ZSCORES = Form(read_zscores, b"q1 map 0.5 0.25", (b"map", 0.5, 0.25), "query measure mean stddev")
JUDGMENTS = (QRELS, QRELS_JG, PREFS, QRELS_PREFS)
OF_TREC = (RUN, *JUDGMENTS)
ALL = (*OF_TREC, ZSCORES)
NUL = "NUL byte in the line: this is not a text file"
REST_IS_NOT_READ = (
    "<file object>:{}: the line begins with a NUL byte, which ends the file:"
    " {} bytes from here on are not read"
)


def of_formats(*forms: Form) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("form", forms, ids=lambda form: form.fields)


def of(form: Form, query: bytes) -> bytes:
    """The format's line, for another query."""
    return form.line.replace(b"q1", query)


def filled(form: Form, text: bytes) -> bytes:
    """A text with lines of the format: LINE for query q1, OTHER for q2 and HASH for #."""
    for word, query in ((b"LINE", b"q1"), (b"OTHER", b"q2"), (b"HASH", b"#")):
        text = text.replace(word, of(form, query))
    return text


def rows_of(form: Form, text: bytes, **options: Any) -> list[tuple[bytes, list[Any]]]:
    """What a reader makes of a text: rows per query."""
    return contents(form.read(io.BytesIO(filled(form, text)), **options))


def refused(form: Form, text: bytes, **options: Any) -> FormatError:
    """The error that a reader makes of a text."""
    with pytest.raises(FormatError) as raised:
        form.read(io.BytesIO(filled(form, text)), **options)
    return raised.value


# Fields and lines

BLANK = (b"", b" ", b"\r", b" \t\v\f\r")
GAPS = [bytes([blank]) for blank in BLANKS] + [BLANKS[place:] * 2 for place in range(5)]


@of_formats(*ALL)
@pytest.mark.parametrize("gap", GAPS)
def test_any_run_of_blanks_separates_and_surrounds_fields(form: Form, gap: bytes) -> None:
    line = form.line.replace(b" ", gap)
    for text in (line, gap + form.line + gap, gap + line + gap):
        assert rows_of(form, text + b"\n") == [(b"q1", [form.row])]


ORDINARY = {
    **{f"{text!r}": b"q" + text + b"1" for text in NO_BLANKS},
    "bytes above 127": bytes(range(128, 256)),
    "control characters": bytes(set(range(1, 128)) - set(b"\n#" + BLANKS)),
}


@of_formats(*ALL)
@pytest.mark.parametrize("query", ORDINARY.values(), ids=ORDINARY)
def test_all_bytes_but_blanks_newline_and_nul_are_text(form: Form, query: bytes) -> None:
    """Also what only Unicode or Python takes for white space, and what is no UTF-8."""
    assert rows_of(form, of(form, query)) == [(query, [form.row])]


def versions(form: Form, wanted: str) -> list[dict[str, str]]:
    """The options for a version of trec_eval, or for any."""
    if form is ZSCORES:
        return [{}]
    named = [wanted] if wanted != "any" else ["9.0.8", "10.0"]
    return [{"trec_eval_version": own} for own in named] + [{}] * ("9.0.8" in named)


# Formats, version of trec_eval, text, and the queries that have a row each.
MEANT = [
    (ALL, "any", b"LINE\n", b"q1"),
    (ALL, "any", b"LINE\r\nOTHER\r\n", b"q1 q2"),
    (ALL, "any", b"OTHER\nLINE", b"q2 q1"),
    (ALL, "any", b"OTHER\nLINE\r", b"q2 q1"),
    (OF_TREC, "any", b"\xef\xbb\xbfLINE\nOTHER\n", b"q1 q2"),
    *([[RUN], "any", b"LINE\n" + blank + b"\nOTHER\n", b"q1 q2"] for blank in BLANK),
    *([[RUN], "any", text, b""] for text in (b"\n", b" \t\r\n\n", b"\n\n\n", b" ")),
    # A comment in column 0; the line after it is data, as in trec_eval 10.0.
    (JUDGMENTS, "10.0", b"# a\nLINE\n#\nOTHER\n##", b"q1 q2"),
    (JUDGMENTS, "10.0", b"#\nLINE\n# a b c d e f\nOTHER\n#\tx\r\n", b"q1 q2"),
    (JUDGMENTS, "10.0", b"# a\nHASH", b"#"),
    (JUDGMENTS, "10.0", b"# a\nHASH\n# b\nLINE", b"# q1"),
    (JUDGMENTS, "10.0", b" HASH", b"#"),
    (OF_TREC, "10.0", b"# a\n", b""),
    (OF_TREC, "10.0", b"#", b""),
    (OF_TREC, "10.0", b"# \0\nLINE", b"q1"),
    # Where a line with # is malformed, all lines that begin with # are comments.
    (OF_TREC, "9.0.8", b"HASH\n#LINE\nLINE", b"# #q1 q1"),
    (OF_TREC, "9.0.8", b"HASH\nLINE\n# a\n# b\nOTHER\n#", b"q1 q2"),
    ([RUN], "9.0.8", b" # a\nLINE", b"q1"),
    # Elsewhere # means nothing.
    (OF_TREC, "any", b"q#LINE", b"q#q1"),
    ([ZSCORES], "any", b"HASH", b"#"),
]


@pytest.mark.parametrize(("forms", "version", "text", "queries"), MEANT)
def test_what_lines_mean(forms: list[Form], version: str, text: bytes, queries: bytes) -> None:
    for form in forms:
        expected = [(query, [form.row]) for query in queries.split()]
        for options in versions(form, version):
            assert rows_of(form, text, **options) == expected, (form.fields, options)


@pytest.mark.parametrize("comment", [b"#", b"# a", b" \t#", b"#LINE", b" # a b c d e f", b"#\r"])
def test_comments_in_runs_stand_anywhere_however_often_at_10_0(comment: bytes) -> None:
    text = b"\n".join([comment, comment, b"LINE", comment, b"", comment, b"OTHER", comment])
    for ending in (b"", b"\n"):
        found = rows_of(RUN, text + ending, trec_eval_version="10.0")
        assert found == [(b"q1", [RUN.row]), (b"q2", [RUN.row])]


# Formats, version of trec_eval, text, and the line of the error.
REFUSED = [
    (ALL, "any", b"LINE\rLINE\r", 1),
    (ALL, "any", b"LINE\nOTHER\nx", 3),
    (ALL, "any", b"LINE\nOTHER\nx\n", 3),
    (ALL[1:], "any", b"LINE\nLINE more\n", 2),
    (ALL[1:], "any", b"LINE\n\n", 2),
    (ALL[1:], "any", b"\n", 1),
    (ALL[1:], "any", b"LINE\n ", 2),
    ([ZSCORES], "any", b"# comment\nLINE", 1),
    (JUDGMENTS, "10.0", b"LINE\n# a\n# b\n", 3),
    (JUDGMENTS, "10.0", b" # a", 1),
    (JUDGMENTS, "9.0.8", b" # a\nLINE", 1),
    # Comments and blank lines count, and excuse no other malformed line.
    (OF_TREC, "any", b"# a\nLINE\n# b\nOTHER\nbad\n", 5),
    (OF_TREC, "9.0.8", b"# a\nLINE\nbad\n# b\n", 3),
    (OF_TREC, "9.0.8", b"LINE\nbad\n# a\n", 2),
    ([RUN], "any", b"\n \nLINE\n\r\n# a\nbad\n", 6),
]


@pytest.mark.parametrize(("forms", "version", "text", "line"), REFUSED)
def test_malformed_lines_are_found(forms: list[Form], version: str, text: bytes, line: int) -> None:
    for form in forms:
        for options in versions(form, version):
            assert refused(form, text, **options).line == line, (form.fields, options)


@of_formats(*ALL)
def test_the_error_says_file_and_line_what_is_expected_and_what_was_found(
    form: Form, tmp_path: Path
) -> None:
    """Up to sixty bytes of the line; what is no UTF-8 is replaced, what controls is escaped."""
    path = tmp_path / "file"
    short = form.line.rpartition(b" ")[0]
    shown = {
        short: f"{len(short.split())}: {short.decode()!r}",
        b"x" * 60: f"1: '{'x' * 60}'",
        b"x" * 61: f"1: '{'x' * 60}...'",
        b"\xff\t\x1b[1m": "2: '\ufffd\\t\\x1b[1m'",
    }
    if form is not RUN:
        for blank in BLANK:
            shown[blank] = f"0: {blank.decode()!r}"
        shown[form.line + b" z"] = f"{len(form.line.split()) + 1}: '{form.line.decode()} z'"
    for line, found in shown.items():
        path.write_bytes(filled(form, b"LINE\n" + line + b"\n"))
        with pytest.raises(FormatError) as raised:
            form.read(path)
        reason = f"malformed line: expected {form.expected()}, found {found}"
        error = raised.value
        assert (error.path, error.line, error.reason) == (str(path), 2, reason)
        assert str(error) == f"{path}:2: {reason}"


@of_formats(*ALL)
def test_a_nul_byte_within_a_line_is_refused_before_its_fields_are_counted(form: Form) -> None:
    within = [form.line[:place] + b"\0" + form.line[place:] for place in (1, 2, -1)]
    for bad in [*within, b" \0", b"x\0", b"\t\0 a b c d e f", form.line + b" more\0"]:
        error = refused(form, b"LINE\n" + bad + b"\n")
        assert (error.line, error.reason) == (2, NUL)


@of_formats(*OF_TREC)
@pytest.mark.parametrize(
    ("text", "queries", "said"),
    [
        (b"LINE\nOTHER\n\0x\nx\n", [b"q1", b"q2"], REST_IS_NOT_READ.format(3, 5)),
        (b"LINE\n\0", [b"q1"], REST_IS_NOT_READ.format(2, 1)),
        (b"\0x", [], REST_IS_NOT_READ.format(1, 2)),
    ],
)
def test_a_nul_byte_at_the_start_of_a_line_ends_the_file_with_a_warning(
    form: Form, text: bytes, queries: list[bytes], said: str
) -> None:
    """As for trec_eval what follows is not read; `warn` gets the message if it is given."""
    content = filled(form, text)
    messages: list[str] = []
    with pytest.warns(UserWarning, match="NUL byte") as warned:
        noun = form.read(io.BytesIO(content))
    assert contents(noun) == [(query, [form.row]) for query in queries]
    assert [str(warning.message) for warning in warned] == [said]
    assert warned[0].filename == __file__
    form.read(io.BytesIO(content), warn=messages.append)
    form.read(io.BytesIO(form.line + b"\n"), warn=messages.append)
    assert messages == [said]


@of_formats(*ALL)
def test_a_nul_byte_on_standard_input_and_in_zscores_is_refused(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also at the start of a line, where trec_eval 10.0 would join what is around it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(form.line + b"\n\0\n")))
    with pytest.raises(FormatError) as raised:
        form.read("-")
    assert str(raised.value) == f"-:2: {NUL}"
    assert refused(ZSCORES, b"LINE\n\0\n").line == 2


@of_formats(*ALL)
def test_lines_and_files_may_be_of_any_length(form: Form) -> None:
    size, lines = many(5_000_000), many(20_000)
    query = b"q" * size
    assert rows_of(form, of(form, query)) == [(query, [form.row])]
    assert rows_of(form, form.line.replace(b" ", b" " * (size // 5))) == [(b"q1", [form.row])]
    text = b"".join(of(form, b"q%d" % number) + b"\n" for number in range(lines)) + b"x"
    assert refused(form, text).line == lines + 1


# What a format has of its own


CONTENTS = {
    "only query, document, score and tag of a run count": (
        parse_run,
        b"q anything d1 nonsense 2 tag and so on\nq 1 d2 -7 1e1 tag2 \xff # more\n",
        [(b"q", [(b"d1", 2.0), (b"d2", 10.0)])],
    ),
    "rows keep the order of the file": (
        parse_run,
        b"q 0 c 3 1 t\nq 0 a 1 3 t\nq 0 b 2 2 t\nq 0 a 1 3 t\n",
        [(b"q", [(b"c", 1.0), (b"a", 3.0), (b"b", 2.0), (b"a", 3.0)])],
    ),
    "slow numbers find their rows among scattered queries": (
        parse_run,
        b"b 0 1 1 inf t\na 0 2 1 0x2 t\nb 0 3 1 3 t\na 0 4 1 4.000000000000000000001 t\n"
        b"b 0 5 1 -inf t\n",
        [(b"b", [(b"1", inf), (b"3", 3.0), (b"5", -inf)]), (b"a", [(b"2", 2.0), (b"4", 4.0)])],
    ),
    "a document stands in several groups, and in those of other queries": (
        parse_qrels_jg,
        b"q a d 1\nq b d 1\nr a d 1\nr b d 1\n",
        [(query, [(b"a", b"d", 1), (b"b", b"d", 1)]) for query in (b"q", b"r")],
    ),
    "z-scores are sorted by measure, equal ones as they stand": (
        lambda text: read_zscores(io.BytesIO(text)),
        b"q map 1 0\nr P_5 2 .5\nq P_5 3 0x1\nq P_10 4 1e1\nq map 5 inf\n",
        [
            (b"q", [(b"P_10", 4, 10), (b"P_5", 3, 1), (b"map", 1, 0), (b"map", 5, inf)]),
            (b"r", [(b"P_5", 2.0, 0.5)]),
        ],
    ),
}


@pytest.mark.parametrize("case", CONTENTS)
def test_rows(case: str) -> None:
    parse, text, expected = CONTENTS[case]
    assert contents(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        (b"q Q0 d 1 1 first\nq Q0 e 1 1 last", "last"),
        (b"q Q0 d 1 1 first\nq Q0 e 1 1 last more\n", "last"),
        (b"q Q0 d 1 1 first\nq Q0 e 1 1 last\n\n \r\n", "last"),
        (b"q Q0 d 1 1 first\nr Q0 d 1 1 first\nq Q0 e 1 1 last\n", "last"),
        (b"q Q0 d 1 1 last\n# a b c d e f\n", "last"),
        (b"\n", ""),
    ],
    ids=["no newline", "more fields", "blank lines", "scattered query", "a comment", "no lines"],
)
def test_the_tag_is_that_of_the_last_data_line(text: bytes, tag: str) -> None:
    assert parse_run(text, trec_eval_version="10.0").tag == tag


@pytest.mark.parametrize("length", range(1, 24))
def test_lines_of_another_query_are_not_taken_for_those_of_the_one_before(length: int) -> None:
    """Wherever their ids differ; the beginnings of lines are compared in words of 8 bytes."""
    ids = ["a" * length, *("a" * i + "b" + "a" * (length - i - 1) for i in range(length))]
    lines = [f"{query} Q0 d{i} 1 1 t\n" for query in ids for i in range(4)]

    read = parse_run("".join(lines).encode())

    assert list(read.queries) == [query.encode() for query in ids]
    assert np.diff(read.offsets).tolist() == [4] * len(ids)


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_malformed_last_line_is_shown_whole(end: str) -> None:
    with pytest.raises(FormatError, match="found 5: 'q Q0 e 1 last'"):
        parse_run(f"q Q0 d 1 1 t\nq Q0 e 1 last{end}".encode())


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
        assert raised.value.reason.endswith("in a judgment group of its query")
    else:
        found = parse_qrels_jg(text, strict=False)
        assert contents(found) == contents(parse_qrels(text, strict=False))


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"q1 a\nq2\n", 2, "expected 2 fields (query cluster), found 1"),
        (b"q1,a\n", 1, "expected 2 fields (query cluster), found 1"),
        (b"q1 a b\n", 1, "expected 2 fields (query cluster), found 3"),
        (b"q1 a\nq2 a\nq1 b\n", 3, "query 'q1' is already in cluster 'a'"),
    ],
)
def test_a_line_of_clusters_has_a_query_and_its_cluster(
    content: bytes, line: int, reason: str
) -> None:
    found = read_clusters(io.BytesIO(b"q1 a\n\nq2\tb\r\nq1 a\nq3 a"))
    assert found == {"q1": "a", "q2": "b", "q3": "a"}
    with pytest.raises(FormatError) as raised:
        read_clusters(io.BytesIO(content))
    assert (raised.value.line, raised.value.reason) == (line, reason)


# Properties


PARSERS: dict[str, tuple[Layout, st.SearchStrategy[list[Any]]]] = {
    "trec_results": (make.RUN, make.RUN_ROWS),
    "qrels": (make.QRELS, make.QRELS_ROWS),
    "prefs": (make.PREFS, make.PREFS_ROWS),
    "qrels_prefs": (make.QRELS_PREFS, make.QRELS_PREFS_ROWS),
}


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_reading_equals_the_twin(name: str, trec_eval_version: str) -> None:
    """Well-formed and untidy text means what split, dictionaries, strtod and atol make of it."""
    layout, rows = PARSERS[name]
    options = {"trec_eval_version": trec_eval_version, "strict": False}

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
                noun: Any = parse(text, "<bytes>", name, **options)
                assert exactly(contents(noun)) == exactly(make.grouped(lines, layout))
                if layout.is_run:
                    assert noun.tag_bytes == (lines[-1][5] if lines else b"")
                return
            with pytest.raises(FormatError) as raised:
                parse(text, "<bytes>", name, **options)
        assert raised.value.line == broken.line
        reason = "NUL byte" if broken.fields is None else f"found {broken.fields}: "
        assert reason in raised.value.reason

    equal()


@examples(100)
@given(make.lines_of(make.ZSCORES_ROWS).filter(bool))
def test_reading_zscores_equals_the_twin(text: bytes) -> None:
    expected: dict[bytes, list[Any]] = {}
    for line in text.removesuffix(b"\n").split(b"\n"):
        query, measure, mean, deviation = line.split()
        expected.setdefault(query, []).append((measure, strtod(mean), strtod(deviation)))
    for entries in expected.values():
        entries.sort(key=lambda entry: entry[0])
    assert exactly(contents(read_zscores(io.BytesIO(text)))) == exactly(list(expected.items()))


NOISE = [b"\n", b"\n", b" ", b"\t", b"\r\n", b"#", b"\0", b"q 0 d 1", b"q 0 d 1 1 t"]
ANY_BYTES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from(NOISE) | st.binary(max_size=4), max_size=40).map(b"".join),
    *(make.untidy(rows) for _, rows in PARSERS.values()),
)


@of_formats(*ALL)
def test_any_bytes_are_a_noun_or_an_error(form: Form) -> None:
    """No content makes a reader raise anything but FastrankError."""

    @examples(100)
    @given(ANY_BYTES, st.sampled_from(["9.0.8", "10.0"]))
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
@of_formats(*ALL)
def test_a_million_bytes_of_noise_are_refused(form: Form) -> None:
    assert refused(form, bytes(range(255, -1, -1)) * 4096).line == 1


# What readers return


def test_nouns_are_frozen_and_say_what_they_are() -> None:
    """repr() shows source and size, len() the number of queries; columns have their types."""
    run, qrels = parse_run(RUN.line, "a.run"), parse_qrels(QRELS.line, "a.qrels")
    prefs = parse_prefs(filled(PREFS, b"LINE\nOTHER"), "a.prefs")
    assert [len(run), len(qrels), len(prefs)] == [1, 1, 2]
    assert repr(run) == "<Run a.run: 1 query, 1 row>"
    assert repr(qrels) == "<Qrels a.qrels: 1 query, 1 row>"
    assert repr(prefs) == "<Preferences a.prefs: 2 queries, 2 rows>"
    assert [run.scores.dtype, prefs.levels.dtype] == ["float64", "float64"]
    assert [qrels.grades.dtype, qrels.offsets.dtype, run.offsets.dtype] == ["int64"] * 3
    with pytest.raises(AttributeError, match="frozen"):
        run.tag = b"other"
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 1.0
    # The line of a text is known, comments and blank lines counted.
    run = parse_run(filled(RUN, b"\n# a\nLINE\n \nOTHER"), trec_eval_version="10.0")
    assert [run.docs.line(row) for row in range(len(run.docs))] == [3, 5]
